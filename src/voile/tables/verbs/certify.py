"""The certificate: what a written release discloses, counted on the release itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.errors import TamperedError
from voile.data import Source
from voile.data.source import evenly, identifier
from voile.engines.counting import count_combinations
from voile.engines.duck import connect
from voile.report.suppression import FEW, is_few
from voile.tables.people.combinations import value_order
from voile.tables.people.counts import Counts, row_keys
from voile.tables.recoding.class_ids import CLASS
from voile.tables.recoding.codebook import UNKNOWN, Codebook, Coding
from voile.tables.recoding.marginals import Marginal, least_implied
from voile.tables.recoding.published import Published
from voile.tables.recoding.published_boxes import PublishedBoxes
from voile.tables.scoring.disclosure import (
    OF_NAMES,
    OF_SENSITIVE,
    SMALL_GROUP,
    Classes,
    PeopleAtRisk,
    disclosure,
    of_column,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

PERSON = "voile person"
PeopleOf: TypeAlias = Callable[[NDArray[np.int32]], NDArray[np.float64]]
"""Counts the people of the population who share each released group, by its intervals."""


class WithPerson(Source):
    """A release's rows beside the token of the person that each is about."""

    def __init__(self, release: Source, people: Source) -> None:
        fields = [pa.field(name, type_) for name, type_ in release.columns.items()]
        fields.append(pa.field(PERSON, pa.int64()))
        super().__init__(release.name, release.kind, fields)
        self._release, self._people = release, people

    def _read(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        shown = [name for name in columns if name != PERSON]
        release = evenly(self._release.batches(shown, batch_rows=rows), rows)
        people = evenly(self._people.batches(["person"], batch_rows=rows), rows)
        for part, who in zip_longest(release, people):
            if part is None or who is None or len(part) != len(who):
                raise TamperedError("the release has not the rows that its people have")
            yield from part.append_column(PERSON, who.column(0)).select(columns).to_batches()

    def fingerprint(self) -> str:
        return self._release.fingerprint()


def certify(
    release: Source,
    people: Source | None,
    codebook: Coding,
    *,
    people_of: PeopleOf | None = None,
    sensitive: Sequence[str] = (),
    unknown: Sequence[str] = (),
    texts: Sequence[str] = (),
    suppressed: float = 0.0,
    directory: Path | None = None,
) -> dict[str, float]:
    """Count a release's equivalence classes where it lies, and compute every measure of them.

    `people` holds the `person` tokens in the release's order, None when a row is one; `people_of`
    counts the population's people who share released groups, without which g is the release's own;
    `unknown` the columns that nobody can know of a person beforehand: the pseudonym; `texts` those
    that a study put into the table, and judges itself.

    Beside the measures, those of a sensitive column as ``name(column)``: ``unique_with_kept``, the
    people unique on all released columns, and the people released and dropped. A group counts each
    person who has a row in it once, and a person's risk is the largest over her rows. Where
    pseudonyms show whose each row is, and somebody has several rows, ``k_all_rows`` and
    ``unique_all_rows`` count people by the groups of all their rows, and so do
    ``groups_under_11`` and ``people_under_11``, the groups of fewer than 11 people, and theirs.
    """
    counted: Source = release if people is None else WithPerson(release, people)
    subject = None if people is None else PERSON
    with connect(directory=directory) as connection:
        classes, groups = _classes(counted, codebook, subject, people_of, connection)
        at_risk = (
            PeopleAtRisk.of(classes)
            if subject is None
            else _people_at_risk(counted, groups, classes.population, connection)
        )
        figures = disclosure(classes, suppressed=suppressed, at_risk=at_risk)
        figures |= at_risk.in_small_groups
        figures |= {"subjects": float(round(classes.sample.sum())), "suppressed": float(suppressed)}
        if subject is not None and len(classes.sample) and set(unknown) - {CLASS.name}:
            figures |= _by_all_rows(counted, codebook.released, connection)
        for column in sensitive:
            if pa.types.is_floating(release.columns[column]):
                continue
            by_value, ordered = _by_value(counted, codebook, column, subject, connection)
            if not len(by_value):
                continue
            found = disclosure(Classes(by_value.sum(1), by_value.sum(1), by_value))
            for name in OF_SENSITIVE if ordered else OF_NAMES:
                figures[of_column(name, column)] = found[name]
        known = [name for name in release.columns if name not in {*unknown, *texts}]
        unique, people_released = _unique(counted, known, subject, connection), figures["subjects"]
        figures["unique_with_kept"] = float(unique)
        figures["share_unique_with_kept"] = unique / people_released if people_released else 0.0
        figures["most_unique_with_kept"] = _at_most(unique, people_released)
    return figures


def _at_most(count: float, people: float) -> float:
    """Return a share that is public: where it, or its rest, counts few people, the most of it."""
    few = FEW if is_few(count) else people if is_few(people - count) else count
    return min(few / people, 1.0) if people else 0.0


def certify_marginals(
    release: Source,
    people: Source | None,
    codebook: Codebook,
    marginals: Sequence[Marginal],
    *,
    directory: Path | None = None,
) -> int:
    """Return the least count of people that a written release and its marginals imply together.

    Raises
    ------
    TamperedError : no people could be in both.
    """
    counted: Source = release if people is None else WithPerson(release, people)
    subject = None if people is None else PERSON
    with connect(directory=directory) as connection:
        classes, groups = _classes(counted, codebook, subject, None, connection)
    codes = codebook.released_codes(groups)
    places = codebook.quasi
    found = []
    for one in marginals:
        place = places.index(one.column)
        column = codebook.columns[place]
        held = np.bincount(codes[:, place], classes.sample, len(column.entries))
        found.append(least_implied(column, one, np.rint(held).astype(np.int64)))
    return min(found)


def _people_at_risk(
    counted: Source,
    groups: pa.Table,
    population: NDArray[np.float64],
    connection: DuckDBPyConnection,
) -> PeopleAtRisk:
    """Count the people of a release by the smallest group, and the smallest g, of their rows."""
    columns = groups.column_names
    keys = [f"k{place}" for place in range(len(columns))]
    named = ", ".join(f"{identifier(c)} AS {key}" for c, key in zip(columns, keys, strict=True))
    same = " AND ".join(f"pairs.{key} IS NOT DISTINCT FROM sizes.{key}" for key in keys)
    connection.register(
        "sizes", groups.rename_columns(keys).append_column("people", pa.array(population))
    )
    pairs = f"SELECT DISTINCT {identifier(PERSON)} AS person, {named} FROM source"
    grouped = f"SELECT *, count(*) OVER (PARTITION BY {', '.join(keys)}) AS n FROM ({pairs})"
    least = (
        "SELECT min(n)::DOUBLE AS n, min(greatest(n, people))::DOUBLE AS g, "
        f"coalesce(sum(1 / n) FILTER (n < {SMALL_GROUP}), 0) AS small "
        f"FROM ({grouped}) AS pairs JOIN sizes ON {same} GROUP BY person"
    )
    sql = (
        "SELECT count(*)::DOUBLE AS held, n, g, sum(small ORDER BY small) AS small "
        f"FROM ({least}) GROUP BY n, g ORDER BY n, g"
    )
    found = counted.relation(connection, [*columns, PERSON]).query("source", sql).fetchnumpy()
    return PeopleAtRisk(*(np.asarray(found[name]) for name in ("held", "n", "g", "small")))


def _by_all_rows(
    counted: Source, columns: Sequence[str], connection: DuckDBPyConnection
) -> dict[str, float]:
    """Count people by the groups of all their rows; nothing where each has one row.

    Rows count as often as they are there: how many a person has is known with them.
    """
    keys, who = ", ".join(identifier(name) for name in columns), identifier(PERSON)
    place = f"dense_rank() OVER (ORDER BY {keys})" if columns else "1"
    shown = f"SELECT {who} AS p, {place} AS place FROM source"
    own = f"SELECT list(place ORDER BY place) AS places FROM ({shown}) GROUP BY p"
    kinds = f"SELECT len(places) AS many, count(*) AS n FROM ({own}) GROUP BY places"
    few = f"FILTER (n < {SMALL_GROUP})"
    sql = (
        f"SELECT max(many), min(n), count(*) FILTER (n = 1), count(*) {few}, sum(n) {few} "
        f"FROM ({kinds})"
    )
    relation = counted.relation(connection, [*columns, PERSON])
    ((many, *found),) = relation.query("source", sql).fetchall()
    names = ("k_all_rows", "unique_all_rows", "groups_under_11", "people_under_11")
    return {name: float(n or 0) for name, n in zip(names, found, strict=True)} if many > 1 else {}


def _number(
    counted: Source, columns: Sequence[str], sql: str, connection: DuckDBPyConnection
) -> int:
    ((number,),) = counted.relation(connection, columns).query("source", sql).fetchall()
    return int(number)


def _classes(
    counted: Source,
    codebook: Coding,
    subject: str | None,
    people_of: PeopleOf | None,
    connection: DuckDBPyConnection,
) -> tuple[Classes, pa.Table]:
    """Count the equivalence classes, and return the labels that each shows."""
    table = count_combinations(counted, codebook.released, subject=subject, connection=connection)
    codes = codebook.released_codes(table)
    sample = table.column("count").to_numpy()
    people = sample if people_of is None else people_of(codes)
    return Classes(sample, people, np.zeros((len(sample), 0))), table.select(codebook.released)


def people_sharing(
    published: Published | PublishedBoxes, counts: Counts, codes: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Count the people of the population who would share each released group."""
    own = published.codes_of(counts.codes)
    shown = (own != UNKNOWN).all(axis=1)  # nobody else shares a group with a released row
    keys = row_keys(np.concatenate([codes, own[shown]]), published.codebook.sizes)
    groups, place = np.unique(keys, return_inverse=True)
    people = np.bincount(place[len(codes) :], counts.population[shown], len(groups))
    return np.asarray(people[place[: len(codes)]])


def _by_value(
    counted: Source,
    codebook: Coding,
    column: str,
    subject: str | None,
    connection: DuckDBPyConnection,
) -> tuple[NDArray[np.float64], bool]:
    columns = [*codebook.released, column]
    table = count_combinations(counted, columns, subject=subject, connection=connection)
    codes = codebook.released_codes(table)
    groups, place = np.unique(row_keys(codes, codebook.sizes), return_inverse=True)
    values = table.column(column).combine_chunks().dictionary_encode(null_encoding="encode")
    by_value = np.zeros((len(groups), len(values.dictionary)))
    np.add.at(by_value, (place, values.indices.to_numpy()), table.column("count").to_numpy())
    order, ordered = value_order(values.dictionary.to_pylist())
    return by_value[:, order], ordered


def _unique(
    counted: Source, columns: Sequence[str], subject: str | None, connection: DuckDBPyConnection
) -> int:
    """Count the people of whom some released row is nobody else's, these columns read."""
    keys = ", ".join(f"{identifier(name)}::VARCHAR" for name in columns)
    alone = "count(*) = 1" if subject is None else f"count(DISTINCT {identifier(PERSON)}) = 1"
    who = "1 AS p" if subject is None else f"any_value({identifier(PERSON)}) AS p"
    people = "count(*)" if subject is None else "count(DISTINCT p)"
    wanted = [*columns, *([] if subject is None else [PERSON])]
    sql = f"SELECT {people} FROM (SELECT {who} FROM source GROUP BY {keys} HAVING {alone})"
    return _number(counted, wanted, sql, connection)
