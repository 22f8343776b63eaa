"""Check annotations next to the text: the offsets must fit the quoted text."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from voile.core.errors import SourceError
from voile.documents.text.document import Span


class AnnotationError(SourceError):
    """An annotation is impossible, such as an end before its start. Correct the row or file."""


@dataclass(frozen=True)
class QuotedSpan:
    # the start and end of each piece, in the character count of the format
    places: tuple[tuple[int, int], ...]
    label: str  # the type of the annotated text
    # the annotated text, with blanks between pieces, if the format quotes it
    words: str | None = None


def read_quotes(
    found: object,
    where: str,
    keys: tuple[str, str, str] = ("start", "end", "label"),
    words: str | None = None,
) -> list[QuotedSpan]:
    """Return the annotations of JSON or Arrow: objects with these keys, or [start, end, label]."""
    if found is None:
        return []
    if not isinstance(found, list):
        raise AnnotationError("the spans are not a list", where=where)
    quotes = []
    for number, one in enumerate(found, 1):
        values: Any = [one.get(key) for key in keys] if isinstance(one, Mapping) else one
        if not _is_span(values):
            raise AnnotationError(f"span {number} has no {', '.join(keys)}", where=where)
        start, end, label = values
        if not label.strip() or not label.isprintable():
            raise AnnotationError(
                f"the {keys[2]} of span {number} is blank or has characters that do not print",
                where=where,
            )
        quoted = one.get(words) if words is not None and isinstance(one, Mapping) else None
        quotes.append(
            QuotedSpan(((start, end),), label, quoted if isinstance(quoted, str) else None)
        )
    return quotes


def read_quotes_if_any(
    found: object,
    where: str,
    keys: tuple[str, str, str] = ("start", "end", "label"),
    words: str | None = None,
) -> list[QuotedSpan] | None:
    """Return the annotations; None for a null or missing value.

    A text without a value may not be annotated.
    """
    return None if found is None else read_quotes(found, where, keys, words)


def _is_span(values: Any) -> bool:
    if not isinstance(values, list | tuple) or len(values) != 3:
        return False
    start, end, label = values
    return type(start) is int and type(end) is int and isinstance(label, str)


def place_quotes(
    text: str,
    quotes: Sequence[QuotedSpan],
    where: str,
    *,
    returns: bool = True,
    marked: bool = False,
) -> tuple[Span, ...]:
    """Convert quotes to spans of the text; each piece of a quote becomes a span.

    Some tools count a Windows line end as two characters, and some as one, like XML. Some count a
    byte order mark (`marked`). The quoted text decides between these counts, or else `returns` (two
    characters). If several counts fit, the first count with all spans inside the text is used.
    """
    ways = [_as_it_is, _without_returns(text)] if "\r\n" in text else [_as_it_is]
    ways = ways if returns else ways[::-1]
    if marked:
        ways = [*ways, *map(_after_mark, ways)]
    tried = [
        [[Span(way(a), way(b), quote.label) for a, b in quote.places] for quote in quotes]
        for way in ways
    ]
    wrong = [_find_misquote(text, quotes, moved) for moved in tried]
    fits = [moved for moved, found in zip(tried, wrong, strict=True) if found is None]
    if not fits:
        assert wrong[0] is not None
        raise AnnotationError(
            f"at {wrong[0].start} to {wrong[0].end} the text differs from the annotation's quote",
            where=where,
            instead="count Unicode characters from 0 on",
        )
    best = next((moved for moved in fits if _inside(text, chain(*moved))), fits[0])
    return tuple(sorted(set(chain(*best))))


def _inside(text: str, spans: Iterable[Span]) -> bool:
    return all(0 <= span.start <= span.end <= len(text) for span in spans)


def _find_misquote(
    text: str, quotes: Sequence[QuotedSpan], moved: Sequence[Sequence[Span]]
) -> Span | None:
    """Return the first span of an annotation that quotes other words; all white space is equal."""
    for quote, spans in zip(quotes, moved, strict=True):
        if quote.words is not None and _inside(text, spans):
            words = " ".join(text[span.start : span.end] for span in spans)
            if words.split() != quote.words.split():
                return spans[0]
    return None


def _as_it_is(place: int) -> int:
    return place


def _after_mark(way: Callable[[int], int]) -> Callable[[int], int]:
    """Return a function that corrects an offset that counts a byte order mark."""
    return lambda place: way(place - 1)


def _without_returns(text: str) -> Callable[[int], int]:
    """Return a function that corrects an offset that counts Windows line ends as one."""
    ends: list[int] = []
    at = text.find("\r\n")
    while at >= 0:
        ends.append(at - len(ends))
        at = text.find("\r\n", at + 2)
    return lambda place: place + bisect_left(ends, place) if place >= 0 else place
