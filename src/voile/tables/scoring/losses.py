"""Measure a release's losses: three figures of any grouping of the source's combinations.

A policy of any family makes a grouping of the source. It defines the group of each combination, and
which values of each column a group shows as one. So the same functions measure bit-strings and
trees.

*Distribution* is eq. 4, divided by that of one group of all: how far values are from even within
the groups. It charges nothing for merging values that are equally frequent.

*Resolution* is the share of each column's entropy that is left within groups of people who share
all labels. It charges little for merging rare values. It also charges little for a column that is
one group if groups are small and have few values of it. (`hidden_by_column` measures the entropy
that labels alone hide.)

*NCP*, the normalised certainty penalty, is the width of the groups for any people in them (Xu et
al., KDD 2006). Suppressed subjects count as wholly lost in each.
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

    For the released subjects: the sum of 1 / g, and the largest 1 / g (0 without any). Then the
    share of suppressed subjects, and the three losses (see `losses`).
    """

    expected_matches: Floats
    largest: Floats
    suppressed: Floats
    distribution: Floats
    resolution: Floats
    ncp: Floats


@dataclass(frozen=True, eq=False)
class CombinationGrouping(BriefRepr):
    """Which group each combination is in, and which values of each column a group covers.

    group : (cells,) int, of every combination of the counts.
    box : (groups, attributes) int, the box of each column that a group shows.
    values : for each column (boxes, values) bool, the values of a box: an interval, or any set of
        them.
    kept : (groups,) bool, which are released.
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
        """(groups, attributes) how many values of each column a group covers."""
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
    """Return a grouping's `distribution`, `resolution` and `ncp`, each in [0, 1]; lower is better.

    Parameters
    ----------
    counts : of the source's combinations.
    grouping : of these combinations.
    uncertain : of `uncertain_by_column`, if the caller has it already.
    importance : (attributes,) >= 0, how much each column counts in `resolution`; None is alike.

    Examples
    --------
    Two values, held by one and by three people, merged:

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

    The mean over groups of H(column | group) / H(column), each group by its subjects; 0 for a
    column of one value. Suppressed subjects count 1 each. With groups that are more even than the
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
    """Return H of each column over subjects, in nats; 0 where all have one value."""
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
    """Return each column's weight in `resolution`: shares of 1, 0 for a column of one value."""
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
    """Return the nats that one group of all loses by eq. 4, over its subjects; 0 where even.

    A combination may be in several rows of the counts, where only some of its people are released.
    """
    keys = row_keys(counts.codes, counts.sizes)
    seen = _sums(number_groups(keys)[1], counts.sample)
    spread = np.log(np.asarray(counts.sizes, float)).sum() - np.log(counts.subjects)
    lost = float(n_log_n(seen).sum() + counts.subjects * spread)
    return lost if lost > 1e-12 * counts.subjects else 0.0


def n_log_n(n: Floats) -> Floats:
    """Return n log n in nats; 0 for n = 0."""
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
