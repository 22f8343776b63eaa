"""Decode tags of tokens (BIO, IO, IOBES, BILOU, BMES), and join tokens to a text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from voile.documents.text.document import Span

HARMLESS = frozenset({"O", "_", "-"})
TAG = re.compile(r"([BIELMSUW])-(.+)")
_GOES_ON, _ENDS = frozenset("IELM"), frozenset("ELSUW")
_NO_POS = frozenset({"", "_", "-", "-X-"})


class TaggedToken(NamedTuple):
    word: str
    tag: str
    pos: str = ""


def is_tag(tag: str) -> bool:
    """Return whether a tag is harmless or has a type; B and I alone have no type."""
    return bool(tag) and (tag in HARMLESS or tag.rstrip("-") not in {*"BIELMSUW", ""})


def join_tagged(tokens: Iterable[tuple[int, int, str]]) -> list[Span]:
    """Join the tagged tokens of a sentence to spans.

    A span continues with I, M, E and L of its type, and with a bare type (IO). Any other tag with a
    type begins a span, so that no tagged token is lost.
    """
    spans: list[Span] = []
    going = None
    for start, end, tag in tokens:
        if tag in HARMLESS:
            going = None
            continue
        parts = TAG.fullmatch(tag)
        how, label = parts.groups() if parts else ("I", tag)
        if how in _GOES_ON and label == going:
            spans[-1] = Span(spans[-1].start, end, label)
        else:
            spans.append(Span(start, end, label))
        going = None if how in _ENDS else label
    return spans


class JoinedText(NamedTuple):
    """A text rebuilt from its tokens, with their spans and parts of speech."""

    text: str
    spans: list[Span]
    pos: list[tuple[int, int, str]]


def join(sentences: Iterable[Sequence[TaggedToken]]) -> JoinedText:
    """Join tokens by blanks, and sentences by line ends."""
    lines: list[str] = []
    spans: list[Span] = []
    pos: list[tuple[int, int, str]] = []
    at = 0
    for sentence in sentences:
        tagged = []
        for word, tag, part in sentence:
            end = at + len(word)
            tagged.append((at, end, tag))
            if part not in _NO_POS:
                pos.append((at, end, part))
            at = end + 1
        spans += join_tagged(tagged)
        lines.append(" ".join(token.word for token in sentence))
    return JoinedText("\n".join(lines), spans, pos)
