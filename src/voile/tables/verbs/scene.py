"""Gather the inputs of attacks on a table: release, adversary's data, original data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.errors import RequestError, nearest
from voile.data import Source, open_source
from voile.release.manifest import StoredRelease
from voile.release.scoring import rows_held_out, rows_released
from voile.report.wording import join_names
from voile.tables.attack.inference import SensitiveRecords
from voile.tables.attack.records import IntervalRecords, distinct_rows
from voile.tables.domains.domain import encode_cells
from voile.tables.recoding.boxes import read_codebook
from voile.tables.recoding.class_ids import CLASS
from voile.tables.recoding.codebook import ReleaseCodebook, RowCoding
from voile.tables.verbs.options import AdversaryOptions, AttackOptions

MISSING = -1
STRANGER = np.int64(-1)


class TablesStage(ABC):
    """The shared inputs of all attacks: one list of true people and one set of codes."""

    truth: Source
    options: AdversaryOptions

    @property
    @abstractmethod
    def codebook(self) -> RowCoding:
        """Return the coding of released rows and raw cells as numbers."""

    @property
    @abstractmethod
    def sensitive(self) -> list[str]:
        """Return the sensitive columns of the release."""

    @property
    @abstractmethod
    def kept_columns(self) -> list[str]:
        """Return the columns that were released unchanged."""

    @property
    @abstractmethod
    def table(self) -> pa.Table:
        """Return the released rows."""

    @property
    @abstractmethod
    def rows(self) -> NDArray[np.int64]:
        """Return the source's row of each released row."""

    @property
    @abstractmethod
    def rows_held_out(self) -> NDArray[np.int64]:
        """Return the source's rows that were held out before fitting."""

    @property
    @abstractmethod
    def subject(self) -> str | None:
        """Return the source's column of subjects."""

    @property
    def is_joined(self) -> bool:
        """Return whether pseudonyms show which rows are one person's."""
        return False

    @property
    def quasi(self) -> tuple[str, ...]:
        return self.codebook.quasi

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the linking adversary's columns: quasi-identifiers and columns of `knows`."""
        return (*self.quasi, *self.options.knows)

    def check_known(self) -> None:
        """Raise an error for columns that are not released, since an adversary cannot know them."""
        for column in self.options.knows:
            if column not in self.kept_columns:
                raise RequestError(
                    f"the adversary cannot know {column}: it is not a kept column of the release",
                    instead=nearest(column, self.kept_columns),
                )

    @cached_property
    def person(self) -> str | None:
        """Return the column that identifies the person of a row, or None if rows are people."""
        named = self.options.person or self.subject
        if named is not None and named not in self.truth.columns:
            raise RequestError(
                f"the original has no column {named} of identities",
                where=self.truth.name,
                instead=nearest(named, self.truth.columns),
            )
        return named

    @cached_property
    def true_rows(self) -> pa.Table:
        """Return the source's columns that scoring needs."""
        wanted = [*self.quasi, *self.sensitive, *([self.person] if self.person else [])]
        return self.truth.read(dict.fromkeys(wanted))

    @cached_property
    def _people(self) -> dict[Any, int]:
        """The numbers of the true people, by the text of their identity."""
        return {}

    def _numbers(self, column: pa.ChunkedArray) -> NDArray[np.int64]:
        names, places = encode_cells(column)
        people = self._people
        known = [
            STRANGER if name is None else people.setdefault(str(name), len(people))
            for name in names
        ]
        return np.array(known, dtype=np.int64)[places]

    @cached_property
    def who(self) -> NDArray[np.int64]:
        """Return the person of each row of the source."""
        if self.person is None:
            return np.arange(self.true_rows.num_rows, dtype=np.int64)
        numbers = self._numbers(self.true_rows.column(self.person))
        # a row without a subject is a separate person
        return np.where(numbers == STRANGER, -2 - np.arange(len(numbers)), numbers)

    @cached_property
    def released_records(self) -> IntervalRecords:
        """Return the release over the quasi-identifiers."""
        return IntervalRecords(self.codebook.released_codes(self.table), self.who[self.rows])

    @cached_property
    def known_records(self) -> IntervalRecords:
        """Return the release over all columns that the adversary knows."""
        names = self.options.knows
        columns = [number_values(self.table.column(name), self.values_of(name)) for name in names]
        return IntervalRecords(
            _beside(self.released_records.codes, columns), self.released_records.subject
        )

    @cached_property
    def kept_codes(self) -> NDArray[np.int32] | None:
        """Return the kept columns, with a number for each distinct value, or None."""
        columns = [number_values(self.table.column(name), {}) for name in self.kept_columns]
        return np.column_stack(columns) if columns else None

    @cached_property
    def _values_of(self) -> dict[str, dict[str, int]]:
        return {}

    def values_of(self, column: str) -> dict[str, int]:
        """Return the numbers of a kept column's values, shared by release and register."""
        return self._values_of.setdefault(column, {})

    @cached_property
    def _register(self) -> pa.Table:
        source = open_source(self.options.register_)
        wanted = [*self.columns, *([self.person] if self.person else [])]
        columns = [name for name in dict.fromkeys(wanted) if name in source.columns]
        if self.person is None or self.person not in columns:
            raise RequestError(
                "the register does not identify people as the source does",
                where=source.name,
                instead="name the column with --person",
            )
        return drop_repeated_entries(source.read(columns), self.person)

    @cached_property
    def register_quasi(self) -> IntervalRecords:
        """Return the adversary's register over the quasi-identifiers."""
        people = self._numbers(self._register.column(self.person))
        return IntervalRecords(self.codebook.register_codes(self._register), people)

    @cached_property
    def register(self) -> IntervalRecords:
        """Return the adversary's register over all known columns."""
        missing = np.full(self._register.num_rows, MISSING, dtype=np.int32)
        columns = [
            number_values(self._register.column(name), self.values_of(name))
            if name in self._register.column_names
            else missing
            for name in self.options.knows
        ]
        return IntervalRecords(
            _beside(self.register_quasi.codes, columns), self.register_quasi.subject
        )

    @property
    def register_rows(self) -> pa.Table:
        """Return the register's columns that the release has."""
        return self._register

    @cached_property
    def counted_population(self) -> tuple[pa.Table, NDArray[np.int64]]:
        """Return the population table, and the people of each of its rows."""
        source = open_source(self.options.population)
        people = self.options.people
        lacking = [name for name in (*self.quasi, people) if name not in source.columns]
        if lacking:
            raise RequestError(
                "the population must count the people of each combination of quasi-identifiers, "
                f"and this one has no {join_names(lacking)}",
                where=source.name,
                instead="name its column of counts with --people"
                if lacking == [people]
                else "leave --population out, since other attacks need none, or give the "
                "adversary a --register, which may lack columns",
            )
        table = source.read([*self.quasi, people])
        return table, table.column(people).cast(pa.int64()).to_numpy()

    @cached_property
    def counted_codes(self) -> NDArray[np.int32]:
        """Return the intervals of each row of the population table."""
        return self.codebook.recode(self.counted_population[0])

    @cached_property
    def population(self) -> IntervalRecords:
        """Return the population table with at most two people of each group."""
        _, people = self.counted_population
        distinct, place = np.unique(self.counted_codes, axis=0, return_inverse=True)
        # Two people of a group suffice to show that more than one person fits.
        counted = np.minimum(np.bincount(place, weights=people), 2).astype(np.int64)
        repeated = np.repeat(distinct, counted, axis=0)
        strangers = -2 - self.true_rows.num_rows - np.arange(len(repeated), dtype=np.int64)
        return IntervalRecords(repeated, strangers)

    @cached_property
    def held_out(self) -> IntervalRecords | None:
        """Return people who were held out before fitting, or the people of a control file."""
        table, people = self._control
        return IntervalRecords(self.codebook.recode(table), people) if table.num_rows else None

    @cached_property
    def _control(self) -> tuple[pa.Table, NDArray[np.int64]]:
        """Return rows of people outside the release, and their numbers."""
        if self.options.control is not None:
            source = open_source(self.options.control)
            named = [self.person] if self.person in source.columns else []
            table = source.read([*self.quasi, *self.sensitive, *named])
            if named:
                return table, self._numbers(table.column(self.person))
            own = -2 - self.true_rows.num_rows - np.arange(table.num_rows, dtype=np.int64)
            return table, own
        rows = self.rows_held_out
        return self.true_rows.take(pa.array(rows)), self.who[rows]

    @property
    def held_out_people(self) -> NDArray[np.int64]:
        """Return the numbers of people who are not in the release."""
        return self._control[1]

    @property
    def held_out_rows(self) -> pa.Table:
        """Return the cells of people who are not in the release."""
        return self._control[0]

    def cases(self, column: str) -> SensitiveRecords:
        return SensitiveRecords(
            self.released_records, number_values(self.table.column(column), self.values_of(column))
        )

    def cases_held_out(self, column: str) -> SensitiveRecords | None:
        """Return the control people with the same sensitive column, or None."""
        if self.held_out is None:
            return None
        table, _ = self._control
        return SensitiveRecords(
            self.held_out, number_values(table.column(column), self.values_of(column))
        )


@dataclass(frozen=True, eq=False)
class TablesScene(TablesStage):
    """The stage of a release made by voile, described by its manifests."""

    release: StoredRelease
    truth: Source
    options: AttackOptions

    @cached_property
    def codebook(self) -> ReleaseCodebook:
        return read_codebook(self.release.public["policy"])

    @property
    def sensitive(self) -> list[str]:
        """Return the sensitive columns of the release."""
        return [c["column"] for c in self.release.public["columns"] if c["role"] == "sensitive"]

    @property
    def kept_columns(self) -> list[str]:
        """Return the columns that are neither generalised nor pseudonyms."""
        own = ("quasi", "identifier")
        return [c["column"] for c in self.release.public["columns"] if c["role"] not in own]

    @property
    def is_per_person(self) -> bool:
        """Return whether the promise is per person, so that the leaves of rows overlap."""
        return bool(self.release.public.get("promise") == "person")

    @property
    def is_joined(self) -> bool:
        columns = self.release.public["columns"]
        named = {c["column"] for c in columns if c["role"] == "identifier"}
        return bool(named - {CLASS.name})

    @cached_property
    def table(self) -> pa.Table:
        """Return the released rows."""
        self.check_known()
        return self.release.rows().read()

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """Return the source's row of each released row."""
        return rows_released(self.release)

    @cached_property
    def rows_held_out(self) -> NDArray[np.int64]:
        """Return the source's rows that were held out before fitting."""
        return rows_held_out(self.release)

    @property
    def subject(self) -> str | None:
        """Return the source's column of subjects from the roles, or None."""
        subject: str | None = (self.release.private or {}).get("roles", {}).get("subject")
        return subject


def _beside(codes: NDArray[np.int32], columns: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
    return np.column_stack([codes, *columns]).astype(np.int32)


def number_values(column: pa.ChunkedArray, numbers: dict[str, int]) -> NDArray[np.int32]:
    """Number a column's values by their text, and extend `numbers`. Null is -1."""
    values, places = encode_cells(column)
    codes = [
        MISSING if value is None else numbers.setdefault(str(value), len(numbers))
        for value in values
    ]
    return np.array(codes, dtype=np.int32)[places]


def drop_repeated_entries(register: pa.Table, person: str) -> pa.Table:
    """Return the register with one of each person's equal entries, since adversaries count people.

    Entries without a name stay, since equal ones may belong to several people.
    """
    number = np.arange(register.num_rows)
    named = register.column(person).is_valid().to_numpy()
    codes = np.column_stack([encode_cells(column)[1] for column in register.columns])
    _, place = distinct_rows(codes.astype(np.int32))
    first = np.full(len(number), len(number))
    np.minimum.at(first, place, number)
    return register.take(np.flatnonzero(~named | (first[place] == number)))
