"""Documents, and the spans in them that identify people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from voile.core.errors import RequestError
from voile.core.warn import warn


@dataclass(frozen=True, order=True, slots=True)
class Span:
    """A part of a text that identifies a person: the characters from `start` to before `end`.

    `label` is the type of the identifier.
    """

    start: int
    end: int
    label: str


@dataclass(frozen=True, slots=True)
class Document:
    """A text with its annotations.

    Parameters
    ----------
    text : the unchanged text; every offset counts its Unicode characters.
    spans : the spans of the identifiers, inside the text and disjoint; stored in their order.
    id : the name of the document in messages.
    subject : the person that the document is about. A document without a subject is a subject of
        its own, together with the copies of its text.
    pos : (start, end, tag) of each word with a known part of speech.
    annotated : whether identifiers were annotated. If so, text outside the spans is harmless,
        except the parts in `unknown`.
    unknown : (start, end) of the parts for which nobody knows whether they identify a person;
        disjoint, stored in their order. A span takes precedence over an unknown part.

    Raises
    ------
    RequestError : a span or unknown part is empty, outside the text, or overlaps another of its
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
    """Return the annotated documents, and warn of the others.

    In training, documents without annotations would teach that unmarked identifiers are harmless.
    If no document is annotated, all are returned, and the caller must refuse them.
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
"""The most characters of documents to process together, because their tokens' margins are in
memory.
"""


def in_parts(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Yield the documents in parts of at most `CHARACTERS` characters.

    A longer document is a part of its own.
    """
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
