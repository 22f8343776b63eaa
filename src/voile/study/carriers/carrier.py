"""The common interface of carriers: a table of people, their notes, and the released data."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from voile.core.brief import BriefRepr
from voile.keys.pseudonyms import pseudonym
from voile.keys.random import ProtectiveRandom
from voile.keys.secret import Secret
from voile.tables.recoding.codebook import CodebookEntry

SUBJECT, NOTE = "person_id", "note"
PEOPLE, NOTES, KNOWN, STAFF, ZIPS = "people", "notes", "known", "staff", "zip_codes"
"""The tables of an opened export, and the names of their files without a suffix."""
QUASI = ("age", "sex", "race", "zip")
YEARS = (2, 9998)
"""The valid years of a date before and after it moves. Other years mean "never"."""
DIAGNOSES, READINGS, PRESCRIPTIONS, VISITS, DEATHS = (
    "diagnoses", "readings", "prescriptions", "visits", "deaths",
)  # fmt: skip
"""The kinds of facts that an acquaintance may know, common to both forms of export."""
NOT_RELEASED = "of a person without a released row"
NO_TEXT = "a note without a released text"
NOT_A_HOME = "no released person's home"
OUTSIDE = "a day that would move out of the extract"
NO_RULE = "of a type that is not released"
UNUSED = "no released resource refers to it"
NO_RESOURCES = "in a file without resources"
ABOVE_MOST = "beyond the most rows of a person"
SUPPRESSED = (ABOVE_MOST, NOT_RELEASED, NOT_A_HOME, OUTSIDE, NO_RULE, UNUSED, NO_RESOURCES)
"""Reasons for not releasing a row that is not faulty."""
_PEOPLE = pa.schema(
    [(SUBJECT, pa.string()), ("age", pa.int32()), *((one, pa.string()) for one in QUASI[1:])]
)
_NOTES = pa.schema([(SUBJECT, pa.string()), (NOTE, pa.string())])
_ZIP = re.compile(r"(\d{5})(?:-?\d{4})?")
_BATCH = 1024

Extract = tuple[date | None, date | None]
"""The first day of a visit, and the last of all released days, or None."""
Names = tuple[str | None, str | None]
"""A given and a family name."""
Known = Mapping[str, str]
"""The values of a row about a person, by column: a name, a telephone, a record number."""
Shown = Mapping[str, CodebookEntry]
"""The interval of each column in a person's released row."""


class WithheldError(Exception):
    """A row or resource is not released. The text is the reason and contains none of its values."""


class PersonEvent(NamedTuple):
    """A fact in one resource or row of an export, which an acquaintance may know.

    kind : "diagnoses", "readings" and so on. fact : the values without days, or None if there are
        only days.
    type : the resource's type, or the row's table. rank : its number within its person and type.
    """

    subject: str
    kind: str
    fact: tuple[Any, ...] | None
    days: tuple[date, ...]
    type: str = ""
    rank: int = 0


class UncoveredContent(NamedTuple):
    """Content of an export that is not released: a file or a field, its rows, and the reason.

    is_standard : whether FHIR or OMOP defines the name. Other names may be names of people.
    """

    name: str
    rows: int
    why: str
    is_standard: bool = True


class ExportCarrier(Protocol):
    """An export that is opened as a table of people and a table of notes, and written back."""

    def unpack(self, folder: Path) -> None:
        """Write `people.parquet`, one row per person, and `notes.parquet` in the export's order."""
        ...

    def last_day(self) -> date | None:
        """Return the last day on which a visit began, or None without visits."""
        ...

    def extract(self) -> Extract:
        """Return the first and the last day of the export."""
        ...

    def names(self) -> Iterator[tuple[str, Names]]:
        """Yield each person's given and family name."""
        ...

    def events(self, *, written: bool) -> Iterator[PersonEvent]:
        """Yield the facts of each person in the files. A written export has pseudonyms."""
        ...

    def list_known(self) -> Iterator[tuple[str, Known]]:
        """Yield rows of data that identify a person: names, addresses, telephones, numbers."""
        ...

    def staff(self) -> Iterator[Known]:
        """Yield the names of people and institutions that any note may mention."""
        ...

    def without_rule(self) -> list[str]:
        """Return the types of files without a rule, which are not released."""
        ...

    def count_covered(self) -> Mapping[str, int]:
        """Return the number of rows of each file that a rule releases."""
        ...

    def list_uncovered(self) -> list[UncoveredContent]:
        """Return the content that no rule releases: whole files, then fields of other files."""
        ...

    def pack(self, released: ReleasedStudy, folder: Path, scratch: Path) -> PackedExport:
        """Write the released data into an empty folder, in the export's own form."""
        ...


@dataclass(frozen=True, eq=False)
class ReleasedStudy(BriefRepr):
    """The released data of a study, which a carrier writes.

    secret : the study's secret. move : returns the moved day of a person, or None if it is left
        out.
    as_of : the day on which ages are counted.
    shown : returns the intervals of a person's row, or None if it was not released.
    notes : the released text of each unpacked note, in order, or None if it was not released.
    made_up : returns the given and the family name of the person in the release.
    """

    secret: Secret = field(repr=False)
    move: Callable[[str, date], date | None] = field(repr=False)
    as_of: date
    shown: Callable[[str], Shown | None] = field(repr=False)
    notes: Iterator[str | None] = field(repr=False)
    made_up: Callable[[str], Names] = field(default=lambda _: (None, None), repr=False)
    chance: ProtectiveRandom = field(default_factory=ProtectiveRandom, repr=False)

    @cached_property
    def name_of(self) -> Callable[[str], str]:
        return cache(lambda one: pseudonym(self.secret, one))

    def move_day(self, subject: str, day: date) -> date | None:
        """Move a day by its person's one offset. Return None if the year means "never".

        Raises
        ------
        WithheldError : the day would move out of the extract, and so limit the possible offsets.
        """
        if not is_day_of_people(day):
            return None
        try:
            new = self.move(subject, day)
        except OverflowError:
            return None
        if new is None:
            raise WithheldError(OUTSIDE)
        return new if is_day_of_people(new) else None

    def fresh_id(self) -> str:
        return self.chance.bytes(16).hex()

    @cached_property
    def fresh(self) -> Secret:
        """A key for this run only, from which ids are drawn that nobody can draw again."""
        return Secret(self.chance.bytes(32))


@dataclass
class FileTally:
    """The outcome of each row of one file. The outcomes add up to the rows that were read."""

    read: int = 0
    released: int = 0
    set_aside: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    _people: set[str] = field(default_factory=set, repr=False)

    def put_aside(self, subject: str | None, why: str) -> None:
        """Count a row that is not released, and its person if the row is faulty."""
        self.set_aside[why] += 1
        if subject is not None and why not in SUPPRESSED:
            self._people.add(subject)

    def check(self, name: str) -> None:
        """Check that each row was released, suppressed or rejected, and none was lost."""
        if self.read != self.released + self.suppressed_rows + self.rejected_rows:
            raise AssertionError(
                f"{name}: {self.read:,} rows were read, and {self.released:,} released, "
                f"{self.suppressed_rows:,} suppressed and {self.rejected_rows:,} rejected"
            )

    @property
    def suppressed_rows(self) -> int:
        """The number of rows that are not faulty but not released."""
        return sum(rows for why, rows in self.set_aside.items() if why in SUPPRESSED)

    @property
    def rejected_rows(self) -> int:
        """The number of rows that could not be released."""
        return self.set_aside.total() - self.suppressed_rows

    def to_data(self) -> dict[str, Any]:
        return {
            "read": self.read,
            "released": self.released,
            "suppressed": self.suppressed_rows,
            "rejected": self.rejected_rows,
            "set_aside_by": dict(self.set_aside),
            "people_set_aside": len(self._people),
            "dropped_fields": dict(self.dropped),
        }


@dataclass(frozen=True)
class PackedExport(BriefRepr):
    """The written files with their rows, and the outcome of each file of the export."""

    rows: Mapping[str, int]
    tallies: Mapping[str, FileTally]


@dataclass(frozen=True)
class ExportPerson:
    """The values of a person in an export that a release generalises."""

    subject: str
    birth: date | None
    sex: str | None
    race: str | None
    zip: str | None

    def row(self, as_of: date) -> dict[str, Any]:
        return {
            SUBJECT: self.subject,
            "age": self.birth and age_on(as_of, self.birth),
            "sex": self.sex,
            "race": self.race,
            "zip": self.zip,
        }


def is_day_of_people(day: date) -> bool:
    """Return whether a day has a plausible year. Other years mean "never"."""
    first, last = YEARS
    return first <= day.year <= last


def extract_between(starts: Iterable[date], days: Iterable[date]) -> Extract:
    """Return the first start of a visit and the last of all days."""
    first = min(filter(is_day_of_people, starts), default=None)
    last = max(filter(is_day_of_people, days), default=None)
    return first, last


def age_on(day: date, birth: date) -> int:
    """Return the number of completed years.

    >>> age_on(date(2013, 7, 1), date(1966, 7, 1)), age_on(date(2013, 7, 1), date(1966, 7, 2))
    (47, 46)
    """
    return day.year - birth.year - ((day.month, day.day) < (birth.month, birth.day))


def birth_of(year: int, month: int | None = None, day: int | None = None) -> date:
    """Return a date of birth, in the middle of the year or month if the rest is unknown."""
    return date(year, month or 7, day or (1 if month is None else 15))


def zip_of(text: object) -> str | None:
    """Return the five digits of a ZIP code, or another code unchanged, or None.

    >>> zip_of("00214-1234"), zip_of(" 00214 "), zip_of(""), zip_of(214)
    ('00214', '00214', None, None)
    """
    if not isinstance(text, str) or not text.strip():
        return None
    found = _ZIP.fullmatch(text.strip())
    return found[1] if found else text.strip()


def write_people(people: Mapping[str, ExportPerson], as_of: date, folder: Path) -> None:
    """Write the table of people, sorted by subject."""
    rows = [people[one].row(as_of) for one in sorted(people)]
    pq.write_table(pa.Table.from_pylist(rows, _PEOPLE), folder / f"{PEOPLE}.parquet")


def write_notes(notes: Iterator[tuple[str, str]], folder: Path) -> None:
    """Write subjects and texts in their order. Memory: one batch."""
    with pq.ParquetWriter(folder / f"{NOTES}.parquet", _NOTES) as file:
        held: list[dict[str, str]] = []
        for subject, text in notes:
            held.append({SUBJECT: subject, NOTE: text})
            if len(held) == _BATCH:
                file.write_table(pa.Table.from_pylist(held, _NOTES))
                held = []
        file.write_table(pa.Table.from_pylist(held, _NOTES))


def one_value(shown: Shown, column: str) -> str | None:
    """Return the single value of a row in a column, or None if there are several or none."""
    entry = shown.get(column)
    if entry is None or entry.missing:
        return None
    if entry.values:
        return entry.values[0] if len(entry.values) == 1 else None
    return entry.first if entry.first is not None and entry.first == entry.last else None


def common_start(shown: Shown, column: str) -> str | None:
    """Return the common beginning of all codes of a row's interval, or None.

    Every code from the first to the last begins with it, so it reveals no more than the interval.
    """
    entry = shown.get(column)
    if entry is None or entry.missing:
        return None
    ends = entry.values or (entry.first, entry.last)
    if not all(ends):
        return None
    low, high = str(min(ends, key=str)), str(max(ends, key=str))
    same = next((n for n, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), len(low))
    return low[:same] or None


def middle(shown: Shown, column: str) -> int | None:
    """Return the whole number in the middle of a row's interval, or None without boundaries."""
    entry = shown.get(column)
    if entry is None or entry.missing or entry.first is None or entry.last is None:
        return None
    return (int(entry.first) + int(entry.last)) // 2
