"""What a recipient may know of a policy: each column's intervals, enough to recode a register.

The public manifest carries it; the adversary of `attack` has it, and no kit.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.errors import TamperedError
from voile.tables.domain import By, Domain, Kind, NotInKind, Reading
from voile.tables.policy import Interval, Policy

UNKNOWN = -1


@dataclass(frozen=True)
class Entry:
    """One interval as it is published.

    Parameters
    ----------
    label : as it stands in the release.
    first, last : its ends as text, the missing value left out; None when it holds nothing else.
    missing : whether records with no value are in it.
    values : its values, in the alphabet's order, where the domain's own is not one to know.
    """

    label: str
    first: str | None
    last: str | None
    missing: bool = False
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class CodedColumn:
    """One generalised column of a release.

    Parameters
    ----------
    column : the quasi-identifier. released : its columns in the release, one label or two bounds.
    kind, by, form : how its raw values are read, as in `Reading`.
    """

    column: str
    released: tuple[str, ...]
    kind: Kind
    by: By
    form: str | None
    entries: tuple[Entry, ...]

    @classmethod
    def of(cls, domain: Domain, intervals: Sequence[Interval], *, bounds: bool) -> CodedColumn:
        """Describe a domain's intervals."""
        name = domain.column
        known = [str(v) for v in domain.values if v is not None]
        listed = domain.reading.kind == "listed" or (
            domain.reading.kind == "text" and not all(value.isdigit() for value in known)
        )
        return cls(
            name,
            (f"{name}_low", f"{name}_high") if bounds else (name,),
            domain.reading.kind,
            domain.reading.by,
            domain.reading.form,
            tuple(_entry(domain, interval, listed=listed) for interval in intervals),
        )

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> CodedColumn:
        """Read back what `dataclasses.asdict` and JSON made of one."""
        entries = tuple(Entry(**{**e, "values": tuple(e["values"])}) for e in data["entries"])
        reading = (data["kind"], data["by"], data["form"])
        return cls(data["column"], tuple(data["released"]), *reading, entries)

    @cached_property
    def _of_released(self) -> dict[tuple[str | None, ...], int]:
        if len(self.released) == 1:
            return {(entry.label,): i for i, entry in enumerate(self.entries)}
        return {(entry.first, entry.last): i for i, entry in enumerate(self.entries)}

    def released_codes(self, columns: Sequence[pa.Array]) -> NDArray[np.int32]:
        """Return the interval number of every released row.

        Raises
        ------
        TamperedError : a cell is none of the published intervals.
        """
        encoded = [_encoded(column) for column in columns]
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
                f"row {int(codes.argmin()) + 1} holds none of the policy's intervals",
                where=f"column {self.column}",
            )
        return codes

    def recode(self, column: pa.Array) -> NDArray[np.int32]:
        """Return the interval that each raw cell falls in, as the policy does; -1 for none."""
        missing = next((i for i, entry in enumerate(self.entries) if entry.missing), UNKNOWN)
        return self._codes(column, null=missing)

    def register_codes(self, column: pa.Array) -> NDArray[np.int32]:
        """Return the same for a register, where null is what it does not know: -1."""
        return self._codes(column, null=UNKNOWN)

    def _codes(self, column: pa.Array, *, null: int) -> NDArray[np.int32]:
        texts, places = _encoded(column)
        found = [null if text is None else self._find(text) for text in texts]
        return np.array(found, dtype=np.int32)[places]

    @cached_property
    def _of_value(self) -> dict[str, int]:
        return {value: i for i, entry in enumerate(self.entries) for value in entry.values}

    @cached_property
    def _ends(self) -> tuple[list[int], list[Any], list[Any]]:
        numbers = [i for i, entry in enumerate(self.entries) if entry.first is not None]
        read = Reading(self.kind, self.by)
        firsts = [read(self.entries[i].first) for i in numbers]
        return numbers, firsts, [read(self.entries[i].last) for i in numbers]

    def _find(self, text: str) -> int:
        if self._of_value:
            return self._of_value.get(text, UNKNOWN)
        numbers, firsts, lasts = self._ends
        try:
            value: Any = Reading(self.kind, self.by, self.form)(text)
        except NotInKind:
            return UNKNOWN
        place = bisect_right(firsts, value) - 1
        return numbers[place] if place >= 0 and value <= lasts[place] else UNKNOWN


@dataclass(frozen=True)
class Codebook:
    """All generalised columns of a release."""

    columns: tuple[CodedColumn, ...]

    @classmethod
    def of(cls, policy: Policy, *, bounds: bool = False) -> Codebook:
        """Describe a policy."""
        return cls(
            tuple(
                CodedColumn.of(domain, policy.intervals[domain.column], bounds=bounds)
                for domain in policy.domains
            )
        )

    def to_data(self) -> list[dict[str, Any]]:
        """Return plain data for a manifest."""
        return [asdict(column) for column in self.columns]

    @classmethod
    def from_data(cls, data: Sequence[Mapping[str, Any]]) -> Codebook:
        """Read back what `to_data` made."""
        return cls(tuple(CodedColumn.from_data(column) for column in data))

    @property
    def released(self) -> list[str]:
        """The release's columns that it describes."""
        return [name for column in self.columns for name in column.released]

    def released_codes(self, table: pa.Table) -> NDArray[np.int32]:
        """Return (rows, attributes) int32, the interval numbers of released rows."""
        return _stacked(
            [c.released_codes([table.column(r) for r in c.released]) for c in self.columns],
            table.num_rows,
        )

    def register_codes(self, table: pa.Table) -> NDArray[np.int32]:
        """Return (rows, attributes) int32 of a register's raw cells; -1 for what it lacks."""
        absent = np.full(table.num_rows, UNKNOWN, dtype=np.int32)
        return _stacked(
            [
                c.register_codes(table.column(c.column))
                if c.column in table.column_names
                else absent
                for c in self.columns
            ],
            table.num_rows,
        )

    def recode(self, table: pa.Table) -> NDArray[np.int32]:
        """Return (rows, attributes) int32 of raw cells as the policy does; -1 outside of it."""
        return _stacked([c.recode(table.column(c.column)) for c in self.columns], table.num_rows)


def _stacked(columns: Sequence[NDArray[np.int32]], rows: int) -> NDArray[np.int32]:
    return np.column_stack(columns) if columns else np.zeros((rows, 0), dtype=np.int32)


def _entry(domain: Domain, interval: Interval, *, listed: bool) -> Entry:
    values = domain.values[interval.first : interval.last + 1]
    known = [str(v) for v in values if v is not None]
    return Entry(
        interval.label,
        known[0] if known else None,
        known[-1] if known else None,
        missing=None in values,
        values=tuple(sorted(known)) if listed else (),
    )


def _encoded(column: pa.Array | pa.ChunkedArray) -> tuple[list[str | None], NDArray[np.int64]]:
    """Return the distinct cells as text, and each row's place among them."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode(null_encoding="encode")
    raw = column.dictionary.to_pylist()
    indices = column.indices
    if indices.null_count:
        indices, raw = indices.fill_null(len(raw)), [*raw, None]
    texts = [None if value is None else str(value) for value in raw]
    return texts, np.asarray(indices.to_numpy(zero_copy_only=False), dtype=np.int64)
