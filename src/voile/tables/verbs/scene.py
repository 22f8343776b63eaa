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
    """Hold the shared inputs of all attacks: one list of true people and one set of codes."""

    truth: Source
    options: AdversaryOptions

    @property
    @abstractmethod
    def codebook(self) -> RowCoding:
        """How released rows and raw cells become numbers."""

    @property
    @abstractmethod
    def sensitive(self) -> list[str]:
        """The sensitive columns of the release."""

    @property
    @abstractmethod
    def kept_columns(self) -> list[str]:
        """The columns that were released as they are."""

    @property
    @abstractmethod
    def table(self) -> pa.Table:
        """The released rows."""

    @property
    @abstractmethod
    def rows(self) -> NDArray[np.int64]:
        """The source's row of each released row."""

    @property
    @abstractmethod
    def rows_held_out(self) -> NDArray[np.int64]:
        """The source's rows that were set aside before fitting."""

    @property
    @abstractmethod
    def subject(self) -> str | None:
        """The source's column of subjects."""

    @property
    def is_joined(self) -> bool:
        """Whether pseudonyms show which rows are one person's."""
        return False

    @property
    def quasi(self) -> tuple[str, ...]:
        return self.codebook.quasi

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the linking adversary's columns: quasi-identifiers and columns of `knows`."""
        return (*self.quasi, *self.options.knows)

    def check_known(self) -> None:
        """Refuse columns that an adversary cannot know, since they are not released."""
        for column in self.options.knows:
            if column not in self.kept_columns:
                raise RequestError(
                    f"the adversary cannot know {column}: it is not a kept column of the release",
                    instead=nearest(column, self.kept_columns),
                )

    @cached_property
    def person(self) -> str | None:
        """The column that says who a row is; None when every row is a person."""
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
        """The source's columns that scoring needs."""
        wanted = [*self.quasi, *self.sensitive, *([self.person] if self.person else [])]
        return self.truth.read(dict.fromkeys(wanted))

    @cached_property
    def _people(self) -> dict[Any, int]:
        """Number the true people by the text of their identity."""
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
        """The person of each row of the source."""
        if self.person is None:
            return np.arange(self.true_rows.num_rows, dtype=np.int64)
        numbers = self._numbers(self.true_rows.column(self.person))
        # a row without a subject is a person of its own
        return np.where(numbers == STRANGER, -2 - np.arange(len(numbers)), numbers)

    @cached_property
    def released_records(self) -> IntervalRecords:
        """The release over the quasi-identifiers."""
        return IntervalRecords(self.codebook.released_codes(self.table), self.who[self.rows])

    @cached_property
    def known_records(self) -> IntervalRecords:
        """The release over all that the adversary knows."""
        names = self.options.knows
        columns = [number_values(self.table.column(name), self.values_of(name)) for name in names]
        return IntervalRecords(
            _beside(self.released_records.codes, columns), self.released_records.subject
        )

    @cached_property
    def kept_codes(self) -> NDArray[np.int32] | None:
        """The kept columns, each distinct value a number."""
        columns = [number_values(self.table.column(name), {}) for name in self.kept_columns]
        return np.column_stack(columns) if columns else None

    @cached_property
    def _values_of(self) -> dict[str, dict[str, int]]:
        return {}

    def values_of(self, column: str) -> dict[str, int]:
        """Number a kept column's values alike in release and register."""
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
        """The adversary's register over the quasi-identifiers."""
        people = self._numbers(self._register.column(self.person))
        return IntervalRecords(self.codebook.register_codes(self._register), people)

    @cached_property
    def register(self) -> IntervalRecords:
        """The adversary's register over all known columns."""
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
        """The register's columns that the release has."""
        return self._register

    @cached_property
    def counted_population(self) -> tuple[pa.Table, NDArray[np.int64]]:
        """The population table, and the people of each of its rows."""
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
        """The intervals of each row of the population table."""
        return self.codebook.recode(self.counted_population[0])

    @cached_property
    def population(self) -> IntervalRecords:
        """The population table, a row for each of its people."""
        _, people = self.counted_population
        distinct, place = np.unique(self.counted_codes, axis=0, return_inverse=True)
        # Two of a group tell whether exactly one person fits as well as all of them would.
        counted = np.minimum(np.bincount(place, weights=people), 2).astype(np.int64)
        repeated = np.repeat(distinct, counted, axis=0)
        strangers = -2 - self.true_rows.num_rows - np.arange(len(repeated), dtype=np.int64)
        return IntervalRecords(repeated, strangers)

    @cached_property
    def held_out(self) -> IntervalRecords | None:
        """People who were set aside before fitting, or come in a control file."""
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
        """Who the people are that are not in the release."""
        return self._control[1]

    @property
    def held_out_rows(self) -> pa.Table:
        """The cells of people who are not in the release."""
        return self._control[0]

    def cases(self, column: str) -> SensitiveRecords:
        return SensitiveRecords(
            self.released_records, number_values(self.table.column(column), self.values_of(column))
        )

    def cases_held_out(self, column: str) -> SensitiveRecords | None:
        """The control with the same column."""
        if self.held_out is None:
            return None
        table, _ = self._control
        return SensitiveRecords(
            self.held_out, number_values(table.column(column), self.values_of(column))
        )


@dataclass(frozen=True, eq=False)
class TablesScene(TablesStage):
    """Hold the stage of a release of voile's own, described by its manifests."""

    release: StoredRelease
    truth: Source
    options: AttackOptions

    @cached_property
    def codebook(self) -> ReleaseCodebook:
        return read_codebook(self.release.public["policy"])

    @property
    def sensitive(self) -> list[str]:
        """The sensitive columns of the release."""
        return [c["column"] for c in self.release.public["columns"] if c["role"] == "sensitive"]

    @property
    def kept_columns(self) -> list[str]:
        """The columns that are neither generalised nor pseudonyms."""
        own = ("quasi", "identifier")
        return [c["column"] for c in self.release.public["columns"] if c["role"] not in own]

    @property
    def is_per_person(self) -> bool:
        """Whether the promise is per person, so that the boxes of rows overlap."""
        return bool(self.release.public.get("promise") == "person")

    @property
    def is_joined(self) -> bool:
        columns = self.release.public["columns"]
        named = {c["column"] for c in columns if c["role"] == "identifier"}
        return bool(named - {CLASS.name})

    @cached_property
    def table(self) -> pa.Table:
        """The released rows."""
        self.check_known()
        return self.release.rows().read()

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """The source's row of each released row."""
        return rows_released(self.release)

    @cached_property
    def rows_held_out(self) -> NDArray[np.int64]:
        """The source's rows that were set aside before fitting."""
        return rows_held_out(self.release)

    @property
    def subject(self) -> str | None:
        """The source's column of subjects, as the roles name it."""
        subject: str | None = (self.release.private or {}).get("roles", {}).get("subject")
        return subject


def _beside(codes: NDArray[np.int32], columns: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
    return np.column_stack([codes, *columns]).astype(np.int32)


def number_values(column: pa.ChunkedArray, numbers: dict[str, int]) -> NDArray[np.int32]:
    """Number a column's values by their text, going on from `numbers`; null is -1."""
    values, places = encode_cells(column)
    codes = [
        MISSING if value is None else numbers.setdefault(str(value), len(numbers))
        for value in values
    ]
    return np.array(codes, dtype=np.int32)[places]


def drop_repeated_entries(register: pa.Table, person: str) -> pa.Table:
    """Keep one of the equal entries of a person, since an adversary counts people.

    Entries that name nobody stay: equal ones may be of several people.
    """
    number = np.arange(register.num_rows)
    named = register.column(person).is_valid().to_numpy()
    codes = np.column_stack([encode_cells(column)[1] for column in register.columns])
    _, place = distinct_rows(codes.astype(np.int32))
    first = np.full(len(number), len(number))
    np.minimum.at(first, place, number)
    return register.take(np.flatnonzero(~named | (first[place] == number)))
