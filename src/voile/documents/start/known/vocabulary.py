"""The words of known values, and which forms of a text are such a word or one typo away from it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import OSA

from voile.documents.replacements.names import fold
from voile.documents.words.tokens import SIGNS, Forms

Longs = NDArray[np.int64]

TYPO_FROM = 5
"""Letters of a word that is still itself with one typo: a shorter one becomes another."""
NO_WORD, SMALL, CAPITAL, CAPITALS = range(4)
"""How a form is written."""
_WORD = re.compile(rf"[^\W_][^\W_{SIGNS}]*")
_APART = re.compile(r"[\d_]+")
_SHORTEST_PART = 4  # letters of a name that is joined to something else


@lru_cache(maxsize=1 << 16)
def written(form: str) -> int:
    """Return how a form is written: `SMALL`, `CAPITAL` or `CAPITALS`; `NO_WORD` of a sign.

    >>> [written(form) for form in ("ana", "Ana", "ANA", "A", "12")]
    [1, 2, 3, 2, 0]
    """
    if not any(map(str.isalpha, form)):
        return NO_WORD
    if form.upper() == form.lower() or form[0] != form[0].lower():
        return CAPITALS if len(form) > 1 and form == form.upper() != form.lower() else CAPITAL
    return SMALL if form == form.lower() else CAPITAL


def words_of(value: str) -> list[str]:
    """Return the words and numbers of a value, folded.

    >>> words_of("C/ Álvarez-O'Neill, 23")
    ['c', 'alvarez', 'o', 'neill', '23']
    """
    return [fold(word) for word in _WORD.findall(value)]


class Vocabulary:
    """Number the words of values, from 0."""

    def __init__(self) -> None:
        self._words = Forms()

    def number(self, word: str) -> int:
        return self._words.number([word])[0]

    def __len__(self) -> int:
        return len(self._words)

    @property
    def words(self) -> Sequence[str]:
        return self._words.known

    def look(self, forms: Sequence[str]) -> Look:
        """Return which words each form is, or is one typo away from. Cost: O(letters), of each."""
        lone = _deletions(word for word in self.words if _may_err(word))
        seen: dict[str, tuple[list[int], list[int]]] = {}
        found: list[tuple[list[int], list[int]]] = []
        folds = [fold(form) for form in forms]
        for form, word in zip(forms, folds, strict=True):
            if word not in seen:
                seen[word] = self._exact(form, word), self._near(word, lone)
            found.append(seen[word])
        return Look.of(folds, found)

    def _exact(self, form: str, word: str) -> list[int]:
        if (number := self._words.find(word)) >= 0:
            return [number]
        parts = [fold(one) for one in _APART.split(form) if len(one) >= _SHORTEST_PART]
        parts = parts if any(one != word for one in parts) else []
        return [number for one in parts if (number := self._words.find(one)) >= 0]

    def _near(self, word: str, lone: dict[str, list[str]]) -> list[int]:
        if not lone or not _may_err(word):
            return []
        near = {one for cut in _cuts(word) for one in lone.get(cut, ())} - {word}
        return [self._words.find(one) for one in sorted(near) if OSA.distance(one, word) == 1]


@dataclass(frozen=True, eq=False)
class Look:
    """The words that each form may be, forms by their numbers."""

    folds: Sequence[str]  # of each form
    first: Longs  # (forms + 1,) where each form's entries begin
    word: Longs  # (entries,) the number of a word
    typo: NDArray[np.bool_]  # (entries,) whether the form is a typo away from it

    @classmethod
    def of(cls, folds: Sequence[str], found: Sequence[tuple[list[int], list[int]]]) -> Look:
        many = [len(exact) + len(near) for exact, near in found]
        word = [number for exact, near in found for number in (*exact, *near)]
        typo = [flag for e, n in found for flag in (*[False] * len(e), *[True] * len(n))]
        first = np.concatenate([[0], np.cumsum(many, dtype=np.int64)])
        return cls(folds, first, np.array(word, dtype=np.int64), np.array(typo, dtype=np.bool_))

    def of_form(self, form: int) -> Iterator[tuple[int, bool]]:
        """Yield the words that a form is, and whether with a typo."""
        for at in range(int(self.first[form]), int(self.first[form + 1])):
            yield int(self.word[at]), bool(self.typo[at])


def _may_err(word: str) -> bool:
    return len(word) >= TYPO_FROM and word.isalpha()


def _deletions(words: Iterable[str]) -> dict[str, list[str]]:
    """Return the words by what is left of them without one letter, and by themselves."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for word in words:
        for cut in _cuts(word):
            found[cut].append(word)
    return found


def _cuts(word: str) -> set[str]:
    return {word, *(word[:at] + word[at + 1 :] for at in range(len(word)))}
