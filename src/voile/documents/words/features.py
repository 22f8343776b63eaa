"""Sparse features of tokens, gathered from tables of their forms.

A *channel* gives each token a number, and each number its attributes. The channels are words,
places, the shapes around a token, parts of speech, and the hints of an external classifier. A
*view* maps each token to the position of another token, such as the one before. A *column* is an
attribute seen in a view.

Strings are processed once for each distinct form. Everything else is gathered by numbers, so a
committee of many classifiers takes about as long as one classifier.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.documents.words.attributes import (
    AFFIX,
    CLASSES,
    MARK,
    SHAPE,
    WORD,
    attributes_of,
    is_mark,
    shape_of,
)
from voile.documents.words.kernels import NOBODY, SEVERAL, append, lengths, meet
from voile.documents.words.tokens import GLUED, HINTS, NOWHERE, TextTokens, TokenNumbers
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
    ("hints", "here", ALL),
    ("hints", "before", ALL),
    ("hints", "after", ALL),
)
"""The blocks of features: the channel, the view, and the kinds of attributes used."""

NAMED = (2, 3, 5, 6)
"""The classes, numbered from 1, of the forms that are looked up elsewhere in their document."""
MOST_REPEATS = 4
PLACES = 4 * 2 * (MOST_REPEATS + 1)
SHAPES = (len(CLASSES) + 1) ** 3


@dataclass(frozen=True, eq=False)
class FeatureSpace(BriefRepr):
    """The columns of features that a fit keeps."""

    # attributes of words, in the order of their numbers; they contain words of the text
    attributes: tuple[str, ...]
    tags: tuple[str, ...]  # parts of speech, in the order of their numbers
    columns: NDArray[np.int64]  # (c,) sorted keys of the columns kept: block * stride + attribute
    # gazetteers, name -> words in lower case
    lists: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @cached_property
    def numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.attributes)}

    @cached_property
    def gazetteer_names(self) -> dict[str, list[str]]:
        """The names of the gazetteers that contain each listed word, in order."""
        found: dict[str, list[str]] = {}
        for name, words in self.lists.items():
            for word in words:
                found.setdefault(word, []).append(name)
        return found

    @cached_property
    def marks(self) -> frozenset[str]:
        start = f"{MARK}="
        names = (name[len(start) :] for name in self.attributes if name.startswith(start))
        return frozenset(f"[{name}]" for name in names)

    @property
    def stride(self) -> int:
        """The distance between the first keys of two successive blocks."""
        return max(len(self.attributes), len(self.tags), SHAPES, PLACES)

    @cached_property
    def by_block(self) -> list[Ints]:
        """The column of each attribute, for each block. It is NOWHERE if the column is not kept."""
        sizes = [channel_size(channel, self) for channel, _, _ in BLOCKS]
        return [self._column(block, size) for block, size in enumerate(sizes)]

    def _column(self, block: int, size: int) -> Ints:
        keys = block * self.stride + np.arange(size, dtype=np.int64)
        at = np.searchsorted(self.columns, keys)
        if not len(self.columns):
            return np.full(size, NOWHERE, dtype=np.int32)
        kept = self.columns[np.minimum(at, len(self.columns) - 1)] == keys
        return np.where(kept, at, NOWHERE).astype(np.int32)

    @classmethod
    def of(
        cls,
        tokens: TextTokens,
        subjects: NDArray[np.int32],
        *,
        marks: Iterable[str],
        lists: Mapping[str, frozenset[str]] | None = None,
        least: int = 2,
    ) -> FeatureSpace:
        """Keep the columns that occur with at least `least` (1 or 2) subjects.

        `subjects`, of shape (n,), is the subject of each token. Columns of marks are always kept.
        """
        lists, marks = lists or {}, frozenset(marks)
        tokens.known.number(sorted(marks))
        listed = cls((), (), np.zeros(0, dtype=np.int64), lists).gazetteer_names
        shown = (unbracket(form, marks) for form in tokens.forms)
        kind = {name: kind for form in shown for kind, name in attributes_of(form, listed)}
        everything = cls(tuple(kind), _tags(tokens), np.zeros(0, dtype=np.int64), lists)
        whole = FeatureExtractor(everything, tokens.known)
        features = whole.features(tokens)
        of_kind = np.array([*kind.values()], dtype=np.int8)
        of_marks = [n for n, name in enumerate(kind) if name.startswith(MARK)]
        keys = []
        for number, (channel, _, kinds) in enumerate(BLOCKS):
            table = whole.table(channel)
            met = np.full(table.shape[1], NOBODY, dtype=np.int32)
            meet(features.numbers(number), table.indptr, table.indices, subjects, met)
            seen = met == SEVERAL if least > 1 else met != NOBODY
            if channel == "words":
                seen &= of_kind & kinds > 0
                seen[of_marks] = True
            keys.append((number, np.flatnonzero(seen)))
        return everything._only(keys)

    def keep(self, kept: NDArray[np.bool_]) -> FeatureSpace:
        """Return the feature space with only the kept columns. `kept` is a mask of shape (c,)."""
        block, number = np.divmod(self.columns[kept], self.stride)
        return self._only([(n, number[block == n]) for n in range(len(BLOCKS))])

    def _only(self, keys: Sequence[tuple[int, NDArray[np.intp]]]) -> FeatureSpace:
        words = [kept for number, kept in keys if BLOCKS[number][0] == "words"]
        used = np.unique(np.concatenate(words))
        attributes = tuple(self.attributes[x] for x in used)
        slim = FeatureSpace(attributes, self.tags, self.columns, self.lists)
        columns = [
            number * slim.stride
            + (np.searchsorted(used, kept) if BLOCKS[number][0] == "words" else kept)
            for number, kept in keys
        ]
        return FeatureSpace(
            attributes, self.tags, np.concatenate(columns).astype(np.int64), self.lists
        )


def channel_size(channel: str, space: FeatureSpace) -> int:
    tags, words = len(space.tags), len(space.attributes)
    own = {"places": PLACES, "shapes": SHAPES, "hints": HINTS}
    return {"words": words, "tags": tags, **own}[channel]


def _tags(tokens: TextTokens) -> tuple[str, ...]:
    return () if tokens.tags is None else tuple(tokens.tags.known_words)


class FeatureExtractor:
    """An extractor of the features of tokens, which processes each form once.

    `known` grows with every batch.
    """

    def __init__(self, space: FeatureSpace, known: TokenNumbers) -> None:
        self.space, self.known = space, known
        self.classes = np.zeros(0, dtype=np.int32)
        """The class of each form, 1 for the first of `CLASSES`."""
        self._indices, self._indptr = np.zeros(0, np.int32), np.zeros(1, np.int64)

    def features(self, tokens: TextTokens) -> TokenFeatures:
        self.learn()
        return TokenFeatures(self, tokens)

    def learn(self) -> None:
        """Compute the attributes and the class of each new form."""
        new = [unbracket(form, self.space.marks) for form in self.known.since(len(self.classes))]
        if new:
            numbers, listed = self.space.numbers, self.space.gazetteer_names
            found = [
                [numbers[name] for _, name in attributes_of(form, listed) if name in numbers]
                for form in new
            ]
            ends = self._indptr[-1] + np.cumsum([len(row) for row in found])
            flat = np.fromiter(chain.from_iterable(found), np.int32, ends[-1] - self._indptr[-1])
            self._indices = np.concatenate([self._indices, flat])
            self._indptr = np.concatenate([self._indptr, ends])
            classes = np.fromiter(map(_class_of, new), np.int32, len(new))
            self.classes = np.concatenate([self.classes, classes])

    def table(self, channel: str) -> sp.csr_array:
        """Return a channel's attributes, a 0/1 table of shape (numbers, attributes)."""
        return self.rows(0) if channel == "words" else _identity(channel_size(channel, self.space))

    def rows(self, start: int) -> sp.csr_array:
        """Return the attributes of the forms with the numbers `start` and higher."""
        indptr = self._indptr[start:] - self._indptr[start]
        return _table(self._indices[self._indptr[start] :], indptr, len(self.space.attributes))


@dataclass(frozen=True, eq=False)
class TokenFeatures:
    """The features of n tokens, seen from each token."""

    extractor: FeatureExtractor
    tokens: TextTokens

    @cached_property
    def _classes(self) -> Ints:
        return self.extractor.classes[self.tokens.form]

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
        before, after = (
            self._look_up_view(classes, self._views[v], 0) for v in ("before", "after")
        )
        k = np.int32(len(CLASSES) + 1)
        return {
            "words": tokens.form,
            "places": (tokens.gap * np.int32(2) + glued) * np.int32(MOST_REPEATS + 1) + often,
            "shapes": (before * k + classes) * k + after,
            "tags": self._tags(),
            "hints": self._hints(),
        }

    def _tags(self) -> Ints:
        tag, known = self.tokens.tag, len(self.extractor.space.tags)
        if tag is None:
            return np.full(len(self.tokens), NOWHERE, dtype=np.int32)
        return np.where(tag < known, tag, NOWHERE).astype(np.int32)

    def _hints(self) -> Ints:
        hint = self.tokens.hint
        return np.full(len(self.tokens), NOWHERE, dtype=np.int32) if hint is None else hint

    @staticmethod
    def _look_up_view(numbers: Ints, view: Ints, nothing: int) -> Ints:
        return np.where(view >= 0, numbers[view], np.int32(nothing)).astype(np.int32)

    def numbers(self, block: int) -> Ints:
        """Return the number of its channel that each token sees in a block, (n,), or NOWHERE."""
        view, numbers = self.sight(block)
        return numbers if BLOCKS[block][1] == "here" else self._look_up_view(numbers, view, NOWHERE)

    def sight(self, block: int) -> tuple[Ints, Ints]:
        """Return the position that each token looks at in a block, and the channel's numbers.

        Both have the shape (n,).
        """
        channel, view, _ = BLOCKS[block]
        return self._views[view], self._channels[channel]

    @cached_property
    def matrix(self) -> sp.csr_array:
        """The columns of each token, a sparse 0/1 matrix of (n, columns). Cost: O(ones)."""
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
        # scikit-learn accepts no other type
        small = ends.astype(np.int32) if ends[-1] < 2**31 else ends
        return sp.csr_array((np.ones(len(indices), np.float32), indices, small), shape=shape)


def _columns(extractor: FeatureExtractor, block: int) -> tuple[NDArray[np.int64], Ints]:
    table = extractor.table(BLOCKS[block][0])
    columns = extractor.space.by_block[block][table.indices]
    kept = columns != NOWHERE
    before = np.concatenate([[0], np.cumsum(kept)])
    return before[table.indptr].astype(np.int64), columns[kept]


def _identity(size: int) -> sp.csr_array:
    return _table(np.arange(size, dtype=np.int32), np.arange(size + 1, dtype=np.int64), size)


def _table(indices: Ints, indptr: NDArray[np.int64], columns: int) -> sp.csr_array:
    """Return a 0/1 table with the array types that the compiled loops accept."""
    ones = np.ones(len(indices), np.float32)
    table = sp.csr_array((ones, indices, indptr), shape=(len(indptr) - 1, columns))
    table.indptr, table.indices = indptr, indices
    return table


def unbracket(form: str, marks: frozenset[str]) -> str:
    """Return a form without its brackets, unless it is a mark of the feature space."""
    return form if form in marks or not is_mark(form) else form.strip("[]") or form


def _class_of(form: str) -> int:
    """Return the number of a form's class in `CLASSES`, from 1."""
    if is_mark(form):
        return 1
    return _class_of_shape(shape_of(form)) if form[0].isalnum() else 7


@lru_cache(maxsize=1 << 12)
def _class_of_shape(shape: str) -> int:
    kinds = set(shape)
    if kinds == {"X"}:
        return 2
    if shape[0] == "X" and kinds == {"X", "x"}:
        return 3
    return 4 if kinds == {"x"} else 5 if kinds == {"0"} else 6
