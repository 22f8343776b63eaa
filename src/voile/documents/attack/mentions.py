"""Find mentions of subjects in a release: identifiers left, and surrogates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from voile.documents.attack.remaining import edits_of
from voile.documents.replacements.kinds import kind_of
from voile.documents.text.document import Document
from voile.documents.words.attributes import is_mark

_WORD = re.compile(r"\w\w+")
_PART = re.compile(r"\[[A-Z][A-Z0-9_]*\]|\w+")
AROUND = 3
"""The number of words on each side of a mention that form its context."""


@dataclass(frozen=True)
class ComparedMention:
    """An identifier left, or a surrogate."""

    shown: tuple[str, ...]  # the published words
    true: tuple[str, ...]  # the words of the source; the same if the identifier was left
    kind: str  # the kind of identifier, as in `replacements.kinds`
    context: frozenset[str]  # the words around it
    left: bool


def mentions_in(
    document: Document, source: Document, kinds: Mapping[str, str]
) -> list[ComparedMention]:
    """Return a published document's surrogates and its identifiers left, without marks."""
    text = document.text
    parts = [(part.start(), part.end(), part.group().casefold()) for part in _PART.finditer(text)]

    def met(start: int, end: int, label: str, true: str, left: bool) -> ComparedMention:
        kind = kinds.get(label) or kind_of(label)
        return ComparedMention(
            compared_words(text[start:end]),
            compared_words(true),
            kind,
            _context(parts, start, end),
            left,
        )

    surrogates = (
        met(e.start, e.end, e.label, source.text[e.source_start : e.source_end], False)
        for e in edits_of(document)
        if not is_mark(text[e.start : e.end])
    )
    leaks = (met(s.start, s.end, s.label, text[s.start : s.end], True) for s in document.spans)
    return [*surrogates, *leaks]


def compared_words(text: str) -> tuple[str, ...]:
    """Return the words of two or more letters, in the form in which they are compared."""
    return tuple(_WORD.findall(text.casefold()))


def _context(parts: list[tuple[int, int, str]], start: int, end: int) -> frozenset[str]:
    before = [word for _, stop, word in parts if stop <= start][-AROUND:]
    after = [word for begin, _, word in parts if begin >= end][:AROUND]
    return frozenset((*before, *after))


def names_of(all_mentions: list[ComparedMention]) -> Iterator[ComparedMention]:
    """Yield the mentions of names that contain a word."""
    return (one for one in all_mentions if one.kind == "name" and one.shown)
