"""Collections of documents."""

from __future__ import annotations

from os import PathLike

from voile.core.errors import SourceError
from voile.documents.text.formats import read_documents
from voile.documents.text.sequence import DocumentSequence


class Corpus(DocumentSequence):
    """Documents in their order.

    Examples
    --------
    >>> from voile.documents import Document, Span
    >>> corpus = Corpus([Document("Dr. Who is in.", (Span(4, 7, "NAME"),), id="1")])
    >>> corpus.labels, [document.text[4:7] for document in corpus]
    (('NAME',), ['Who'])
    """

    @classmethod
    def read(
        cls,
        path: str | PathLike[str],
        format: str | None = None,
        *,
        encoding: str | None = None,
        subject: str | None = None,
    ) -> Corpus:
        """Read all documents of a file, a folder, a pattern or a database's table.

        Parameters
        ----------
        format : a name in `voile.documents.text.formats.FORMATS`; recognised unless given.
        encoding : of text. Without one it is UTF-8, or the encoding of a byte order mark.
        subject : the field or column with the document's subject, instead of `subject`.

        Raises
        ------
        RequestError : there is no such file or format, or a document's spans are wrong.
        SourceError : a file is damaged, of another format, or not text; it holds no document.
        """
        corpus = cls(read_documents(path, format, encoding=encoding, subject=subject))
        if not len(corpus):
            raise SourceError("holds no document", where=str(path))
        return corpus
