"""Move written dates by the single offset of their subject, in their original form.

The grammar is strict. It reads:

- days such as 12/03/1999 (in a given order), 1999-03-12, 12 March 1999, March 12th, 1999, 12 de
  marzo de 1999, 12-mar-99;
- such days with a weekday before, a time of day after, or both;
- months such as June 2006, marzo de 2007, 06/2006, marzo-09;
- years;
- ranges of all these (`date_ranges`).

It does not guess the meaning of other forms.

A day moves by the offset, so intervals in days are exact. A month moves by the offset in whole
months, and a year by the offset in whole years, but never by zero. So intervals between months, and
between years, are exact, and no day is revealed. Two-digit years are from 1969 to 2068.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import lru_cache
from typing import Literal

from voile.documents.replacements.names import LANGUAGES, Language, fold

_MONTHS: dict[Language, tuple[str, str]] = {
    "english": (
        "january february march april may june july august september october november december",
        "jan feb mar apr may jun jul aug sep oct nov dec",
    ),
    "spanish": (
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "ene feb mar abr may jun jul ago sep oct nov dic",
    ),
}
_WEEKDAYS: dict[Language, tuple[str, str]] = {
    "english": (
        "monday tuesday wednesday thursday friday saturday sunday",
        "mon tue wed thu fri sat sun",
    ),
    "spanish": (
        "lunes martes miércoles jueves viernes sábado domingo",
        "lun mar mié jue vie sáb dom",
    ),
}
_SPELLINGS = {"sept": "sep", "set": "sep", "setiembre": "septiembre"} | {
    "tues": "tue",
    "thur": "thu",
    "thurs": "thu",
}


@dataclass(frozen=True, slots=True)
class CalendarWord:
    """The meaning of a calendar word: the month or weekday, from 0, and its written form."""

    number: int
    language: Language
    short: bool


class CalendarWords:
    """The words for months or weekdays in both languages."""

    def __init__(self, lists: dict[Language, tuple[str, str]]) -> None:
        self._lists: dict[tuple[Language, bool], Sequence[str]] = {}
        self._meanings: dict[str, dict[Language, CalendarWord]] = {}
        for language in LANGUAGES:
            for short in (True, False):
                words = lists[language][short].split()
                self._lists[language, short] = words
                for number, word in enumerate(words):
                    meaning = CalendarWord(number, language, short)
                    self._meanings.setdefault(fold(word), {})[language] = meaning
        for other, word in _SPELLINGS.items():
            if word in self._meanings:
                self._meanings[other] = self._meanings[word]
        accented = {word for words in self._lists.values() for word in words}
        every = sorted(accented | self._meanings.keys(), key=len, reverse=True)
        self.pattern = f"(?:{'|'.join(map(re.escape, every))})"

    def __contains__(self, word: str) -> bool:
        return fold(word) in self._meanings

    def read_word(self, word: str, language: Language) -> CalendarWord:
        """Return the meaning of a word that `pattern` matches, preferably in this language."""
        meanings = self._meanings[fold(word)]
        return meanings.get(language) or next(iter(meanings.values()))

    def write(self, number: int, like: str, language: Language) -> str:
        """Write another month or weekday in the language, length and capitals of a word."""
        model = self.read_word(like, language)
        word = self._lists[model.language, model.short][number]
        if like.isupper():
            return word.upper()
        return word if like.islower() else word.capitalize()


MONTHS = CalendarWords(_MONTHS)
WEEKDAYS = CalendarWords(_WEEKDAYS)


def ordinal(day: int, like: str) -> str:
    """Write the suffix of a day number: in English for each day, in Spanish only for the first."""
    if like.lower() not in {"st", "nd", "rd", "th"}:
        return like if day == 1 else ""
    ending = "th" if 11 <= day <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return ending.upper() if like.isupper() else ending


DateOrder = Literal["dmy", "mdy"]

_FIRST_YEAR, _LAST_YEAR = 1801, 2199
_FIRST_SHORT_YEAR = 1969
# Placeholders for "unknown". Everybody knows them, so they would reveal the offset if moved.
_KNOWN_TO_ALL = frozenset([date(1900, 1, 1), date(1970, 1, 1)])
_DAYS_A_MONTH, _DAYS_A_YEAR = 30.436875, 365.2425

_GAP = r"(?:\s*[-/.]\s*|\s*,\s*|\s+(?:de\s+|del\s+|of\s+)?(?:año\s+)?)"
_DAY = r"(?P<day>[0-9]{1,2})(?P<suffix>st|nd|rd|th|º|°|er|ro)?"
_NAME = rf"(?P<name>{MONTHS.pattern})\.?"
_YEAR = r"(?P<year>[0-9]{4}|[0-9]{2})"
_LONG_YEAR = r"(?P<year>[0-9]{4})"
_WEEKDAY = rf"(?:(?P<weekday>{WEEKDAYS.pattern})\.?,?\s+)?"
_TIME = (
    r"(?:(?:T|,?\s+)[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?(?:\s?[ap]\.?m\.?)?"
    r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)


@dataclass(frozen=True, slots=True)
class WrittenDate:
    """A date with its form: the pieces of its text, their meanings, and the date itself."""

    # (what, text); `what` is "year", "month", "name", "day", "suffix" or "weekday", or empty for
    # unchanged text
    pieces: tuple[tuple[str, str], ...]
    # year, month, day: the month and the day are None if the text lacks them
    year: int
    month: int | None
    day: int | None
    language: Language  # the language of words that are equal in both languages

    @property
    def text(self) -> str:
        return "".join(text for _, text in self.pieces)

    def of(self, *what: str) -> str:
        return "".join(text for name, text in self.pieces if name in what)

    @property
    def when(self) -> tuple[int, int, int]:
        """The date as a sortable tuple."""
        return self.year, self.month or 0, self.day or 0

    def move_days(self, offset: int) -> WrittenDate | None:
        """Return the date `offset` days later; None if it cannot be written in this form."""
        if self.month is None:
            return self._rewritten(self.year + _whole(offset / _DAYS_A_YEAR), None, None)
        if self.day is None:
            months = 12 * self.year + self.month - 1 + _whole(offset / _DAYS_A_MONTH)
            return self._rewritten(months // 12, months % 12 + 1, None)
        then = date(self.year, self.month, self.day) + timedelta(offset)
        return self._rewritten(then.year, then.month, then.day)

    def _rewritten(self, year: int, month: int | None, day: int | None) -> WrittenDate | None:
        if len(self.of("year")) == 2 and not 0 <= year - _FIRST_SHORT_YEAR < 100:
            return None
        if not _FIRST_YEAR <= year <= _LAST_YEAR:
            return None
        numbers = self.of("day"), self.of("month")
        padded = numbers[0][:1] == "0" if self.of("name") else all(len(n) != 1 for n in numbers)
        width = 2 if padded else 1

        def piece(what: str, text: str) -> str:
            if what == "year":
                return f"{year % 10 ** len(text):0{len(text)}}"
            if what == "month":
                return f"{month:0{width}}"
            if what == "day":
                return f"{day:0{width}}"
            if what == "name" and month:
                return MONTHS.write(month - 1, text, self.language)
            if what == "suffix" and day:
                return ordinal(day, text)
            if what == "weekday" and month and day:
                return WEEKDAYS.write(date(year, month, day).weekday(), text, self.language)
            return text

        pieces = tuple((what, piece(what, text)) for what, text in self.pieces)
        return replace(self, pieces=pieces, year=year, month=month, day=day)


def read_date(text: str, order: DateOrder | None, language: Language) -> WrittenDate | None:
    """Read a day, month or year that is the whole text; None for any other text."""
    for layout in _layouts(order):
        if (match := layout.fullmatch(text)) and (found := _parse_match(match, language)):
            return found
    return None


def _parse_match(match: re.Match[str], language: Language) -> WrittenDate | None:
    """Parse a text; None for a date that does not exist, or for a placeholder."""
    found = sorted((match.span(what), what) for what, text in match.groupdict().items() if text)
    pieces: list[tuple[str, str]] = []
    done = 0
    for (start, end), what in found:
        pieces += [("", match.string[done:start]), (what, match.string[start:end])]
        done = end
    pieces.append(("", match.string[done:]))
    said = {what: text for what, text in pieces if what}

    year = int(said["year"])
    if len(said["year"]) == 2:
        year += 1900 if year >= _FIRST_SHORT_YEAR % 100 else 2000
    month = int(said["month"]) if "month" in said else None
    if "name" in said:
        word = MONTHS.read_word(said["name"], language)
        month, language = word.number + 1, word.language
        if "day" not in said and len(said["year"]) == 2 and not _tells_a_year(match, language):
            return None
    day = int(said["day"]) if "day" in said else None
    try:
        then = date(year, 1 if month is None else month, 1 if day is None else day)
    except ValueError:
        return None
    known = day is not None and then in _KNOWN_TO_ALL
    if known or not _FIRST_YEAR <= year <= _LAST_YEAR:
        return None
    return WrittenDate(tuple(pieces), year, month, day, language)


def _tells_a_year(match: re.Match[str], language: Language) -> bool:
    """Return whether two digits after a month are a year. In "March 12" they are a day."""
    return language == "spanish" or match.string[match.start("year") - 1] in "'’"


@lru_cache
def _layouts(order: DateOrder | None) -> tuple[re.Pattern[str], ...]:
    first, second = ("month", "day") if order == "mdy" else ("day", "month")
    numbers = (
        rf"{_WEEKDAY}(?P<{first}>[0-9]{{1,2}})\s*([-/.])\s*(?P<{second}>[0-9]{{1,2}})\s*\3\s*"
        rf"{_YEAR}{_TIME}"
    )
    forms = [
        rf"{_WEEKDAY}{_LONG_YEAR}([-/.])(?P<month>[0-9]{{1,2}})\3(?P<day>[0-9]{{1,2}}){_TIME}",
        *([numbers] if order else []),
        rf"{_WEEKDAY}{_DAY}{_GAP}{_NAME}{_GAP}{_YEAR}{_TIME}",
        rf"{_WEEKDAY}{_NAME}{_GAP}{_DAY}{_GAP}{_YEAR}{_TIME}",
        rf"{_NAME}{_GAP}['’]?{_YEAR}",
        rf"(?P<month>[0-9]{{1,2}})[-/.]{_LONG_YEAR}",
        rf"{_LONG_YEAR}[-/.](?P<month>[0-9]{{1,2}})",
        _LONG_YEAR,
    ]
    return tuple(re.compile(form, re.IGNORECASE) for form in forms)


def _whole(amount: float) -> int:
    return round(amount) or (1 if amount > 0 else -1)
