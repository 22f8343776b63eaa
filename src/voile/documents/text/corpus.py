"""Collections of documents."""

from __future__ import annotations

from os import PathLike

from voile.core.errors import SourceError
from voile.documents.text.formats import read_documents
from voile.documents.text.sequence import DocumentSequence


class Corpus(DocumentSequence):
    """A sequence of documents that can be read from files.

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
