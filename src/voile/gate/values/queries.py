"""The queries of the value search, in the order in which they run.

held : keys of values that texts contain.
seen : keys of texts that values contain.
decoys : keys with the shape of rare values, which belong to nobody by design.
place : the number of a part and a column.
mark : for `seen`, whether the key is the whole cell. For `held`, whether few texts have a key of
    this shape by chance.
own : whether the person of the text holds the key.
"""

from __future__ import annotations

_COLUMNS = "person VARCHAR, place INT, form TINYINT, tokens TINYINT, encoding UTINYINT"
CREATE_TABLES = (
    "CREATE TABLE holders (person VARCHAR)",
    "CREATE TABLE readers (person VARCHAR)",
    *(
        f"CREATE TABLE {name}_keys (key VARCHAR, {_COLUMNS}, mark BOOL)"
        for name in ("held", "decoy", "near", "seen")
    ),
)

NUMBER_PEOPLE = """
    CREATE TABLE people AS
    SELECT person, row_number() OVER ()::INT AS who, bool_or(reads) AS reads
    FROM (SELECT DISTINCT person, false AS reads FROM holders
          UNION ALL SELECT DISTINCT person, true AS reads FROM readers)
    GROUP BY person
"""
COUNT_PEOPLE = """
    SELECT count(*), count(*) FILTER (reads),
           (SELECT count(DISTINCT person) FROM holders) FROM people
"""


def _number_keys(table: str, name: str, columns: str) -> str:
    return f"""
        CREATE TABLE {name} AS
        SELECT DISTINCT id, who, reads, {columns}
        FROM {table} JOIN codes USING (key) JOIN people USING (person)
    """


NUMBER_KEYS = (
    """CREATE TABLE codes AS
       SELECT key, row_number() OVER ()::INT AS id
       FROM (SELECT DISTINCT key FROM seen_keys
             SEMI JOIN (SELECT key FROM held_keys UNION ALL SELECT key FROM decoy_keys
                        UNION ALL SELECT key FROM near_keys) USING (key)
       )""",
    _number_keys("held_keys", "held", "place, form, tokens, mark"),
    _number_keys("decoy_keys", "decoys", "place, form, tokens"),
    _number_keys("near_keys", "near", "place"),
    _number_keys("seen_keys", "seen", "form = 5 AS glued, place, tokens, encoding, mark"),
    "DROP TABLE held_keys; DROP TABLE decoy_keys; DROP TABLE near_keys; DROP TABLE seen_keys",
    "DELETE FROM seen WHERE glued AND id IN (SELECT id FROM codes WHERE length(key) < 5)",
)
LEAVE_LABELS = (
    # A value is released as it is where its own column shows it whole.
    """DELETE FROM held WHERE place IN (FROM generalised)
       AND (id, who, place) IN (SELECT (id, who, place) FROM seen WHERE mark)""",
    # No label is a finding about its own column.
    """DELETE FROM seen WHERE place IN (FROM generalised)
       AND (id, place) IN (SELECT (id, place) FROM held UNION ALL SELECT (id, place) FROM decoys)
    """,
)
_FORM = """CASE WHEN s.encoding = 1 THEN 'base64' WHEN s.encoding = 2 THEN 'hex'
    WHEN s.encoding = 3 THEN 'url' WHEN s.glued THEN 'glued' WHEN h.form = 4 THEN 'date'
    WHEN h.form = 3 THEN 'passage' WHEN h.form = 2 THEN 'digits' WHEN h.form = 1 THEN 'part'
    WHEN s.tokens = h.tokens THEN 'whole' WHEN is_number THEN 'digits' ELSE 'joined' END"""
JUDGE_KEYS = (
    """CREATE TABLE owned AS SELECT DISTINCT id, who, reads FROM held""",
    """CREATE TABLE key_holders AS
       SELECT id, count(*) AS people, count(*) FILTER (reads) AS readers
       FROM owned GROUP BY id""",
    """CREATE TABLE readings AS
       SELECT id, glued, s.who, o.who IS NOT NULL AS own
       FROM (SELECT DISTINCT id, glued, who FROM seen) s LEFT JOIN owned o USING (id, who)""",
    """CREATE TABLE chances AS
       SELECT *, strangers / others AS share, strangers <= floor($chance * others) AS counts,
              strangers <= floor($chance * others) + 1 AS is_near
       FROM (SELECT id, glued, any_value(people) AS people, any_value(readers) AS readers,
                    count(*) FILTER (NOT own) AS strangers,
                    greatest($readers - any_value(readers), 1) AS others
             FROM readings JOIN key_holders USING (id)
             WHERE people <= $most GROUP BY id, glued)
       JOIN (SELECT id, key, regexp_full_match(key, '[0-9]+') AS is_number,
                    key[1] != '#' AND 10.0 ** -digits * 26.0 ** (digits - length(key)) < 1e-6
                    AS is_long
             FROM (SELECT *, length(regexp_replace(key, '[^0-9]', '', 'g')) AS digits FROM codes))
            USING (id)""",
    """CREATE TABLE stands AS
       SELECT s.id, s.glued, s.who, s.place, s.tokens, s.encoding, s.mark, own
       FROM seen s JOIN readings USING (id, glued, who) SEMI JOIN chances c
       ON s.id = c.id AND s.glued = c.glued""",
    f"""CREATE TABLE hits AS
       SELECT DISTINCT h.who, h.place, s.place AS seen_place, {_FORM} AS form,
              is_long AND strangers = 0 AND h.form != 1 AS is_certain
       FROM held h JOIN (FROM stands WHERE own) s USING (id, who) JOIN chances c USING (id, glued)
       WHERE counts""",
    f"""CREATE TABLE common_hits AS
       SELECT DISTINCT h.who, h.place, s.place AS seen_place, {_FORM} AS form, false AS is_certain
       FROM held h JOIN (FROM stands WHERE own AND NOT glued AND NOT mark) s USING (id, who)
       JOIN (FROM chances WHERE NOT counts) c USING (id, glued)""",
    """CREATE TABLE common_chances AS
       SELECT h.id, h.place, s.place AS seen_place, h.readers, others,
              s.strangers / others AS share
       FROM (SELECT id, place, count(DISTINCT who) AS readers FROM held WHERE reads GROUP BY ALL) h
       JOIN (SELECT id, place, count(DISTINCT who) AS strangers
             FROM stands WHERE NOT own AND NOT glued AND NOT mark GROUP BY ALL) s USING (id)
       JOIN (FROM chances WHERE NOT counts AND NOT glued) c USING (id)""",
    "CREATE TABLE excess (place INT, seen_place INT)",
    f"""CREATE TABLE elsewhere AS
       SELECT DISTINCT h.who, h.place, s.place AS seen_place, {_FORM} AS form
       FROM held h JOIN (FROM chances WHERE people <= $rare AND counts AND NOT glued) USING (id)
       JOIN (FROM stands WHERE NOT own AND NOT glued) s USING (id)
       WHERE h.mark""",
    f"""CREATE TABLE decoy_hits AS
       SELECT DISTINCT h.who, h.place, s.place AS seen_place, {_FORM} AS form
       FROM decoys h
       SEMI JOIN (SELECT id FROM decoys GROUP BY id
                  HAVING count(DISTINCT who) <= $rare) rare ON rare.id = h.id
       JOIN (SELECT * FROM seen WHERE NOT glued) s ON s.id = h.id AND s.who != h.who
       JOIN (SELECT id, regexp_full_match(key, '[0-9]+') AS is_number FROM codes) c ON c.id = h.id
       SEMI JOIN (SELECT id FROM seen SEMI JOIN decoys USING (id) WHERE NOT glued GROUP BY id
                  HAVING count(DISTINCT who) <= floor($chance * $readers)) few ON few.id = h.id""",
)
COMMON_PAIRS = """
    SELECT place, seen_place, people, coalesce(expected, 0), coalesce(variance, 0)
    FROM (SELECT place, seen_place, count(DISTINCT who) AS people FROM common_hits GROUP BY ALL)
    LEFT JOIN (SELECT place, seen_place, sum(readers * share ORDER BY readers, share) AS expected,
                 sum(readers * readers * share / others ORDER BY readers, share, others)
                 AS variance
          FROM common_chances GROUP BY ALL) USING (place, seen_place)
    ORDER BY place, seen_place
"""
TAKE_COMMON = """
    INSERT INTO hits FROM (FROM common_hits SEMI JOIN excess USING (place, seen_place))
    ANTI JOIN hits USING (who, place, seen_place, form)
"""
COUNT_CHANCE = (
    """CREATE TABLE near_hits AS
       SELECT DISTINCT n.id, n.who, n.place, s.place AS seen_place
       FROM (FROM near WHERE reads) n JOIN (FROM seen WHERE NOT glued) s USING (id, who)
       SEMI JOIN (SELECT id FROM seen SEMI JOIN near USING (id) GROUP BY id
                  HAVING count(DISTINCT who) - 1 <= floor($chance * ($readers - 1))) few
       ON few.id = n.id""",
    f"""CREATE TABLE chance_forms AS
       SELECT h.place, s.place AS seen_place, {_FORM} AS form,
              sum(h.readers * s.strangers / others ORDER BY h.readers, s.strangers, others)
              AS expected
       FROM (SELECT id, place, form, tokens, count(*) AS readers
             FROM held WHERE reads GROUP BY ALL) h
       JOIN (SELECT id, glued, place, tokens, encoding, count(DISTINCT who) AS strangers
             FROM stands WHERE NOT own GROUP BY ALL) s USING (id)
       JOIN chances c USING (id, glued)
       WHERE is_near AND (h.form != 4 OR $near = 0)
             OR (h.place, s.place) IN (SELECT (place, seen_place) FROM excess)
       GROUP BY ALL
       UNION ALL SELECT place, seen_place, 'date', count(*) / $near FROM near_hits GROUP BY ALL""",
    """CREATE TABLE shares AS
       SELECT who, share, readers, others FROM owned JOIN chances USING (id)
       WHERE is_near AND reads AND share > 0 AND (key[1] != '#' OR $near = 0)
       UNION ALL
       SELECT who, least(count(DISTINCT (id, place)) / $near, 1), 1, $near
       FROM near_hits GROUP BY who
       UNION ALL
       SELECT who, share, c.readers, others
       FROM (FROM common_chances SEMI JOIN excess USING (place, seen_place)) c
       JOIN (SELECT DISTINCT id, place, who FROM held WHERE reads) USING (id, place)""",
)
EXPECTED = """
    SELECT sum(1 - exp(less) ORDER BY less),
           sum((1 - exp(less)) * exp(less) ORDER BY less) + any_value(more) FROM (
        SELECT sum(ln(1 - least(share, 1 - 1e-12)) ORDER BY share) AS less
        FROM shares GROUP BY who
    ), (SELECT sum(readers * share / others ORDER BY readers, share, others) AS more FROM shares)
"""
FORMS = """
    SELECT place, seen_place, form, count(DISTINCT who), any_value(expected)
    FROM hits LEFT JOIN chance_forms USING (place, seen_place, form)
    GROUP BY place, seen_place, form ORDER BY count(DISTINCT who) DESC, place, seen_place, form
"""
FORMS_ELSEWHERE = """
    SELECT place, seen_place, form, count(DISTINCT e.who), any_value(d.expected)
    FROM elsewhere e LEFT JOIN (
        SELECT place, seen_place, form, count(DISTINCT who)::DOUBLE AS expected
        FROM decoy_hits GROUP BY ALL
    ) d USING (place, seen_place, form)
    GROUP BY place, seen_place, form ORDER BY count(DISTINCT e.who) DESC, place, seen_place, form
"""
