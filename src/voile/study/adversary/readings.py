"""Read facts of a person in a text as an adversary does: ages in any form, and the sex."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from voile.study.readers.ages import AgeReader
from voile.study.readers.sexes import SEXES

_YEARS = re.compile(
    r"(?<![-–\d])(?<!to )(?<!under )\b(\d{1,3}|[a-z]+(?:-[a-z]+)?)(?:\s*-\s*|\s+)years?\b",
    re.IGNORECASE,
)
"""A number of years, which may be an age, so the adversary tries it."""
_AGES = AgeReader()
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?]+|\n|$)")


@dataclass(frozen=True)
class TextClue:
    """A fact in a text about its person: "age" or "sex", the possible cells, and the position."""

    what: str
    cells: tuple[str, ...]
    start: int
    end: int


def read_clues(text: str) -> Iterator[TextClue]:
    """Yield the ages in a text, and its sex unless words for both sexes occur.

    >>> [(one.what, *one.cells) for one in read_clues("She turned eighteen . Aged 40 to 49 .")]
    [('age', '18'), ('sex', 'f')]
    """
    places = {*_AGES.slices(text), *(found.span(1) for found in _YEARS.finditer(text))}
    for start, end in sorted(places):
        if age := _AGES.read_mention(text[start:end]):
            yield TextClue("age", age.cells, start + age.start, start + age.end)
    said = {sex: match for sex, words in SEXES.items() if (match := words.search(text))}
    if len(said) == 1:
        [(sex, match)] = said.items()
        yield TextClue("sex", (sex,), *match.span())


def sentence_at(text: str, place: int) -> str:
    """Return the sentence of a text that contains a position."""
    return next((m[0].strip() for m in _SENTENCE.finditer(text) if m.end() > place), text)
