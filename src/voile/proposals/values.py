"""Find the kind of a column's values by their form: dates, e-mails, names, nested objects.

Only the kind of the values is reported, never a value. The documents module uses the same patterns
and lists of names for identifiers in text.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from voile.data.fhir.fields import read_reference
from voile.data.forms import DATES, LOOKS_DATED, YEARS, read_as
from voile.data.text import unpack_cell

if TYPE_CHECKING:
    import pyarrow as pa

MOST = 2_000  # examined distinct values, the most frequent ones
MOSTLY = 0.5  # share of rows of one kind that decides
NAMED = 0.3  # share of rows; the included lists have only the most common names
FEW_NAMES = 5  # fewest distinct names; places or colours may match a few
PATTERNS = {
    "iban": "bank accounts",
    "card": "card numbers",
    "ssn": "social security numbers",
    "dni": "national identity numbers",
    "email": "e-mail addresses",
    "url": "web addresses",
    "ip": "network addresses",
    "mac": "device addresses",
    "phone": "phone numbers",
}
FORMS = ("", *DATES)
"""Forms of dates. The empty form is ISO 8601."""
NUMBERS = {
    "whole": r"^\s*[-+]?\d+\s*$",
    "fraction": r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$",
}
REFERENCE = re.compile(r"(?:[A-Za-z]+/|urn:uuid:|https?://)\S+")


class FrequentValues:
    """The most frequent values of a column, as text, and the number of rows with each."""

    def __init__(self, column: pa.ChunkedArray) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        self.column = column.drop_null().cast(pa.string())
        counted = pc.value_counts(self.column)
        first = pc.sort_indices(counted.field("counts"), [("", "descending")])[:MOST]
        self.texts: list[str] = counted.field("values").take(first).to_pylist()
        self.rows: list[int] = counted.field("counts").take(first).to_pylist()

    def share(self, is_one: Callable[[str], bool]) -> float:
        found = sum(n for text, n in zip(self.texts, self.rows, strict=True) if is_one(text))
        return found / max(sum(self.rows), 1)

    def all(self, is_one: Callable[[str], bool]) -> bool:
        """Return whether there are values, and all of them meet the condition."""
        return bool(self.texts) and all(map(is_one, self.texts))


def find_identifiers(values: FrequentValues) -> str | None:
    """Return the kind of identifier of most values, such as e-mail addresses or phone numbers."""
    from voile.documents.model.start.known.looks import is_all
    from voile.documents.patterns import PATTERNS as FINDERS

    for name, plural in PATTERNS.items():
        if values.share(lambda text, finder=FINDERS[name]: is_all(finder, text)) >= MOSTLY:  # type: ignore[misc]
            return plural
    return None


def are_names(values: FrequentValues) -> bool:
    """Return whether values are people's names, by the included lists of common names."""
    from voile.documents.model.start.known.looks import is_name

    names = {text for text in values.texts if is_name(text)}
    return len(names) >= FEW_NAMES and values.share(names.__contains__) >= NAMED


def find_date_forms(values: FrequentValues) -> Sequence[str] | None:
    """Return the forms in which every value is a date. The form "" is ISO 8601.

    The result is None if most values are not dates. It is empty if they are dates of several forms.

    >>> import pyarrow as pa
    >>> find_date_forms(FrequentValues(pa.chunked_array([["31.12.1999", "01.02.2000"]])))
    ['%d.%m.%Y']
    >>> find_date_forms(FrequentValues(pa.chunked_array([["31.12.1999", "2000-02-01"]])))
    []
    >>> find_date_forms(FrequentValues(pa.chunked_array([["31", "blue"]])))
    """
    # one form after the other, because `strptime` caches only the last five forms
    fitting = {form: {one for one in values.texts if _is_date(one, form)} for form in FORMS}
    dates = set().union(*fitting.values())
    if not values.texts or values.share(dates.__contains__) <= MOSTLY:
        return None
    forms = [form for form, found in fitting.items() if len(found) == len(values.texts)]
    return forms[:1] if forms[:1] == [""] else forms


def _is_date(text: str, form: str) -> bool:
    if form:
        return read_as("date", text.strip(), form) is not None
    try:
        return LOOKS_DATED.match(text.strip()) is not None and (
            dt.datetime.fromisoformat(text.strip()).year in YEARS
        )
    except ValueError:
        return False


def find_number(column: pa.ChunkedArray) -> str:
    """Return the kind of number of all texts: ``whole``, ``fraction`` or empty."""
    import pyarrow.compute as pc

    for number, form in NUMBERS.items():
        if pc.all(pc.match_substring_regex(column, form)).as_py():
            return number
    return ""


def find_width(values: FrequentValues) -> int:
    """Return the number of digits if all values consist of equally many digits, or 0."""
    widths = {len(text) if text.isdigit() else 0 for text in values.texts}
    return widths.pop() if len(widths) == 1 else 0


def are_nested(values: FrequentValues) -> bool:
    """Return whether each text is a JSON object or list."""
    return values.all(lambda text: isinstance(unpack_cell(text), list | dict))


def are_references(values: FrequentValues) -> bool:
    """Return whether each text is a FHIR reference, an object that refers to a record."""
    return values.all(
        lambda text: bool(REFERENCE.fullmatch(read_reference(unpack_cell(text)) or ""))
    )
