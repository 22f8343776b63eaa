"""Read written ages, and put those over 89 into one group."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from voile.documents.replacements.names import Language, clean, fold

GROUPED: dict[Language, str] = {"english": "90+", "spanish": "más de 89"}

# The position is the number, from 0. In the lists of tens it is the number of tens, from 3.
_ENGLISH = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen twenty"""
_SPANISH = """
    cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince
    dieciseis diecisiete dieciocho diecinueve veinte veintiuno veintidos veintitres veinticuatro
    veinticinco veintiseis veintisiete veintiocho veintinueve treinta"""
_ENGLISH_TENS = "thirty forty fifty sixty seventy eighty ninety"
_SPANISH_TENS = "treinta cuarenta cincuenta sesenta setenta ochenta noventa"
_NUMBERS = (
    {word: n for words in (_ENGLISH, _SPANISH) for n, word in enumerate(words.split())}
    | {
        word: 10 * tens
        for words in (_ENGLISH_TENS, _SPANISH_TENS)
        for tens, word in enumerate(words.split(), start=3)
    }
    | {"hundred": 100, "cien": 100, "ciento": 100, "un": 1, "una": 1, "veintiun": 21}
)
_UNITS: dict[Language, dict[str, int]] = {
    "english": dict.fromkeys(["year", "years", "yr", "yrs", "yo"], 1)
    | dict.fromkeys(["month", "months", "mo"], 12)
    | dict.fromkeys(["week", "weeks"], 52)
    | dict.fromkeys(["day", "days"], 365),
    "spanish": dict.fromkeys(["ano", "anos", "a"], 1)
    | dict.fromkeys(["mes", "meses"], 12)
    | dict.fromkeys(["semana", "semanas"], 52)
    | dict.fromkeys(["dia", "dias"], 365),
}
_IN_TENS = dict.fromkeys(["90s", "100s", "nineties", "hundreds"], "90+") | dict.fromkeys(
    ["nonagenarian", "centenarian", "supercentenarian"], "person aged 90+"
)
_HARMLESS = frozenset(
    ["old", "o", "aged", "age", "of", "an", "and", "y", "de", "edad", "medio", "media", "half"]
)
_AGE = re.compile(r"(?:(?<!\d)\d{1,3}(?!\d)|[^\W\d_]|[\s.,/-])+")
_TOKEN = re.compile(r"\d+(?:[.,]\d+)?|[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class _WrittenAge:
    """A number in the text, with the number of its units in a year."""

    start: int
    end: int
    number: float
    in_words: bool
    per_year: int = 1

    @property
    def over_89(self) -> bool:
        return self.number >= 90 * self.per_year


def find_age(value: str) -> tuple[int, int, int] | None:
    """Return the start and end of the only age in years in a text, and the age.

    Returns None if the text does not consist of one age in whole years.

    >>> find_age("47-year-old"), find_age("aged forty-seven"), find_age("8 months")
    ((0, 2, 47), (5, 16, 47), None)
    """
    ages = _only_ages(value)
    if len(ages) != 1 or ages[0].per_year != 1 or ages[0].number % 1:
        return None
    return ages[0].start, ages[0].end, int(ages[0].number)


def _only_ages(value: str) -> list[_WrittenAge]:
    """Return the ages of a text; none if any of its words is not part of an age."""
    words = {fold(word) for word in _TOKEN.findall(value)}
    known = _NUMBERS.keys() | _UNITS["english"].keys() | _UNITS["spanish"].keys() | _HARMLESS
    whole = all(word in known or word[0].isdecimal() for word in words)
    return list(_ages(value)) if whole and _AGE.fullmatch(value) else []


def group_ages(value: str, language: Language, *, keep: bool) -> str | None:
    """Replace the number of an age over 89 by "90+" or "más de 89"."""
    value = clean(value)
    if other := _IN_TENS.get(fold(value).replace("'", "")):
        return other
    ages = _only_ages(value)
    if not ages:
        return None
    words = {fold(word) for word in _TOKEN.findall(value)}
    if not any(age.over_89 for age in ages):
        return value if keep else None
    if len(ages) > 1:
        return None
    for spoken, units in _UNITS.items():
        if words & units.keys():
            language = spoken
    return value[: ages[0].start] + GROUPED[language] + value[ages[0].end :]


def _ages(value: str) -> Iterator[_WrittenAge]:
    age: _WrittenAge | None = None
    for token in _TOKEN.finditer(value):
        word = fold(token.group())
        per_year = _UNITS["english"].get(word) or _UNITS["spanish"].get(word)
        number = float(word.replace(",", ".")) if word[0].isdecimal() else _NUMBERS.get(word)
        if age and per_year:
            yield replace(age, per_year=per_year)
            age = None
        elif number is not None:
            in_words = word in _NUMBERS
            together = age and age.in_words and in_words and _together(age.number, number)
            if age and together:
                age = replace(age, end=token.end(), number=together)
                continue
            if age:
                yield age
            age = _WrittenAge(token.start(), token.end(), number, in_words)
    if age:
        yield age


def _together(before: float, number: float) -> float | None:
    """Combine two numbers in words to one: "ninety two", "two hundred", "ciento dos"."""
    if number == 100 and before < 10:
        return before * 100
    if before and number < (100 if before % 100 == 0 else 10) and before % 10 == 0:
        return before + number
    return None
