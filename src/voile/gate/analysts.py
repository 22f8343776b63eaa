"""Measure a release's use to analysts: the detail of its columns, and the error of counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.gate.finding import GateFinding
from voile.gate.losses import ANALYST, Floats, Ints, PlacedRows, number_tuples

Bits = NDArray[np.bool_]

QUERY_ERROR = "query_error"
WITH_RUNS = "query_error_with_runs"
BY_LABELS = "hidden_by_labels"
LABELS, ENTROPY, RARE_MERGED = "labels", "entropy_kept", "rare_values_merged"
OF_COLUMN = (LABELS, ENTROPY, RARE_MERGED)

QUERIES = 1_000
MOST_COLUMNS = 3
LEAST_SHARE, MOST_SHARE = 0.05, 0.30
LEAST_COUNT = 0.001
RARE = 0.5
ROUNDING = 1e-9
AT_ONCE = 1_000_000
"""The largest number of combinations times queries that one step processes."""


@dataclass(frozen=True, eq=False)
class ReleasedLabels:
    """The labels of each released group, and the values of the domain that each label covers.

    label : (groups, q) integers, the code of each group's label in each column.
    covered : for each column a boolean array (labels, values), True if the label covers the value.
    """

    label: Ints
    covered: Sequence[Bits]

    @property
    def widths(self) -> Floats:
        """The number of values that each group's label covers in each column, (groups, q)."""
        pairs = zip(self.covered, self.label.T, strict=True)
        return np.column_stack([held.sum(axis=1)[own] for held, own in pairs]).astype(np.float64)


def measure_utility(
    rows: PlacedRows,
    labels: ReleasedLabels,
    names: Sequence[str],
    *,
    likely: Sequence[Floats | Bits] | None = None,
    importance: Sequence[float] | None = None,
) -> Iterator[GateFinding]:
    """Yield findings about the remaining detail of each column and the error of COUNT queries.

    The findings for each column:

    labels : the number of different labels of the column in the release.
    entropy_kept : the share of the column's entropy that its own labels keep.
    rare_values_merged : the share of people with a rare value that the release merges with other
        values or suppresses. A value is rare if fewer than n / (2 x distinct values) people have
        it.

    Parameters
    ----------
    names : the names of the columns.
    likely : for each column an array (labels, values) >= 0, the number of people with each value
        according to published marginals.
    importance : (q,) >= 0, the weight of each column in `hidden_by_labels`. None gives equal
        weights.
    """
    people = float(rows.people.sum())
    if not people:
        return
    hidden = hide_by_labels(rows, labels)
    for d, name in enumerate(names):
        kept = max(1.0 - hidden[d], 0.0)
        for called, value in (
            (ENTROPY, kept if kept > ROUNDING else 0.0),
            (RARE_MERGED, _count_rare(rows, labels, d) / people),
        ):
            yield ANALYST.finds(called, min(value, 1.0), "share", n=people, of=name)
        shown = np.unique(rows.group[rows.group >= 0])
        distinct = len(np.unique(labels.label[shown, d]))
        yield ANALYST.finds(LABELS, distinct, "values", of=name)
    varied = np.array([len(np.unique(column)) > 1 for column in rows.values.T])
    each = np.ones(len(varied)) if importance is None else np.asarray(importance, float)
    shares = np.where(varied, each, 0.0)
    mean = float(shares @ hidden) / float(shares.sum() or 1.0)
    yield ANALYST.finds(BY_LABELS, min(mean, 1.0), "share", n=people)
    yield ANALYST.finds(QUERY_ERROR, count_query_error(rows, labels), "ratio")
    if likely is not None:
        yield ANALYST.finds(WITH_RUNS, count_query_error(rows, labels, likely=likely), "ratio")


def count_misplaced(rows: PlacedRows, labels: ReleasedLabels) -> GateFinding:
    """Count the people with a released row in which a label does not cover the source's value."""
    kept = rows.group >= 0
    values, label = rows.values[kept], labels.label[rows.group[kept]]
    covers = np.ones(len(values), dtype=np.bool_)
    for d, covered in enumerate(labels.covered):
        covers &= covered[label[:, d], values[:, d]]
    return ANALYST.finds("misplaced_labels", rows.people[kept][~covers].sum(), "people")


def hide_by_labels(rows: PlacedRows, labels: ReleasedLabels) -> Floats:
    """Return the share of each column's entropy that its own labels hide, (q,) >= 0.

    The share is H(column | its label) / H(column). It is 0 for a column with a single value. People
    without a released row count with the entropy of the whole column.
    """
    kept = rows.group >= 0
    own, people = rows.people[kept], float(rows.people.sum())
    hidden = np.zeros(len(rows.sizes))
    for d, size in enumerate(rows.sizes):
        held = np.bincount(rows.values[:, d], rows.people, size)
        entropy = float(np.log(people) - _n_log_n(held) / people)
        if (held > 0).sum() <= 1:
            continue
        label = labels.label[rows.group[kept], d].astype(np.int64)
        pairs = np.unique(label * size + rows.values[kept, d], return_inverse=True)[1]
        within = _n_log_n(np.bincount(label, own)) - _n_log_n(np.bincount(pairs, own))
        hidden[d] = (within + (people - own.sum()) * entropy) / (people * entropy)
    return np.maximum(hidden, 0.0)


def _n_log_n(people: NDArray[Any]) -> float:
    people = people[people > 0]
    return float(people @ np.log(people))


def _count_rare(rows: PlacedRows, labels: ReleasedLabels, d: int) -> float:
    """Count the people with a rare value of a column that no released label shows alone."""
    held = np.bincount(rows.values[:, d], rows.people, rows.sizes[d])
    is_rare = held < RARE * held.sum() / (held > 0).sum()
    is_single = labels.covered[d].sum(axis=1) == 1
    alone = rows.group >= 0
    alone[alone] = is_single[labels.label[rows.group[alone], d]]
    return float(rows.people[is_rare[rows.values[:, d]] & ~alone].sum())


def count_query_error(
    rows: PlacedRows,
    labels: ReleasedLabels,
    *,
    likely: Sequence[Floats | Bits] | None = None,
) -> float:
    """Return the median relative error of 1,000 random COUNT queries on the release.

    A query counts the people within a range of values in 1 to 3 columns. A range covers 5% to 30%
    of a domain and contains the value of a random person. The estimate distributes people evenly
    over the values of a label, or in proportion to `likely`. An error is relative to the true
    count, or to 0.1% of the people if that is more.

    Parameters
    ----------
    likely : for each column an array (labels, values) >= 0, the weight of each value of a label.

    Cost: O(rows) for each set of queried columns, and O(`QUERIES` x distinct values and labels of
    three columns).
    """
    rng = np.random.default_rng(0)
    whole = float(rows.people.sum())
    kept = rows.group >= 0
    label = labels.label[rows.group[kept]]
    likely = labels.covered if likely is None else likely
    around = rows.values[rng.choice(len(rows.people), QUERIES, p=rows.people / whole)]
    first, width = _ranges_around(around, rows.sizes, rng)
    errors = []
    for columns in np.unique(width > 0, axis=0):
        some = np.flatnonzero(((width > 0) == columns).all(axis=1))
        places = np.flatnonzero(columns).tolist()
        asked = [
            _asked_values(first[some, d], width[some, d], rows.sizes[d]).astype(np.float64)
            for d in places
        ]
        true = _count(rows.values[:, places], rows.people, asked)
        shares = [_overlaps(likely[d], own) for d, own in zip(places, asked, strict=True)]
        found = _count(label[:, places], rows.people[kept], shares)
        errors.append(np.abs(found - true) / np.maximum(true, LEAST_COUNT * whole))
    return float(np.median(np.concatenate(errors)))


def _count(codes: Ints, people: Floats, shares: Sequence[Floats]) -> Floats:
    """Return the number of people that each query counts, (queries,).

    codes : (m, c), the codes of each row in the c queried columns.
    people : (m,), the number of people of each row.
    shares : for each column an array (queries, codes), the share of a code within the range of a
        query.
    """
    cell = number_tuples(*codes.T)
    held = np.bincount(cell, people)
    own = np.zeros((len(held), codes.shape[1]), dtype=np.int64)
    own[cell] = codes
    counts = np.zeros(len(shares[0]))
    for some in np.array_split(np.arange(len(counts)), -(-len(counts) * len(held) // AT_ONCE) or 1):
        inside = np.ones((len(some), len(held)))
        for share, column in zip(shares, own.T, strict=True):
            inside *= share[some][:, column]
        counts[some] = inside @ held
    return counts


def _asked_values(first: Ints, width: Ints, size: int) -> Bits:
    """Return whether each value of a domain is in the range of each query, (queries, size)."""
    places = np.arange(size) - first[:, None]
    return np.asarray((places >= 0) & (places < width[:, None]))


def _ranges_around(
    around: NDArray[Any], sizes: Sequence[int], rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw the first value and the width of each query's range in each column; 0 means no range."""
    first, width = np.zeros((2, *around.shape), dtype=np.int64)
    for i, values in enumerate(around.tolist()):
        for d in rng.permutation(len(sizes))[: rng.integers(1, MOST_COLUMNS + 1)].tolist():
            width[i, d] = max(1, round(rng.uniform(LEAST_SHARE, MOST_SHARE) * sizes[d]))
            first[i, d] = values[d] - rng.integers(width[i, d])
    return first, width


def _overlaps(values: Floats | Bits, asked: Floats) -> Floats:
    """Return the share of each label's values within the range of each query, (queries, labels)."""
    whole = values.sum(axis=1)
    return np.asarray(asked @ values.T / np.where(whole > 0, whole, 1))
