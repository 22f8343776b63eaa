"""The words of known values, and the forms of a text that match them exactly or with one typo."""

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
"""The fewest letters of a word that may have a typo, even one that removes a letter.

A shorter word would become another word.
"""
_TYPO_TO = 40
"""The most letters of a word that may have a typo."""
_APART = re.compile(
    r"(?<=[^\W\d_])[\d_]+|(?<![\d_])[\d_]+(?=[^\W\d_])|(?<=[a-z\u00df-\u00ff])(?=[A-Z\u00c0-\u00de])"
)
_SHORTEST_PART = 4  # letters of a name that is joined to other text
_WEIGHTS = np.cumprod(np.full(_TYPO_TO + 1, BASE, np.uint64))  # the weights of letters by position


class ValueVocabulary:
    """A numbering of the words of values, from 0."""

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
        """Return the words that each form matches exactly, or with one typo unless it is frequent.

        A form with a typo must have a capital, or its number must be in `small`. Cost: O(letters)
        of both.
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
    """The possible words of each form, in the order of the forms' numbers."""

    folds: Sequence[str]  # the fold of each form
    first: Longs  # (forms + 1,) the first entry of each form
    word: Longs  # (entries,) the number of a word
    typo: NDArray[np.bool_]  # (entries,) whether the form differs from it by a typo

    @classmethod
    def of(
        cls, folds: Sequence[str], exact: list[tuple[int, int]], typos: list[tuple[int, int]]
    ) -> FormWords:
        """Sort entries, which are pairs of a form and a word, by their forms."""
        form, word = np.array([*exact, *typos], dtype=np.int64).reshape(-1, 2).T
        order = np.argsort(form, kind="stable")
        first = np.searchsorted(form[order], np.arange(len(folds) + 1))
        return cls(folds, first, word[order], order >= len(exact))


def _may_err(word: str, letters: int) -> bool:
    return letters <= len(word) <= _TYPO_TO and word.isalpha()


def _one_typo_apart(words: Sequence[str], others: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the positions of two words with one typo between them.

    Such words are equal after deleting at most one letter of each. Cost: O(letters log letters).
    Hash collisions cost a comparison.
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
    """Return the hashes of each word with at most one letter deleted, and the word of each hash."""
    size = np.fromiter(map(len, words), np.int64, len(words))
    letter = np.frombuffer("".join(words).encode("utf-32-le"), np.uint32).astype(np.uint64)
    word, at = np.repeat(np.arange(len(words)), size), runs(np.zeros_like(size), size)
    # as if a letter before it were deleted
    stays, moves = letter * _WEIGHTS[at + 1], letter * _WEIGHTS[at]
    before, after = np.cumsum(stays) - stays, np.cumsum(moves)
    end = np.cumsum(size) - 1
    start = end - size + 1
    cut = before - before[start][word] + after[end][word] - after
    whole = before[end] + stays[end] - before[start]
    return np.concatenate([cut, whole]), np.concatenate([word, np.arange(len(words))])
