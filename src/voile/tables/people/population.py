"""Count the people of each combination of quasi-identifiers, from the available tables.

Numbers of people may be fractional, as expected values. The adversary's group is always counted as
g = max(subjects, people, 1). A fitted value of .3 people therefore never gives a risk above 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.report.wording import join_names
from voile.tables.domains.domain import ValueDomain
from voile.tables.people.counted_boxes import CountedBoxes
from voile.tables.people.counts import PopulationCounts, distinct_rows, row_keys
from voile.tables.people.margins import PeopleMargin, check_memory, fit_margins

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Table = tuple[tuple[str, ...], Codes, Floats]


class PopulationGapError(RequestError):
    """The population lacks some records. Correct it, or use `--population-gap sample`."""


def population_of(
    domains: Sequence[ValueDomain],
    codes: Codes,
    sample: Floats,
    tables: Sequence[Table] = (),
    *,
    fraction: float | None = None,
    gap: Literal["error", "sample"] = "error",
    sampled: bool = False,
    weighted: Table | None = None,
) -> PopulationCounts:
    """Build one population from all known counts, or from the sample if there are none.

    Tables take priority over `weighted`, the sums of sampling weights by all columns.

    Raises
    ------
    RequestError : a sampling fraction is given together with tables or weights.
    """
    if tables and fraction is not None:
        raise RequestError(
            "a population table and a sampling fraction are both given", instead="give one"
        )
    if weighted is not None and fraction is not None:
        raise RequestError(
            "sampling weights and a sampling fraction are both given",
            instead="leave the fraction out, or drop the column of weights",
        )
    if fraction is not None:
        return from_fraction(codes, sample, fraction)
    if weighted is not None and not tables:
        return from_weights(*weighted)
    if not tables:
        return from_sample(codes, sample)
    covered = [d for d in domains if any(d.column in columns for columns, _, _ in tables)]
    counted = (
        from_margins(covered, tables) if len(tables) > 1 else from_counts(covered, *tables[0][1:])
    )
    own = [i for i, d in enumerate(domains) if d in covered]
    counted = fill_gaps(covered, codes[:, own], sample, counted, how=gap)
    if len(covered) == len(domains):
        return counted
    return from_some(covered, counted, codes, sample, sampled=sampled)


def from_counts(domains: Sequence[ValueDomain], codes: Codes, people: Floats) -> PopulationCounts:
    """Return the population of a table that counts people by all quasi-identifiers.

    Equal rows are added up, and rows without people are removed.

    >>> from voile.tables.domains.parser import CellParser
    >>> ages = ValueDomain("age", (30, 31, 32), CellParser("number"))
    >>> found = from_counts([ages], np.array([[2], [0], [2]], np.int32), np.array([1.0, 4.0, 2.0]))
    >>> found.codes.tolist(), found.people.tolist(), found.how
    ([[0], [2]], [4.0, 3.0], 'counted by age')
    """
    _check(people)
    return PopulationCounts(
        *_distinct(domains, codes, people), f"counted by {join_names(_names(domains))}"
    )


def from_margins(domains: Sequence[ValueDomain], tables: Sequence[Table]) -> PopulationCounts:
    """Fit several tables by iterative proportional fitting. See `fit_margins`."""
    sizes = [len(d) for d in domains]
    check_memory(sizes, bytes_a_cell=16 + 12 * len(domains))
    names = _names(domains)
    margins = []
    for columns, codes, people in tables:
        _check(people)
        axes = tuple(names.index(c) for c in columns)
        counts = np.zeros([sizes[d] for d in axes])
        np.add.at(counts, tuple(codes.T), people)
        margins.append(PeopleMargin(axes, counts))
    fitted = fit_margins(sizes, margins)
    if fitted.largest_error > 1e-6 * max(float(fitted.counts.sum()), 1.0):
        raise RequestError(
            f"no counts have all these margins: after {fitted.iterations} rounds one is still "
            f"{fitted.largest_error:,.3g} people off",
            where="population tables",
            instead="give tables of one census, or fewer of them",
        )
    by = "; ".join(join_names(columns) for columns, _, _ in tables)
    filled = fitted.counts > 0
    return PopulationCounts(
        np.argwhere(filled).astype(np.int32),
        fitted.counts[filled],
        f"fitted by iterative proportional fitting to {len(tables)} tables (by {by})",
        ("Attributes that no table counts together are assumed to be independent.",),
    )


def from_some(
    covered: Sequence[ValueDomain],
    counted: PopulationCounts,
    codes: Codes,
    sample: Floats,
    *,
    sampled: bool = False,
) -> PopulationCounts:
    """Take the sample as the population if tables count people by some quasi-identifiers only.

    The tables do not show how many of those people also share the other columns. That number is
    estimated, for groups and in sums, if the source is declared a sample (`estimate_matches`).
    """
    alone = from_sample(codes, sample)
    return replace(
        alone,
        how=f"{counted.how}, and each group, which other columns divide, in the source",
        assumptions=(*counted.assumptions, *alone.assumptions),
        boxes=CountedBoxes(_names(covered), counted.codes, counted.people, sampled),
    )


def from_fraction(codes: Codes, sample: Floats, fraction: float) -> PopulationCounts:
    """Estimate the people of a combination as its subjects n divided by the sampling fraction.

    The estimate is unbiased for a group chosen before the sample is drawn. It is too large for
    groups that are observed because a person was drawn from them. `estimate_uniques` estimates the
    number of unique people.

    >>> from_fraction(np.array([[0]], np.int32), np.array([3.0]), 0.1).people.tolist()
    [30.0]
    """
    if not 0 < fraction < 1:
        raise RequestError(
            f"the sampling fraction {fraction:g} is not between 0 and 1",
            instead="leave it out if the sample is the population",
        )
    return PopulationCounts(
        codes,
        sample / fraction,
        f"estimated as the source divided by the sampling fraction {fraction:.3g}",
        (
            f"Every person is assumed equally likely, {fraction:.3g}, to be in the source.",
            "Groups that the sample shows are on average smaller than so estimated; the number "
            "of people unique in the population is estimated apart.",
        ),
        known=False,
    )


def from_weights(columns: tuple[str, ...], codes: Codes, people: Floats) -> PopulationCounts:
    """Estimate the people of a combination as the sum of its subjects' sampling weights.

    >>> found = from_weights(("w",), np.array([[0]], np.int32), np.array([310.5]))
    >>> found.people.tolist(), found.how
    ([310.5], 'estimated as the sums of sampling weights, column w')
    """
    return PopulationCounts(
        codes,
        people,
        f"estimated as the sums of sampling weights, column {join_names(columns)}",
        (
            "Each subject is assumed to represent people with the same values, as many as the "
            "sampling weight. Sums of risk are estimates, and one small group's people may be "
            "far off.",
        ),
        known=False,
        weighted=True,
    )


def from_sample(codes: Codes, sample: Floats) -> PopulationCounts:
    """Take the sample as the population, since no other people are known to hide a target."""
    return PopulationCounts(
        codes,
        sample.astype(np.float64),
        "not known: the source itself is counted as the population",
        (
            "An adversary is assumed to know that the target is in the source (prosecutor risk): "
            "people outside of it hide nobody. The true risk is at most the shown risk.",
        ),
        known=False,
    )


def fill_gaps(
    domains: Sequence[ValueDomain],
    codes: Codes,
    sample: Floats,
    population: PopulationCounts,
    *,
    how: Literal["error", "sample"] = "error",
) -> PopulationCounts:
    """Add combinations that the population lacks, with their sample counts, or raise an error.

    Raises
    ------
    PopulationGapError : the population lacks combinations of the sample, and `how` is ``error``.
    """
    sizes = [len(domain) for domain in domains]
    codes, sample = distinct_rows(codes, sample, sizes)
    absent = ~np.isin(row_keys(codes, sizes), row_keys(population.codes, sizes))
    if not absent.any():
        return population
    what = f"{sample[absent].sum():,.6g} records in {absent.sum():,} groups"
    if how == "error":
        raise PopulationGapError(
            f"{what} have no people in the population table",
            where=f"columns {join_names(_names(domains))}",
            instead="correct the population, or count them by the sample: --population-gap sample",
        )
    filled = distinct_rows(
        np.concatenate((population.codes, codes[absent])),
        np.concatenate((population.people, sample[absent])),
        sizes,
    )
    said = f"{what}, which the population lacks, are counted as if the source held all such people."
    return replace(
        population,
        codes=filled[0],
        people=filled[1],
        assumptions=(*population.assumptions, said),
    )


def _distinct(domains: Sequence[ValueDomain], codes: Codes, people: Floats) -> tuple[Codes, Floats]:
    """Return distinct rows with people in lexicographic order, and their sums."""
    rows, total = distinct_rows(codes, people, [len(domain) for domain in domains])
    return rows[total > 0], total[total > 0]


def _check(people: Floats) -> None:
    wrong = int((~np.isfinite(people) | (people < 0)).sum())
    if wrong:
        raise RequestError(
            f"{wrong:,} counts of people are negative or not numbers", where="population table"
        )
    if not people.sum() > 0:
        raise RequestError("it counts nobody", where="population table")


def _names(domains: Sequence[ValueDomain]) -> tuple[str, ...]:
    return tuple(d.column for d in domains)
