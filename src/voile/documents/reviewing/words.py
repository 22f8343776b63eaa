"""Split a line into words for a reviewer, and mark and clear identifiers in it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from voile.documents.reviewing.line import ShownSpan
from voile.documents.words.tokens import tokenise

Place = tuple[int, int]


def words_of(text: str, spans: Sequence[ShownSpan] = ()) -> list[Place]:
    """Return the offsets of each word of a line; the ends of spans also split words.

    >>> words_of("Ana-Luz left", [ShownSpan(0, 2, "NAME")])
    [(0, 2), (2, 3), (3, 4), (4, 7), (8, 12)]
    """
    tokens = tokenise([text])
    cuts = {cut for one in spans for cut in (one.start, one.end)}
    found: list[Place] = []
    for start, end in zip(tokens.starts.tolist(), tokens.ends.tolist(), strict=True):
        found += pairwise([start, *sorted(cut for cut in cuts if start < cut < end), end])
    return found


def mark(text: str, spans: Sequence[ShownSpan], place: Place, label: str) -> tuple[ShownSpan, ...]:
    """Return the spans with an additional one, which replaces overlapping parts of others.

    >>> mark("Dr Ana Ruiz", [ShownSpan(0, 6, "TITLE")], (3, 11), "NAME")
    (ShownSpan(start=0, end=2, label='TITLE', by='', doubt=0.0), ShownSpan(start=3, end=11, \
label='NAME', by='', doubt=0.0))
    """
    return tuple(sorted([*clear(text, spans, place), ShownSpan(*place, label)]))


def clear(text: str, spans: Sequence[ShownSpan], place: Place) -> tuple[ShownSpan, ...]:
    """Return the spans without these characters."""
    start, end = place
    kept: list[ShownSpan] = []
    for one in spans:
        parts = [(one.start, min(one.end, start)), (max(one.start, end), one.end)]
        if one.end <= start or end <= one.start:
            parts = [(one.start, one.end)]
        kept += (
            ShownSpan(*_trim_place(text, *part), one.label, one.by, one.doubt)
            for part in parts
            if text[slice(*part)].strip()
        )
    return tuple(kept)


def label_at(spans: Sequence[ShownSpan], place: Place) -> str | None:
    """Return the type of the span that covers these characters; None if no single span does."""
    over = (one for one in spans if one.start <= place[0] and place[1] <= one.end)
    return next((one.label for one in over), None)


def occurrences(text: str, words: Collection[str]) -> Iterator[Place]:
    """Yield the offsets of each occurrence of the words, as whole words with the same case."""
    if words:
        yield from (found.span() for found in _any_of(frozenset(words)).finditer(text))


@lru_cache(maxsize=8)
def _any_of(words: frozenset[str]) -> re.Pattern[str]:
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")


def _trim_place(text: str, start: int, end: int) -> Place:
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), end - len(part) + len(part.rstrip())
