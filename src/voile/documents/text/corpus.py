"""Collections of documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from typing import TYPE_CHECKING, overload

from voile.core.errors import SourceError
from voile.documents.text.document import Document
from voile.documents.text.formats import read_documents

if TYPE_CHECKING:
    from voile.data import Source
    from voile.data.roles import Roles


class Corpus(Sequence[Document]):
    """An ordered, immutable collection of documents.

    Examples
    --------
    >>> from voile.documents import Span
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
        """Read all documents of a file, a folder, a file pattern or a database table.

        Parameters
        ----------
        format : a name in `voile.documents.text.formats.FORMATS`; recognised from the files if not
            given.
        encoding : the encoding of text. By default UTF-8, or the encoding of a byte order mark.
        subject : the name of the field or column with a document's subject, if it is not `subject`.

        Raises
        ------
        RequestError : the file or format does not exist, or the spans of a document are wrong.
        SourceError : a file is damaged, of another format, or not text, or contains no document.
        """
        corpus = cls(read_documents(path, format, encoding=encoding, subject=subject))
        if not len(corpus):
            raise SourceError("holds no document", where=str(path))
        return corpus

    @classmethod
    def from_source(cls, source: Source, roles: Roles) -> Corpus:
        """Read the documents of a source: one for each row and text column, in that order.

        The id of a document is "row 17", or "row 17, column note" if there are several text
        columns. Its subject is the subject of the row. A null text becomes an empty document. A
        document with null spans is not annotated. Memory: all documents.

        Raises
        ------
        RequestError : the roles do not fit the source, or spans are invalid. The message contains
            the row and column.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from voile.data import open_source
        >>> from voile.data.roles import Roles
        >>> spans = ['[[0, 7, "NAME"]]']
        >>> table = pa.table({"note": ["Ann May"], "names": spans, "who": [501]})
        >>> columns = {"note": {"role": "text", "spans": "names"}, "names": "label", "who": "drop"}
        >>> roles = Roles.model_validate({"columns": columns, "subject": "who"})
        >>> Corpus.from_source(open_source(table), roles)[0]  # doctest: +NORMALIZE_WHITESPACE
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

        A document without a subject is a subject of its own, together with the copies of its text.
        """
        first: dict[str, int] = {}
        return tuple(
            f"document {first.setdefault(one.text, number)}"
            if one.subject is None
            else f"subject {one.subject}"
            for number, one in enumerate(self)
        )

    def subset(self, indices: Iterable[int]) -> Corpus:
        """Return the documents with these indices, in the given order."""
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
