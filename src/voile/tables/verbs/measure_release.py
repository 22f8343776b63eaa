"""Run the gate on a released table: its labels, and the columns that an adversary may know."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.data import Source
from voile.gate.finding import GateFinding
from voile.gate.groups import TableColumns, open_groups
from voile.gate.losses import number_tuples
from voile.gate.safe_harbor import count_safe_harbor
from voile.gate.table import measure_table
from voile.tables.domains.domain import ValueDomain
from voile.tables.domains.zip_areas import SMALL_AREAS, count_areas, is_zip
from voile.tables.people.counts import CombinationCounts, PopulationCounts, count_by_value
from voile.tables.recoding.class_ids import CLASS
from voile.tables.recoding.codebook import ReleaseCodebook
from voile.tables.recoding.marginals import ColumnMarginal, least_implied

NOT_RELEASED = -1
"""The group number of a row that no release shows."""
PeopleOf: TypeAlias = Callable[[NDArray[np.int32]], NDArray[np.float64]]
"""A function that counts the population's people in each released group, given its intervals."""
CENSUS_AREAS = SMALL_AREAS["2010"]
AREAS = "small_areas"
"""The private manifest's key for the population's small ZIP areas. Null if nobody is counted."""

MADE_UP_NAME = "a made-up name, keyed by a secret"
"""The text in a public manifest for a column of names that a study added to a table."""


def measure_release(
    release: Source,
    people: Source | None,
    codebook: ReleaseCodebook,
    labels: Sequence[str],
    *,
    people_of: PeopleOf | None = None,
    sensitive: Sequence[str] = (),
    unknown: Sequence[str] = (),
    texts: Sequence[str] = (),
    made_up: Sequence[str] = (),
    small_areas: Collection[str] | None = None,
    suppressed: float = 0.0,
    k: int = 1,
    directory: Path | None = None,
) -> tuple[GateFinding, ...]:
    """Return the gate's findings on a table, after checking its labels against the codebook.

    - `labels` are the generalised columns, including those that the codebook does not list.
    - `unknown` are the columns that nobody can know of a person beforehand: the pseudonym.
    - `texts` are the columns that a study added to the table and evaluates itself.
    - `made_up` are the study's columns of invented names.
    - `small_areas` are the three-digit ZIP areas of 20,000 people or fewer in the population. None
      uses those of the 2010 census.

    Raises
    ------
    TamperedError : a label is not in the codebook, or the two files differ in their rows.
    """
    names = list(release.columns)
    columns = TableColumns(
        sensitive=[x for x in sensitive if not pa.types.is_floating(release.columns[x])],
        known=[name for name in names if name not in {*unknown, *texts}],
        others=[n for n in names if n not in {*labels, *texts, CLASS.name}],
    )
    with open_groups(
        release, labels, columns=columns, people=people, directory=directory
    ) as groups:
        codes = codebook.released_codes(groups.labels)
        count = None if people_of is None else lambda _: people_of(codes)
        found = measure_table(groups, people_of=count, suppressed=suppressed, k=k)
    areas = CENSUS_AREAS if small_areas is None else small_areas
    pseudonyms = [name for name in unknown if name != CLASS.name]  # a class is not a person
    return *found, *count_safe_harbor(release, pseudonyms, areas, unread=[*texts, *made_up])


def count_least_implied(
    release: Source,
    people: Source | None,
    codebook: ReleaseCodebook,
    marginals: Sequence[ColumnMarginal],
    *,
    directory: Path | None = None,
) -> int:
    """Return the least count of people that a written release and its marginals imply together.

    Raises
    ------
    TamperedError : no people could be in both.
    """
    with open_groups(
        release, codebook.released_columns, people=people, directory=directory
    ) as groups:
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
    codebook: ReleaseCodebook,
    domains: Sequence[ValueDomain],
    counts: CombinationCounts,
    codes: NDArray[np.int32],
) -> NDArray[np.float64]:
    """Count the people of the population who would share each released group.

    The groups are derived from the published codebook alone, as an adversary derives them.
    """
    own = codebook.codes_of(domains, counts.codes)
    group = number_tuples(*np.concatenate([codes, own]).T)
    released, others = np.split(group, [len(codes)])
    people = np.bincount(others, counts.population, int(group.max(initial=0)) + 1)
    return np.asarray(people[released])


def count_population(counts: CombinationCounts, values: NDArray[Any]) -> NDArray[np.float64]:
    """Count the people of the population with each of (m, q) combinations."""
    cell = number_tuples(*np.concatenate([values.astype(np.int64), counts.codes]).T)
    own, others = np.split(cell, [len(values)])
    people = np.bincount(others, counts.population, int(cell.max(initial=0)) + 1)
    return np.asarray(people[own], dtype=np.float64)


def find_small_areas(
    domains: Sequence[ValueDomain], counts: CombinationCounts, population: PopulationCounts
) -> list[str] | None:
    """Return the three-digit ZIP areas of 20,000 people or fewer, or None if nobody is counted."""
    quasi = [domain.column for domain in domains]
    zips = [x for x in domains if is_zip(x) and population.counts_by(x.column)]
    people = [count_by_value(quasi, counts, population, one.column) for one in zips]
    areas = [count_areas(*one) for one in zip(zips, people, strict=True)]
    small = {x for one in areas for x in np.array(one.names)[one.small].tolist()}
    return sorted(small) if zips else None
