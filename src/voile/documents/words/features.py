"""Sparse features of tokens, gathered from tables of their forms.

A *channel* gives each token a number, and each number its attributes: the words, their places,
the shapes around them, parts of speech. A *view* looks from a token at a channel. A *column* is
an attribute seen in a view. Strings are touched once for each distinct form; all else is gathered
by numbers, which is what makes a committee of many classifiers about as fast as one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from voile.documents.words.attributes import (
    AFFIX,
    MARK,
    SHAPE,
    WORD,
    attributes_of,
    is_mark,
    shape_of,
)
from voile.documents.words.gathering import add_rows, append, lengths, meet
from voile.documents.words.tokens import GLUED, NOWHERE, Forms, Tokens
from voile.documents.words.views import occurrences, views_of

Ints = NDArray[np.int32]

ALL = WORD | AFFIX | SHAPE
BLOCKS: tuple[tuple[str, str, int], ...] = (
    ("words", "here", ALL),
    ("words", "before", ALL),
    ("words", "after", ALL),
    ("words", "two before", WORD | SHAPE),
    ("words", "two after", WORD | SHAPE),
    ("words", "three before", WORD),
    ("words", "head of line", WORD),
    ("words", "before another", WORD | SHAPE),
    ("words", "after another", WORD | SHAPE),
    ("places", "here", ALL),
    ("shapes", "here", ALL),
    ("tags", "here", ALL),
    ("tags", "before", ALL),
    ("tags", "after", ALL),
)
"""What is seen: the channel, the view, and the kinds of attributes taken."""

CLASSES = ("mark", "X", "Xx", "x", "0", "mixed", "other")
NAMED = (2, 3, 5, 6)
"""The classes, from 1, that are looked up elsewhere in their document."""
MOST_REPEATS = 4
PLACES = 4 * 2 * (MOST_REPEATS + 1)
SHAPES = (len(CLASSES) + 1) ** 3


@dataclass(frozen=True, eq=False)
class Space:
    """The columns that a fit keeps.

    Parameters
    ----------
    attributes : of words, in the order of their numbers; they hold words of the text.
    tags : parts of speech, in the order of their numbers.
    columns : (c,) sorted keys of the columns kept: block * stride + attribute.
    lists : gazetteers, name -> words in lower case.
    """

    attributes: tuple[str, ...]
    tags: tuple[str, ...]
    columns: NDArray[np.int64]
    lists: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The attributes' numbers."""
        return {name: number for number, name in enumerate(self.attributes)}

    @property
    def stride(self) -> int:
        """How far the keys of two blocks lie apart."""
        return max(len(self.attributes), len(self.tags), SHAPES, PLACES)

    def column(self, block: int, size: int) -> Ints:
        """Return the column of each attribute of a block, (size,); NOWHERE if it is not kept."""
        keys = block * self.stride + np.arange(size, dtype=np.int64)
        at = np.searchsorted(self.columns, keys)
        if not len(self.columns):
            return np.full(size, NOWHERE, dtype=np.int32)
        kept = self.columns[np.minimum(at, len(self.columns) - 1)] == keys
        return np.where(kept, at, NOWHERE).astype(np.int32)

    @classmethod
    def of(
        cls,
        tokens: Tokens,
        subjects: NDArray[np.int32],
        *,
        marks: Iterable[str],
        lists: Mapping[str, frozenset[str]] | None = None,
        least: int = 2,
    ) -> Space:
        """Keep the columns that at least `least` (1 or 2) subjects have, and those of marks.

        Parameters
        ----------
        subjects : (n,) whose each token is.
        marks : forms that will stand where something is removed, e.g. ``[NAME]``.
        """
        lists = lists or {}
        tokens.known.number(marks)
        named = {name: None for form in tokens.forms for _, name in attributes_of(form, lists)}
        everything = cls(tuple(named), _tags(tokens), np.zeros(0, dtype=np.int64), lists)
        whole = Extractor(everything, tokens.known)
        features = whole.features(tokens)
        keys = []
        of_marks = [n for n, name in enumerate(named) if name.startswith(MARK)]
        for number, (channel, _, kinds) in enumerate(BLOCKS):
            table = whole.table(channel, kinds)
            met = np.full(table.shape[1], -1, dtype=np.int32)
            meet(features.numbers(number), table.indptr, table.indices, subjects, met)
            seen = met == -2 if least > 1 else met != -1
            if channel == "words" and kinds & WORD:
                seen[of_marks] = True
            keys.append((number, np.flatnonzero(seen)))
        return everything._only(keys)

    def _only(self, keys: Sequence[tuple[int, NDArray[np.intp]]]) -> Space:
        """Forget the attributes that no column needs."""
        words = [kept for number, kept in keys if BLOCKS[number][0] == "words"]
        used = np.unique(np.concatenate(words))
        attributes = tuple(self.attributes[x] for x in used)
        slim = Space(attributes, self.tags, self.columns, self.lists)
        columns = [
            number * slim.stride
            + (np.searchsorted(used, kept) if BLOCKS[number][0] == "words" else kept)
            for number, kept in keys
        ]
        return Space(attributes, self.tags, np.concatenate(columns).astype(np.int64), self.lists)


def _tags(tokens: Tokens) -> tuple[str, ...]:
    return () if tokens.tags is None else tuple(tokens.tags.known)


class Extractor:
    """Give tokens their features, looking at each form once.

    Parameters
    ----------
    space : the columns.
    known : the forms that tokens number; it grows with every batch, and the tables with it.
    """

    def __init__(self, space: Space, known: Forms) -> None:
        self.space, self.known = space, known
        self._done = 0
        self._kinds: list[list[tuple[int, int]]] = []
        self._classes: list[int] = []
        self._tables: dict[tuple[str, int], sp.csr_array] = {}

    def features(self, tokens: Tokens) -> Features:
        """Return what is seen from each token."""
        self.learn()
        return Features(self, tokens)

    def learn(self) -> None:
        """Look at the forms that are new."""
        numbers, lists = self.space.numbers, self.space.lists
        for form in self.known.since(self._done):
            found = attributes_of(form, lists)
            self._kinds.append([(kind, numbers[a]) for kind, a in found if a in numbers])
            self._classes.append(_class_of(form))
        if len(self._kinds) > self._done:
            self._done = len(self._kinds)
            self._tables.clear()

    @property
    def classes(self) -> NDArray[np.int8]:
        """The class of each form, 1 for the first of `CLASSES`."""
        return np.array(self._classes, dtype=np.int8)

    def table(self, channel: str, kinds: int) -> sp.csr_array:
        """Return the attributes of each number of a channel, (numbers, attributes) of 0 and 1."""
        if channel != "words":
            size = {"places": PLACES, "shapes": SHAPES, "tags": len(self.space.tags)}[channel]
            return _identity(size)
        if (channel, kinds) not in self._tables:
            self._tables[channel, kinds] = self.rows(0, kinds)
        return self._tables[channel, kinds]

    def rows(self, start: int, kinds: int = ALL) -> sp.csr_array:
        """Return the attributes of the forms from number `start` on."""
        rows = [[a for kind, a in row if kind & kinds] for row in self._kinds[start:]]
        indptr = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        flat = (a for row in rows for a in row)
        indices = np.fromiter(flat, np.int32, int(indptr[-1]))
        shape = (len(rows), len(self.space.attributes))
        table = sp.csr_array((np.ones(len(indices), np.float32), indices, indptr), shape=shape)
        table.indptr, table.indices = indptr, indices
        return table


@dataclass(frozen=True, eq=False)
class Features:
    """What is seen from each of n tokens."""

    extractor: Extractor
    tokens: Tokens

    @cached_property
    def _classes(self) -> Ints:
        return self.extractor.classes[self.tokens.form].astype(np.int32)

    @cached_property
    def _occurrences(self) -> tuple[Ints, Ints]:
        named = np.isin(self._classes, NAMED)
        return occurrences(self.tokens, named, MOST_REPEATS)

    @cached_property
    def _views(self) -> dict[str, Ints]:
        return views_of(self.tokens, self._occurrences[0])

    @cached_property
    def _channels(self) -> dict[str, Ints]:
        tokens, classes = self.tokens, self._classes
        glued = np.zeros(len(tokens), dtype=np.int32)
        glued[:-1] = tokens.gap[1:] == GLUED
        often = self._occurrences[1]
        before, after = (self._seen(classes, self._views[v], 0) for v in ("before", "after"))
        k = np.int32(len(CLASSES) + 1)
        return {
            "words": tokens.form,
            "places": (tokens.gap * np.int32(2) + glued) * np.int32(MOST_REPEATS + 1) + often,
            "shapes": (before * k + classes) * k + after,
            "tags": self._tags(),
        }

    def _tags(self) -> Ints:
        tag, known = self.tokens.tag, len(self.extractor.space.tags)
        if tag is None:
            return np.full(len(self.tokens), NOWHERE, dtype=np.int32)
        return np.where(tag < known, tag, NOWHERE).astype(np.int32)

    @staticmethod
    def _seen(numbers: Ints, view: Ints, nothing: int) -> Ints:
        return np.where(view >= 0, numbers[view], np.int32(nothing)).astype(np.int32)

    def numbers(self, block: int) -> Ints:
        """Return what each token sees in a block: a number of its channel or NOWHERE, (n,)."""
        channel, view, _ = BLOCKS[block]
        if view == "here":
            return self._channels[channel]
        return self._seen(self._channels[channel], self._views[view], NOWHERE)

    @cached_property
    def matrix(self) -> sp.csr_array:
        """The tokens' columns, (n, columns) of 0 and 1. Cost: O(ones)."""
        tables = [
            (self.numbers(block), *_columns(self.extractor, block)) for block in range(len(BLOCKS))
        ]
        total = np.zeros(len(self.tokens), dtype=np.int64)
        for numbers, indptr, _ in tables:
            lengths(numbers, indptr, total)
        ends = np.cumsum([0, *total], dtype=np.int64)
        at, indices = ends[:-1].copy(), np.empty(ends[-1], dtype=np.int32)
        for numbers, indptr, columns in tables:
            append(numbers, indptr, columns, at, indices)
        shape = (len(self.tokens), len(self.extractor.space.columns))
        small = ends.astype(np.int32) if ends[-1] < 2**31 else ends  # scikit-learn takes no other
        return sp.csr_array((np.ones(len(indices), np.float32), indices, small), shape=shape)


def _columns(extractor: Extractor, block: int) -> tuple[NDArray[np.int64], Ints]:
    """Return a block's table with columns for attributes, those not kept left out."""
    channel, _, kinds = BLOCKS[block]
    table = extractor.table(channel, kinds)
    columns = extractor.space.column(block, table.shape[1])[table.indices]
    kept = columns != NOWHERE
    before = np.concatenate([[0], np.cumsum(kept)])
    return before[table.indptr].astype(np.int64), columns[kept]


class Scorer:
    """Score tokens by linear weights, without a matrix.

    Parameters
    ----------
    extractor : shared by all scorers of a committee.
    weights : (columns, outputs).

    Guarantees: equal to ``features.matrix @ weights`` but for rounding.
    Cost: O(tokens x blocks x outputs), and once O(attributes x outputs) for each new form.
    """

    def __init__(self, extractor: Extractor, weights: NDArray[np.floating]) -> None:
        self._extractor = extractor
        self._weights = [self._of(block, weights) for block in range(len(BLOCKS))]
        self._outputs = weights.shape[1]
        self._tables = [np.zeros((0, self._outputs), np.float32) for _ in BLOCKS]

    def __call__(self, features: Features) -> NDArray[np.float32]:
        """Return the tokens' scores, (n, outputs)."""
        self._grow()
        out = np.zeros((len(features.tokens), self._outputs), np.float32)
        for block, table in enumerate(self._tables):
            if len(table):
                add_rows(features.numbers(block), table, out)
        return out

    def _of(self, block: int, weights: NDArray[np.floating]) -> sp.csr_array:
        """Return a block's weights by attribute, (attributes, outputs)."""
        channel, _, kinds = BLOCKS[block]
        columns = self._extractor.space.column(
            block, self._extractor.table(channel, kinds).shape[1]
        )
        dense = np.zeros((len(columns), weights.shape[1]), np.float32)
        dense[columns != NOWHERE] = weights[columns[columns != NOWHERE]]
        return sp.csr_array(dense)

    def _grow(self) -> None:
        done = len(self._tables[0])
        rows = self._extractor.rows(done) if len(self._extractor.classes) > done else None
        for block, (channel, _, _) in enumerate(BLOCKS):
            weights = self._weights[block]
            if channel != "words":
                if not len(self._tables[block]) and weights.nnz:
                    self._tables[block] = weights.toarray()
            elif rows is not None and rows.shape[0]:
                new = (rows @ weights).toarray()
                self._tables[block] = np.concatenate([self._tables[block], new])


def _identity(size: int) -> sp.csr_array:
    indices, indptr = np.arange(size, dtype=np.int32), np.arange(size + 1, dtype=np.int64)
    table = sp.csr_array((np.ones(size, np.float32), indices, indptr), shape=(size, size))
    table.indptr, table.indices = indptr, indices
    return table


def _class_of(form: str) -> int:
    """Return the class of a form, from 1.

    >>> [CLASSES[_class_of(form) - 1] for form in ("[AGE]", "ANA", "Ana", "is", "12", "b2", ",")]
    ['mark', 'X', 'Xx', 'x', '0', 'mixed', 'other']
    """
    if is_mark(form):
        return 1
    shape = shape_of(form)
    if not form[0].isalnum():
        return 7
    kinds = set(shape)
    if kinds == {"X"}:
        return 2
    if shape[0] == "X" and kinds == {"X", "x"}:
        return 3
    return 4 if kinds == {"x"} else 5 if kinds == {"0"} else 6
