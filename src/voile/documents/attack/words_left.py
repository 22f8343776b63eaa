"""The remaining words of a release, and the neighbours of words and of replaced names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from voile.documents.attack.remaining import edits_of
from voile.documents.model.start.lists import public_lists
from voile.documents.replacements.dates import MONTHS, WEEKDAYS
from voile.documents.replacements.kinds import kind_of
from voile.documents.replacements.names import PARTICLES, TITLES, fold, words_of
from voile.documents.text.document import Document
from voile.documents.text.sequence import DocumentSequence
from voile.documents.words.attributes import CAPITAL, NO_WORD, SMALL, classify_form
from voile.documents.words.subjects import number_subjects
from voile.documents.words.tokens import LINE, TextTokens, tokenise

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Pair = tuple[int, str]
"""The number of a subject, and a folded word."""

NAME, OTHER, EDGE = range(3)
"""Neighbours that are not a word: a replaced name, another replacement, the end of the text."""
SENTENCE = frozenset(".!?:;")
"""Signs after which a capital has no meaning."""


@dataclass(frozen=True, eq=False)
class WordsLeft:
    """The n remaining words, with their forms and positions, and the m replaced names."""

    words: tuple[str, ...]  # folded, in the order of their numbers
    word: Ints  # (n,)
    subject: Ints  # (n,)
    # before, after: (n,) the number of the neighbouring word, or NAME, OTHER, EDGE
    before: Ints
    after: Ints
    small: Bools  # (n,) whether in lower case
    capital: Bools  # (n,) whether with a capital within a sentence
    names_before: Ints  # (m,) as `before`, for the replacements of names
    names_after: Ints
    named: Bools  # (people,) whether a name of the person is replaced
    behind: frozenset[Pair]  # the words of replaced names

    @classmethod
    def of(cls, pairs: Sequence[tuple[Document, Document]], kinds: Mapping[str, str]) -> WordsLeft:
        """Read published documents, each with its source. The source's spans of names are true."""
        whose = number_subjects(DocumentSequence(one for one, _ in pairs).subjects).astype(np.int64)
        tokens = tokenise(one.text for one, _ in pairs)
        folds = [fold(form) for form in tokens.forms]
        numbers = {word: place for place, word in enumerate(dict.fromkeys(folds), EDGE + 1)}
        word = np.array([numbers[one] for one in folds], dtype=np.int64)[tokens.form]
        look = np.array([classify_form(form) for form in tokens.forms], dtype=np.int64)[tokens.form]
        replaced = list(_list_replacements(pairs, tokens, kinds))
        for first, last, kind in replaced:
            word[first:last] = kind
        before, after = (
            np.where(place < 0, EDGE, word[place])
            for place in (tokens.layout.neighbours[by] for by in (-1, 1))
        )
        subject = whose[tokens.document]
        left = (word > EDGE) & (look != NO_WORD)
        names = [(first, last - 1) for first, last, kind in replaced if kind == NAME]
        starts, ends = np.array(names, dtype=np.int64).reshape(-1, 2).T
        people = int(whose.max(initial=-1)) + 1
        return cls(
            ("",) * (EDGE + 1) + tuple(numbers),
            word[left],
            subject[left],
            before[left],
            after[left],
            (look == SMALL)[left],
            ((look == CAPITAL) & ~_begins(tokens))[left],
            before[starts],
            after[ends],
            np.bincount(subject[starts], minlength=people) > 0,
            frozenset(_behind(pairs, whose, kinds)),
        )

    @cached_property
    def ordinary(self) -> Bools:
        """Which words, in the order of their numbers, are not only names."""
        return np.array([self._is_ordinary(word) for word in self.words], dtype=np.bool_)

    def ordinary_names(self) -> list[Pair]:
        """Return the ordinary words of replaced names, once for each subject."""
        return sorted(one for one in self.behind if self._is_ordinary(one[1]))

    def _is_ordinary(self, word: str) -> bool:
        if len(word) < 2 or word in PARTICLES or word in TITLES:
            return False
        return word in self._words or word in MONTHS or word in WEEKDAYS

    @cached_property
    def _words(self) -> frozenset[str]:
        here = {self.words[number] for number in np.unique(self.word[self.small]).tolist()}
        return public_lists()["word"] | here


def _list_replacements(
    pairs: Sequence[tuple[Document, Document]], tokens: TextTokens, kinds: Mapping[str, str]
) -> Iterator[tuple[int, int, int]]:
    """Yield the first token of each replacement, the token after it, and NAME or OTHER."""
    for number, (document, _) in enumerate(pairs):
        begin, end = tokens.first[number : number + 2].tolist()
        starts, ends = tokens.starts[begin:end], tokens.ends[begin:end]
        for edit in (one for one in edits_of(document) if one.start < one.end):
            first = begin + int(np.searchsorted(ends, edit.start, side="right"))
            last = begin + int(np.searchsorted(starts, edit.end, side="left"))
            if first < last:
                yield first, last, NAME if _is_name(edit.label, kinds) else OTHER


def _is_name(label: str, kinds: Mapping[str, str]) -> bool:
    return (kinds.get(label) or kind_of(label)) == "name"


def _begins(tokens: TextTokens) -> Bools:
    """Return which tokens begin a line or a sentence, as a mask (n,)."""
    sign = np.array([form in SENTENCE for form in tokens.forms], dtype=np.bool_)[tokens.form]
    return np.asarray((tokens.gap >= LINE) | np.append(True, sign[:-1])[: len(sign)])


def _behind(
    pairs: Sequence[tuple[Document, Document]], whose: Ints, kinds: Mapping[str, str]
) -> Iterator[Pair]:
    """Yield the subject and each word of the true names that are replaced."""
    for subject, (document, source) in zip(whose.tolist(), pairs, strict=True):
        names = [span for span in source.spans if _is_name(span.label, kinds)]
        for edit in edits_of(document):
            for span in names:
                part = slice(max(edit.source_start, span.start), min(edit.source_end, span.end))
                yield from ((subject, word) for word in words_of(source.text[part]))
