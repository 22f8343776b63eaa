"""Documents, and the spans in them that identify people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from voile.core.errors import RequestError
from voile.core.warn import warn


@dataclass(frozen=True, order=True, slots=True)
class Span:
    """Characters of a text that identify somebody: `start` to before `end`, and the type."""

    start: int
    end: int
    label: str


@dataclass(frozen=True, slots=True)
class Document:
    """One text with its annotations.

    Parameters
    ----------
    text : as it came; every offset counts its Unicode characters.
    spans : of the identifiers, inside the text and apart from each other; kept in their order.
    id : names the document in messages.
    subject : whom it is about; documents without one are subjects of their own, but for
        copies of a text, which are one.
    pos : (start, end, tag) of each word whose part of speech is given.
    annotated : whether identifiers were annotated. Text outside spans is then harmless, except the
        text of `unknown`.
    unknown : (start, end) of the characters of which nobody knows whether they identify; apart
        from each other, kept in their order. Where a span lies over them, the span counts.

    Raises
    ------
    RequestError : a span or unknown characters are empty, outside the text or over others of their
        kind. The message contains offsets and no words.
    """

    text: str
    spans: tuple[Span, ...] = ()
    id: str = ""
    subject: str | None = None
    pos: tuple[tuple[int, int, str], ...] = ()
    annotated: bool = field(default=True, repr=False)
    unknown: tuple[tuple[int, int], ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "spans", tuple(sorted(self.spans)))
        object.__setattr__(self, "unknown", tuple(sorted(self.unknown)))
        self._check("span", [(span.start, span.end) for span in self.spans])
        self._check("unknown part", self.unknown)

    def _check(self, what: str, places: Sequence[tuple[int, int]]) -> None:
        for start, end in places:
            if start == end:
                raise self._wrong(f"the {what} {start} to {end} is empty")
            if not 0 <= start < end <= len(self.text):
                raise self._wrong(f"the {what} {start} to {end} is not inside the text")
        for (start, end), (begin, last) in pairwise(places):
            if begin < end:
                raise self._wrong(f"the {what}s {start} to {end} and {begin} to {last} overlap")

    def _wrong(self, what: str) -> RequestError:
        where = f"document {self.id}" if self.id else "a document without id"
        return RequestError(what, where=where, instead="correct the spans")


class UnannotatedWarning(UserWarning):
    """Some documents have no annotations and are not used. Write `[]` if nothing was found."""


def only_annotated(documents: Iterable[Document]) -> list[Document]:
    """Leave out the documents that are not annotated, and warn of them.

    If trained on, they would teach that unmarked identifiers are harmless. Where none is annotated,
    all are returned, for the caller to refuse.
    """
    given = list(documents)
    without = [(number, one) for number, one in enumerate(given, 1) if not one.annotated]
    if not 0 < len(without) < len(given):
        return given
    number, first = without[0]
    warn(
        f"documents without spans are not learnt from: {len(without):,} of {len(given):,}, the "
        f"first is {first.id or f'number {number}'}; give [] where an annotator found none",
        UnannotatedWarning,
    )
    return [one for one in given if one.annotated]


CHARACTERS = 1 << 19
"""The most characters of documents processed together: their tokens' margins are in memory."""


def in_parts(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Yield the documents in parts of at most so many characters, or of one document."""
    part: list[Document] = []
    size = 0
    for document in documents:
        if part and size + len(document.text) > CHARACTERS:
            yield part
            part, size = [], 0
        part.append(document)
        size += len(document.text)
    if part:
        yield part
