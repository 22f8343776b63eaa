"""Choose split points of numeric columns so that every group of people has at least k members.

An adversary who knows a person's age also knows the age intervals that do not contain it. For
numbers, absences are therefore always known, and split points are chosen under exact k-anonymity.
The split points of all columns together divide the people into groups of at least k. So does every
subset of the intervals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import InfeasibleError
from voile.itemsets.measures.feasibility import Constraint
from voile.itemsets.measures.utility import weights_for
from voile.itemsets.rows.incidence import Incidence
from voile.itemsets.rows.labels import RowLabels
from voile.itemsets.searches.joint import FeaturePicking
from voile.itemsets.searches.run import Indices, ItemsetsSearchRun, SetUtility

MOST_ITEMS = 64
"""The largest number of items that take part, those that reveal most about the label."""
MOST_ONES = 2**25
HALVINGS = 2
"""The number of times that the parts of a column are halved, if there are no labels."""


@dataclass(frozen=True)
class CellRange:
    """The range of features that represents one numeric column.

    Feature `first` marks the rows without a number. The other features are the column's cells, in
    rising order. Each of the `cells` features occurs in at least one row, except that the first may
    occur in none.
    """

    first: int
    cells: int

    @property
    def end(self) -> int:
        """The number of the first feature after this range."""
        return self.first + self.cells


def choose_cuts(
    rows: Incidence, labels: RowLabels | None, columns: Sequence[CellRange], ks: Sequence[int]
) -> Iterator[list[tuple[int, ...]]]:
    """Choose, for each k, the split points of every column.

    The search repeatedly adds the split point or item that reveals most of the label, given those
    already chosen. Every exact group must keep k subjects. An addition must reveal more than the
    length of its own description, log2(subjects) bits. Items take part in the competition, but are
    not returned. Without labels, each column is halved up to twice, into at most four parts.

    Yields
    ------
    For each k, a list with one tuple per column. A tuple contains the cells at which an interval
    begins, in rising order and without the lowest interval. It is empty if the column is not to be
    published. Rows without a number count as the lowest cell. They are in the interval of the
    lowest numbers unless cell 1 is chosen.

    Guarantee: rows in the same intervals of all columns form groups of at least k subjects (proved
    by `Feasible`). Cost: O(ones) for each k and split point.
    """
    table = _ThresholdRows.of(rows, labels, columns)
    for k in ks:
        chosen = np.zeros(0, dtype=np.int32)
        if len(table.column) and k <= rows.n_subjects:
            with suppress(InfeasibleError):
                chosen = _CutPicking.at(table, labels, k).choose_features()
        yield [table.places_of(x, chosen) for x in range(len(columns))]


@dataclass(frozen=True, eq=False)
class _ThresholdRows:
    """The rows with one feature for each split point, as an adversary who knows numbers sees them.

    The first features are split points ("at or above this cell"), each with its `column` and its
    `place` in that column. Items follow.
    """

    rows: Incidence
    column: NDArray[np.int64]
    place: NDArray[np.int64]

    @classmethod
    def of(
        cls, rows: Incidence, labels: RowLabels | None, columns: Sequence[CellRange]
    ) -> _ThresholdRows:
        from scipy import sparse

        shape = len(rows.own), len(rows.features)
        ones = np.ones(len(rows.items), dtype=np.int8)
        held = sparse.csr_array((ones, rows.items, rows.starts), shape=shape)
        every = max(1, round(rows.n_rows * sum(c.cells for c in columns) / 2 / MOST_ONES))
        pairs = [(x, at) for x, c in enumerate(columns) for at in range(1, c.cells, every)]
        column, place = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        above = sparse.lil_array((shape[1], len(pairs)), dtype=np.int8)
        for x, (of, at) in enumerate(pairs):
            above[columns[of].first + at : columns[of].end, x] = 1
        items = held[:, _best_items(rows, labels, columns)]
        matrix = sparse.hstack([held @ above.tocsc(), items], format="csr")
        return cls(Incidence.of(matrix[rows.pattern], subjects=rows.subject), column, place)

    @cached_property
    def cells(self) -> NDArray[np.int64]:
        """(columns, patterns) number of a column's split points that each pattern reaches."""
        rows = self.rows
        of = np.repeat(np.arange(len(rows.own)), np.diff(rows.starts))
        cut = rows.items < len(self.column)
        shape = int(self.column.max(initial=-1)) + 1, len(rows.own)
        at = np.ravel_multi_index((self.column[rows.items[cut]], of[cut]), shape)
        return np.bincount(at, minlength=int(np.prod(shape))).reshape(shape).astype(np.int64)

    def places_of(self, column: int, chosen: Indices) -> tuple[int, ...]:
        """Return the places of the chosen split points of one column, in rising order."""
        cuts = chosen[chosen < len(self.column)]
        return tuple(sorted(self.place[cuts[self.column[cuts] == column]].tolist()))


def _best_items(
    rows: Incidence, labels: RowLabels | None, columns: Sequence[CellRange]
) -> NDArray[np.intp]:
    """Return the features that reveal most of the label, without the cells of numeric columns."""
    if labels is None:
        return np.zeros(0, dtype=np.intp)
    weights = weights_for("mutual-information", rows, labels)
    for column in columns:
        weights[column.first : column.end] = 0
    best = np.argsort(-weights, kind="stable")[:MOST_ITEMS]
    return best[weights[best] > 0]


@dataclass(frozen=True, eq=False)
class _CutPicking(FeaturePicking):
    """Pick split points and items by the bits that they reveal, or by halving without labels."""

    thresholds: _ThresholdRows

    @classmethod
    def at(cls, table: _ThresholdRows, labels: RowLabels | None, k: int) -> _CutPicking:
        """Return a search with an empty selection, under exact k-anonymity."""
        run = ItemsetsSearchRun(
            SetUtility.of(
                "coverage" if labels is None else "mutual-information", table.rows, labels
            ),
            Constraint(k, absences=True),
            evaluations=None,
            seconds=None,
            rng=np.random.default_rng(0),
        )
        begun = FeaturePicking.of(run)
        return cls(**vars(begun), thresholds=table)

    def choose_features(self) -> Indices:
        """Run the search and return the chosen features."""
        table, rows = self.thresholds, self.run.rows
        if self.run.worth.labels is None:
            numbers = self.run.candidates[table.place[self.run.candidates] > 1]
            halving = [x for *_, x in sorted(_halving(table, numbers))]
            self.fill(np.array(halving, dtype=np.int32))
        else:
            bits = float(np.log2(max(rows.n_subjects, 2)))
            self.pick(self.run.candidates, least=bits * rows.n_rows / rows.n_subjects)
        return self.run.state.features

    def gains(self, features: Indices) -> NDArray[np.float64]:
        """Return the bits that each feature would add.

        The split points of one column are counted at once.
        """
        table, gained = self.thresholds, np.zeros(len(features))
        cuts = features < len(table.column)
        gained[~cuts] = super().gains(features[~cuts])
        for column in np.unique(table.column[features[cuts]]):
            own = np.flatnonzero(table.column == column)
            among = cuts & np.isin(features, own)
            gained[among] = self._bits_of(column)[np.searchsorted(own, features[among])]
        return gained

    def _bits_of(self, column: int) -> NDArray[np.float64]:
        """Return the bits that each split point of a column would add."""
        cell, of = self.thresholds.cells[column], self.run.state.classes
        width, classes = int((self.thresholds.column == column).sum()) + 1, int(of.max()) + 1
        place = of.astype(np.int64) * width + cell
        counts = [
            np.bincount(place, label, classes * width).reshape(classes, width)
            for label in self.table.T
        ]
        by_label = np.stack(counts, axis=-1)
        whole = by_label.sum(axis=1, keepdims=True)
        above = by_label[:, ::-1].cumsum(axis=1)[:, -2::-1]
        return _entropy(whole) - _entropy(above) - _entropy(whole - above)


def _entropy(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return rows times the entropy of the labels (last axis), summed over the first axis."""
    from scipy.special import xlogy

    rows = counts.sum(axis=-1)
    found = xlogy(rows, rows) - xlogy(counts, counts).sum(axis=-1)
    return np.asarray(found.sum(axis=0) / np.log(2), dtype=np.float64)


def _halving(table: _ThresholdRows, cuts: Indices) -> Iterator[tuple[int, int, int]]:
    """Yield (depth, column, feature) for the split points that repeatedly halve each column."""
    for column in np.unique(table.column[cuts]):
        own = cuts[table.column[cuts] == column]
        halves = [(0, len(own), 0)]
        for low, high, depth in halves:
            if low < high and depth < HALVINGS:
                middle = (low + high) // 2
                yield depth, int(column), int(own[middle])
                halves += [(low, middle, depth + 1), (middle + 1, high, depth + 1)]
