"""The outcomes of rows, as plain values that any process can make and one process counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.data import Source
from voile.data.files.memory import AnyPath
from voile.data.formulas import UnescapedSource
from voile.data.opening import open_released
from voile.release.manifest import PERSON

Notes = TypeVar("Notes")
Known = TypeVar("Known")


class AsideRows(NamedTuple):
    """Rows that cannot be released, (n,) bool, with the column at fault and the reason."""

    column: str
    reason: str
    rows: NDArray[np.bool_]


@dataclass(frozen=True)
class SourceBatch(BriefRepr):
    """A batch of rows of the source.

    Parameters
    ----------
    rows : the requested columns.
    numbers : (n,) the number of each row in the source, from 0.
    counted : (n,) bool, True for rows that are not held out. The other rows are not counted.
    """

    rows: pa.RecordBatch
    numbers: NDArray[np.int64]
    counted: NDArray[np.bool_]

    def find_remaining(self, aside: Iterable[AsideRows]) -> NDArray[np.bool_]:
        """Return which rows are counted and not rejected, (n,) bool."""
        left = self.counted.copy()
        for one in aside:
            left &= ~one.rows
        return left

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle only these rows, because pickling a slice would include its whole buffers."""
        packed = self.rows.serialize().to_pybytes()
        return _unpack_batch, (packed, self.rows.schema, self.numbers, self.counted)


def _unpack_batch(packed: bytes, schema: pa.Schema, *rest: Any) -> SourceBatch:
    return SourceBatch(pa.ipc.read_record_batch(packed, schema), *rest)


@dataclass(frozen=True)
class BatchOutcome(BriefRepr, Generic[Notes]):
    """The outcome of a batch.

    Parameters
    ----------
    columns : the columns of the release, or the input of `finish`, with one value for each input
        row.
    notes : the module's notes about the rows.
    aside : rows to which no policy applies, and which are rejected.
    suppressed : (n,) bool, rows that may not be released, if any.
    beside : rows for files of the private folder, by name of the file.
    """

    columns: Sequence[pa.Array]
    notes: Notes
    aside: Sequence[AsideRows] = ()
    suppressed: NDArray[np.bool_] | None = None
    beside: Mapping[str, pa.RecordBatch] = field(default_factory=dict)


@dataclass
class RowTally:
    """The count of rows by outcome. `check` verifies that no row was lost or duplicated."""

    read: int = 0
    released: int = 0
    held_out: int = 0
    suppressed: int = 0
    set_aside: Counter[tuple[str, str]] = field(default_factory=Counter)
    set_aside_rows: int = 0

    def add(self, more: RowTally) -> None:
        """Add the counts of further rows."""
        self.read += more.read
        self.released += more.released
        self.held_out += more.held_out
        self.suppressed += more.suppressed
        self.set_aside.update(more.set_aside)
        self.set_aside_rows += more.set_aside_rows

    def check(self) -> None:
        out = self.released + self.set_aside_rows + self.suppressed + self.held_out
        if self.read != out:
            raise AssertionError(
                f"{self.read} rows came in, but released, suppressed and rejected rows sum to {out}"
            )

    def to_data(self) -> dict[str, Any]:
        return {
            "read": self.read,
            "released": self.released,
            "held_out": self.held_out,
            "suppressed": self.suppressed,
            "set_aside": self.set_aside_rows,
            "set_aside_by": [
                {"column": column, "reason": reason, "rows": rows}
                for (column, reason), rows in sorted(self.set_aside.items())
            ],
        }


@dataclass(frozen=True)
class WrittenRelease(BriefRepr, Generic[Known]):
    """A written release before its publication, as the gate measures it.

    Parameters
    ----------
    path, escaped : its location, and whether formulas in it were escaped.
    truth : the source row number of each row, and the token of its person if there are subjects.
    known : the result of `conclude`.
    tally : the counts of rows by outcome.
    dropped : the distinct tokens of people with a suppressed row.
    scratch : a folder for temporary files. None in memory.
    """

    path: AnyPath
    escaped: bool
    truth: Source
    known: Known
    tally: RowTally
    dropped: NDArray[np.int64]
    scratch: Path | None

    @property
    def rows(self) -> Source:
        """The released rows, before formulas were escaped."""
        rows = open_released(self.path)
        return UnescapedSource(rows) if self.escaped else rows

    @property
    def people(self) -> Source | None:
        """The person of each row, or None without subjects."""
        return self.truth if PERSON in self.truth.columns else None

    def suppressed_people(self) -> int:
        """Count the subjects with no released row. Without subjects, count suppressed rows."""
        if self.people is None:
            return self.tally.suppressed
        dropped = self.dropped
        for batch in self.people.batches([PERSON]):
            dropped = np.setdiff1d(dropped, batch.column(0).to_numpy())
        return len(dropped)
