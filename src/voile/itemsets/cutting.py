"""Choose split points of numeric columns, so that nobody is in a small group by their numbers.

An adversary who knows a person's age also knows which intervals of ages the person is not in: for
numbers, absences are always known. So cuts are chosen under exact k-anonymity. All columns' cuts
together divide the people into groups of k or more, and so does any part of their intervals.
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
"""The number of items that take part: those that reveal most of the label."""
MOST_ONES = 2**25
HALVINGS = 2
"""Without labels, how often the parts of a column are halved."""


@dataclass(frozen=True)
class CellRange:
    """A column's features: `first` has the rows without a number, the others follow in order.

    Each of the `cells` features has a row, except that the first may have none.
    """

    first: int
    cells: int

    @property
    def end(self) -> int:
        """The feature behind the last."""
        return self.first + self.cells


def choose_cuts(
    rows: Incidence, labels: RowLabels | None, columns: Sequence[CellRange], ks: Sequence[int]
) -> Iterator[list[tuple[int, ...]]]:
    """Choose for each k the cells of each column that begin an interval, without its lowest.

    The search repeatedly adds the cut or item that reveals most of the label given the chosen ones.
    Every exact group must keep k subjects. The addition must reveal more than its own description
    takes: log2(subjects) bits. The items only compete. Without labels columns are cut in quarters.

    Yields
    ------
    For each column, rising places in its cells; none if the column is not to be published. Rows
    without a number count as the lowest, and are with the lowest numbers unless 1 is chosen.

    Guarantee: rows that are in the same intervals of all columns form groups of k subjects or more
    (proved by `Feasible`). O(ones) for each k and cut.
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
    """The rows in the form that an adversary who knows numbers distinguishes.

    Features are cuts (``at or above this cell``) with their `column` and `place`, then items.
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
        """(columns, patterns) how many of a column's cuts each pattern is above."""
        rows = self.rows
        of = np.repeat(np.arange(len(rows.own)), np.diff(rows.starts))
        cut = rows.items < len(self.column)
        shape = int(self.column.max(initial=-1)) + 1, len(rows.own)
        at = np.ravel_multi_index((self.column[rows.items[cut]], of[cut]), shape)
        return np.bincount(at, minlength=int(np.prod(shape))).reshape(shape).astype(np.int64)

    def places_of(self, column: int, chosen: Indices) -> tuple[int, ...]:
        """Return the places of the cuts chosen of a column, rising."""
        cuts = chosen[chosen < len(self.column)]
        return tuple(sorted(self.place[cuts[self.column[cuts] == column]].tolist()))


def _best_items(
    rows: Incidence, labels: RowLabels | None, columns: Sequence[CellRange]
) -> NDArray[np.intp]:
    """Return the items that reveal most of the label; cuts of columns are left out."""
    if labels is None:
        return np.zeros(0, dtype=np.intp)
    weights = weights_for("mutual-information", rows, labels)
    for column in columns:
        weights[column.first : column.end] = 0
    best = np.argsort(-weights, kind="stable")[:MOST_ITEMS]
    return best[weights[best] > 0]


@dataclass(frozen=True, eq=False)
class _CutPicking(FeaturePicking):
    """Pick cuts and items by the bits that they reveal, or without labels by halves."""

    thresholds: _ThresholdRows

    @classmethod
    def at(cls, table: _ThresholdRows, labels: RowLabels | None, k: int) -> _CutPicking:
        """Begin with nothing chosen, under exact k-anonymity."""
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
        """Return the features chosen."""
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
        """Return the bits that each would add; a column's cuts are counted together."""
        table, gained = self.thresholds, np.zeros(len(features))
        cuts = features < len(table.column)
        gained[~cuts] = super().gains(features[~cuts])
        for column in np.unique(table.column[features[cuts]]):
            own = np.flatnonzero(table.column == column)
            among = cuts & np.isin(features, own)
            gained[among] = self._bits_of(column)[np.searchsorted(own, features[among])]
        return gained

    def _bits_of(self, column: int) -> NDArray[np.float64]:
        """Return the bits that each cut of a column would add, by class, cell and label."""
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
    """Return rows times the entropy of their labels, the last axis, summed over the first."""
    from scipy.special import xlogy

    rows = counts.sum(axis=-1)
    found = xlogy(rows, rows) - xlogy(counts, counts).sum(axis=-1)
    return np.asarray(found.sum(axis=0) / np.log(2), dtype=np.float64)


def _halving(table: _ThresholdRows, cuts: Indices) -> Iterator[tuple[int, int, int]]:
    """Yield each cut's depth when its column is repeatedly halved, its column, itself."""
    for column in np.unique(table.column[cuts]):
        own = cuts[table.column[cuts] == column]
        halves = [(0, len(own), 0)]
        for low, high, depth in halves:
            if low < high and depth < HALVINGS:
                middle = (low + high) // 2
                yield depth, int(column), int(own[middle])
                halves += [(low, middle, depth + 1), (middle + 1, high, depth + 1)]
