"""The words of known values, and which forms of a text are such a word or one typo away from it."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import OSA

from voile.documents.model.start.known.owned import BASE, Longs, runs
from voile.documents.replacements.names import fold
from voile.documents.words.attributes import CAPITAL, classify_form

TYPO_FROM = 4
"""Letters of a word that is still itself with one typo, even if that leaves one letter fewer: a
shorter one becomes another."""
_TYPO_TO = 40
"""Letters of the longest that is looked at so."""
_APART = re.compile(
    r"(?<=[^\W\d_])[\d_]+|(?<![\d_])[\d_]+(?=[^\W\d_])|(?<=[a-z\u00df-\u00ff])(?=[A-Z\u00c0-\u00de])"
)
_SHORTEST_PART = 4  # letters of a name that is joined to something else
_WEIGHTS = np.cumprod(np.full(_TYPO_TO + 1, BASE, np.uint64))  # of letters by their places


class ValueVocabulary:
    """Number the words of values, from 0."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, word: str) -> int:
        return self._numbers.setdefault(word, len(self._numbers))

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def look(
        self, forms: Sequence[str], frequent: Container[str] = (), small: Iterable[int] = ()
    ) -> FormWords:
        """Return which words each form is, or is one typo away from unless it is frequent.

        A form with a typo has a capital, or its number is among `small`.

        Cost: O(letters), of each.
        """
        find = self._numbers.get
        folds = [fold(form) for form in forms]
        exact = [(n, number) for n, word in enumerate(folds) if (number := find(word, -1)) >= 0]
        parts = [
            (n, number)
            for n, form in enumerate(forms)
            if not (form.isalpha() and form[1:].islower()) and _APART.search(form)
            for part in _APART.split(form)
            if len(part) >= _SHORTEST_PART and (number := find(fold(part), -1)) >= 0
        ]
        words = [word for word in self if _may_err(word, TYPO_FROM)]
        unlike = [
            n
            for n, (form, word) in enumerate(zip(forms, folds, strict=True))
            if form != word and word not in frequent
            if _may_err(word, TYPO_FROM - 1) and classify_form(form) >= CAPITAL
        ]
        unlike += {n for n in small if _may_err(folds[n], TYPO_FROM - 1)}.difference(unlike)
        near = _one_typo_apart([folds[n] for n in unlike], words)
        typos = [(unlike[one], find(words[other], -1)) for one, other in near]
        return FormWords.of(folds, [*exact, *parts], typos)


@dataclass(frozen=True, eq=False)
class FormWords:
    """The words that each form may be, forms by their numbers."""

    folds: Sequence[str]  # of each form
    first: Longs  # (forms + 1,) where each form's entries begin
    word: Longs  # (entries,) the number of a word
    typo: NDArray[np.bool_]  # (entries,) whether the form is a typo away from it

    @classmethod
    def of(
        cls, folds: Sequence[str], exact: list[tuple[int, int]], typos: list[tuple[int, int]]
    ) -> FormWords:
        """Order entries, pairs of a form and a word, by their forms."""
        form, word = np.array([*exact, *typos], dtype=np.int64).reshape(-1, 2).T
        order = np.argsort(form, kind="stable")
        first = np.searchsorted(form[order], np.arange(len(folds) + 1))
        return cls(folds, first, word[order], order >= len(exact))


def _may_err(word: str, letters: int) -> bool:
    return letters <= len(word) <= _TYPO_TO and word.isalpha()


def _one_typo_apart(words: Sequence[str], others: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the places of two words with one typo between them: without some letter both are one.

    Cost: O(letters log letters); codes that are equal by accident cost a comparison.
    """
    (cut, word), (theirs, other) = _cuts(words), _cuts(others)
    order = np.argsort(theirs)
    first, last = (np.searchsorted(theirs[order], cut, side) for side in ("left", "right"))
    met = other[order][runs(first, last - first)]
    pairs = np.unique(np.stack([np.repeat(word, last - first), met]), axis=1)
    for one, two in zip(*pairs.tolist(), strict=True):
        if OSA.distance(words[one], others[two]) == 1:
            yield one, two


def _cuts(words: Sequence[str]) -> tuple[NDArray[np.uint64], Longs]:
    """Return the codes of words without each of their letters and with all, and of which word."""
    size = np.fromiter(map(len, words), np.int64, len(words))
    letter = np.frombuffer("".join(words).encode("utf-32-le"), np.uint32).astype(np.uint64)
    word, at = np.repeat(np.arange(len(words)), size), runs(np.zeros_like(size), size)
    stays, moves = letter * _WEIGHTS[at + 1], letter * _WEIGHTS[at]  # a letter before it is gone
    before, after = np.cumsum(stays) - stays, np.cumsum(moves)
    end = np.cumsum(size) - 1
    start = end - size + 1
    cut = before - before[start][word] + after[end][word] - after
    whole = before[end] + stays[end] - before[start]
    return np.concatenate([cut, whole]), np.concatenate([word, np.arange(len(words))])
