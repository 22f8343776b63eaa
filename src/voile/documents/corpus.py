"""Documents, the spans in them that identify people, and collections of both."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from os import PathLike
from typing import overload

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
    annotated : whether somebody looked for identifiers: then what is in no span is harmless.

    Raises
    ------
    RequestError : a span that is empty, outside the text or over another one; offsets are told,
        words are not.
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


class Corpus(Sequence[Document]):
    """Documents in their order.

    Examples
    --------
    >>> corpus = Corpus([Document("Dr. Who is in.", (Span(4, 7, "NAME"),), id="1")])
    >>> corpus.labels, [document.text[4:7] for document in corpus]
    (('NAME',), ['Who'])
    """

    def __init__(self, documents: Iterable[Document]) -> None:
        self._documents = tuple(documents)

    @classmethod
    def read(
        cls,
        path: str | PathLike[str],
        format: str | None = None,
        *,
        encoding: str | None = None,
        subject: str | None = None,
    ) -> Corpus:
        """Read annotated or plain documents of any format that `voile.documents.formats` lists.

        Parameters
        ----------
        format : its name; found by suffix and content unless given.
        encoding : of text; UTF-8 unless given.
        subject : the field or column that says whom a document is about.
        """
        from voile.documents.formats import read_corpus

        return read_corpus(path, format, encoding=encoding, subject=subject)

    @property
    def labels(self) -> tuple[str, ...]:
        """The types of its spans, by the alphabet."""
        return tuple(sorted({span.label for one in self for span in one.spans}))

    @property
    def subjects(self) -> tuple[str, ...]:
        """Whose each document is; one without a subject is its own, and its copies' with it."""
        first: dict[str, int] = {}
        return tuple(
            f"document {first.setdefault(one.text, number)}"
            if one.subject is None
            else f"subject {one.subject}"
            for number, one in enumerate(self)
        )

    def subset(self, indices: Iterable[int]) -> Corpus:
        """Return the documents of these numbers, in the order asked."""
        return Corpus(self._documents[index] for index in indices)

    def __len__(self) -> int:
        return len(self._documents)

    def __iter__(self) -> Iterator[Document]:
        return iter(self._documents)

    @overload
    def __getitem__(self, index: int) -> Document: ...
    @overload
    def __getitem__(self, index: slice) -> Corpus: ...
    def __getitem__(self, index: int | slice) -> Document | Corpus:
        if isinstance(index, slice):
            return Corpus(self._documents[index])
        return self._documents[index]

    def __repr__(self) -> str:
        return f"Corpus({len(self):,} documents)"


class UnannotatedWarning(UserWarning):
    """Some documents have no spans, not even none; said of all at once."""


def only_annotated(documents: Iterable[Document]) -> list[Document]:
    """Leave out the documents in which nobody looked for identifiers, and warn of them.

    Learnt from, they would teach that what nobody marked is harmless. Where nobody looked in any,
    all are returned, for the caller to refuse.
    """
    given = list(documents)
    without = [(number, one) for number, one in enumerate(given, 1) if not one.annotated]
    if not 0 < len(without) < len(given):
        return given
    number, first = without[0]
    warnings.warn(
        f"documents without spans are not learnt from: {len(without):,} of {len(given):,}, the "
        f"first is {first.id or f'number {number}'}; give [] where somebody looked and found none",
        UnannotatedWarning,
        stacklevel=3,
    )
    return [one for one in given if one.annotated]
