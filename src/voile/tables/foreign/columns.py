"""Represent the columns of another tool's release as sets of values of the original's domains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.tables.attack.records import distinct_rows
from voile.tables.domains.domain import OUTSIDE, ValueDomain, encode_cells
from voile.tables.domains.hierarchy import read_tree
from voile.tables.domains.settings import QuasiSettings
from voile.tables.foreign.boxes import UNKNOWN, Bits, Codes, fits
from voile.tables.foreign.notation import SUPPRESSED, CellNotation

EXACT, GENERALISED, SUPPRESSED_CELL, UNREAD = range(4)
HOW = ("exact", "generalised", "suppressed", "unread")


@dataclass(frozen=True, eq=False)
class ForeignColumn(BriefRepr):
    """One generalised column: its distinct cells, by number, and the possible values of each.

    Attributes
    ----------
    holds : (cells, values) bool. A cell that cannot be read has no values, so that no member of the
        population can share a row with it.
    how : (cells,) the position in `HOW` of each cell's kind.
    rows : (4,) the number of released rows of each kind.
    is_bounded : whether two bound columns were released in place of the column.
    """

    shows = ("column",)

    column: str
    domain: ValueDomain
    holds: Bits
    how: NDArray[np.intp]
    rows: tuple[int, ...]
    is_bounded: bool = False

    @property
    def may_lack(self) -> Bits:
        """Return a mask (cells,) of cells with two bounds that may also represent a missing value.

        The bounds leave this open, since missing values are the last in the order.
        """
        if not (self.is_bounded and self.domain.nullable and len(self.domain) > 1):
            return np.zeros(len(self.how), dtype=np.bool_)
        return np.asarray(self.holds[:, -2] & ~self.holds[:, -1])

    @property
    def may_hold(self) -> Bits:
        """Return a mask (cells, values) of the values that a cell may represent.

        A cell that cannot be read may represent any value.
        """
        held = self.holds | (self.how == UNREAD)[:, None]
        held[:, -1] |= self.may_lack
        return np.asarray(held)

    def match_missing(self, cells: NDArray[np.int32], values: NDArray[np.int32]) -> ForeignColumn:
        """Return the column with a missing value in bounded cells that represent one in some row.

        Parameters
        ----------
        cells, values : (rows,) each released row's cell, and the value of the matched original row.
        """
        lacks = cells[values == len(self.domain) - 1]
        holds = self.holds.copy()
        holds[:, -1] |= self.may_lack & np.isin(np.arange(len(self.how)), lacks)
        return replace(self, holds=holds)

    @property
    def is_disjoint(self) -> bool:
        """Return whether no value belongs to two cells."""
        return bool((self.holds.sum(axis=0) <= 1).all())

    @cached_property
    def entry_of(self) -> NDArray[np.int32]:
        """Return the first cell (values,) with each value, or the number of cells if none."""
        none = np.zeros((1, self.holds.shape[1]), dtype=np.bool_)
        return np.asarray(np.argmax(np.vstack([self.holds, ~none]), axis=0), dtype=np.int32)


def groups_of(settings: Mapping[str, Any], column: str) -> dict[str, frozenset[str]]:
    """Return the values of each group of a column's hierarchy, by the group's label."""
    members: dict[str, set[str]] = {}
    for value, *ways in read_tree(QuasiSettings.check_settings(column, settings)) or ():
        for label in ways:
            members.setdefault(label, set()).add(value)
    return {label: frozenset(values) for label, values in members.items()}


def read_column(
    domain: ValueDomain,
    groups: Mapping[str, frozenset[str]],
    cells: pa.ChunkedArray | None,
    rows: int,
    nulls: int,
) -> tuple[ForeignColumn, NDArray[np.int32]]:
    """Read a released column, and return it with the cell of each row.

    A column that was not released is suppressed in every row. Null is the original's null if at
    most `nulls` rows have it, the number in the original. Otherwise it is a suppressed cell.
    """
    if cells is None:
        cells = pa.chunked_array([pa.nulls(rows, pa.string())])
        nulls = 0
    distinct, places = encode_cells(cells)
    notation = CellNotation(domain, groups)
    is_null = domain.nullable and 0 < cells.null_count <= nulls
    read = [_read_cell(notation, domain, raw, is_null=is_null) for raw in distinct]
    how = np.array([one for one, _ in read], dtype=np.intp)
    holds = np.array([held for _, held in read], np.bool_).reshape(len(read), len(domain))
    counted = np.bincount(how[places], minlength=len(HOW))
    column = ForeignColumn(domain.column, domain, holds, how, tuple(map(int, counted)))
    return column, places.astype(np.int32)


def _read_cell(
    notation: CellNotation, domain: ValueDomain, raw: Any, *, is_null: bool
) -> tuple[int, Bits]:
    none = np.zeros(len(domain), dtype=np.bool_)
    if raw is None:
        none[-1 if is_null else slice(None)] = True
        return (EXACT if is_null else SUPPRESSED_CELL), none
    place = domain.code(raw)
    if place != OUTSIDE:
        none[place] = True
        return EXACT, none
    found = notation(str(raw))
    if found is None:
        return UNREAD, none
    if str(raw).strip() in SUPPRESSED:
        return SUPPRESSED_CELL, found
    return (EXACT if found.sum() == 1 else GENERALISED), found


@dataclass(frozen=True, eq=False)
class ForeignCodebook(BriefRepr):
    """All generalised columns of a release, and its distinct leaves (b, q) by cell numbers.

    A row with only suppressed cells is in no leaf, unless the release has no other rows.
    """

    columns: tuple[ForeignColumn, ...]
    boxes: Codes

    @classmethod
    def of(cls, columns: Sequence[ForeignColumn], codes: Codes) -> ForeignCodebook:
        """Return the codebook of released rows."""
        boxes, _ = distinct_rows(codes)
        cells = [one.how[own] for one, own in zip(columns, boxes.T, strict=True)]
        shown = (np.array(cells) != SUPPRESSED_CELL).any(axis=0)
        return cls(tuple(columns), boxes[shown] if shown.any() else boxes)

    @property
    def quasi(self) -> tuple[str, ...]:
        return tuple(column.column for column in self.columns)

    @property
    def released_columns(self) -> list[str]:
        """Return the columns that contain cell numbers in coded tables."""
        return list(self.quasi)

    @property
    def sizes(self) -> list[int]:
        """Return the number of distinct cells of each column."""
        return [len(column.how) for column in self.columns]

    @property
    def holds(self) -> list[Bits]:
        return [column.holds for column in self.columns]

    @cached_property
    def is_global(self) -> bool:
        """Return whether each value of a column is in one cell at most.

        This must be true whatever the other columns contain.
        """
        return all(column.is_disjoint for column in self.columns)

    @cached_property
    def are_disjoint(self) -> bool:
        """Return whether no combination of values belongs to two leaves."""
        if self.is_global:
            return True
        meet = np.ones((len(self.boxes), len(self.boxes)), dtype=np.bool_)
        for column, own in zip(self.columns, self.boxes.T, strict=True):
            held = column.holds.astype(np.float32)
            meet &= (held @ held.T > 0)[np.ix_(own, own)]
        return not np.triu(meet, 1).any()

    def released_codes(self, table: pa.Table) -> Codes:
        """Return the cell numbers (rows, q) of a coded table."""
        return np.column_stack([table.column(name).to_numpy() for name in self.quasi]).astype(
            np.int32
        )

    def positions(self, table: pa.Table, *, blank_is_unknown: bool) -> Codes:
        """Return the values (rows, q) of raw cells, as positions in the domains.

        A value outside the domain has the domain's length, and an unknown value has -1.
        """
        return np.column_stack(
            [
                _positions(column.domain, table.column(column.column), blank_is_unknown)
                if column.column in table.column_names
                else np.full(table.num_rows, UNKNOWN, dtype=np.int32)
                for column in self.columns
            ]
        ).astype(np.int32)

    def register_codes(self, table: pa.Table) -> Codes:
        """Return the cells that each row of a register fits, or -1 for absent values."""
        return self.codes_at(self.positions(table, blank_is_unknown=True))

    def recode(self, table: pa.Table) -> Codes:
        """Return the cells that raw cells fit. A missing value counts as a value."""
        return self.codes_at(self.positions(table, blank_is_unknown=False))

    def codes_at(self, positions: Codes) -> Codes:
        """Return the cells of positions in the domains, according to the leaves that fit.

        A combination in several leaves has -1 in columns where they differ. A combination in no
        leaf has a cell number that no row has.
        """
        if self.is_global:
            return np.column_stack(
                [
                    np.concatenate([c.entry_of, [len(c.how), UNKNOWN]])[own]
                    for c, own in zip(self.columns, positions.T, strict=True)
                ]
            ).astype(np.int32)
        distinct, place = distinct_rows(positions)
        codes = np.empty(distinct.shape, dtype=np.int32)
        for rows, fit in fits(self.holds, self.boxes, distinct):
            codes[rows] = self._intersect_boxes(fit.T)
        return codes[place]

    def _intersect_boxes(self, fit: Bits) -> Codes:
        columns = []
        for size, numbers in zip(self.sizes, self.boxes.T, strict=True):
            least = np.where(fit, numbers, size).min(axis=1, initial=size)
            most = np.where(fit, numbers, UNKNOWN).max(axis=1, initial=UNKNOWN)
            columns.append(np.where((least == most) | (most == UNKNOWN), least, UNKNOWN))
        return np.column_stack(columns).astype(np.int32)


def _positions(
    domain: ValueDomain, cells: pa.ChunkedArray, blank_is_unknown: bool
) -> NDArray[np.int32]:
    distinct, places = encode_cells(cells)
    found = []
    for raw in distinct:
        blank = raw is None or not str(raw).strip() or str(raw).strip() in domain.parser.missing
        place = domain.code(raw)
        unknown = blank and blank_is_unknown
        found.append(UNKNOWN if unknown else len(domain) if place == OUTSIDE else place)
    return np.array(found, dtype=np.int32)[places]
