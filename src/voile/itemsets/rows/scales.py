"""Read cells as numbers, or as months of dates, and name intervals of them."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.data.forms import NumberForm, find_forms, find_usual_form, read_date, read_forms

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Kind = Literal["number", "date"]


class NumberInterval(NamedTuple):
    """The numbers from `low` up to, but not including, `high`. None stands for an open boundary.

    If `unknown`, rows without a number belong to the interval too.
    """

    low: float | None
    high: float | None
    unknown: bool = False

    def __repr__(self) -> str:
        return "Interval()"  # no numbers: a kit's split points are close to people's values

    @property
    def ends(self) -> tuple[float, float]:
        """The boundaries as numbers. An open boundary is infinite."""
        low, high = self.low, self.high
        return -np.inf if low is None else low, np.inf if high is None else high


NOT_KNOWN = "not known"
"""The released value of a row that has no number."""

NUMBER = r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$"
MONTHS = 12


@dataclass(frozen=True)
class NumberScale:
    """A scale of numbers, `whole` or not, or of dates as months counted from the year 0.

    forms : formats of numbers or dates in text. If empty, numbers are read as in Python, and dates
        as ISO 8601.
    missing : texts that stand for a missing value.
    """

    kind: Kind
    whole: bool
    forms: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    def numbers(self, array: pa.Array) -> tuple[Floats, Mask]:
        """Return the numbers of a column (NaN if missing), and a mask of the unreadable cells."""
        if pa.types.is_string(array.type):
            return self._of_text(array)
        if self.kind == "date":
            array = pc.add(pc.multiply(pc.year(array), MONTHS), pc.subtract(pc.month(array), 1))
        numbers = array.cast(pa.float64()).fill_null(np.nan).to_numpy(zero_copy_only=False)
        infinite = np.isinf(numbers)
        unknown = infinite | np.isin(numbers, numbers_of(pa.array(self.missing, pa.string()))[0])
        return np.where(unknown, np.nan, numbers) + 0.0, infinite

    def _of_text(self, array: pa.Array) -> tuple[Floats, Mask]:
        array = pc.utf8_trim_whitespace(array)
        array = pc.if_else(pc.is_in(array, pa.array(("", *self.missing))), None, array)
        if not self.forms and self.kind == "number":
            return numbers_of(array)
        encoded = array.dictionary_encode()
        read = [self._parse_number(text) for text in encoded.dictionary.to_pylist()]
        values = pa.array(read, pa.float64()).take(encoded.indices)
        numbers = values.fill_null(np.nan).to_numpy(zero_copy_only=False)
        lost = pc.and_(array.is_valid(), values.is_null())
        return numbers, np.asarray(lost.to_numpy(zero_copy_only=False), dtype=np.bool_)

    def _parse_number(self, text: str) -> float | None:
        if self.kind == "date":
            day = read_forms(text, self.forms, read_date) if self.forms else iso_date(text)
            return None if day is None else float(month_number(day))
        number = read_forms(text, self.forms, _by_number)
        return None if number is None else number + 0.0

    def write(self, number: float) -> str:
        """Format a number in full, and a month as in ISO 8601.

        >>> NumberScale("number", whole=False).write(1.5), NumberScale(
        ...     "date", whole=True
        ... ).write(24_005)
        ('1.5', '2000-06')
        """
        if self.kind == "number":
            return f"{number:.15g}"
        year, month = divmod(int(number), MONTHS)
        return f"{year:04}-{month + 1:02}"

    def name(self, interval: NumberInterval) -> str:
        """Return a readable name of an interval.

        >>> age = NumberScale("number", whole=True)
        >>> [age.name(NumberInterval(*ends)) for ends in ((18, 30), (30, 31), (31, None))]
        ['18 to 29', '30', '31 and above']
        >>> age.name(NumberInterval(None, 18)), age.name(NumberInterval(None, 18, unknown=True))
        ('below 18', 'below 18 or not known')
        >>> NumberScale("number", whole=False).name(NumberInterval(1.5, 2))
        '1.5 to below 2'
        """
        named = self._name(interval.low, interval.high)
        return f"{named} or {NOT_KNOWN}" if interval.unknown else named

    def _name(self, low: float | None, high: float | None) -> str:
        if low is None and high is None:
            return "known"
        if low is None:
            assert high is not None
            return f"{'before' if self.kind == 'date' else 'below'} {self.write(high)}"
        if high is None:
            return f"{self.write(low)} and {'after' if self.kind == 'date' else 'above'}"
        if not self.whole:
            return f"{self.write(low)} to below {self.write(high)}"
        return (
            self.write(low) if low == high - 1 else f"{self.write(low)} to {self.write(high - 1)}"
        )

    def to_data(self) -> dict[str, Any]:
        """Return plain data for a kit."""
        texts = {"forms": list(self.forms), "missing": list(self.missing)}
        return {"kind": self.kind, "whole": self.whole, **texts}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> NumberScale:
        """Return a scale from the output of `to_data`, also after a round trip through JSON."""
        return cls(data["kind"], data["whole"], tuple(data["forms"]), tuple(data["missing"]))


def find_text_forms(
    column: str, kind: Kind, texts: Iterable[str], missing: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the formats of the numbers or dates in a column of text.

    The result is empty if most texts can be read without a format. If most texts have the same
    format, it is returned, and texts of other formats are rejected later.

    Raises RequestError if several formats fit, or if no format fits most texts.
    """
    known = sorted({text.strip() for text in texts} - {"", *missing})
    reads: Callable[[str], object] = re.compile(NUMBER).match if kind == "number" else iso_date
    if 2 * sum(reads(text) is not None for text in known) > len(known):
        return ()
    found = [form for of, form in find_forms(known) if (of == "date") == (kind == "date")]
    if len(found) > 1:
        ways = " or ".join(f'form = "{form}"' for form in found)
        raise RequestError(
            "its values can be read in more than one way",
            where=f"column {column}",
            instead=f"say which: {ways}",
        )
    usual = find_usual_form(known) if known and not found else None
    if usual is not None and (usual[0][0] == "date") == (kind == "date") and usual[1] > 1 / 2:
        return (usual[0][1],)
    if known and not found:
        raise RequestError(
            f"most of its values are not {kind}s of one form",
            where=f"column {column}",
            instead='name every form (form = ["...", "..."]), or drop the column',
        )
    return tuple(found)


def check_forms(column: str, kind: Kind, forms: Iterable[str]) -> None:
    """Raise RequestError for a number format without a number, or a date format without a month."""
    for form in forms:
        if kind == "number" and NumberForm.of(form) is None:
            instead = "write 1234.5, or 1234, as the column would: 1.234,5 kg"
        elif kind == "date" and not any(f"%{letter}" in form for letter in "mbBj"):
            instead = "write a day as strptime does: %d.%m.%Y"
        else:
            continue
        raise RequestError(
            f"a form writes no {kind}", where=f"roles, column {column}", instead=instead
        )


def month_number(day: dt.date) -> int:
    """Return the number of months from the year 0 to the month of a day."""
    return day.year * MONTHS + day.month - 1


def iso_date(text: str) -> dt.date | None:
    """Return the date of an ISO 8601 text, or None if the text is not in this format."""
    try:
        return dt.datetime.fromisoformat(text)
    except ValueError:
        return None


def numbers_of(array: pa.Array) -> tuple[Floats, Mask]:
    """Return the numbers of a column (NaN if missing), and a mask of the cells with other text."""
    lost = np.zeros(len(array), dtype=np.bool_)
    if pa.types.is_string(array.type):
        good = pc.match_substring_regex(array, NUMBER)
        lost = np.asarray(pc.fill_null(pc.invert(good), False).to_numpy(zero_copy_only=False))
        text = pc.if_else(pc.fill_null(good, False), array, pa.scalar(None, pa.string()))
        array = pc.utf8_trim_whitespace(text)
    numbers = array.cast(pa.float64()).fill_null(np.nan)
    return numbers.to_numpy(zero_copy_only=False), lost


def _by_number(text: str, form: str) -> float | None:
    found = NumberForm.of(form)
    number = found.read_number(text) if found else None
    return None if number is None else float(number)
