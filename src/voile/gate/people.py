"""Count the people whom an adversary singles out by all linked rows of a release.

The adversary joins the released rows of a person across all parts. The adversary knows facts about
the person, each exactly. The attack succeeds if no other person has the same facts.

The facts about a person, over the multiset of the person's rows:

- the labels of a row, with the number of rows that have them
- each item of a list, with the number of times that the list column contains it
- the number of rows in each part, even if it is 0
- the span of the person's days, and each gap between two consecutive days
- the first and the last day, unless all days of the person were moved by one unknown offset
- the stay of a row with several days: the time from each day to each day of a later column

An adversary who knows all facts also knows the labels of each day. A missing value and `*` count as
labels. If they counted as wildcards, the number of candidates would be at least as large.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.data.source import Source, identifier
from voile.engines.duck import connect
from voile.gate.finding import GateFinding, StatedAdversary

if TYPE_CHECKING:
    import duckdb

ALONE, FEWEST, MATCHES = "people_alone", "fewest_candidates", "expected_matches"
"""The names of the findings about the number of candidates of each person."""
KNOWS_ALL = StatedAdversary(
    "knows all named facts of a person exactly, and joins the person's rows"
)
KNOWS_FEW = StatedAdversary(
    "knows a few facts of a person, the worst set, and joins the person's rows"
)
MEMORY = 500_000_000
"""The memory budget of a count, in bytes. DuckDB uses half of it and spills to disk beyond that."""
TARGETS = 300
"""The largest number of people for whom the gate searches sets of a few facts."""
Mask = NDArray[np.bool_]
Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class ReleasedPart:
    """The written rows of one part of a release, and the columns that an adversary may know.

    Parameters
    ----------
    rows : the released rows.
    person : the column that joins the rows of a person, in every part.
    facts : the label columns, known together for each row. Each item of a list is a separate fact.
    dates : the columns of days. Text that is not a day counts as missing.
    """

    rows: Source
    person: str
    facts: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()


def name_few(facts: int, of: str) -> str:
    """Return the description of an adversary's knowledge of a few facts."""
    return f"the most revealing {'fact' if facts == 1 else f'{facts} facts'} of {of}"


def count_candidates(
    adversary: StatedAdversary, of: str, candidates: Sequence[int] | Ints
) -> tuple[GateFinding, ...]:
    """Return findings about unique people, the smallest number of candidates and expected matches.

    Parameters
    ----------
    of : the description of the adversary's knowledge, as printed in reports.
    candidates : for each attacked person, the number of people with the same facts, >= 1.
    """
    left = np.asarray(candidates, np.int64)
    n = len(left)
    return (
        adversary.finds(ALONE, int(np.count_nonzero(left == 1)), "people", n=n, of=of),
        adversary.finds(FEWEST, int(left.min()) if n else 0, "people", of=of),
        adversary.finds(MATCHES, (1 / left).sum(), "people", n=n, of=of),
    )


def count_people(
    parts: Mapping[str, ReleasedPart],
    *,
    of: str,
    known: Sequence[int] = (),
    given: Sequence[str] = (),
    are_moved: bool = True,
    are_months: bool = False,
    targets: int = TARGETS,
) -> tuple[GateFinding, ...]:
    """Count the people who are unique given a few known facts, and given all facts.

    Parameters
    ----------
    of : the description of all facts of the parts, as printed in reports.
    known : the numbers of known facts, each >= 1.
    given : the parts whose facts, except days, the adversary also knows.
    are_moved : whether the days of each person were moved by one unknown offset.
    are_months : whether each day is written as the first day of its month.
    targets : the largest number of people for whom the gate searches sets of a few facts, >= 1.
        They are drawn with a fixed seed.

    Returns
    -------
    tuple of GateFinding : the findings of `count_candidates`, empty if the release has no people.
        For each number in `known`, the adversary knows the most revealing set of facts about each
        person. The last findings are about all facts of all people.

    Guarantee: exact for the facts above, unless two of them have the same MD5 hash (chance <
    1e-24).

    Cost: O(rows log rows) in DuckDB, which spills to disk. For few facts, O(targets x
    facts^max(known) x people / 64) in the worst case. Memory: at most 250 MB for DuckDB, and 16
    bytes for each fact that a person shares with a target.
    """
    if not parts:
        return ()
    with connect(memory=MEMORY) as engine:
        for number, part in enumerate(parts.values()):
            _load_part(engine, number, part, are_months=are_months)
        _number_people(engine, len(parts))
        _load_days(engine, parts, are_moved=are_moved)
        sizes = _find_sizes(engine, parts)
        if not len(sizes):
            return ()
        found: list[GateFinding] = []
        if known:
            drawn = np.random.default_rng(0).permutation(len(sizes))[:targets]
            _load_facts(engine, parts, given, are_moved=are_moved)
            crowd = _SharedFacts(_find_shared(engine, drawn), sizes)
            least = [crowd.find_fewest(int(one), known) for one in drawn]
            for n, own in zip(known, zip(*least, strict=True), strict=True):
                found += count_candidates(KNOWS_FEW, name_few(n, of), own)
        return (*found, *count_candidates(KNOWS_ALL, of, sizes))


def count_by_rows(
    part: ReleasedPart, *, of: str, are_months: bool = False
) -> tuple[GateFinding, ...]:
    """Count the people who are unique by one of their rows, if no column joins a person's rows.

    The adversary knows the labels and the stays of one row exactly, in the worst case for the
    person. Candidates are the people with an equal row. Equal rows of the same person count once.

    Parameters
    ----------
    part : the rows. The adversary does not see the column `person`.
    of : the description of the knowledge, as printed in reports.
    are_months : whether each day is written as the first day of its month.

    Returns
    -------
    tuple of GateFinding : the findings of `count_candidates`, empty if the part has no rows.

    Guarantee, cost and memory are those of `count_people` for all facts.
    """
    with connect(memory=MEMORY) as engine:
        _load_part(engine, 0, part, are_months=are_months)
        _number_people(engine, 1)
        days = [f"d{n}" for n in range(len(part.dates))]
        row = _row(0, part, f"least({', '.join(days)})")
        found = engine.execute(
            f"""
            WITH own AS (SELECT DISTINCT person, md5_number({row}) AS h FROM rows_0),
                 held AS (SELECT person, count(*) OVER (PARTITION BY h) AS size FROM own)
            SELECT min(size) AS size FROM held GROUP BY person ORDER BY person"""
        ).to_arrow_table()
    sizes = np.asarray(found.column("size").to_numpy(), np.int64)
    return count_candidates(KNOWS_ALL, of, sizes) if len(sizes) else ()


def _row(number: int, part: ReleasedPart, origin: str) -> str:
    """Write a SQL expression for a row of a part as one text, with days counted from an origin."""
    lists = [f"coalesce(array_to_string(i{n}, ''), 'none')" for n in range(_count_lists(part))]
    days = [_as_text(f"(d{n} - {origin})") for n in range(len(part.dates))]
    return _join([f"'{number} '", "r", *lists, *days])


def _load_part(
    engine: duckdb.DuckDBPyConnection, number: int, part: ReleasedPart, *, are_months: bool
) -> None:
    """Create the table read_N of a part: person p, hash r of the labels, items i0.., days d0..."""
    types = part.rows.columns
    if absent := {part.person, *part.facts, *part.dates} - types.keys():
        raise RequestError(f"there is no column {min(absent)}", where=part.rows.name)
    lists = [name for name in part.facts if pa.types.is_list(types[name])]
    plain = [_as_text(identifier(name)) for name in part.facts if name not in lists]
    unit = "month" if are_months else "day"
    shown = [
        f"CAST({identifier(part.person)} AS VARCHAR) AS p",
        f"md5({_join(plain)}) AS r",
        *(
            f"list_sort([{_as_text('x')} for x in {identifier(name)}]) AS i{n}"
            for n, name in enumerate(lists)
        ),
        *(
            f"date_diff('{unit}', DATE '1970-01-01', {_as_day(name, types[name])}) AS d{n}"
            for n, name in enumerate(part.dates)
        ),
    ]
    names = list(dict.fromkeys([part.person, *part.facts, *part.dates]))
    relation = part.rows.relation(engine, names)
    relation.query("source", f"SELECT {', '.join(shown)} FROM source WHERE p IS NOT NULL").create(
        f"read_{number}"
    )


def _as_text(value: str) -> str:
    """Write a value with its length, so that joined texts are equal only if all values are."""
    return f"coalesce(length(CAST({value} AS VARCHAR)) || ':' || CAST({value} AS VARCHAR), '-')"


def _join(texts: Iterable[str]) -> str:
    return " || ".join(["''", *texts])


def _as_day(name: str, kind: pa.DataType) -> str:
    if pa.types.is_string(kind):
        return f"try_cast(substr(trim({identifier(name)}), 1, 10) AS DATE)"
    return f"CAST({identifier(name)} AS DATE)"


def _number_people(engine: duckdb.DuckDBPyConnection, parts: int) -> None:
    """Number the people of all parts in sorted order, and create the tables rows_N with them."""
    every = " UNION ALL ".join(f"SELECT p FROM read_{number}" for number in range(parts))
    engine.execute(
        "CREATE TABLE people AS SELECT p, CAST(row_number() OVER (ORDER BY p) - 1 AS INTEGER) "
        f"AS person FROM (SELECT DISTINCT p FROM ({every}))"
    )
    for number in range(parts):
        engine.execute(
            f"CREATE TABLE rows_{number} AS SELECT person, read.* EXCLUDE (p) "
            f"FROM read_{number} AS read JOIN people USING (p); DROP TABLE read_{number}"
        )


def _load_days(
    engine: duckdb.DuckDBPyConnection, parts: Mapping[str, ReleasedPart], *, are_moved: bool
) -> None:
    """Create the table `days` of distinct days by person, and the table `origins` of day 0."""
    every = [
        f"SELECT person, d{n} AS day FROM rows_{number} WHERE d{n} IS NOT NULL"
        for number, part in enumerate(parts.values())
        for n in range(len(part.dates))
    ] or ["SELECT person, CAST(0 AS BIGINT) AS day FROM people WHERE false"]
    engine.execute(f"CREATE TABLE days AS SELECT DISTINCT * FROM ({' UNION ALL '.join(every)})")
    origin = "min(day)" if are_moved else "0"
    engine.execute(
        f"CREATE TABLE origins AS SELECT person, {origin} AS origin FROM days GROUP BY person"
    )


def _find_sizes(engine: duckdb.DuckDBPyConnection, parts: Mapping[str, ReleasedPart]) -> Ints:
    """Return, for each person in order, the number of people with the same multiset of rows.

    The rows of all parts are compared. The sum of the hashes of a person's rows represents the
    multiset.
    """
    cells = []
    for number, part in enumerate(parts.values()):
        cells.append(
            f"SELECT person, md5_number({_row(number, part, 'origin')}) AS h FROM rows_{number} "
            "LEFT JOIN origins USING (person)"
        )
    found = engine.execute(
        f"""
        WITH records AS (SELECT person, sum(CAST(h >> 64 AS UBIGINT)) AS a,
                                sum(CAST(h & {2**64 - 1} AS UBIGINT)) AS b
                         FROM ({" UNION ALL ".join(cells)}) GROUP BY person)
        SELECT count(*) OVER (PARTITION BY a, b) AS size FROM records ORDER BY person"""
    ).to_arrow_table()
    return np.asarray(found.column("size").to_numpy(), np.int64)


def _count_lists(part: ReleasedPart) -> int:
    return sum(pa.types.is_list(part.rows.columns[name]) for name in part.facts)


def _load_facts(
    engine: duckdb.DuckDBPyConnection,
    parts: Mapping[str, ReleasedPart],
    given: Sequence[str],
    *,
    are_moved: bool,
) -> None:
    """Create the table `facts`: person, hash of a fact, its count, and whether it is given."""
    queries = []
    for number, (name, part) in enumerate(parts.items()):
        is_given, own = name in given, f"rows_{number}"
        if len(part.facts) > _count_lists(part):
            queries.append(_fact(f"labels {number}", "r", own, is_given=is_given))
        queries += [
            _fact(f"item {number} {n}", "item",
                  f"(SELECT person, unnest(i{n}) AS item FROM {own})", is_given=is_given)
            for n in range(_count_lists(part))
        ]  # fmt: skip
        queries += [
            _fact(f"stay {number} {a} {b}", f"(d{b} - d{a})", own, f"d{a} + d{b} IS NOT NULL")
            for a, b in itertools.combinations(range(len(part.dates)), 2)
        ]
        many = f"SELECT person, count(r) AS x FROM people LEFT JOIN {own} USING (person) GROUP BY 1"
        queries.append(_fact(f"rows {number}", "x", f"({many})", is_given=is_given))
    gaps = "SELECT person, day - lag(day) OVER (PARTITION BY person ORDER BY day) AS x FROM days"
    queries.append(_fact("gap", "x", f"({gaps})", "x IS NOT NULL"))
    ends = {"span": "max(day) - min(day)"}
    ends |= {} if are_moved else {"first": "min(day)", "last": "max(day)"}
    queries += [
        _fact(kind, "x", f"(SELECT person, {end} AS x FROM days GROUP BY person)")
        for kind, end in ends.items()
    ]
    engine.execute(f"CREATE TABLE facts AS {' UNION ALL '.join(queries)}")


def _fact(kind: str, value: str, rows: str, where: str = "true", *, is_given: bool = False) -> str:
    return (
        f"SELECT person, md5_number('{kind} ' || {value}) AS fact, count(*)::INTEGER AS n, "
        f"{is_given} AS given FROM {rows} WHERE {where} GROUP BY person, {value}"
    )


def _find_shared(engine: duckdb.DuckDBPyConnection, drawn: Ints) -> pa.Table:
    """Return the facts of the drawn people for everybody who has them, sorted by fact.

    Within a fact, the largest count is first.
    """
    engine.register("drawn", pa.table({"person": drawn.astype(np.int32)}))
    engine.execute(
        "CREATE TABLE wanted AS SELECT fact, CAST(row_number() OVER () - 1 AS INTEGER) AS number "
        "FROM (SELECT DISTINCT fact FROM facts JOIN drawn USING (person))"
    )
    return engine.execute(
        "SELECT person, number AS fact, n, given FROM facts JOIN wanted USING (fact) "
        "ORDER BY number, n DESC, person"
    ).to_arrow_table()


class _SharedFacts:
    """The facts that people share with the drawn people, with sets of people as rows of bits."""

    def __init__(self, shared: pa.Table, sizes: Ints) -> None:
        self._person, self._fact, self._n, self._given = (
            shared.column(name).to_numpy() for name in ("person", "fact", "n", "given")
        )
        self._sizes = sizes
        self._starts = np.searchsorted(self._fact, np.arange(self._fact.max(initial=-1) + 2))

    def find_fewest(self, person: int, known: Sequence[int]) -> list[int]:
        """Return the smallest number of candidates of a person for each number of known facts."""
        places = np.flatnonzero(self._person == person)
        has = np.zeros((len(places), len(self._sizes)), np.bool_)
        for row, place in enumerate(places):
            start, end = self._starts[self._fact[place] : self._fact[place] + 2]
            many = np.searchsorted(-self._n[start:end], -self._n[place], side="right")
            has[row, self._person[start : start + many]] = True
        is_given = self._given[places]
        group = has[is_given].all(axis=0)
        free = has[~is_given][:, group]
        if not len(free):
            return [int(group.sum())] * len(known)
        least = int(self._sizes[person])
        free = _drop_needless(free)
        return [_fewest(free, facts, least) for facts in known]


def _drop_needless(has: Mask) -> Mask:
    """Return the distinct rows of bits that do not contain another row."""
    has = has[[*{row.tobytes(): place for place, row in enumerate(has)}.values()]]
    both = _count_both(has)
    contains = (both == np.diag(both)[:, None]) & ~np.eye(len(has), dtype=np.bool_)
    return np.asarray(has[~contains.any(axis=0)])


def _count_both(has: Mask) -> Ints:
    """Return the number of people in the intersection of each two rows of bits, (rows, rows)."""
    padded = np.pad(has, ((0, 0), (0, -has.shape[1] % 64)))
    words = np.ascontiguousarray(np.packbits(padded, axis=1)).view(np.uint64)
    return np.array([np.bitwise_count(words & one).sum(axis=1) for one in words], np.int64)


def _fewest(has: Mask, facts: int, least: int) -> int:
    """Return the smallest size of an intersection of `facts` rows; stop early at `least` people."""
    if facts == 1 or len(has) == 1:
        return int(has.sum(axis=1).min())
    if facts == 2:
        return int(_count_both(has).min())
    found = int(has.shape[1])
    for row in has:
        found = min(found, _fewest(np.asarray(has[:, row]), facts - 1, least))
        if found == least:
            break
    return found
