"""The months and days of the week in English and Spanish, whole and short."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from voile.documents.replacements.names import LANGUAGES, Language, folded

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
class Word:
    """What a word of the calendar means: the month or day, counted from 0, and how it is put."""

    number: int
    language: Language
    short: bool


class Words:
    """The words of one kind: read in either language, written like another of them."""

    def __init__(self, lists: dict[Language, tuple[str, str]]) -> None:
        self._lists: dict[tuple[Language, bool], Sequence[str]] = {}
        self._meanings: dict[str, dict[Language, Word]] = {}
        for language in LANGUAGES:
            for short in (True, False):
                words = lists[language][short].split()
                self._lists[language, short] = words
                for number, word in enumerate(words):
                    meaning = Word(number, language, short)
                    self._meanings.setdefault(folded(word), {})[language] = meaning
        for other, word in _SPELLINGS.items():
            if word in self._meanings:
                self._meanings[other] = self._meanings[word]
        accented = {word for words in self._lists.values() for word in words}
        every = sorted(accented | self._meanings.keys(), key=len, reverse=True)
        self.pattern = f"(?:{'|'.join(map(re.escape, every))})"

    def read(self, word: str, language: Language) -> Word:
        """Return what a word that `pattern` matches means, in this language if it has it."""
        meanings = self._meanings[folded(word)]
        return meanings.get(language) or next(iter(meanings.values()))

    def write(self, number: int, like: str, language: Language) -> str:
        """Write another month or day in the language, length and capitals of a word."""
        model = self.read(like, language)
        word = self._lists[model.language, model.short][number]
        if like.isupper():
            return word.upper()
        return word if like.islower() else word.capitalize()


MONTHS = Words(_MONTHS)
WEEKDAYS = Words(_WEEKDAYS)


def ordinal(day: int, like: str) -> str:
    """Write the ending of a day's number: English for each day, Spanish for the first alone."""
    if like.lower() not in {"st", "nd", "rd", "th"}:
        return like if day == 1 else ""
    ending = "th" if 11 <= day <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return ending.upper() if like.isupper() else ending
