"""Annotations that stand beside the text: where they say they are, checked by what they quote."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from voile.documents.corpus import Span
from voile.errors import SourceError


class AnnotationError(SourceError):
    """Marks that cannot be so: to be mended, while a text that is damaged can be set aside."""


@dataclass(frozen=True)
class Quote:
    """One annotation.

    Parameters
    ----------
    places : start and end of each piece, as the format counts characters.
    label : the type of what stands there.
    words : what stands there, pieces joined by blanks, where the format repeats it.
    """

    places: tuple[tuple[int, int], ...]
    label: str
    words: str | None = None


def listed(
    found: object,
    where: str,
    keys: tuple[str, str, str] = ("start", "end", "label"),
    words: str | None = None,
) -> list[Quote]:
    """Return what JSON or Arrow lists: objects with these keys, or [start, end, label]."""
    if found is None:
        return []
    if not isinstance(found, list):
        raise AnnotationError("the spans are no list", where=where)
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
        quotes.append(Quote(((start, end),), label, quoted if isinstance(quoted, str) else None))
    return quotes


def looked(
    found: object,
    where: str,
    keys: tuple[str, str, str] = ("start", "end", "label"),
    words: str | None = None,
) -> list[Quote] | None:
    """Return what is listed; None for a null, or no value at all: nobody may have looked."""
    return None if found is None else listed(found, where, keys, words)


def _is_span(values: Any) -> bool:
    if not isinstance(values, list | tuple) or len(values) != 3:
        return False
    start, end, label = values
    return type(start) is int and type(end) is int and isinstance(label, str)


def placed(
    text: str, quotes: Sequence[Quote], where: str, *, returns: bool = True
) -> tuple[Span, ...]:
    r"""Turn quotes into spans of the text; a quote in several pieces is several spans.

    Some tools count a Windows line end as two characters, some as one, as XML does: what is quoted
    decides, and `returns` (two) where nothing is. The same span said twice is one.

    Raises
    ------
    AnnotationError : the text holds other words than those quoted. Spans outside it are for the
        document to refuse.

    >>> placed("a\r\nbc", [Quote(((2, 4),), "NAME", "bc")], "document 1")
    (Span(start=3, end=5, label='NAME'),)
    """
    ways = [_as_it_is, _without_returns(text)] if "\r\n" in text else [_as_it_is]
    wrong = None
    for way in ways if returns else reversed(ways):
        moved = [[Span(way(a), way(b), quote.label) for a, b in quote.places] for quote in quotes]
        found = _misquoted(text, quotes, moved)
        if found is None:
            return tuple(sorted({span for spans in moved for span in spans}))
        wrong = wrong or found
    assert wrong is not None
    raise AnnotationError(
        f"at {wrong.start} to {wrong.end} stands something else than the annotation quotes",
        where=where,
        instead="count Unicode characters from 0 on",
    )


def _misquoted(text: str, quotes: Sequence[Quote], moved: Sequence[Sequence[Span]]) -> Span | None:
    """Find an annotation that quotes other words; line ends and blanks are alike."""
    for quote, spans in zip(quotes, moved, strict=True):
        inside = all(0 <= span.start <= span.end <= len(text) for span in spans)
        if quote.words is not None and inside:
            words = " ".join(text[span.start : span.end] for span in spans)
            if words.split() != quote.words.split():
                return spans[0]
    return None


def _as_it_is(place: int) -> int:
    return place


def _without_returns(text: str) -> Callable[[int], int]:
    """Return what moves a place in the text with line ends of one character to the text itself.

    The n-th line end, at `place` without the returns before it, has n of them before it.
    """
    ends: list[int] = []
    at = text.find("\r\n")
    while at >= 0:
        ends.append(at - len(ends))
        at = text.find("\r\n", at + 2)
    return lambda place: place + bisect_left(ends, place) if place >= 0 else place
