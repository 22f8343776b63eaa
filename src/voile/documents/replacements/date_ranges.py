"""Move single dates and date ranges, including the words around them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from voile.documents.replacements.dates import DateOrder, WrittenDate, read_date
from voile.documents.replacements.names import Language, clean

_BEFORE = "from in since on the between year during desde entre del de el en año a"
_AROUND = re.compile(
    rf"(?P<before>[\s(]*(?:(?:{'|'.join(_BEFORE.split())})\s+)*)(?P<date>.*?)(?P<after>[\s.,;:)]*)",
    re.IGNORECASE | re.DOTALL,
)
_TO = re.compile(
    r"\s*[-‐‑–—]\s*|\s+(?:to|until|till|through|a|al|hasta|and|y)\s+(?:el\s+|the\s+)?",
    re.IGNORECASE,
)
_LAST_DAY = re.compile(r"(?<![0-9])[0-9]{1,2}(?:st|nd|rd|th)?$")
_FIRST_DAY = re.compile(r"[0-9]{1,2}(?:st|nd|rd|th)?(?![0-9])")

_Read = Callable[[str], WrittenDate | None]
_Pair = tuple[WrittenDate, WrittenDate]


def move_dates(
    value: str, offset: int, *, order: DateOrder | None, language: Language
) -> str | None:
    """Move the date, or both dates of the range, that is the whole text.

    Returns None if the text cannot be read in full. Words before the date ("from", "el", "año") and
    punctuation at the ends stay. A range repeats the parts that its moved dates no longer share:
    "28-30 March 1999" may become "30 March 1999 - 1 April 1999".

    >>> for text in "Mon, 1 March 1999", "marzo de 2007", "30/12/99", "12-15 June 2006", "Easter":
    ...     print(move_dates(text, 31, order="dmy", language="english"))
    Thu, 1 April 1999
    abril de 2007
    30/01/00
    13-16 July 2006
    None
    """
    around = _AROUND.fullmatch(clean(value))
    if around is None:
        return None

    def read(text: str) -> WrittenDate | None:
        return read_date(text, order, language)

    text = around["date"]
    if one := read(text):
        moved = one.move_days(offset)
        new = moved.text if moved else None
    else:
        new = _moved_range(text, offset, read)
    return f"{around['before']}{new}{around['after']}" if new else None


def _moved_range(text: str, offset: int, read: _Read) -> str | None:
    """Move the dates of a range. The first date may lack parts that the second has."""
    for to in _TO.finditer(text):
        left, right = text[: to.start()], text[to.end() :]
        for parted, write in _RANGES:
            if dates := parted(left, right, read):
                first, second = (one.move_days(offset) for one in dates)
                return write(first, second, to.group()) if first and second else None
    return None


def _both(left: str, right: str, read: _Read) -> _Pair | None:
    """Read "1 March 1999 to 3 April 1999", "1999-2003"."""
    first, second = read(left), read(right)
    return (first, second) if first and second else None


def _days(left: str, right: str, read: _Read) -> _Pair | None:
    """Read "12-15 March 1999", "March 12-15, 1999"."""
    day, other = _LAST_DAY.search(left), _FIRST_DAY.match(right)
    if not (day and other):
        return None
    first, second = read(left + right[other.end() :]), read(left[: day.start()] + right)
    return (first, second) if first and second and first.day and second.day else None


def _months(left: str, right: str, read: _Read) -> _Pair | None:
    """Read "28 February to 3 March 1999", "marzo y abril de 2000".

    Ranges may include New Year.
    """
    second = read(right)
    if second is None or [what for what, _ in second.pieces[-2:]] != ["year", ""]:
        return None
    year = second.of("year")
    first = read(left + second.pieces[-3][1] + year)
    if first and first.when > second.when and len(year) == 4:
        first = read(left + second.pieces[-3][1] + f"{second.year - 1:04}")
    return (first, second) if first and bool(first.day) == bool(second.day) else None


def _in_full(first: WrittenDate, second: WrittenDate, to: str) -> str:
    spaced = to if to[0].isspace() else f" {to} "
    return first.text + spaced + second.text


def _as_they_are(first: WrittenDate, second: WrittenDate, to: str) -> str:
    return first.text + to + second.text


def _days_alone(first: WrittenDate, second: WrittenDate, to: str) -> str:
    if first.when[:2] != second.when[:2] or first.of("weekday"):
        return _in_full(first, second, to)
    place = [what for what, _ in second.pieces].index("day")
    begun, rest = second.pieces[:place], second.pieces[place:]
    return replace(second, pieces=(*begun, ("", first.of("day", "suffix") + to), *rest)).text


def _year_once(first: WrittenDate, second: WrittenDate, to: str) -> str:
    if first.year != second.year:
        return _in_full(first, second, to)
    return replace(first, pieces=first.pieces[:-3]).text + to + second.text


_RANGES = ((_both, _as_they_are), (_days, _days_alone), (_months, _year_once))
