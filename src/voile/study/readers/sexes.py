"""The sex: pronouns, titles, and nouns for women and men."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

from voile.documents.patterns.pattern import Slice
from voile.study.readers.reader import FoundMention, MentionReader

_NEUTRAL = {
    "they": "she he",
    "their": "her his",
    "theirs": "hers",
    "them": "him",
    "themselves": "herself himself",
    "person": "woman man lady gentleman female male",
    "persons": "women men ladies gentlemen females males",
    "child": "girl boy",
    "children": "girls boys",
    "Mx": "mrs mr ms miss",
}
_WORDS = {word: neutral for neutral, words in _NEUTRAL.items() for word in words.split()}
_WOMEN = frozenset(_NEUTRAL["person"].split()[0::2] + _NEUTRAL["persons"].split()[0::2]) | {
    *("she", "her", "hers", "herself", "girl", "girls", "mrs", "ms", "miss")
}
_MENTION = re.compile(rf"\b(?:{'|'.join(_WORDS)})\b", re.IGNORECASE)
SEXES = {
    "f": re.compile(rf"\b(?:{'|'.join(sorted(_WOMEN))})\b", re.IGNORECASE),
    "m": re.compile(rf"\b(?:{'|'.join(sorted(_WORDS.keys() - _WOMEN))})\b", re.IGNORECASE),
}
"""By first letter of a sex, the pattern of its words."""
_FIRST_LETTERS = {True: "fw", False: "m"}
"""The first letters of a column's words for women and for men."""


class SexReader(MentionReader):
    """A reader of words for a sex, which mean the cells of a column with the sex's letter.

    values : the column's cells, such as F and M.

    >>> sexes = SexReader(["F", "M", "O"])
    >>> sexes.read_mention("She").cells, sexes.read_mention("They").cells, sexes.neutral("She")
    (('F',), ('F', 'M', 'O'), 'They')
    """

    planted: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "a pronoun": "Now |she| is well .",
            "a noun": "A pleasant |woman| .",
            "implied: a wife": "Came with the |wife| .",
        }
    )

    def __init__(self, values: Sequence[str]) -> None:
        self._values = tuple(values)

    def slices(self, plain: str) -> Iterator[Slice]:
        yield from (found.span() for found in _MENTION.finditer(plain))

    def read_mention(self, mention: str) -> FoundMention | None:
        word = mention.strip().lower()
        start = len(mention) - len(mention.lstrip())
        if word in _NEUTRAL or word == "mx":
            cells = self._values
        elif word in _WORDS:
            letters = _FIRST_LETTERS[word in _WOMEN]
            cells = tuple(x for x in self._values if x[:1].lower() in letters)
        else:
            return None
        return FoundMention(start, start + len(word), cells)

    def neutral(self, mention: str) -> str | None:
        word = _WORDS.get(mention.strip().lower())
        if word is None:
            return None
        return word.capitalize() if mention.strip()[0].isupper() else word
