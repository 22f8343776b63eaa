"""Define the public codebook of a policy: each column's intervals, enough to recode a register.

The public manifest contains it. The adversary of `attack` has it, and has no kit.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.errors import TamperedError
from voile.tables.domains.domain import ValueDomain, encode_cells
from voile.tables.domains.labels import MISSING
from voile.tables.domains.parser import By, CellParser, Kind, NotInKind, Value
from voile.tables.recoding.naming import IntervalName

UNKNOWN = -1


@dataclass(frozen=True)
class CodebookEntry:
    """One published interval: its label, and its ends as text. An open end is None.

    `below` replaces `last` for decimals: an end that is not included. `values` are listed in
    alphabetical order if the domain's own order is not public.
    """

    label: str
    first: str | None
    last: str | None
    below: str | None = None
    missing: bool = False
    values: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: IntervalName, *, listed: bool) -> CodebookEntry:
        first, last, below = (
            None if end is None else str(end) for end in (name.first, name.last, name.below)
        )
        values = tuple(sorted(map(str, name.values))) if listed else ()
        return cls(name.label, first, last, below, name.missing, values)

    @property
    def bounds(self) -> tuple[str | None, str | None]:
        """Return the two bounds that replace the label if bounds are released."""
        return self.first, self.last if self.below is None else self.below


@dataclass(frozen=True)
class CodedColumn:
    """One generalised column: its released columns, its parser settings, and its intervals.

    `forms` and `missing` are the column's settings: the written forms of its numbers, dates or
    times, including units, and the texts for missing values.
    """

    column: str
    released: tuple[str, ...]
    kind: Kind
    by: By
    forms: tuple[str, ...]
    missing: tuple[str, ...]
    entries: tuple[CodebookEntry, ...]

    @classmethod
    def of(cls, domain: ValueDomain, names: Sequence[IntervalName], *, bounds: bool) -> CodedColumn:
        column, parser = domain.column, domain.parser
        shown = [str(value) for name in names for value in name.values]
        listed = parser.kind == "listed" or (
            parser.kind == "text" and not all(value.isdigit() for value in shown)
        )
        return cls(
            column,
            (f"{column}_low", f"{column}_high") if bounds else (column,),
            parser.kind,
            parser.by,
            parser.forms,
            parser.missing,
            tuple(CodebookEntry.of(name, listed=listed) for name in names),
        )

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> CodedColumn:
        """Build a column from the data of `dataclasses.asdict`, also after JSON."""
        entries = tuple(
            CodebookEntry(**{**e, "values": tuple(e["values"])}) for e in data["entries"]
        )
        parser = (data["kind"], data["by"], tuple(data["forms"]), tuple(data["missing"]))
        return cls(data["column"], tuple(data["released"]), *parser, entries)

    @property
    def parser(self) -> CellParser:
        """Return the parser of a register's cells."""
        return CellParser(self.kind, self.by, self.forms, self.missing)

    @cached_property
    def _of_released(self) -> dict[tuple[str | None, ...], int]:
        if len(self.released) == 1:
            return {(entry.label,): i for i, entry in enumerate(self.entries)}
        return {entry.bounds: i for i, entry in enumerate(self.entries)}

    def released_codes(self, columns: Sequence[pa.Array]) -> NDArray[np.int32]:
        """Return the interval number of every released row.

        Raises
        ------
        TamperedError : a row has none of the policy's intervals.
        """
        encoded = [_encode_column(column) for column in columns]
        if len(encoded) == 1:
            ((texts, places),) = encoded
            found = [self._of_released.get((text,), UNKNOWN) for text in texts]
            codes = np.array(found, dtype=np.int32)[places]
        else:
            (lows, at_low), (highs, at_high) = encoded
            grid = [[self._of_released.get((a, b), UNKNOWN) for b in highs] for a in lows]
            codes = np.array(grid, dtype=np.int32).reshape(len(lows), len(highs))[at_low, at_high]
        if len(codes) and codes.min() < 0:
            raise TamperedError(
                f"row {int(codes.argmin()) + 1} has none of the policy's intervals",
                where=f"column {self.column}",
            )
        return codes

    def recode(self, column: pa.Array) -> NDArray[np.int32]:
        """Return the interval that contains each raw cell, as the policy does.

        A value in no published interval gets the first unused number. An unreadable cell gets -1.
        """
        missing = next((i for i, entry in enumerate(self.entries) if entry.missing), UNKNOWN)
        texts, places = _encode_column(column)
        found = [missing if self._is_missing(text) else self._find(str(text)) for text in texts]
        return np.array(found, dtype=np.int32)[places]

    def register_codes(self, column: pa.Array) -> NDArray[np.int32]:
        """Return the interval number of a register's raw cells, or -1 for blank or null cells.

        Blank and null cells are unknown values.
        """
        texts, places = _encode_column(column)
        known = [
            not self._is_missing(text) and (text in self._of_value or str(text).strip())
            for text in texts
        ]
        found = [self._find(str(t)) if k else UNKNOWN for t, k in zip(texts, known, strict=True)]
        return np.array(found, dtype=np.int32)[places]

    def membership(
        self, column: pa.Array, *, blank_is_unknown: bool
    ) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Return the intervals that contain each distinct raw cell. Intervals may overlap.

        An unreadable cell may belong to any interval. So may a null or blank cell, if the register
        marks unknown values in this way.

        Returns
        -------
        held : (entries, cells) bool, whether each interval may contain each distinct cell.
        places : (rows,) int, each row's position among the distinct cells.
        """
        texts, places = _encode_column(column)
        held = np.zeros((len(self.entries), len(texts)), dtype=np.bool_)
        read: dict[int, Any] = {}
        for place, text in enumerate(texts):
            missing = self._is_missing(text)
            blank = missing or (text not in self._of_value and not str(text).strip())
            if blank and (missing or blank_is_unknown):
                held[:, place] = blank_is_unknown or [entry.missing for entry in self.entries]
            else:
                try:
                    read[place] = text if self._of_value else self.parser(text)
                except NotInKind:
                    held[:, place] = True
        held[:, [*read]] = self.hold([*read.values()])
        return held, places

    def hold(self, values: Sequence[Value]) -> NDArray[np.bool_]:
        """Return which intervals contain values of a domain, (entries, values) bool.

        None is a missing value. The function uses only the published entries, and no policy.
        """
        held = np.zeros((len(self.entries), len(values)), dtype=np.bool_)
        known = [place for place, value in enumerate(values) if value is not None]
        if self._of_value:
            held[:, known] = [[str(values[i]) in e.values for i in known] for e in self.entries]
        else:
            known.sort(key=values.__getitem__)  # type: ignore[arg-type]
            ordered = [values[place] for place in known]
            for number, entry in enumerate(self.entries if ordered else ()):
                held[number, known[self._run_of(entry, ordered)]] = True
        missing = np.array([entry.missing for entry in self.entries], dtype=np.bool_)
        return np.where([value is None for value in values], missing[:, None], held)

    def _run_of(self, entry: CodebookEntry, ordered: Sequence[Any]) -> slice:
        """Return the slice of some ordered values that an interval contains."""
        if entry.label == MISSING:
            return slice(0)
        read = self.parser.restore
        first = 0 if entry.first is None else bisect_left(ordered, read(entry.first))
        if entry.below is not None:
            return slice(first, bisect_left(ordered, read(entry.below)))
        last = len(ordered) if entry.last is None else bisect_right(ordered, read(entry.last))
        return slice(first, last)

    @property
    def overlaps(self) -> NDArray[np.bool_]:
        """Return whether two intervals share a value, (entries, entries) bool."""
        missing = np.array([entry.missing for entry in self.entries])
        shared = missing[:, None] & missing
        if self._of_value:
            own = [set(entry.values) for entry in self.entries]
            met = np.array([[bool(a & b) for b in own] for a in own], dtype=np.bool_)
            return np.asarray(shared | met)
        read: Callable[[Any], Any] = self.parser.restore
        texts = {end for e in self.entries for end in (e.first, e.last, e.below) if end is not None}
        ends = sorted(read(text) for text in texts)
        # each end, and each gap before, between and after the ends, has its own place
        places = np.zeros((len(self.entries), 2 * len(ends) + 1), dtype=np.bool_)
        for number, entry in enumerate(self.entries):
            run = self._run_of(entry, ends)
            if entry.label != MISSING:
                start = 0 if entry.first is None else 2 * run.start + 1
                below = 2 * run.stop + (entry.below is not None)
                stop = places.shape[1] if entry.bounds[1] is None else below
                places[number, start:stop] = True
        counted = places.astype(np.float32)  # whole numbers: a sum is 0 only if all terms are 0
        met = counted @ counted.T > 0
        return np.asarray(shared | met)

    def _is_missing(self, text: str | None) -> bool:
        return text is None or text.strip() in self.missing

    @cached_property
    def _of_value(self) -> dict[str, int]:
        return {value: i for i, entry in enumerate(self.entries) for value in entry.values}

    @cached_property
    def _reaches(self) -> tuple[list[int], list[Any]]:
        """Return the intervals with values, in order, and their beginnings except an open one."""
        numbers = [i for i, entry in enumerate(self.entries) if entry.label != MISSING]
        firsts = [self.entries[i].first for i in numbers]
        return numbers, [self.parser.restore(first) for first in firsts if first is not None]

    def _find(self, text: str) -> int:
        elsewhere = len(self.entries)
        if self._of_value:
            return self._of_value.get(text, elsewhere)
        numbers, firsts = self._reaches
        try:
            value: Any = self.parser(text)
        except NotInKind:
            return UNKNOWN
        place = bisect_right(firsts, value) - 1 + len(numbers) - len(firsts)
        if place < 0 or not self._reaches_to(self.entries[numbers[place]], value):
            return elsewhere
        return numbers[place]

    def _reaches_to(self, entry: CodebookEntry, value: Any) -> bool:
        read = self.parser.restore
        if entry.below is not None:
            return bool(value < read(entry.below))
        return entry.last is None or bool(value <= read(entry.last))


class RowCoding(Protocol):
    """The interface that converts the rows of a release, and raw cells, to numbers for attacks."""

    @property
    def quasi(self) -> tuple[str, ...]:
        """Return the names of the quasi-identifiers, in order."""

    @property
    def released_columns(self) -> list[str]:
        """Return the release's columns that the coding describes."""

    @property
    def sizes(self) -> list[int]:
        """Return the number of distinct entries of each column."""

    def released_codes(self, table: pa.Table) -> NDArray[np.int32]:
        """Return the entry numbers of released rows, (rows, attributes) int32."""

    def register_codes(self, table: pa.Table) -> NDArray[np.int32]:
        """Return the entry numbers of a register's raw cells, or -1 for absent values."""

    def recode(self, table: pa.Table) -> NDArray[np.int32]:
        """Return the entry numbers of raw cells. A missing value counts as a value."""


@dataclass(frozen=True)
class ReleaseCodebook:
    """The codebook of all generalised columns of a release."""

    columns: tuple[CodedColumn, ...]

    @property
    def quasi(self) -> tuple[str, ...]:
        """Return the names of the quasi-identifiers, in order."""
        return tuple(column.column for column in self.columns)

    @property
    def sizes(self) -> list[int]:
        """Return the number of intervals of each column."""
        return [len(column.entries) for column in self.columns]

    def to_data(self) -> list[dict[str, Any]]:
        return [asdict(column) for column in self.columns]

    @classmethod
    def from_data(cls, data: Sequence[Mapping[str, Any]]) -> ReleaseCodebook:
        return cls(tuple(CodedColumn.from_data(column) for column in data))

    @property
    def released_columns(self) -> list[str]:
        """Return the release's columns that the codebook describes."""
        return [name for column in self.columns for name in column.released]

    def column(self, name: str) -> CodedColumn:
        """Return the generalised column with the given name."""
        return next(column for column in self.columns if column.column == name)

    def released_codes(self, table: pa.Table) -> NDArray[np.int32]:
        """Return the interval numbers of released rows, (rows, attributes) int32."""
        return _stack_columns(
            [c.released_codes([table.column(r) for r in c.released]) for c in self.columns],
            table.num_rows,
        )

    def register_codes(self, table: pa.Table) -> NDArray[np.int32]:
        """Return the interval numbers of a register's raw cells, (rows, attributes) int32.

        An absent value has -1. A value that no released row can have is not absent: it agrees with
        no interval.
        """
        absent = np.full(table.num_rows, UNKNOWN, dtype=np.int32)
        return _stack_columns(
            [
                c.register_codes(table.column(c.column))
                if c.column in table.column_names
                else absent
                for c in self.columns
            ],
            table.num_rows,
        )

    def recode(self, table: pa.Table) -> NDArray[np.int32]:
        """Return the interval numbers of raw cells, (rows, attributes) int32.

        See `CodedColumn.recode`.
        """
        return _stack_columns(
            [c.recode(table.column(c.column)) for c in self.columns], table.num_rows
        )

    def codes_of(
        self, domains: Sequence[ValueDomain], codes: NDArray[np.int32]
    ) -> NDArray[np.int32]:
        """Return the interval numbers of positions in domains.

        A value in no interval has the first unused number.
        """
        columns = []
        for column, domain, own in zip(self.columns, domains, codes.T, strict=True):
            elsewhere = np.ones((1, len(domain)), dtype=np.bool_)
            held = np.vstack([column.hold(domain.values), elsewhere])
            columns.append(held.argmax(axis=0)[own].astype(np.int32))
        return np.column_stack(columns)


def _stack_columns(columns: Sequence[NDArray[np.int32]], rows: int) -> NDArray[np.int32]:
    return np.column_stack(columns) if columns else np.zeros((rows, 0), dtype=np.int32)


def _encode_column(
    column: pa.Array | pa.ChunkedArray,
) -> tuple[list[str | None], NDArray[np.int64]]:
    """Return the distinct cells as text, and each row's position among them."""
    cells, places = encode_cells(column)
    return [None if cell is None else str(cell) for cell in cells], places
