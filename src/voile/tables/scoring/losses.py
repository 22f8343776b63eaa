"""Measure a release's losses: three figures of any grouping of the source's combinations.

A policy of any family groups the source. It defines the group of each combination, and the values
of each column that a group shows as one. The same functions therefore measure bit-strings and
trees.

*Distribution* (divergence loss) is eq. 4, divided by its value for one group of all. It measures
how far values within groups are from uniform. Merging values with equal frequencies costs nothing.

*Resolution* (entropy loss) is the share of each column's entropy that remains within groups of
people with the same labels. Merging rare values costs little. A column that is one group also costs
little if groups are small and have few of its values. (`hidden_by_column` measures the entropy that
labels alone hide.)

*NCP*, the normalised certainty penalty, is the width of the groups of all people (Xu et al., KDD
2006). Suppressed subjects count as a full loss in each figure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.core.errors import RequestError
from voile.tables.people.counts import CombinationCounts, add_by_key, number_groups, row_keys

Floats = NDArray[np.float64]
Ints = NDArray[np.integer[Any]]
Bits = NDArray[np.bool_]
T = TypeVar("T")

LOSSES = ("distribution", "resolution", "ncp")


@dataclass(frozen=True, eq=False)
class PolicyFigures(BriefRepr):
    """Figures of policies, (m,) each.

    `expected_matches` is the sum of 1 / g over released subjects, and `largest` the largest 1 / g
    (0 if nobody is released). `suppressed` is the share of suppressed subjects. The other figures
    are the three losses (see `losses`).
    """

    expected_matches: Floats
    largest: Floats
    suppressed: Floats
    distribution: Floats
    resolution: Floats
    ncp: Floats


@dataclass(frozen=True, eq=False)
class CombinationGrouping(BriefRepr):
    """The group of each combination, and the values of each column that a group covers.

    Attributes
    ----------
    group : (cells,) int, the group of every combination of the counts.
    box : (groups, attributes) int, the number of the value set that a group shows in each column.
    values : for each column (sets, values) bool, the values of each set: an interval, or any set.
    kept : (groups,) bool, whether the group is released.
    """

    group: Ints
    box: Ints
    values: tuple[Bits, ...]
    kept: Bits

    @classmethod
    def of_all(cls, counts: CombinationCounts) -> CombinationGrouping:
        """Return one group of all combinations."""
        values = tuple(np.ones((1, size), np.bool_) for size in counts.sizes)
        group, box = np.zeros(len(counts.codes), np.int64), np.zeros((1, len(values)), np.int64)
        return cls(group, box, values, np.ones(1, np.bool_))

    @property
    def widths(self) -> Floats:
        """Return the number of values of each column that a group covers, (groups, attributes)."""
        widths = np.empty(self.box.shape)
        for at, own in enumerate(self.values):
            widths[:, at] = own.sum(axis=1)[self.box[:, at]]
        return widths


def losses(
    counts: CombinationCounts,
    grouping: CombinationGrouping,
    *,
    importance: Sequence[float] | None = None,
    uncertain: Floats | None = None,
) -> dict[str, float]:
    """Return a grouping's `distribution`, `resolution` and `ncp`, each in [0, 1]. Lower is better.

    Parameters
    ----------
    counts : the counts of the source's combinations.
    grouping : the grouping of these combinations.
    uncertain : the result of `uncertain_by_column`, if the caller has computed it.
    importance : (attributes,) >= 0, the weight of each column in `resolution`. None gives equal
        weights.

    Examples
    --------
    Two values of one and of three people are merged:

    >>> counts = CombinationCounts(
    ...     sizes=(2,), codes=np.array([[0], [1]], np.int32), sample=np.array([1.0, 3.0]),
    ...     population=np.array([1.0, 3.0]), sensitive=np.zeros((2, 0)),
    ... )
    >>> box, both, kept = np.array([[0]]), np.array([[True, True]]), np.array([True])
    >>> losses(counts, CombinationGrouping(np.array([0, 0]), box, (both,), kept))
    {'distribution': 1.0, 'resolution': 1.0, 'ncp': 1.0}
    """
    n = _sums(grouping.group, counts.sample, len(grouping.kept))
    dropped = float(n[~grouping.kept].sum()) / counts.subjects
    shares, most = importance_shares(counts, importance), distribution_of_all(counts)
    found = {
        "distribution": (nats_of(counts, grouping) / most if most else 0.0) + dropped,
        "resolution": float(shares @ hidden_by_column(counts, grouping, uncertain)),
        "ncp": _certainty_penalty(counts, grouping, n) + dropped,
    }
    return {name: min(max(value, 0.0), 1.0) for name, value in found.items()}


def hidden_by_column(
    counts: CombinationCounts, grouping: CombinationGrouping, uncertain: Floats | None = None
) -> Floats:
    """Return the share of each column's entropy that the groups hide, (attributes,) >= 0.

    It is the mean over groups of H(column | group) / H(column), weighted by subjects, and 0 for a
    column with one value. Suppressed subjects count 1 each. If groups are more uniform than the
    source, the sum can therefore exceed 1.
    """
    kept = grouping.kept[grouping.group]
    dropped = counts.subjects - counts.sample[kept].sum()
    entropy = entropies(counts)
    uncertain = uncertain_by_column(counts, grouping) if uncertain is None else uncertain
    most = counts.subjects * entropy
    hidden = np.zeros_like(most)
    np.divide(uncertain + dropped * entropy, most, out=hidden, where=entropy > 0)
    return np.maximum(hidden, 0.0)


def uncertain_by_column(counts: CombinationCounts, grouping: CombinationGrouping) -> Floats:
    """Return n H(column | group) in nats for each column, summed over the released groups."""
    kept = np.flatnonzero(grouping.kept[grouping.group] & (counts.sample > 0))
    is_whole = len(kept) == len(counts.sample)
    sample = counts.sample if is_whole else counts.sample[kept]
    group = grouping.group if is_whole else grouping.group[kept]
    uncertain = np.zeros(len(counts.sizes))
    whole = n_log_n(_sums(group, sample)).sum()
    for d, size in enumerate(counts.sizes):
        pairs = group * np.int64(size)
        pairs += counts.places[d] if is_whole else counts.places[d][kept]
        uncertain[d] = whole - n_log_n(add_by_key(pairs, sample)).sum()
    return uncertain


def compute_once(compute: Callable[[CombinationCounts], T]) -> Callable[[CombinationCounts], T]:
    """Compute a figure of the source alone once, however many policies are scored on it."""
    known: WeakKeyDictionary[CombinationCounts, T] = WeakKeyDictionary()

    @wraps(compute)
    def find(counts: CombinationCounts) -> T:
        if counts not in known:
            known[counts] = compute(counts)
        return known[counts]

    return find


@compute_once
def entropies(counts: CombinationCounts) -> Floats:
    """Return H of each column over subjects, in nats, or 0 for a column with one value."""
    made = np.zeros(len(counts.sizes))
    for d, size in enumerate(counts.sizes):
        held = _sums(counts.codes[:, d], counts.sample, size)
        if (held > 0).sum() > 1:
            made[d] = np.log(counts.subjects) - n_log_n(held).sum() / counts.subjects
    made.setflags(write=False)
    return made


def importance_shares(
    counts: CombinationCounts, importance: Sequence[float] | None = None
) -> Floats:
    """Return each column's weight in `resolution`.

    The weights sum to 1. The weight of a column with one value is 0.
    """
    given = np.ones(len(counts.sizes)) if importance is None else np.asarray(importance, float)
    if given.shape != (len(counts.sizes),) or not (np.isfinite(given) & (given >= 0)).all():
        raise RequestError(
            f"the importance of columns is not {len(counts.sizes)} numbers of 0 or more"
        )
    if len(given) and not given.any():
        raise RequestError("no column has an importance", instead="give one of them more than 0")
    counted = np.where(entropies(counts) > 0, given, 0.0)
    return counted / counted.sum() if counted.any() else counted


@compute_once
def distribution_of_all(counts: CombinationCounts) -> float:
    """Return the nats that one group of all loses by eq. 4, in total, or 0 if it is uniform.

    A combination may occur in several rows of the counts, if only some of its people are released.
    """
    keys = row_keys(counts.codes, counts.sizes)
    seen = _sums(number_groups(keys)[1], counts.sample)
    spread = np.log(np.asarray(counts.sizes, float)).sum() - np.log(counts.subjects)
    lost = float(n_log_n(seen).sum() + counts.subjects * spread)
    return lost if lost > 1e-12 * counts.subjects else 0.0


def n_log_n(n: Floats) -> Floats:
    """Return n log n in nats, or 0 for n = 0."""
    return n * np.log(np.where(n > 0, n, 1.0))


def _sums(at: Ints, values: Floats, room: int = 0) -> Floats:
    return np.bincount(at, values, room).astype(np.float64)


def nats_of(counts: CombinationCounts, grouping: CombinationGrouping) -> float:
    """Return the nats that released groups lose by eq. 4."""
    n = _sums(grouping.group, counts.sample, len(grouping.kept))
    kept = grouping.kept[grouping.group]
    own = n_log_n(counts.sample[kept]).sum()
    log_width = np.log(grouping.widths).sum(axis=1)
    groups = (n * log_width - n_log_n(n))[grouping.kept].sum()
    return float(own + groups)


def _certainty_penalty(
    counts: CombinationCounts, grouping: CombinationGrouping, n: Floats
) -> float:
    wide = (grouping.widths - 1) / np.maximum(np.asarray(counts.sizes, float) - 1, 1)
    mean = wide.sum(axis=1) / max(wide.shape[1], 1)
    return float((n * mean)[grouping.kept].sum()) / counts.subjects
