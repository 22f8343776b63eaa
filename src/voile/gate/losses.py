"""Measure a release's information loss, from each row's values and the labels that replace them.

- *Divergence loss* is eq. 4 of Xia et al. (CODASPY 2013), divided by its value for one group of
  all people. It measures how unevenly values are distributed within groups.
- *Entropy loss* is the share of each column's entropy that remains within groups,
  H(column | group) / H(column). It is averaged over the columns with more than one value.
- *NCP*, the normalised certainty penalty (Xu et al., KDD 2006), is the mean width of the labels.

A row that is not released counts as fully lost. A person is divided evenly among her distinct
combinations of values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.gate.finding import GateFinding, StatedAdversary
from voile.gate.groups import PeopleAtRisk

Floats = NDArray[np.float64]
Ints = NDArray[np.integer[Any]]
MOST = 2**62
"""The largest number of codes of a tuple. `number_tuples` renumbers codes before they exceed it."""
ANALYST = StatedAdversary("has the source and the release", "release and source")


@dataclass(frozen=True, eq=False)
class PlacedRows:
    """The distinct rows of a source, with their number of people and their group of released rows.

    values : (m, q) integers.
    people : (m,) > 0, the number of people with these values in this group.
    group : (m,), the group's number from 0, or -1 for rows that are not released.
    widths : (groups, q) >= 1, the number of the domain's values that a label covers.
    sizes : (q,), the number of values of each domain.
    at_risk : counts of the source's people, with each row's original values as its labels.
    """

    values: Ints
    people: Floats
    group: Ints
    widths: Floats
    sizes: Sequence[int]
    at_risk: PeopleAtRisk

    @classmethod
    def of_rows(
        cls,
        values: Ints,
        group: Ints,
        widths: Floats,
        sizes: Sequence[int],
        person: Ints | None = None,
        *,
        people_of: Callable[[Ints], Floats] | None = None,
    ) -> PlacedRows:
        """Count the people of distinct rows, given (n, q) values and the (n,) group of each row.

        person : (n,), the person of each row. A person is divided evenly among her distinct
            combinations. None means that each row is a person.
        people_of : a function that counts the population's people for each combination of values.
        """
        cell = number_tuples(*values.T)
        weights = np.ones(len(cell)) if person is None else _spread_people(person, cell)
        place = number_tuples(cell, group)
        first = _first_of(place)
        people = np.bincount(place, weights).astype(np.float64)
        combinations = values[_first_of(cell)]
        register = np.ones(len(combinations)) if people_of is None else people_of(combinations)
        at_risk = _find_at_risk(np.arange(len(cell)) if person is None else person, cell, register)
        return cls(values[first], people, group[first], widths, sizes, at_risk)


def _find_at_risk(person: Ints, cell: Ints, register: Floats) -> PeopleAtRisk:
    """Count people by the combination of values that the fewest people have, among their rows.

    cell : (n,), the number of each row's combination.
    register : (cells,) >= 0, the population's number of people for each combination. The larger of
        this count and the count in the rows is used.
    """
    first = _first_of(number_tuples(person, cell))
    held = np.bincount(cell[first], minlength=len(register)).astype(np.float64)
    who = number_tuples(person)[first]
    found = []
    for sizes in (held, np.maximum(held, register)):
        least = np.full(int(who.max(initial=-1)) + 1, np.inf)
        np.minimum.at(least, who, sizes[cell[first]])
        found.append(least)
    return PeopleAtRisk(np.ones(len(found[0])), *found)


def _spread_people(person: Ints, cell: Ints) -> Floats:
    """Return row weights that sum to 1 for each person, with equal sums for her combinations."""
    pair = number_tuples(person, cell)
    times = np.bincount(pair)[pair]
    number = number_tuples(person)
    cells = np.bincount(number[_first_of(pair)])[number]
    return np.asarray(1.0 / (times * cells))


def measure_losses(
    rows: PlacedRows, *, weight: float | None = 0.5, importance: Sequence[float] | None = None
) -> tuple[GateFinding, ...]:
    """Return the findings `distribution`, `resolution`, `ncp` and `information_loss`, in [0, 1].

    Lower is better. A source without rows has no findings.

    Parameters
    ----------
    weight : in [0, 1], the weight of `distribution` in `information_loss`. The weight of
        `resolution` is 1 - `weight`. None omits the finding `information_loss`.
    importance : (q,) >= 0, the weight of each column in `resolution`. None gives equal weights.

    Cost: O(m q log m) time.
    """
    people, kept = float(rows.people.sum()), rows.group >= 0
    if not people:
        return ()
    lost = float(rows.people[~kept].sum()) / people
    widths = rows.widths[rows.group[kept]]
    shares = (widths - 1) / np.maximum(np.asarray(rows.sizes, float) - 1, 1)
    found = {
        "distribution": _divergence(rows, kept) + lost,
        "resolution": _entropy_lost(rows, kept, importance),
        "ncp": float(rows.people[kept] @ shares.mean(axis=1)) / people + lost,
    }
    found = {name: min(max(x, 0.0), 1.0) for name, x in found.items()}
    if weight is not None:
        found["information_loss"] = (
            weight * found["distribution"] + (1 - weight) * found["resolution"]
        )
    return tuple(ANALYST.finds(name, x, "share", n=people) for name, x in found.items())


def _divergence(rows: PlacedRows, kept: NDArray[np.bool_]) -> float:
    people, own = float(rows.people.sum()), rows.people[kept]
    spread = np.log(np.asarray(rows.sizes, float)).sum() - np.log(people)
    most = _n_log_n(rows.people, *rows.values.T) + people * spread
    if most <= 1e-12 * people:
        return 0.0
    group, values = rows.group[kept], rows.values[kept]
    within = _n_log_n(own, group, *values.T) - _n_log_n(own, group)
    return float(within + own @ np.log(rows.widths[group]).sum(axis=1)) / float(most)


def _entropy_lost(
    rows: PlacedRows, kept: NDArray[np.bool_], importance: Sequence[float] | None
) -> float:
    people, own, group = float(rows.people.sum()), rows.people[kept], rows.group[kept]
    lost, counted, shares = people - float(own.sum()), 0.0, 0.0
    each = np.ones(len(rows.sizes)) if importance is None else np.asarray(importance, float)
    whole = _n_log_n(own, group)
    for column, counts in zip(rows.values.T, each, strict=True):
        entropy = np.log(people) - _n_log_n(rows.people, column) / people
        if column.min() < column.max():
            within = whole - _n_log_n(own, group, column[kept])
            shares += counts * (within + lost * entropy) / (people * entropy)
            counted += counts
    return float(shares / counted) if counted else 0.0


def _n_log_n(people: Floats, *keys: Ints) -> float:
    """Return the sum of n log n in nats, where n is the number of people of each distinct key."""
    n = np.bincount(number_tuples(*keys), people) if len(people) else np.zeros(0)
    n = n[n > 0]
    return float(n @ np.log(n))


def number_tuples(*keys: Ints) -> NDArray[np.int64]:
    """Number the distinct tuples of several columns from 0, in sorted order, (n,)."""
    number, span = np.zeros(len(keys[0]), dtype=np.int64), 1
    for key in keys:
        least = int(key.min(initial=0))
        size = int(key.max(initial=0)) - least + 1
        if span * size > MOST:
            number, span = _dense(number, span)
        number = number * size + (key.astype(np.int64) - least)
        span *= size
    return _dense(number, span)[0]


def _dense(number: NDArray[np.int64], span: int) -> tuple[NDArray[np.int64], int]:
    """Replace integers below `span` by their ranks, and return the ranks and their number."""
    if span > 4 * len(number) + 64:
        values, ranks = np.unique(number, return_inverse=True)
        return ranks.astype(np.int64), len(values)
    held = np.zeros(span, dtype=np.int64)
    held[number] = 1
    ranks = np.cumsum(held) - 1
    return ranks[number], int(held.sum())


def _first_of(number: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the place of one row for each number from 0, (numbers,)."""
    first = np.zeros(int(number.max(initial=-1)) + 1, dtype=np.int64)
    first[number] = np.arange(len(number))
    return first
