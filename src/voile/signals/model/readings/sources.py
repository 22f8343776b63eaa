"""Convert a source with roles to readings, their classes and their subjects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.core.errors import RequestError
from voile.data import Source
from voile.data.hold_out import HoldOut
from voile.data.roles import Roles
from voile.signals.model.codec.formula import ColumnFormula
from voile.signals.model.codec.place import ReadingPlace
from voile.signals.model.readings.forms import (
    KnownColumn,
    ReadingCellValues,
    ReadingColumn,
    has_decimal_comma,
)
from voile.signals.model.readings.merging import PrivateSettings
from voile.signals.model.readings.moments import ReadingTicks, count_ticks, order_rows, rank_moments

UNTREATED = ("quasi", "items", "weight")
FEW_EACH = 2  # average subjects per class, below which the column is not a class


@dataclass(frozen=True, eq=False)
class SourceReadings(BriefRepr):
    """Readings in an order that does not depend on the order of the source."""

    table: NDArray[Any]  # (n, d) float64, or objects if a column is nominal
    labels: NDArray[np.str_]  # (n,) classes as text
    whose: NDArray[np.intp]  # (n,) subject numbers; each subject's rows are in order of time
    moments: NDArray[np.intp]  # (n,) ranks in time, 0 without a time column
    number: NDArray[np.int64]  # (n,) row numbers in the source, from 0
    names: NDArray[np.str_]  # names of the subjects, by their numbers
    left_out: int  # rows without a class, a subject or a complete reading
    known: NDArray[np.object_]  # (n, q) side columns, None where missing
    times: ReadingTicks | None = None  # times of the readings, if there is a time column

    def take(self, rows: NDArray[Any]) -> SourceReadings:
        names = ("table", "labels", "whose", "moments", "number", "known")
        times = self.times and ReadingTicks(self.times.values[rows], self.times.per)
        return replace(self, times=times, **{name: getattr(self, name)[rows] for name in names})

    @property
    def beside(self) -> NDArray[np.object_] | None:
        """The side columns, or None if there are none."""
        return self.known if self.known.shape[1] else None

    def one_each(self, rng: np.random.Generator) -> NDArray[np.intp]:
        """Draw one random row of each subject."""
        order = rng.permutation(len(self.whose))
        return np.sort(order[np.unique(self.whose[order], return_index=True)[1]])


@dataclass(frozen=True, eq=False)
class BatchReadings(BriefRepr):
    """The readings, classes and subjects of a batch, row by row."""

    cells: tuple[ReadingCellValues, ...]
    labels: NDArray[np.object_]
    subjects: NDArray[np.object_]
    sides: tuple[ReadingCellValues, ...] = ()  # known columns of the adversary

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Whether each row lacks a reading."""
        return np.asarray(np.any([one.missing for one in self.cells], axis=0))

    @property
    def strange(self) -> NDArray[np.bool_]:
        """Whether each row has a cell that is invalid in its column."""
        return np.asarray(np.any([one.strange for one in (*self.cells, *self.sides)], axis=0))

    @property
    def nameless(self) -> NDArray[np.bool_]:
        """Whether each row lacks a class or a subject."""
        return nothing(self.labels) | nothing(self.subjects)

    @property
    def good(self) -> NDArray[np.bool_]:
        """Whether each row has a class, a subject and every reading."""
        return ~(self.missing | self.strange | self.nameless)

    @property
    def some(self) -> NDArray[np.bool_]:
        """Whether each row has a class, a subject and at least one reading."""
        every = np.all([one.missing for one in self.cells], axis=0)
        return np.asarray(~(every | self.strange | self.nameless))

    def table(self, rows: NDArray[Any]) -> NDArray[Any]:
        return np.stack([one.values[rows] for one in self.cells], axis=1)

    def side_values(self, rows: NDArray[Any]) -> NDArray[np.object_]:
        """Return the side columns of rows as an array (n, q)."""
        found = np.empty((len(np.arange(len(self.labels))[rows]), len(self.sides)), dtype=object)
        for j, one in enumerate(self.sides):
            found[:, j] = one.values[rows]
        return found


@dataclass(frozen=True)
class SignalReader(BriefRepr):
    shows = ("columns",)

    roles: Roles  # roles of all columns
    columns: tuple[str, ...]  # columns of readings, in the map's order
    hold_out: HoldOut  # the hold-out rule
    time: str | None = None  # the column that orders a subject's readings, if any

    @cached_property
    def forms(self) -> tuple[ReadingColumn, ...]:
        return ReadingColumn.all_of(self.roles, self.columns)

    @cached_property
    def sides(self) -> tuple[KnownColumn, ...]:
        """The columns that the adversary is assumed to know."""
        return KnownColumn.all_of(self.roles)

    @property
    def in_clear(self) -> bool:
        """Whether all known columns are sent in the clear with messages."""
        return all(one.settings.sent for one in self.sides)

    @cached_property
    def private(self) -> str:
        """The name of the class column."""
        return self.roles.of("private")[0]

    @cached_property
    def merged_names(self) -> Mapping[str, str]:
        """The common name of each class that is merged with others."""
        return PrivateSettings.of(self.roles, self.private).names

    def classes(self, column: pa.Array) -> NDArray[np.object_]:
        """Return a class column as text, with merged classes under their common name."""
        labels = classes_of(column, self.private)
        named = [self.merged_names.get(one, one) for one in labels] if self.merged_names else labels
        return np.array(named, dtype=object)

    def name_place(self, error: RequestError, rows: SourceReadings) -> RequestError:
        """Return the error with its place in the source, given as column names and row numbers."""
        if not isinstance(error.where, ReadingPlace):
            return error
        names = (*self.columns, *(one.column for one in self.sides))
        where = error.where.describe_place(names, self.private, rows.number.tolist())
        return type(error)(error.what, where=where, instead=error.instead)

    @property
    def subject(self) -> str:
        """The name of the subject column."""
        assert self.roles.subject is not None  # ensured by `check`
        return self.roles.subject

    @property
    def resolutions(self) -> list[float | str | None]:
        """The resolution of each column, in the form that maps accept."""
        return [form.resolution for form in self.forms]

    @property
    def invariants(self) -> list[int]:
        """The indices of the columns that never change within a subject."""
        return [j for j, form in enumerate(self.forms) if form.settings.invariant]

    @cached_property
    def relations(self) -> dict[int, str]:
        """The declared relations by index of the numeric column, in the form that maps accept."""
        numeric = [one for one in self.forms if not one.settings.nominal]
        names = {one.column: f"x{place}" for place, one in enumerate(numeric)}
        names |= {
            one.column: f"k{place}"
            for place, one in enumerate(self.sides)
            if not one.settings.nominal
        }
        found = {}
        for place, form in enumerate(numeric):
            if form.settings.relation is None:
                continue
            try:
                formula = ColumnFormula(form.settings.relation)
            except RequestError as error:
                where = f"roles, column {form.column}"
                raise RequestError(error.what, where=where, instead=error.instead) from None
            if lacking := [name for name in formula.names if name not in names]:
                raise RequestError(
                    f"the relation contains {lacking[0]}, which is no reading or known column of "
                    "numbers, so that the recipient lacks it",
                    where=f"roles, column {form.column}",
                    instead="give it the role reading or known, or leave the relation out",
                )
            found[place] = formula.rename_columns(names).text
        return found

    def check(self, source: Source) -> None:
        """Refuse roles that do not fit the source or this kind of data."""
        self.roles.check(source.columns, "reading", "private", "known")
        if not self.forms:
            raise RequestError(
                "no column has the role reading", where="roles", instead="say which hold them"
            )
        if len(classes := self.roles.of("private")) != 1:
            raise RequestError(
                f"{len(classes) or 'no'} columns have the role private",
                where="roles",
                instead="give it to the one column of classes that readings must not reveal",
            )
        PrivateSettings.of(self.roles, self.private)
        _ = self.relations  # refuses invalid relations
        if self.roles.subject is None:
            raise RequestError(
                "the roles name no subject, by whom the recipient finds the class",
                where="roles",
                instead='say subject = "COLUMN"',
            )
        if other := [c for c in self.roles.columns if self.roles.columns[c].role in UNTREATED]:
            raise RequestError(
                f"column {other[0]} has the role {self.roles.columns[other[0]].role}, "
                "which signals do not treat",
                where="roles",
                instead="make it a reading, keep or drop it",
            )
        if self.time is not None and self.time not in source.columns:
            raise RequestError(f"there is no column {self.time}", where="--time")

    def see(self, batch: pa.RecordBatch) -> BatchReadings:
        cells = tuple(form.cells(batch.column(form.column)) for form in self.forms)
        return BatchReadings(
            cells,
            self.classes(batch.column(self.private)),
            subjects_of(batch.column(self.subject)),
            tuple(one.cells(batch.column(one.column)) for one in self.sides),
        )

    def read_rows(
        self, source: Source, *, strict: bool = True, partial: bool = False
    ) -> SourceReadings:
        """Read all rows that have a class, a subject and every reading.

        With `partial`, one reading is enough. With `strict`, skip rows of held-out people and
        refuse an invalid cell. Rows are sorted by subject, time and readings, so that the source's
        order reveals nothing.
        """
        seen, numbers, times, read = [], [], [], 0
        for batch, number in self._batches(source, strict=strict):
            one = self.see(batch)
            if strict:
                self._refuse_strange(one, batch, number, source.name)
            good = one.some if partial else one.good
            read += len(good)
            seen.append(
                (one.table(good), one.labels[good], one.subjects[good], one.side_values(good))
            )
            numbers.append(number[good])
            times.append(batch.column(self.time).filter(pa.array(good)) if self.time else None)
        tables, labels, subjects, known = zip(*seen, strict=True) if seen else ((), (), (), ())
        number = np.concatenate([np.zeros(0, np.int64), *numbers])
        if not len(number):
            raise RequestError(
                "no row has a class, a subject and every reading",
                where=source.name,
                instead="with sensors of different rates, round times until some rows are complete",
            )
        moments = np.zeros(len(number), dtype=np.intp)
        ticks = None
        if self.time:
            moments, ticks = rank_moments(times, self.time, number), count_ticks(times, self.time)
        return _order_rows(
            np.concatenate(tables),
            np.concatenate(labels).astype(str),
            np.concatenate(subjects).astype(str),
            moments,
            ticks,
            number,
            np.concatenate(known),
            left_out=read - len(number),
        )

    def _batches(
        self, source: Source, *, strict: bool
    ) -> Iterator[tuple[pa.RecordBatch, NDArray[np.int64]]]:
        time = [self.time] if self.time else []
        sides = [one.column for one in self.sides]
        columns = [*self.columns, *sides, self.private, self.subject, *time]
        first = 0
        for batch in source.batches(list(dict.fromkeys(columns))):
            number = np.arange(first, first + len(batch))
            first += len(batch)
            if strict:
                used = ~self.hold_out.find_held(batch, int(number[0]) if len(number) else 0)
                batch, number = batch.filter(pa.array(used)), number[used]
            yield batch, number

    def _refuse_strange(
        self, seen: BatchReadings, batch: pa.RecordBatch, number: NDArray[np.int64], name: str
    ) -> None:
        forms: tuple[ReadingColumn | KnownColumn, ...] = (*self.forms, *self.sides)
        every = (*seen.cells, *seen.sides)
        for form, cells in zip(forms, every, strict=True):
            if cells.strange.any():
                at = int(cells.strange.argmax())
                remedy = "correct it, or say nominal or ordinal in the roles file"
                if has_decimal_comma(batch.column(form.column)[at]):
                    remedy = "write decimals with a point, not with a comma"
                raise RequestError(
                    f"a cell holds {form.lacks}",
                    where=f"{name}, row {number[at] + 1:,}, column {form.column}",
                    instead=remedy,
                )


def _order_rows(
    table: NDArray[Any],
    labels: NDArray[np.str_],
    subjects: NDArray[np.str_],
    moments: NDArray[np.intp],
    ticks: ReadingTicks | None,
    number: NDArray[np.int64],
    known: NDArray[np.object_],
    *,
    left_out: int,
) -> SourceReadings:
    """Sort rows by subject, time and values. Ties keep the order of the source."""
    names, whose = np.unique(subjects, return_inverse=True)
    order = order_rows(table, whose, moments, number)
    rows = SourceReadings(table, labels, whose, moments, number, names, left_out, known, ticks)
    return rows.take(order)


def without_copies(rows: SourceReadings) -> SourceReadings:
    """Return the fewest readings of each subject that keep their relative frequencies.

    If every row of a subject is written twice, each counts once.
    """
    texts = np.where(rows.known == None, "", rows.known).astype(str)  # noqa: E711
    every = (*rows.table.T, *texts.T)
    columns = [np.unique(column, return_inverse=True)[1] for column in every]
    keys = np.stack([rows.whose, rows.moments, *columns], axis=1)
    kind, times = np.unique(keys, axis=0, return_inverse=True, return_counts=True)[1:]
    kind = kind.ravel()
    owner = np.zeros(len(times), dtype=np.intp)
    owner[kind] = rows.whose
    common = np.zeros(rows.whose.max() + 1, dtype=np.int64)
    np.gcd.at(common, owner, times)
    kept = times[kind] // common[rows.whose]
    # number the copies of each reading in order and keep the first ones
    order = np.argsort(kind, kind="stable")
    starts = np.cumsum(times) - times
    copy = np.empty(len(kind), dtype=np.int64)
    copy[order] = np.arange(len(kind)) - np.repeat(starts, times)
    return rows.take(np.flatnonzero(copy < kept))


def check_classes(rows: SourceReadings, private: str) -> None:
    """Refuse a single class, classes with too few people, and a subject with two classes."""
    _, first = np.unique(rows.whose, return_index=True)
    if len(first) < FEW_EACH * len(np.unique(rows.labels)):
        raise RequestError(
            "almost every subject has a class of its own",
            where=f"column {private}",
            instead="give the role private to a column of a few classes of many people",
        )
    if (rows.labels != rows.labels[first][rows.whose]).any():
        raise RequestError(
            "a subject is of two classes",
            where=f"column {private}",
            instead="give each person one class, or each enrolment a subject of its own",
        )
    if (rows.labels == rows.labels[0]).all():
        raise RequestError("all readings are of one class", where=f"column {private}")


def nothing(values: NDArray[np.object_]) -> NDArray[np.bool_]:
    """Return whether each text is missing."""
    return np.array([value is None for value in values], dtype=np.bool_)


def classes_of(column: pa.Array, name: str) -> NDArray[np.object_]:
    """Return classes as text. Whole numbers stored as floats become their digits."""
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, column)
        try:
            column = column.cast(pa.int64())
        except pa.ArrowInvalid:
            raise RequestError(
                "a class is a fraction", where=f"column {name}", instead="make it text"
            ) from None
    return _text(column)


def subjects_of(column: pa.Array) -> NDArray[np.object_]:
    """Return subjects as text, with blank text as missing."""
    text = column.cast(pa.string())
    blank = pc.equal(pc.utf8_trim_whitespace(text), "")
    return _text(pc.if_else(blank, None, text))


def _text(column: pa.Array) -> NDArray[np.object_]:
    values: NDArray[np.object_] = column.cast(pa.string()).to_numpy(zero_copy_only=False)
    return values
