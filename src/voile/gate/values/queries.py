"""The SQL queries of the value search, in execution order.

held : keys of values that may be in the texts.
seen : keys of texts that may be in the values.
decoys : keys with the shape of rare values, which belong to nobody by construction.
place : the number of a part and a column.
mark : for `seen`, whether the key is the whole cell. For `held`, whether few texts have a key of
    this shape by chance.
own : whether the key is a value of the text's own person.
bucket : the number of a subset of the keys. `NUMBER_KEYS` to `ADD_UP_KEYS` run once for each range
    of buckets, and add to the tables of `CREATE_TABLES`.
"""

from __future__ import annotations

_COLUMNS = "person VARCHAR, place INT, form TINYINT, tokens TINYINT, encoding UTINYINT"
_HITS = "who INT, place INT, seen_place INT, form VARCHAR"
_PAIR = "place INT, seen_place INT"
CREATE_TABLES = (
    "CREATE TABLE holders (person VARCHAR)",
    "CREATE TABLE cells (person VARCHAR, place INT, size BIGINT)",
    *(
        f"CREATE TABLE {name}_keys (bucket UTINYINT, key VARCHAR, {_COLUMNS}, mark BOOL)"
        for name in ("held", "decoy", "near", "seen")
    ),
    *(f"CREATE TABLE {name} ({_HITS})" for name in ("common_hits", "elsewhere", "decoy_hits")),
    f"CREATE TABLE hits ({_HITS}, is_certain BOOL)",
    f"CREATE TABLE form_chances ({_PAIR}, form VARCHAR, expected DOUBLE, is_common BOOL)",
    f"CREATE TABLE pair_variances ({_PAIR}, variance DOUBLE)",
    f"CREATE TABLE common_shares (who INT, {_PAIR}, missed DOUBLE)",
    "CREATE TABLE shares (who INT, missed DOUBLE)",
    "CREATE TABLE near_days (who INT, days BIGINT)",
    "CREATE TABLE variances (variance DOUBLE)",
    f"CREATE TABLE excess ({_PAIR})",
    "CREATE TABLE generalised (place INT)",
)


def _add(term: str) -> str:
    """Write an exact sum, with bits that depend neither on the order nor on the buckets."""
    return f"sum((({term}) * 1e15)::HUGEINT) / 1e15"


NUMBER_PEOPLE = (
    """CREATE TABLE people AS
       SELECT person, row_number() OVER ()::INT AS who, bool_or(reads) AS reads
       FROM (SELECT person, false AS reads FROM holders
             UNION ALL SELECT person, true AS reads FROM cells)
       GROUP BY person""",
    """CREATE TABLE sizes AS
       SELECT who, place, sum(size)::BIGINT AS size
       FROM cells JOIN people USING (person) GROUP BY ALL""",
    "DROP TABLE cells",
)
COUNT_PEOPLE = """
    SELECT count(*), count(*) FILTER (reads),
           (SELECT count(DISTINCT person) FROM holders) FROM people
"""
_WITHIN = "WHERE bucket BETWEEN $low AND $high"


def _number_keys(table: str, name: str, columns: str) -> str:
    return f"""
        CREATE OR REPLACE TABLE {name} AS
        SELECT DISTINCT id, who, reads, {columns}
        FROM (FROM {table} {_WITHIN}) JOIN codes USING (key) JOIN people USING (person)
    """


NUMBER_KEYS = (
    f"""CREATE OR REPLACE TABLE codes AS
       SELECT key, row_number() OVER ()::INT AS id
       FROM (SELECT DISTINCT key FROM (FROM seen_keys {_WITHIN})
             SEMI JOIN (SELECT key FROM held_keys {_WITHIN}
                        UNION ALL SELECT key FROM decoy_keys {_WITHIN}
                        UNION ALL SELECT key FROM near_keys {_WITHIN}) USING (key)
       )""",
    _number_keys("held_keys", "held", "place, form, tokens, mark"),
    _number_keys("decoy_keys", "decoys", "place, form, tokens"),
    _number_keys("near_keys", "near", "place"),
    _number_keys("seen_keys", "seen", "form = 5 AS glued, place, tokens, encoding, mark"),
    "DELETE FROM seen WHERE glued AND id IN (SELECT id FROM codes WHERE length(key) < 5)",
)
LEAVE_LABELS = (
    # A value that its own column shows whole is released unchanged.
    """DELETE FROM held WHERE place IN (FROM generalised)
       AND (id, who, place) IN (SELECT (id, who, place) FROM seen WHERE mark)""",
    # Labels do not count as findings about their own column.
    """DELETE FROM seen WHERE place IN (FROM generalised)
       AND (id, place) IN (SELECT (id, place) FROM held UNION ALL SELECT (id, place) FROM decoys)
    """,
)
_FORM = """CASE WHEN s.encoding = 1 THEN 'base64' WHEN s.encoding = 2 THEN 'hex'
    WHEN s.encoding = 3 THEN 'url' WHEN s.glued THEN 'glued' WHEN h.form = 4 THEN 'date'
    WHEN h.form = 3 THEN 'passage' WHEN h.form = 2 THEN 'digits' WHEN h.form = 1 THEN 'part'
    WHEN s.tokens = h.tokens THEN 'whole' WHEN is_number THEN 'digits' ELSE 'joined' END"""
JUDGE_KEYS = (
    """CREATE OR REPLACE TABLE owned AS SELECT DISTINCT id, who, reads FROM held""",
    """CREATE OR REPLACE TABLE key_holders AS
       SELECT id, count(*) AS people, count(*) FILTER (reads) AS readers
       FROM owned GROUP BY id""",
    """CREATE OR REPLACE TABLE readings AS
       SELECT id, glued, s.who, o.who IS NOT NULL AS own
       FROM (SELECT DISTINCT id, glued, who FROM seen) s LEFT JOIN owned o USING (id, who)""",
    """CREATE OR REPLACE TABLE chances AS
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
    """CREATE OR REPLACE TABLE stands AS
       SELECT s.id, s.glued, s.who, s.place, s.tokens, s.encoding, s.mark, own
       FROM seen s JOIN readings USING (id, glued, who) SEMI JOIN chances c
       ON s.id = c.id AND s.glued = c.glued""",
    f"""INSERT INTO hits
       SELECT DISTINCT h.who, h.place, s.place, {_FORM},
              is_long AND strangers = 0 AND h.form != 1
       FROM held h JOIN (FROM stands WHERE own) s USING (id, who) JOIN chances c USING (id, glued)
       WHERE counts""",
    f"""INSERT INTO elsewhere
       SELECT DISTINCT h.who, h.place, s.place, {_FORM}
       FROM held h JOIN (FROM chances WHERE people <= $rare AND counts AND NOT glued) USING (id)
       JOIN (FROM stands WHERE NOT own AND NOT glued) s USING (id)
       WHERE h.mark""",
    f"""INSERT INTO decoy_hits
       SELECT DISTINCT h.who, h.place, s.place, {_FORM}
       FROM decoys h
       SEMI JOIN (SELECT id FROM decoys GROUP BY id
                  HAVING count(DISTINCT who) <= $rare) rare ON rare.id = h.id
       JOIN (SELECT * FROM seen WHERE NOT glued) s ON s.id = h.id AND s.who != h.who
       JOIN (SELECT id, regexp_full_match(key, '[0-9]+') AS is_number FROM codes) c ON c.id = h.id
       SEMI JOIN (SELECT id FROM seen SEMI JOIN decoys USING (id) WHERE NOT glued GROUP BY id
                  HAVING count(DISTINCT who) <= floor($chance * $readers)) few ON few.id = h.id""",
)
ADD_UP_KEYS = (
    """CREATE OR REPLACE TABLE near_hits AS
       SELECT DISTINCT n.id, n.who, n.place, s.place AS seen_place
       FROM (FROM near WHERE reads) n JOIN (FROM seen WHERE NOT glued) s USING (id, who)
       SEMI JOIN (SELECT id FROM seen SEMI JOIN near USING (id) GROUP BY id
                  HAVING count(DISTINCT who) - 1 <= floor($chance * ($readers - 1))) few
       ON few.id = n.id""",
    """INSERT INTO near_days
       SELECT who, count(*) FROM (SELECT DISTINCT id, place, who FROM near_hits) GROUP BY who""",
    """INSERT INTO form_chances
       SELECT place, seen_place, 'date', count(*) / $near, false FROM near_hits GROUP BY ALL""",
    f"""INSERT INTO form_chances
       SELECT h.place, s.place, {_FORM} AS form, {_add("h.readers * s.strangers / others")}, false
       FROM (SELECT id, place, form, tokens, count(*) AS readers
             FROM held WHERE reads GROUP BY ALL) h
       JOIN (SELECT id, glued, place, tokens, encoding, count(DISTINCT who) AS strangers
             FROM stands WHERE NOT own GROUP BY ALL) s USING (id)
       JOIN (FROM chances WHERE is_near) c USING (id, glued)
       WHERE h.form != 4 OR $near = 0 GROUP BY ALL""",
    """CREATE OR REPLACE TABLE near_shares AS
       SELECT who, share, readers, others FROM owned JOIN chances USING (id)
       WHERE is_near AND reads AND share > 0 AND (key[1] != '#' OR $near = 0)""",
    f"""INSERT INTO shares
       SELECT who, {_add("ln(1 - least(share, 1 - 1e-12))")} FROM near_shares GROUP BY who""",
    f"INSERT INTO variances SELECT {_add('readers * share / others')} FROM near_shares",
)
# The chance of a common key grows with the size of a person's cells in the column.
ADD_UP_COMMON = (
    f"""INSERT INTO common_hits
       SELECT DISTINCT h.who, h.place, s.place, {_FORM}
       FROM held h JOIN (FROM stands WHERE own AND NOT glued AND NOT mark) s USING (id, who)
       JOIN (FROM chances WHERE NOT counts) c USING (id, glued)""",
    """CREATE OR REPLACE TABLE common_stands AS
       SELECT id, place, tokens, encoding, glued, is_number, who
       FROM (FROM stands WHERE NOT own AND NOT glued AND NOT mark)
       JOIN (SELECT id, is_number FROM chances WHERE NOT counts AND NOT glued) USING (id)""",
    """CREATE OR REPLACE TABLE common_chances AS
       SELECT id, place AS seen_place, others, strangers, strangers / others AS share,
              greatest(size - coalesce(own_size, 0), 1) / others AS mean_size
       FROM (SELECT id, place, count(DISTINCT who) AS strangers FROM common_stands GROUP BY ALL)
       JOIN (SELECT id, others FROM chances WHERE NOT glued) USING (id)
       JOIN (SELECT place, sum(size) AS size FROM sizes GROUP BY place) USING (place)
       LEFT JOIN (SELECT id, z.place, sum(z.size) AS own_size
                  FROM owned JOIN sizes z USING (who)
                  SEMI JOIN common_stands c ON c.id = owned.id AND c.place = z.place
                  GROUP BY ALL) USING (id, place)""",
    """CREATE OR REPLACE TABLE common_people AS
       SELECT h.id, h.who, h.place, seen_place, size / mean_size AS times,
              ln(1 - least(share, 1 - 1e-12)) * size / mean_size AS missed, share, others,
              strangers
       FROM (SELECT DISTINCT id, place, who FROM held) h JOIN common_chances c USING (id)
       JOIN sizes z ON z.who = h.who AND z.place = seen_place""",
    f"""INSERT INTO common_shares
       SELECT who, place, seen_place, {_add("missed")} FROM common_people GROUP BY ALL""",
    f"""CREATE OR REPLACE TABLE common_sums AS
       SELECT id, place, seen_place, any_value(strangers) AS strangers,
              {_add("1 - exp(missed)")} AS expected,
              ({_add("times")}) ** 2 * any_value(share / others) AS variance
       FROM common_people GROUP BY id, place, seen_place""",
    f"""INSERT INTO pair_variances
       SELECT place, seen_place, {_add("variance")} FROM common_sums GROUP BY ALL""",
    f"""INSERT INTO form_chances
       SELECT h.place, s.place, {_FORM} AS form,
              {_add("c.expected * s.strangers / c.strangers")}, true
       FROM (SELECT DISTINCT id, place, form, tokens FROM held WHERE reads) h
       JOIN (SELECT id, place, tokens, encoding, glued, is_number,
                    count(DISTINCT who) AS strangers FROM common_stands GROUP BY ALL) s USING (id)
       JOIN common_sums c ON c.id = h.id AND c.place = h.place AND c.seen_place = s.place
       GROUP BY ALL""",
)
COMMON_PAIRS = f"""
    SELECT place, seen_place, people, coalesce(expected, 0), coalesce(variance, 0)
    FROM (SELECT place, seen_place, count(DISTINCT who) AS people FROM common_hits GROUP BY ALL)
    LEFT JOIN (SELECT place, seen_place, {_add("1 - exp(missed)")} AS expected
               FROM (SELECT who, place, seen_place, {_add("missed")} AS missed
                     FROM common_shares GROUP BY ALL) GROUP BY ALL) USING (place, seen_place)
    LEFT JOIN (SELECT place, seen_place, {_add("variance")} AS variance
               FROM pair_variances GROUP BY ALL) USING (place, seen_place)
    ORDER BY place, seen_place
"""
TAKE_COMMON = """
    INSERT INTO hits SELECT *, false FROM common_hits SEMI JOIN excess USING (place, seen_place)
    ANTI JOIN hits USING (who, place, seen_place, form)
"""
EXPECTED = f"""
    SELECT {_add("1 - exp(missed)")}, {_add("(1 - exp(missed)) * exp(missed)")} + any_value(more)
    FROM (
        SELECT who, {_add("missed")} AS missed FROM (
            FROM shares
            UNION ALL SELECT who, missed FROM common_shares SEMI JOIN excess
                      USING (place, seen_place)
            UNION ALL SELECT who, ln(1 - least(sum(days) / $near, 1 - 1e-12)) FROM near_days
                      GROUP BY who
        ) GROUP BY who
    ), (SELECT {_add("variance")} AS more FROM (
            FROM variances
            UNION ALL SELECT variance FROM pair_variances SEMI JOIN excess USING (place, seen_place)
            UNION ALL SELECT least(sum(days) / $near, 1) / $near FROM near_days GROUP BY who
        ))
"""
FORMS = f"""
    SELECT place, seen_place, form, count(DISTINCT who), any_value(expected)
    FROM hits LEFT JOIN (
        SELECT place, seen_place, form, {_add("expected")} AS expected FROM form_chances
        WHERE NOT is_common OR (place, seen_place) IN (SELECT (place, seen_place) FROM excess)
        GROUP BY ALL
    ) USING (place, seen_place, form)
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
