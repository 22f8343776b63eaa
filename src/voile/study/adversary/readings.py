"""What an adversary reads of a person in a text: ages in digits and in words, the sex."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from voile.documents.replacements.ages import find_age

_NUMBER = r"\d{1,3}|[a-z]+(?:-[a-z]+)?"
_AGE = re.compile(
    rf"(?:\b(?:aged?|turn(?:ed|s))\s+)({_NUMBER})\b(?!\s*(?:-|–|to\b)\s*\d)|"
    rf"(?<![-–\d])(?<!to )(?<!under )\b({_NUMBER})(?:\s*-\s*|\s+)years?\b|"
    r"\b(\d{1,3})(?:st|nd|rd|th)\s+birthday\b",
    re.IGNORECASE,
)
_SHE, _HE = (re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for words in ("she|her", "he|him|his"))
SEXES = {"f": _SHE, "m": _HE}
"""The first letter of a sex, and the pronouns that say it."""
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?]+|\n|$)")


@dataclass(frozen=True)
class Reading:
    """What a text says of its person: "age" or "sex", the cell, and where."""

    what: str
    cell: str
    start: int
    end: int


def read(text: str) -> Iterator[Reading]:
    """Yield what an adversary reads in a text; of pronouns of both sexes none.

    >>> [(one.what, one.cell) for one in read("She turned eighteen . Aged 40 to 49 .")]
    [('age', '18'), ('sex', 'f')]
    """
    for found in _AGE.finditer(text):
        age = find_age(found[1] or found[2] or found[3])
        if age is not None:
            yield Reading("age", str(age[2]), *found.span())
    said = {sex: match for sex, words in SEXES.items() if (match := words.search(text))}
    if len(said) == 1:
        [(sex, match)] = said.items()
        yield Reading("sex", sex, *match.span())


def sentence_at(text: str, place: int) -> str:
    """Return the sentence of a text that holds a place."""
    return next((m[0].strip() for m in _SENTENCE.finditer(text) if m.end() > place), text)
