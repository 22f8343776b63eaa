"""CoNLL columns with a header: tabs, and a first line that names the columns.

The token is in `token` (or word, form), its document in `doc` (or document, doc_id), its part
of speech in `pos` (or upos, xpos), whom the document is about in `subject`; the tag is in the last
column. An empty line ends a line of the text, which is rebuilt as for `conll`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter

from voile.core.errors import RequestError, SourceError, nearest
from voile.documents.text.document import Document
from voile.documents.text.formats.conll import rows, token
from voile.documents.text.formats.file import File
from voile.documents.text.formats.tags import Token, join

TOKEN = ("token", "word", "form")
DOCUMENT = ("doc", "document", "doc_id")
POS = ("pos", "upos", "xpos")


def read(file: File) -> Iterator[Document]:
    """Read documents, whose tokens have to stand together."""
    seen: set[str] = set()
    for name, found in groupby(_lines(file), key=itemgetter(0)):
        id = file.called(name)
        if id in seen:
            raise SourceError("stands in two places of the file", where=f"document {id}")
        seen.add(id)
        lines = list(found)
        if len({subject for _, subject, _ in lines}) > 1:
            raise SourceError("is about several subjects", where=f"document {id}")
        joined = join(tokens for _, _, tokens in lines)
        subject = lines[0][1] or None
        yield file.document(joined.text, joined.spans, id=id, subject=subject, pos=joined.pos)


def _lines(file: File) -> Iterator[tuple[str, str, list[Token]]]:
    """Yield each line of the text: its document, its subject and its tokens."""
    lines = rows(file)
    names = next((fields for _, fields in lines if fields), [])
    word, document, subject, pos = _columns(file, names)

    def whose(line: tuple[int, list[str]]) -> tuple[str, str] | None:
        fields = line[1]
        if len(fields) != len(names):
            return None
        return (
            fields[document] if document is not None else "1",
            fields[subject] if subject is not None else "",
        )

    for key, found in groupby(lines, key=whose):
        if key is not None:
            parts = slice(0, 0) if pos is None else slice(pos, pos + 1)
            tokens = [
                one for at, row in found for one in token(file, at, row[word], row[-1], row[parts])
            ]
            if tokens:
                yield *key, tokens


def _columns(file: File, names: Sequence[str]) -> tuple[int, int | None, int | None, int | None]:
    """Find the columns of the token, the document, the subject and the part of speech."""

    def place(known: Sequence[str]) -> int | None:
        return next((names.index(name) for name in known if name in names), None)

    word = place(TOKEN)
    if word is None or word == len(names) - 1:
        raise SourceError(
            "its first line names no column token, word or form before the tag",
            where=file.path.name,
        )
    if file.subject is not None and file.subject not in names:
        raise RequestError(
            f"there is no column {file.subject}",
            where=file.path.name,
            instead=nearest(file.subject, names),
        )
    return word, place(DOCUMENT), place([file.subject or "subject"]), place(POS)
