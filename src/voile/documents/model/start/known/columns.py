"""Determine the kind of known value in each column of a table, by its name and its values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Literal, get_args

import pyarrow as pa

from voile.core.errors import RequestError
from voile.data.column_words import find_words, glossary, mentions
from voile.data.source import Source
from voile.documents.model.start.known.cells import texts_of
from voile.documents.model.start.known.days import read_days
from voile.documents.model.start.known.looks import is_address, is_all, is_name
from voile.documents.patterns import PATTERNS

Kind = Literal["name", "date", "phone", "email", "id", "address", "place", "organisation"]
KINDS: tuple[Kind, ...] = get_args(Kind)
NOTHING = "none"
"""The kind that the user gives a column to exclude it."""

LOOKED_AT = 500  # the most values of a column to inspect
MOSTLY = 0.5  # the share of them for most decisions
NAMED = 0.3  # the share of them for names, since the shipped lists contain only common names
_DISTINCT = 0.9  # the share of distinct values in a column of identifiers
_FEW = 10  # the fewest values for this rule
_LONG_CODE = 6  # digits
_NUMBERS = ("iban", "card", "ssn", "dni")
_BY_WORDS: tuple[tuple[str, Kind], ...] = (
    ("email", "email"),
    ("phone", "phone"),
    ("address", "address"),
    ("login", "id"),
    ("number", "id"),
    ("possession", "id"),
    ("institutions", "organisation"),
    ("place", "place"),
    ("staff", "name"),
    ("name", "name"),
)
"""Meanings of the glossary, by priority: the name of a hospital is not a person's name."""
_LETTERED, _NUMBERED = ("name", "organisation"), ("phone",)


def column_kinds(source: Source, by: str | None, said: Mapping[str, str]) -> dict[str, Kind]:
    """Return the kind of each column that has one; `said` contains the user's own kinds.

    This includes the column that links rows to notes, since a note may contain a record number.

    Raises
    ------
    RequestError : a kind or a column does not exist, or no column has a kind.
    """
    for column, kind in said.items():
        if column in source.columns and kind not in (*KINDS, NOTHING):
            raise RequestError(
                f"no kind of known value is called {kind}",
                where=f"column {column}",
                instead=f"use {', '.join(KINDS)} or {NOTHING}; record numbers are id",
            )
    source.schema([by] if by else [])
    asked = [name for name in source.columns if name not in said]
    first = next(islice(source.batches(asked, batch_rows=LOOKED_AT), 1), None)
    found: dict[str, Kind] = {}
    for name in source.columns:
        own = next((one for one in KINDS if one == said.get(name)), None)
        if name not in said and first is not None:
            own = kind_of_column(name, first.column(name))
        if own is not None:
            found[name] = own
    if asked and first is None:
        raise RequestError("the table of known columns has no rows", where=source.name)
    if not found:
        raise RequestError(
            "no column contains names, dates or numbers of people",
            where=source.name,
            instead="give the kind of a column with --known-kind COLUMN=KIND",
        )
    return found


def columns_left_out(source: Source, by: str | None, said: Mapping[str, str]) -> list[str]:
    """Return the columns without values to look for that no option excludes.

    >>> from voile.data import open_source
    >>> columns_left_out(open_source({"born": ["1963-10-10"], "sex": ["f"]}), None, {})
    ['sex']
    """
    known = {*column_kinds(source, by, said), *said, by}
    return [name for name in source.columns if name not in known]


def kind_of_column(name: str, cells: pa.Array) -> Kind | None:
    """Return the kind of a column by the form of its values, or else by its name.

    >>> kind_of_column("born", pa.array(["1963-10-10", "1971-02-03"]))
    'date'
    >>> kind_of_column("apellidos", pa.array(["Qwertz", "Asdf"]))
    'name'
    >>> kind_of_column("hospital name", pa.array(["Hospital del Mar"]))
    'organisation'
    >>> kind_of_column("residence", pa.array(["Calle Mayor 12", "7 Elm Street"]))
    'address'
    >>> kind_of_column("sex", pa.array(["f", "m"]))
    """
    if pa.types.is_date(cells.type) or pa.types.is_timestamp(cells.type):
        return "date"
    values = [text for cell in cells.to_pylist() for text in texts_of(cell)]
    if not values or pa.types.is_boolean(cells.type) or _is_measured(cells):
        return None
    if _mostly(lambda text: is_all(PATTERNS["email"], text), values):
        return "email"
    if _mostly(lambda text: bool(read_days(text)), values):
        return "date"
    if glossary()["place"].found_in(name) and _mostly(is_address, values):
        return "address"
    return _by_words(name, values) or _by_form(name, values)


def _is_measured(cells: pa.Array) -> bool:
    """Return whether a column has fractions. Whole numbers with gaps may also be floats."""
    floats = cells.to_pylist() if pa.types.is_floating(cells.type) else []
    return any(one is not None and not one.is_integer() for one in floats)


def _by_words(name: str, values: Sequence[str]) -> Kind | None:
    for meaning, kind in _BY_WORDS:
        if glossary()[meaning].found_in(name):
            if kind == "name" and mentions(name, "things"):
                return None
            written = "".join(values)
            letters, digits = (any(map(is_one, written)) for is_one in (str.isalpha, str.isdigit))
            fits = (letters or kind not in _LETTERED) and (digits or kind not in _NUMBERED)
            return kind if fits else None
    return None


def _by_form(name: str, values: Sequence[str]) -> Kind | None:
    if _mostly(lambda text: is_all(PATTERNS["phone"], text), values):
        return "phone"
    if any(_mostly(lambda t, p=PATTERNS[one]: is_all(p, t), values) for one in _NUMBERS):  # type: ignore[misc]
        return "id"
    if _mostly(_is_code, values) and len(set(values)) > _DISTINCT * len(values) >= _FEW:
        return "id"
    meaning = find_words(name)
    of_people = meaning is None or meaning[0] in (glossary()["stay"], glossary()["people"])
    return "name" if of_people and _mostly(is_name, values, NAMED) else None


def _is_code(text: str) -> bool:
    """Return whether a value consists mostly of digits, perhaps in groups or with letters."""
    digits = sum(map(str.isdecimal, text))
    return digits >= _LONG_CODE and digits > MOSTLY * len(text)


def _mostly(is_one: Callable[[str], bool], values: Sequence[str], share: float = MOSTLY) -> bool:
    return sum(map(is_one, values)) > share * len(values)
