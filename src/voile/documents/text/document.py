"""Documents, and the spans in them that identify people."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from voile.core.errors import RequestError


@dataclass(frozen=True, order=True, slots=True)
class Span:
    """Characters of a text that identify somebody: `start` to before `end`, and the type."""

    start: int
    end: int
    label: str


@dataclass(frozen=True, slots=True)
class Document:
    """One text with what is known of it.

    Parameters
    ----------
    text : as it came; every offset counts its Unicode characters.
    spans : of the identifiers, inside the text and apart from each other; kept in their order.
    id : names the document in messages.
    subject : whom it is about; documents without one are subjects of their own, but for
        copies of a text, which are one.
    pos : (start, end, tag) of each word whose part of speech is given.
    annotated : whether identifiers were annotated: then what is in no span is harmless.

    Raises
    ------
    RequestError : a span that is empty, outside the text or over another one; the message holds
        offsets and no words.
    """

    text: str
    spans: tuple[Span, ...] = ()
    id: str = ""
    subject: str | None = None
    pos: tuple[tuple[int, int, str], ...] = ()
    annotated: bool = field(default=True, repr=False)

    def __post_init__(self) -> None:
        spans = tuple(sorted(self.spans))
        object.__setattr__(self, "spans", spans)
        for span in spans:
            if span.start == span.end:
                raise self._wrong(f"the span {span.start} to {span.end} is empty")
            if not 0 <= span.start < span.end <= len(self.text):
                raise self._wrong(f"the span {span.start} to {span.end} is not inside the text")
        for before, after in pairwise(spans):
            if after.start < before.end:
                raise self._wrong(
                    f"the spans {before.start} to {before.end} and {after.start} to {after.end} "
                    "overlap"
                )

    def _wrong(self, what: str) -> RequestError:
        where = f"document {self.id}" if self.id else "a document without id"
        return RequestError(what, where=where, instead="correct the spans")


class UnannotatedWarning(UserWarning):
    """Some documents have no spans, not even none; said of all at once."""


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
    warnings.warn(
        f"documents without spans are not learnt from: {len(without):,} of {len(given):,}, the "
        f"first is {first.id or f'number {number}'}; give [] where an annotator found none",
        UnannotatedWarning,
        stacklevel=3,
    )
    return [one for one in given if one.annotated]
