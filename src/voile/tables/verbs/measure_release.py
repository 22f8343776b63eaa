"""What the gate measures of a released table: its labels, and the columns that may be known."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.data import Source
from voile.gate.finding import GateFinding
from voile.gate.groups import open_groups
from voile.gate.table import TableColumns, measure_table
from voile.tables.people.counts import Counts, row_keys
from voile.tables.recoding.class_ids import CLASS
from voile.tables.recoding.codebook import UNKNOWN, Codebook, Coding
from voile.tables.recoding.marginals import Marginal, least_implied
from voile.tables.recoding.published import Published
from voile.tables.recoding.published_boxes import PublishedBoxes

PeopleOf: TypeAlias = Callable[[NDArray[np.int32]], NDArray[np.float64]]
"""Counts the people of the population who share each released group, by its intervals."""


def measure_release(
    release: Source,
    people: Source | None,
    codebook: Coding,
    *,
    people_of: PeopleOf | None = None,
    sensitive: Sequence[str] = (),
    unknown: Sequence[str] = (),
    texts: Sequence[str] = (),
    suppressed: float = 0.0,
    empty: Mapping[str, Collection[int]] | None = None,
    k: int = 1,
    directory: Path | None = None,
) -> tuple[GateFinding, ...]:
    """Return the gate's findings of a table, once its labels are those of the codebook.

    `unknown` are the columns that nobody can know of a person beforehand: the pseudonym; `texts`
    those that a study put into the table, and judges itself. `empty` are the numbers of cells that
    stand for no value: a row of these alone was suppressed, and is in no group.

    Raises
    ------
    TamperedError : a label is not in the codebook, or the two files differ in their rows.
    """
    names = list(release.columns)
    columns = TableColumns(
        sensitive=[x for x in sensitive if not pa.types.is_floating(release.columns[x])],
        known=[name for name in names if name not in {*unknown, *texts}],
        others=[n for n in names if n not in {*codebook.released, *texts, CLASS.name}],
    )
    with open_groups(
        release, codebook.released, people=people, suppressed=empty, directory=directory
    ) as groups:
        codes = codebook.released_codes(groups.labels)
        count = None if people_of is None else lambda _: people_of(codes)
        return measure_table(groups, columns, people_of=count, suppressed=suppressed, k=k)


def count_least_implied(
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
    with open_groups(release, codebook.released, people=people, directory=directory) as groups:
        codes, masses = codebook.released_codes(groups.labels), groups.masses
    places = codebook.quasi
    found = []
    for one in marginals:
        place = places.index(one.column)
        column = codebook.columns[place]
        held = np.bincount(codes[:, place], masses, len(column.entries))
        found.append(least_implied(column, one, np.rint(held).astype(np.int64)))
    return min(found)


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
