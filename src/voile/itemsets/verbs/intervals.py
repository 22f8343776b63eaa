"""Convert rows on a grid to rows of the intervals that are published at each k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.itemsets.cutting import CellRange, choose_cuts
from voile.itemsets.rows.forms import ColumnForm
from voile.itemsets.rows.incidence import Incidence
from voile.itemsets.rows.labels import RowLabels
from voile.itemsets.rows.ranges import GridForm, RangesForm
from voile.itemsets.rows.scales import NumberInterval
from voile.itemsets.rows.sources import SourceRows


@dataclass(frozen=True, eq=False)
class IntervalLayers:
    """The features that are intervals, and the intervals that a policy of each k publishes.

    Intervals of one column at two values of k may overlap. A policy therefore publishes only the
    intervals of its own k, and all of them.
    """

    is_interval: NDArray[np.bool_]
    of: Mapping[int, NDArray[np.intp]]

    @classmethod
    def none(cls, features: int) -> IntervalLayers:
        return cls(np.zeros(features, dtype=np.bool_), {})

    def list_given(self, k: int) -> NDArray[np.intp]:
        """Return the intervals that every policy of this k publishes.

        For 1, those of the smallest k.
        """
        at = k if k in self.of else min(self.of, default=k)
        return self.of.get(at, np.zeros(0, dtype=np.intp))

    def open(self, k: int) -> NDArray[np.intp]:
        """Return the features that a policy of this k may publish, including its intervals."""
        return np.union1d(np.flatnonzero(~self.is_interval), self.list_given(k))


def with_intervals(
    rows: SourceRows, forms: Sequence[ColumnForm], ks: Sequence[int]
) -> tuple[SourceRows, tuple[ColumnForm, ...], IntervalLayers]:
    """Divide the columns on a grid into intervals, for each k. Other columns stay the same."""
    grids = [form for form in forms if isinstance(form, GridForm)]
    if not grids:
        return rows, tuple(forms), IntervalLayers.none(len(rows.incidence.features))
    ends = np.cumsum([len(form.values) for form in forms]).tolist()
    placed = [(f, end) for f, end in zip(forms, ends, strict=True) if isinstance(f, GridForm)]
    columns = [CellRange(end - len(f.values), len(f.values)) for f, end in placed if f.values]
    cut = [grid for grid in grids if grid.values]
    labels = None if rows.labels is None else RowLabels.of(rows.labels, rows.incidence.n_rows)
    supports = rows.incidence.supports
    layers: dict[int, dict[str, list[NumberInterval | None]]] = {}
    for k, chosen in zip(ks, choose_cuts(rows.incidence, labels, columns, ks), strict=True):
        layers[k] = {
            grid.column: _ends(grid, places, known=not supports[column.first])
            for grid, column, places in zip(cut, columns, chosen, strict=True)
        }
    made = tuple(_ranges(form, layers) if isinstance(form, GridForm) else form for form in forms)
    _refuse_nothing(made, grids)
    incidence = _merge_intervals(rows.incidence, forms, made)
    return replace(rows, incidence=incidence), made, _layers(made, layers)


def _ends(grid: GridForm, places: Sequence[int], *, known: bool) -> list[NumberInterval | None]:
    """Return the intervals between the chosen cells.

    Unknown numbers come first if they are separate.
    """
    if not places:
        return []
    cuts = [grid.cuts[place - 2] for place in places if place > 1]
    apart: list[NumberInterval | None] = [None] if places[0] == 1 else []
    ends = [NumberInterval(*one) for one in pairwise([None, *cuts, None])]
    if not known and not apart:
        ends[0] = ends[0]._replace(unknown=True)
    return [*apart, *ends]


def _ranges(
    grid: GridForm, layers: Mapping[int, Mapping[str, list[NumberInterval | None]]]
) -> RangesForm:
    """Return the form of a column's intervals at all values of k, each once, from the lowest."""
    ends = {one for layer in layers.values() for one in layer.get(grid.column, [])}
    ordered = sorted((one for one in ends if one is not None), key=lambda one: one.ends)
    return RangesForm.of(grid.column, grid.scale, [*([None] if None in ends else []), *ordered])


def _layers(
    forms: Sequence[ColumnForm], layers: Mapping[int, Mapping[str, list[NumberInterval | None]]]
) -> IntervalLayers:
    features = [(form, x) for form in forms for x in range(len(form.features))]
    kinds = np.array([isinstance(form, RangesForm) for form, _ in features], dtype=np.bool_)
    of = {
        k: np.array(
            [
                place
                for place, (form, x) in enumerate(features)
                if isinstance(form, RangesForm) and form.ends[x] in layer.get(form.column, [])
            ],
            dtype=np.intp,
        )
        for k, layer in layers.items()
    }
    return IntervalLayers(kinds, of)


def _merge_intervals(
    rows: Incidence, before: Sequence[ColumnForm], after: Sequence[ColumnForm]
) -> Incidence:
    """Return the rows with intervals instead of grid cells."""
    from scipy import sparse

    blocks = [
        _cells_within(old, new)
        if isinstance(old, GridForm) and isinstance(new, RangesForm)
        else sparse.eye_array(len(old.features), dtype=np.int8)
        for old, new in zip(before, after, strict=True)
    ]
    shape = len(rows.own), len(rows.features)
    ones = np.ones(len(rows.items), dtype=np.int8)
    held = sparse.csr_array((ones, rows.items, rows.starts), shape=shape)
    matrix = (held @ sparse.block_diag(blocks, format="csr")).tocsr()
    names = [name for form in after for name in form.features]
    return Incidence.of(matrix[rows.pattern], names, rows.subject)


def _cells_within(grid: GridForm, ranges: RangesForm) -> NDArray[np.int8]:
    """Return (cells, intervals) whether an interval contains a cell.

    Cell 0 is for unknown numbers.
    """
    lows = np.array([-np.inf, *grid.cuts]) if grid.values else np.zeros(0)
    within = np.zeros((len(grid.values), len(ranges.ends)), dtype=np.int8)
    for x, ends in enumerate(ranges.ends):
        if ends is None:
            within[0, x] = 1
        else:
            low, high = ends.ends
            within[0, x] = ends.unknown
            within[1:, x] = (lows >= low) & (lows < high)
    return within


def _refuse_nothing(forms: Sequence[ColumnForm], grids: Sequence[GridForm]) -> None:
    if not any(form.values for form in forms):
        raise RequestError(
            "no column can be cut so that each group holds k people",
            where=f"column {grids[0].column}",
            instead="ask for a smaller k, or declare a finer step",
        )
