"""Split text into tokens with offsets, by one rule.

A token is a mark such as `[NAME]`, or a run of letters, digits and underscores. Combining signs
belong to their run. Any other character that is not a blank is a token by itself. The rule applies
to the normalised text, so that invisible characters do not split a word. Offsets refer to the
original.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, pairwise
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar
from unicodedata import category

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.documents.text.document import Document
from voile.documents.words.guards import guard_of
from voile.documents.words.looks import look_of
from voile.documents.words.normalisation import NormalisedText, normalise

Ints: TypeAlias = NDArray[np.int32]
Lists: TypeAlias = Mapping[str, frozenset[str]]  # name -> words in lower case

# Vowel signs and similar marks stay in their word, although `re` does not count them as letters.
SIGNS = "".join(one for one in map(chr, range(0x300, 0x10000)) if category(one)[0] == "M")
MARK = r"\[[0-9_]*+[A-Z][A-Z0-9_]*+\]"
RULE = re.compile(rf"{MARK}|\w[\w{SIGNS}]*|[^\w\s]")
HAS_MARK = re.compile(MARK)
BLANKS, OTHER, WORDS, RARE = range(4)
"""Kinds of characters. The kind of a sign depends on the characters before it."""
KINDS = np.full(0x110000, RARE, np.uint8)
KINDS[:0x10000] = [
    WORDS if one.isalnum() or one == "_" else BLANKS if one.isspace() else OTHER
    for one in map(chr, range(0x10000))
]
KINDS[[*map(ord, SIGNS)]] = RARE
BATCH = 1 << 20
"""The number of characters of the texts that are split together."""
NOWHERE = -1
GLUED, BLANK, LINE, PARAGRAPH = range(4)
"""The gap before a token: nothing, blanks, a line break, or an empty line or the text's
beginning.
"""


V = TypeVar("V", np.uint8, np.uint16)


class FormValues(Generic[V]):
    """A small number for each form, computed once."""

    def __init__(self, value_of: Callable[[str], int], type_: type[V]) -> None:
        self._value_of = value_of
        self._type: type[V] = type_
        self._values: NDArray[V] = np.zeros(0, type_)

    def of(self, forms: TokenNumbers) -> NDArray[V]:
        """Return the values of all forms, in the order of their numbers. Cost: O(new forms)."""
        if new := forms.since(len(self._values)):
            values = np.fromiter(map(self._value_of, new), self._type, len(new))
            self._values = np.concatenate([self._values, values])
        return self._values


MOST_FORMS = 120_000
"""The most forms in memory. Beyond it, all of them are forgotten."""


class TokenNumbers:
    """A numbering of the distinct tokens, in the order of their first occurrence."""

    def __init__(self) -> None:
        self._numbers: defaultdict[str, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__
        self._words: list[str] = []
        self._looks = FormValues(look_of, np.uint8)
        self._guards = FormValues(guard_of, np.uint16)

    def number(self, words: Iterable[str]) -> Ints:
        """Return the number of each word, (n,); a new word gets the next number."""
        return np.fromiter(map(self._numbers.__getitem__, words), np.int32)

    @property
    def known_words(self) -> Sequence[str]:
        """All words so far, in the order of their numbers.

        The list grows. Cost: O(words since the last call).
        """
        new = len(self._numbers) - len(self._words)
        self._words += [*islice(reversed(self._numbers), new)][::-1]
        return self._words

    @property
    def looks(self) -> NDArray[np.uint8]:
        """The look of each word (`words.looks`), in the order of their numbers.

        Cost: O(new words).
        """
        return self._looks.of(self)

    @property
    def guards(self) -> NDArray[np.uint16]:
        """The guard lists of each word (`words.guards`), in the order of their numbers.

        Cost: O(new words).
        """
        return self._guards.of(self)

    def find(self, word: str) -> int:
        """Return the number of a word; NOWHERE if the word has no number."""
        return self._numbers.get(word, NOWHERE)

    def since(self, number: int) -> Sequence[str]:
        return self.known_words[number:]

    def __len__(self) -> int:
        return len(self._numbers)


@dataclass(frozen=True, eq=False)
class TokenLayout:
    """The positions of n tokens in d texts, independent of their forms."""

    gap: NDArray[np.uint8]  # (n,) uint8, the gap before each token: GLUED, BLANK, LINE or PARAGRAPH
    first: NDArray[np.intp]  # (d + 1,) the first token of each text; the last is n

    @cached_property
    def document(self) -> NDArray[np.intp]:
        """The text of each token, (n,)."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))

    def shift_places(self, places: Ints, by: int) -> Ints:
        """Move positions by `by` tokens, (n,). The result is NOWHERE outside the token's text."""
        moved = places + np.int32(by)
        inside = (places >= 0) & (moved >= self._begin) & (moved < self._end)
        return np.where(inside, moved, NOWHERE).astype(np.int32)

    @cached_property
    def neighbours(self) -> dict[int, Ints]:
        """The positions of the tokens at each distance from -3 to 3."""
        here = np.arange(len(self.gap), dtype=np.int32)
        return {by: self.shift_places(here, by) for by in range(-3, 4)}

    @cached_property
    def head(self) -> Ints:
        """The position of the first token on each token's line, (n,).

        It is NOWHERE for that token itself.
        """
        here = np.arange(len(self.gap), dtype=np.int32)
        heads = np.maximum.accumulate(np.where(self.gap >= LINE, here, 0))
        return np.where(heads == here, NOWHERE, heads).astype(np.int32)

    @cached_property
    def _begin(self) -> Ints:
        return np.repeat(self.first[:-1], np.diff(self.first)).astype(np.int32)

    @cached_property
    def _end(self) -> Ints:
        return np.repeat(self.first[1:], np.diff(self.first)).astype(np.int32)


@dataclass(frozen=True, eq=False)
class TextTokens:
    """The n tokens of d texts, concatenated."""

    known: TokenNumbers  # the numbering of forms
    form: Ints  # (n,) the number of each token's normalised form
    # starts, ends: (n,) the offsets of each token in the original text
    starts: Ints
    ends: Ints
    layout: TokenLayout  # the text and the line of each token
    # (n,) the part of speech, a number in `tags`, -1 if unknown; None if no text has any
    tag: Ints | None = None
    tags: TokenNumbers | None = None
    # (n,) the level from a `TokenHinter`, -1 for none; None without a hinter
    hint: Ints | None = None

    def __len__(self) -> int:
        return len(self.form)

    @property
    def forms(self) -> Sequence[str]:
        """The distinct forms, in the order of their numbers."""
        return self.known.known_words

    @property
    def gap(self) -> NDArray[np.uint8]:
        """The gap before each token, (n,): GLUED, BLANK, LINE or PARAGRAPH."""
        return self.layout.gap

    @property
    def first(self) -> NDArray[np.intp]:
        """The first token of each text, (d + 1,); the last is n."""
        return self.layout.first

    @property
    def document(self) -> NDArray[np.intp]:
        """The text of each token, (n,)."""
        return self.layout.document

    @property
    def sentence(self) -> NDArray[np.intp]:
        """The sentence number of each token, (n,).

        A sentence ends at a line break, and after . ! ? before a blank.
        """
        ends = np.isin(self.form, [n for n, form in enumerate(self.forms) if form in ".!?"])
        begins = self.gap >= LINE
        begins[1:] |= ends[:-1] & (self.gap[1:] >= BLANK)
        begins[self.first[:-1][np.diff(self.first) > 0]] = True
        return np.asarray(np.cumsum(begins) - 1, dtype=np.intp)


Tokeniser: TypeAlias = Callable[[str], Sequence[tuple[int, int]]]
"""A function that returns the (start, end) of each token of a text.

It replaces the built-in rule.
"""


class TokenHinter(Protocol):
    """An external source of levels for tokens.

    It is a classifier that has seen none of the user's texts.
    """

    @property
    def name(self) -> str:
        """The name of the hinter in a kit."""

    @property
    def lists(self) -> Lists:
        """The words of public lists, which learners can use in addition to the levels."""

    def levels(self, tokens: TextTokens) -> Ints:
        """Return the level of each token, (n,), from 0 to `HINTS` - 1."""

    def propose(self, documents: Sequence[Document]) -> list[list[Any]]:
        """Return the removals that the hinter proposes in each document, ordered and disjoint."""

    def propose_by_form(self, documents: Sequence[Document]) -> list[list[Any]]:
        """Return the removals that rules find with certainty in each document.

        The removals of a document are ordered and disjoint.
        """


def lists_behind(hinter: TokenHinter | None) -> Lists:
    """Return the lists of a hinter; no lists if there is no hinter."""
    return {} if hinter is None else hinter.lists


HINTS = 12
"""The most levels that a hinter has."""


def add_hints(tokens: TextTokens, hinter: TokenHinter | None) -> TextTokens:
    """Return the tokens with the levels of a hinter."""
    return tokens if hinter is None else replace(tokens, hint=hinter.levels(tokens))


def tokenise(
    texts: Iterable[str], known: TokenNumbers | None = None, tokeniser: Tokeniser | None = None
) -> TextTokens:
    """Split texts into tokens. Cost: O(characters), 3 million tokens a second."""
    known = TokenNumbers() if known is None else known
    cuts = [
        *(_by_rule(texts) if tokeniser is None else (_take_tokens(one, tokeniser) for one in texts))
    ]
    none = np.zeros(0, dtype=np.int32)
    return TextTokens(
        known,
        np.concatenate([none, *(known.number(cut.words)[cut.word] for cut in cuts)]),
        np.concatenate([none, *(cut.starts for cut in cuts)]),
        np.concatenate([none, *(cut.ends for cut in cuts)]),
        TokenLayout(
            np.concatenate([none.astype(np.uint8), *(cut.gap for cut in cuts)]),
            np.cumsum(np.concatenate([[0], *(cut.many for cut in cuts)]), dtype=np.intp),
        ),
    )


class _CutTokens(NamedTuple):
    """The n tokens of a few texts, concatenated."""

    words: Sequence[str]  # normalised, in the order of their first occurrence
    word: Ints  # (n,) the word of each token
    starts: Ints  # (n,) in the original, as `ends`
    ends: Ints
    gap: NDArray[np.uint8]  # (n,) as in a `TokenLayout`
    many: Sequence[int] | NDArray[np.intp]  # the number of tokens of each text


def _by_rule(texts: Iterable[str]) -> Iterator[_CutTokens]:
    """Split texts by the rule, in batches.

    One call for each text would cost more than the split itself.
    """
    batch: list[NormalisedText] = []
    size = 0
    for text in texts:
        batch.append(normalise(text))
        size += len(text)
        if size >= BATCH:
            yield _cut_texts(batch)
            batch, size = [], 0
    if batch:
        yield _cut_texts(batch)


def _cut_texts(texts: Sequence[NormalisedText]) -> _CutTokens:
    text = "\n".join(one.text for one in texts)
    first = np.cumsum([0, *(len(one.text) + 1 for one in texts)])
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    kind = KINDS[codes]
    left, right = _split_texts(text, kind, first)
    own = np.searchsorted(left, first)
    many = np.diff(own)
    breaks = np.flatnonzero(codes == ord("\n"))
    lines = np.bincount(np.searchsorted(left, breaks), minlength=len(left) + 1)[:-1]
    gap = (BLANK + np.minimum(lines, 2)).astype(np.uint8)
    gap[1:][left[1:] == right[:-1]] = GLUED
    gap[own[:-1][many > 0]] = PARAGRAPH
    size, before = right - left, np.repeat(first[:-1], many)
    starts, ends = (left - before).astype(np.int32), (right - before).astype(np.int32)
    goes_on = np.zeros(len(left), dtype=np.bool_)
    for one, begin, end in zip(texts, own[:-1].tolist(), own[1:].tolist(), strict=True):
        _set_back(one, starts[begin:end], ends[begin:end], goes_on[begin:end])
    if goes_on.any():  # merge tokens that come from the same characters of the original
        begins = np.flatnonzero(~goes_on)
        starts, ends, gap = starts[begins], np.maximum.reduceat(ends, begins), gap[begins]
        size, many = np.add.reduceat(size, begins), np.diff(np.searchsorted(begins, own))
    return _CutTokens(*_encode_words(codes[kind != BLANKS], size), starts, ends, gap, many)


def _set_back(text: NormalisedText, starts: Ints, ends: Ints, goes_on: NDArray[np.bool_]) -> None:
    """Replace the offsets of a text's tokens by those in the original.

    Also mark the tokens that continue the token before them.
    """
    if text.places is not None and text.ends is not None and len(starts):
        starts[:], ends[:] = text.places[starts], text.ends[ends - 1]
        goes_on[1:] = starts[1:] < np.maximum.accumulate(ends)[:-1]


def _split_texts(
    text: str, kind: NDArray[np.uint8], first: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return where the tokens of texts begin and end, based on the kinds of characters."""
    begins, ends = kind != BLANKS, kind != BLANKS
    goes_on = (kind[1:] == WORDS) & (kind[:-1] == WORDS)
    begins[1:] &= ~goes_on
    ends[:-1] &= ~goes_on
    for mark in HAS_MARK.finditer(text):
        begins[mark.start() + 1 : mark.end()] = ends[mark.start() : mark.end() - 1] = False
    rare = np.unique(np.searchsorted(first, np.flatnonzero(kind == RARE), side="right"))
    for start, end in zip(first[rare - 1].tolist(), (first[rare] - 1).tolist(), strict=True):
        begins[start:end] = ends[start:end] = False
        for token in RULE.finditer(text, start, end):
            begins[token.start()] = ends[token.end() - 1] = True
    return np.flatnonzero(begins), np.flatnonzero(ends) + 1


def _encode_words(codes: NDArray[np.uint32], size: NDArray[np.intp]) -> tuple[list[str], Ints]:
    """Return the distinct words of a sequence of characters, and the index of each word.

    `size` is the number of characters of each word.
    """
    offsets = np.concatenate([[0], np.cumsum(4 * size)])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(codes)]
    words = pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(size), buffers)
    encoded = words.dictionary_encode()
    length = pc.binary_length(encoded.dictionary).to_numpy() // 4
    ends = np.cumsum(length).tolist()
    text = b"".join(encoded.dictionary.to_pylist()).decode("utf-32-le", "surrogatepass")
    return [text[a:b] for a, b in pairwise([0, *ends])], encoded.indices.to_numpy()


def _take_tokens(text: str, tokeniser: Tokeniser) -> _CutTokens:
    """Return the tokens of a custom tokeniser, with normalised forms."""
    words: list[str] = []
    spans: list[tuple[int, int]] = []
    gap: list[int] = []
    before = 0
    for start, end in [*tokeniser(text), (len(text), len(text))]:
        between = normalise(text[before:start]).text
        if not before <= start <= end <= len(text) or any(map(str.isalnum, between)):
            raise RequestError(
                "the tokens are out of order, or leave out letters or digits",
                where=f"a text, characters {before} to {max(start, end)}",
                instead="have the tokeniser give all of them, one after the other",
            )
        word = normalise(text[start:end]).text
        if word.strip():
            lines = between.count("\n")
            gap.append(BLANK + min(lines, 2) if lines else BLANK if between else GLUED)
            words.append(word)
            spans.append((start, end))
            before = end
    places = np.array(spans, dtype=np.int32).reshape(-1, 2)
    gaps = np.array(gap, dtype=np.uint8)
    gaps[:1] = PARAGRAPH
    each = np.arange(len(words), dtype=np.int32)
    return _CutTokens(words, each, places[:, 0], places[:, 1], gaps, [len(words)])


def add_tags(
    tokens: TextTokens, documents: Sequence[Document], tags: TokenNumbers | None = None
) -> TextTokens:
    """Return the tokens with the parts of speech of their documents, if any document has them."""
    if not any(document.pos for document in documents):
        return tokens
    tags = TokenNumbers() if tags is None else tags
    tag = np.full(len(tokens), -1, dtype=np.int32)
    for number, document in enumerate(documents):
        if document.pos:
            begin, end, names = zip(*sorted(document.pos), strict=True)
            part = slice(*tokens.first[number : number + 2])
            at = np.searchsorted(begin, tokens.starts[part], side="right") - 1
            inside = (at >= 0) & (tokens.starts[part] < np.array(end)[at])
            tag[part] = np.where(inside, np.array(tags.number(names), dtype=np.int32)[at], -1)
    return replace(tokens, tag=tag, tags=tags)
