"""Sequences of documents, independent of their file formats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Self, overload

from voile.documents.text.document import Document

if TYPE_CHECKING:
    from voile.data import Source
    from voile.data.roles import Roles


class DocumentSequence(Sequence[Document]):
    """A sequence of documents, with the types of their spans and their subjects."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._documents = tuple(documents)

    @classmethod
    def from_source(cls, source: Source, roles: Roles) -> Self:
        """Read one document for each row and text column of a source, in that order.

        The ids are "row 17", or "row 17, column note" if there are several text columns. A document
        has the subject of its row. A null text becomes an empty document. A null instead of spans
        marks a document without annotations. Memory: all documents.

        Raises
        ------
        RequestError : the roles do not match the source, or a cell does not contain spans. The
            message names the row and the column.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from voile.data import open_source
        >>> from voile.data.roles import Roles
        >>> spans = ['[[0, 7, "NAME"]]']
        >>> table = pa.table({"note": ["Ann May"], "names": spans, "who": [501]})
        >>> columns = {"note": {"role": "text", "spans": "names"}, "names": "label", "who": "drop"}
        >>> roles = Roles.model_validate({"columns": columns, "subject": "who"})
        >>> documents = DocumentSequence.from_source(open_source(table), roles)
        >>> documents[0]  # doctest: +NORMALIZE_WHITESPACE
        Document(text='Ann May', spans=(Span(start=0, end=7, label='NAME'),), id='row 1',
                 subject='501', pos=())
        """
        from voile.documents.text.formats.tables import source_documents  # loads Arrow

        return cls(source_documents(source, roles))

    @property
    def labels(self) -> tuple[str, ...]:
        """The types of the spans, in alphabetical order."""
        return tuple(sorted({span.label for one in self for span in one.spans}))

    @property
    def subjects(self) -> tuple[str, ...]:
        """The subject of each document.

        A document without a subject is a subject of its own, together with all documents of equal
        text.
        """
        first: dict[str, int] = {}
        return tuple(
            f"document {first.setdefault(one.text, number)}"
            if one.subject is None
            else f"subject {one.subject}"
            for number, one in enumerate(self)
        )

    def subset(self, indices: Iterable[int]) -> Self:
        """Return the documents with the given numbers, in the given order."""
        return type(self)(self._documents[index] for index in indices)

    def __len__(self) -> int:
        return len(self._documents)

    def __iter__(self) -> Iterator[Document]:
        return iter(self._documents)

    @overload
    def __getitem__(self, index: int) -> Document: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> Document | Self:
        if isinstance(index, slice):
            return type(self)(self._documents[index])
        return self._documents[index]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self):,} documents)"
