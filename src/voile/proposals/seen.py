"""The examined properties of a source's columns: types, counts, and the form of the values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from voile.data.column_words import is_of_places
from voile.data.forms import Form, find_forms, find_usual_form
from voile.proposals.missing import NONE, MissingValues, find_missing
from voile.proposals.values import (
    MOSTLY,
    FrequentValues,
    are_names,
    are_nested,
    are_references,
    find_date_forms,
    find_identifiers,
    find_number,
    find_width,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from voile.data import Source

ROWS = 100_000  # examined rows
LEAST_ROWS = 50  # with fewer rows, every column looks unique
NEARLY_UNIQUE = 0.9  # share of distinct values among present values
FEW = 0.2  # share of rows; fewer distinct values suggest places, not people
MANY = 0.5  # share of rows; more distinct values are not categories
FREE_TEXT = 30  # least mean number of characters
DAY_WIDTH = 8  # number of digits of 20240131
CODE = re.compile(
    r"[A-Za-z]{1,2}\d[A-Za-z\d.\- ]{0,10}|\d{4} ?[A-Za-z]{2}|\d{2,5}[ -]\d{3,4}|\d{3} \d{2}"
)
"""Patterns of classifications, and of postal codes: SW1A 1AA, K1A 0B1, 1011 AB, 00-950, 114 55."""
ID_WIDTH = 7  # least digits of whole numbers of equal length that are ids or times, not readings


@dataclass(frozen=True)
class ColumnLook:
    """The properties of a column in the examined rows.

    Parameters
    ----------
    kind : ``text``, ``whole``, ``decimal``, ``float``, ``date``, ``truth``, ``nested`` (lists,
        structs, or JSON of these) or ``other``.
    present, distinct : the number of values that are neither null nor an empty list, and of
        distinct values.
    length : the mean number of characters of a text.
    spaced : whether texts have two spaces or more on average.
    number : the kind of number, also of numbers in text: ``whole``, ``fraction`` or empty.
    width : the number of digits of every value, if all values consist of equally many digits.
    forms : for dates as text, the forms that fit all values. Empty if no form fits all of them.
    identifiers : the kind of identifier, if the values have its form, such as ``e-mail addresses``.
    missing : the values that mean a missing value. They are not counted as present.
    written : for numbers and times as text, the forms that fit all values.
    mostly : the form that fits most values, if none fits all.
    codes : whether texts have the form of `CODE`.
    """

    name: str
    type: str
    kind: str
    rows: int
    present: int
    distinct: int
    length: float = 0.0
    spaced: bool = False
    number: str = ""
    width: int = 0
    forms: Sequence[str] = ("",)
    identifiers: str | None = None
    missing: MissingValues = NONE
    written: Sequence[Form] = ()
    mostly: Form | None = None
    codes: bool = False

    @property
    def nearly_unique(self) -> bool:
        return self.present >= LEAST_ROWS and self.distinct > NEARLY_UNIQUE * self.present

    @property
    def many(self) -> bool:
        """Whether the distinct values are more than half of the present ones."""
        return self.present >= LEAST_ROWS and self.distinct > MANY * self.present

    @property
    def measures(self) -> bool:
        """Whether the values have a fraction, a unit or thousands separators, unlike ids."""
        return self.number == "fraction" or bool(self.number and self.written)

    @property
    def numbers_people(self) -> bool:
        """Whether the values are distinct whole numbers, as ids are."""
        whole = self.number == "whole" and not self.measures
        return whole and self.present >= LEAST_ROWS and self.distinct == self.present

    @property
    def free_text(self) -> bool:
        return self.kind == "text" and self.length >= FREE_TEXT and self.spaced

    @property
    def counts(self) -> str:
        return f"{printable(self.type)}, {self.distinct:,} distinct in {self.present:,}"


def first_rows(source: Source) -> pa.Table:
    import pyarrow as pa

    batches, rows = [], 0
    for batch in source.batches():
        batches.append(batch.slice(0, ROWS - rows))
        rows += len(batches[-1])
        if rows >= ROWS:
            break
    return pa.Table.from_batches(batches, source.schema())


def look(table: pa.Table, *, written: bool = False) -> Iterator[ColumnLook]:
    """Yield the properties of each column of a table.

    `written` also looks for texts that mean a missing value, and for the form of numbers.
    """
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = _kind(column.type)
        missing = NONE
        if written:
            is_number = kind in ("whole", "float", "decimal")
            missing = find_missing(column, is_text=kind == "text", is_number=is_number)
        column = _without(column, missing.texts)
        seen = replace(_count_column(name, column), missing=missing)
        if seen.present and seen.kind in ("text", "whole"):
            values = FrequentValues(column)
            seen = _looked_at(seen, values)
            seen = _describe_written(seen, values) if written else seen
        yield seen


def _without(column: pa.ChunkedArray, missing: Sequence[str]) -> pa.ChunkedArray:
    """Replace the texts that mean a missing value by null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not missing:
        return column
    is_text = _kind(column.type) == "text"
    cells = pc.utf8_trim_whitespace(column) if is_text else column
    said = pc.is_in(cells, pa.array(missing, pa.string()).cast(column.type))
    return pc.if_else(said, pa.scalar(None, column.type), column)


def _describe_written(seen: ColumnLook, values: FrequentValues) -> ColumnLook:
    """Add the form of numbers and times to the properties of a text column."""
    if seen.kind != "text" or seen.number or seen.free_text or seen.identifiers:
        return seen
    if forms := find_forms(values.texts):
        number = {"integer": "whole", "decimal": "fraction"}.get(forms[0][0], "")
        return replace(seen, written=forms, number=number)
    usual = find_usual_form(values.texts)
    mostly = usual[0] if usual is not None and usual[1] > MOSTLY else None
    return replace(seen, mostly=mostly, codes=values.all(lambda text: bool(CODE.fullmatch(text))))


def _count_column(name: str, column: pa.ChunkedArray) -> ColumnLook:
    import pyarrow.compute as pc

    kind = _kind(column.type)
    countable = kind not in ("nested", "other")
    seen = ColumnLook(
        name,
        str(column.type),
        kind,
        rows=len(column),
        present=count_present(column),
        distinct=pc.count_distinct(column, mode="only_valid").as_py() if countable else 0,
        number="fraction" if kind in ("float", "decimal") else "",
    )
    if kind != "text" or not seen.present:
        return seen
    spaces = pc.mean(pc.count_substring(column, " ")).as_py()
    return replace(seen, length=pc.mean(pc.utf8_length(column)).as_py(), spaced=spaces >= 2)


def count_present(column: pa.Array | pa.ChunkedArray) -> int:
    """Count the values that are neither null nor an empty list."""
    import pyarrow as pa
    import pyarrow.compute as pc

    nothing = column.null_count
    if pa.types.is_list(column.type):
        nothing += pc.sum(pc.equal(pc.list_value_length(column), 0)).as_py() or 0
    return len(column) - int(nothing)


def _looked_at(seen: ColumnLook, values: FrequentValues) -> ColumnLook:
    seen = replace(seen, number=find_number(values.column), width=find_width(values))
    if not seen.number or seen.width == DAY_WIDTH:
        forms = find_date_forms(values)
        if forms is not None:
            return replace(seen, kind="date", forms=forms)
    if are_references(values):
        return replace(seen, kind="nested", identifiers="references to people or records")
    if are_nested(values):
        return replace(seen, kind="nested")
    return replace(seen, identifiers=_identifiers(seen, values))


def _identifiers(seen: ColumnLook, values: FrequentValues) -> str | None:
    if seen.kind != "text" or seen.free_text or (seen.number and seen.width < ID_WIDTH):
        return None
    if is_of_places(seen.name) and seen.distinct < FEW * seen.present:
        return find_identifiers(values)  # Jackson and Madison are also cities
    return find_identifiers(values) or ("people's names" if are_names(values) else None)


def _kind(type_: pa.DataType) -> str:
    import pyarrow as pa

    tests = {
        "text": lambda t: pa.types.is_string(t) or pa.types.is_large_string(t),
        "whole": lambda t: pa.types.is_integer(t) or (pa.types.is_decimal(t) and not t.scale),
        "float": pa.types.is_floating,
        "truth": pa.types.is_boolean,
        "date": lambda t: pa.types.is_date(t) or pa.types.is_timestamp(t),
        "decimal": pa.types.is_decimal,
        "nested": pa.types.is_nested,
    }
    return next((kind for kind, test in tests.items() if test(type_)), "other")


def printable(text: str) -> str:
    """Replace the characters that a terminal would execute."""
    return "".join(c if c.isprintable() else "?" for c in text)
