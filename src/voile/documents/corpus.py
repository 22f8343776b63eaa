"""Documents, the spans in them that identify people, and collections of both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from os import PathLike
from typing import overload

from voile.errors import RequestError


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
    subject : whom it is about; documents without one are subjects of their own.
    pos : (start, end, tag) of each word whose part of speech is given.

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

    def __post_init__(self) -> None:
        spans = tuple(sorted(self.spans))
        object.__setattr__(self, "spans", spans)
        for span in spans:
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
        """Whose each document is; one without a subject is told apart by its number."""
        return tuple(
            f"document {number}" if one.subject is None else f"subject {one.subject}"
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
