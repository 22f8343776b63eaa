"""Define the public codebook of a tree policy. It contains the released leaves only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.errors import TamperedError
from voile.tables.domains.domain import ValueDomain
from voile.tables.people.counts import row_keys
from voile.tables.recoding.codebook import UNKNOWN, CodedColumn, ReleaseCodebook

Bits = NDArray[np.bool_]
ROWS_AT_ONCE = 4096


@dataclass(frozen=True)
class BoxCodebook(ReleaseCodebook):
    """A codebook of leaves: columns with intervals that may overlap, and leaves that do not.

    Attributes
    ----------
    boxes : for each leaf, the number of its interval in every column.
    """

    boxes: tuple[tuple[int, ...], ...] = ()

    def to_data(self) -> Any:
        """Return plain data for a manifest."""
        columns = [asdict(column) for column in self.columns]
        return {"columns": columns, "boxes": [list(box) for box in self.boxes]}

    def released_codes(self, table: pa.Table) -> NDArray[np.int32]:
        """Return the interval numbers of released rows, (rows, attributes) int32.

        Raises
        ------
        TamperedError : the intervals of a row do not form a leaf together.
        """
        codes = super().released_codes(table)
        stray = ~np.isin(self._keys(codes), self._keys(self._numbers))
        if stray.any():
            raise TamperedError(f"row {int(stray.argmax()) + 1} is in none of the policy's boxes")
        return codes

    def register_codes(self, table: pa.Table) -> NDArray[np.int32]:
        """Return the intervals of the leaf that contains each row of a register.

        A row with a missing value may belong to several leaves. It has the intervals that these
        leaves share, and -1 in other columns. A row in no released leaf agrees with none.
        """
        return self._codes(table, blank_is_unknown=True)

    def recode(self, table: pa.Table) -> NDArray[np.int32]:
        """Return the intervals of raw cells. A missing value counts as a value.

        See `ReleaseCodebook`.
        """
        return self._codes(table, blank_is_unknown=False)

    @cached_property
    def _numbers(self) -> NDArray[np.int32]:
        return np.array(self.boxes, dtype=np.int32).reshape(len(self.boxes), len(self.columns))

    def _keys(self, codes: NDArray[np.int32]) -> NDArray[Any]:
        return row_keys(codes, self.sizes)

    def codes_of(
        self, domains: Sequence[ValueDomain], codes: NDArray[np.int32]
    ) -> NDArray[np.int32]:
        """Return the intervals of positions in domains. See `ReleaseCodebook`."""
        each = zip(self.columns, domains, strict=True)
        return self._codes_in([column.hold(domain.values) for column, domain in each], codes)

    def _codes(self, table: pa.Table, *, blank_is_unknown: bool) -> NDArray[np.int32]:
        holds, places = [], []
        for column in self.columns:
            if column.column in table.column_names:
                held, place = column.membership(
                    table.column(column.column), blank_is_unknown=blank_is_unknown
                )
            else:
                held = np.ones((len(column.entries), 1), dtype=np.bool_)
                place = np.zeros(table.num_rows, dtype=np.intp)
            holds.append(held)
            places.append(place)
        return self._codes_in(holds, np.column_stack(places))

    def _codes_in(self, holds: Sequence[Bits], places: NDArray[Any]) -> NDArray[np.int32]:
        """Return the intervals of rows, by the position of their values in `holds`."""
        each = zip(holds, self._numbers.T, strict=True)
        fitting = [np.packbits(held[numbers], axis=0).T.copy() for held, numbers in each]
        rows, row = np.unique(places, axis=0, return_inverse=True)
        codes = np.empty(rows.shape, dtype=np.int32)
        for start in range(0, len(rows), ROWS_AT_ONCE):
            own = rows[start : start + ROWS_AT_ONCE]
            fits = np.bitwise_and.reduce(
                [x[cells] for x, cells in zip(fitting, own.T, strict=True)]
            )
            codes[start : start + ROWS_AT_ONCE] = self._codes_of(fits)
        return codes[row]

    def _codes_of(self, fits: NDArray[np.uint8]) -> NDArray[np.int32]:
        """Return the intervals of rows. `fits` has a bit for each leaf that a row fits."""
        alone = np.bitwise_count(fits).sum(axis=1) == 1
        codes = np.empty((len(fits), len(self.columns)), dtype=np.int32)
        place = fits[alone].nonzero()[1]
        bits = np.unpackbits(fits[alone, place][:, np.newaxis], axis=1)
        codes[alone] = self._numbers[8 * place + bits.argmax(axis=1)]
        others = np.unpackbits(fits[~alone], axis=1, count=len(self.boxes))
        codes[~alone] = self._intersect_boxes(others.astype(np.bool_))
        return codes

    def _intersect_boxes(self, fits: Bits) -> NDArray[np.int32]:
        """Return, by row, the intervals that all fitting leaves share, or an unused number."""
        columns = []
        for column, numbers in zip(self.columns, self._numbers.T, strict=True):
            none = len(column.entries)
            least = np.where(fits, numbers, none).min(axis=1, initial=none)
            most = np.where(fits, numbers, UNKNOWN).max(axis=1, initial=UNKNOWN)
            columns.append(np.where((least == most) | (most == UNKNOWN), least, UNKNOWN))
        return np.column_stack(columns).astype(np.int32)

    @cached_property
    def are_disjoint(self) -> bool:
        """Return whether no two leaves share a combination of values."""
        overlap = [column.overlaps for column in self.columns]
        for i, box in enumerate(self._numbers[:-1]):
            later = self._numbers[i + 1 :]
            meets = np.ones(len(later), dtype=np.bool_)
            for shared, own, others in zip(overlap, box, later.T, strict=True):
                meets &= shared[own][others]
            if meets.any():
                return False
        return True


def read_codebook(data: Any) -> ReleaseCodebook:
    """Read a codebook of either family from the data of `to_data`."""
    if isinstance(data, Mapping):
        columns = tuple(CodedColumn.from_data(column) for column in data["columns"])
        return BoxCodebook(columns, tuple(tuple(map(int, box)) for box in data["boxes"]))
    return ReleaseCodebook.from_data(data)
