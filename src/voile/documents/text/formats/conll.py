"""Read CoNLL columns: one token for each line, with its tag last. An empty line ends a sentence.

Columns are separated by tabs, or otherwise by blanks. If there are three columns or more, the
second is the part of speech. The text is rebuilt: blanks join tokens, and line ends join sentences.
A line without a token is ignored.

With a header, columns are separated by tabs. Their names are `token` (word, form), `doc` (document,
doc_id), `pos` (upos, xpos) and `subject`. The tag is last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter

from voile.core.errors import RequestError, SourceError, nearest
from voile.documents.text.document import Document
from voile.documents.text.formats.file import TextFile
from voile.documents.text.formats.tags import HARMLESS, TaggedToken, is_tag, join

BOUNDARY = "-DOCSTART-"


def read_documents(file: TextFile) -> Iterator[Document]:
    """Read the documents that -DOCSTART- lines separate.

    Without such lines the file is one document.
    """
    numbered = ((document, tokens) for document, _, tokens in _sentences(file))
    for number, (_, found) in enumerate(groupby(numbered, key=itemgetter(0)), 1):
        yield _document(file, number, [tokens for _, tokens in found])


def read_sentences(file: TextFile) -> Iterator[Document]:
    """Read each block between empty lines as a separate document, such as a tweet."""
    for _, number, tokens in _sentences(file):
        yield _document(file, number, [tokens])


def _document(file: TextFile, number: int, sentences: list[list[TaggedToken]]) -> Document:
    joined = join(sentences)
    return file.document(joined.text, joined.spans, id=file.make_id(number), pos=joined.pos)


def _sentences(file: TextFile) -> Iterator[tuple[int, int, list[TaggedToken]]]:
    document = number = 0
    for tokens, found in groupby(rows(file), key=lambda row: row[1] not in ([], [BOUNDARY])):
        if not tokens:
            document += sum(bool(fields) for _, fields in found)
            continue
        sentence = [one for at, row in found for one in token(file, at, row[0], row[-1], row[1:-1])]
        if sentence:
            number += 1
            yield document, number, sentence


def token(file: TextFile, at: int, word: str, tag: str, pos: list[str]) -> list[TaggedToken]:
    """Return the token of a line, or an empty list if the line has none; `pos` may be empty."""
    if not is_tag(tag):
        raise SourceError(f"line {at} has a tag without a type", where=file.path.name)
    if word.strip():
        return [TaggedToken(word, tag, pos[0] if pos else "")]
    if tag not in HARMLESS:
        raise SourceError(f"line {at} tags a token that is empty", where=file.path.name)
    return []


def rows(file: TextFile) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the fields of each line; an empty line has no fields.

    All other lines must have the same number of fields.
    """
    tabs = False
    first = None
    for at, line in file.lines():
        content = line.decode().rstrip("\r\n")
        if not content.strip(" \t"):
            yield at, []
            continue
        if content.startswith(BOUNDARY):
            yield at, [BOUNDARY]
            continue
        if first is None:
            tabs = "\t" in content
        fields = content.split("\t") if tabs else [x for x in content.split(" ") if x]
        first = first or (at, len(fields))
        if len(fields) != first[1] or len(fields) < 2:
            _refuse(file, at, len(fields), *first)
        yield at, fields


def _refuse(file: TextFile, at: int, found: int, first: int, expected: int) -> None:
    what = f"and line {first} has {expected}" if at != first else "and no tag next to the token"
    columns = "column" if found == 1 else "columns"
    raise SourceError(f"line {at} has {found} {columns}, {what}", where=file.path.name)


TOKEN = ("token", "word", "form")
DOCUMENT = ("doc", "document", "doc_id")
POS = ("pos", "upos", "xpos")


def read_with_header(file: TextFile) -> Iterator[Document]:
    """Read the documents of a file with a header. The lines of each document must be adjacent."""
    seen: set[str] = set()
    for name, found in groupby(_lines(file), key=itemgetter(0)):
        id = file.make_id(name)
        if id in seen:
            raise SourceError("stands in two places of the file", where=f"document {id}")
        seen.add(id)
        lines = list(found)
        if len({subject for _, subject, _ in lines}) > 1:
            raise SourceError("is about several subjects", where=f"document {id}")
        joined = join(tokens for _, _, tokens in lines)
        subject = lines[0][1] or None
        yield file.document(joined.text, joined.spans, id=id, subject=subject, pos=joined.pos)


def _lines(file: TextFile) -> Iterator[tuple[str, str, list[TaggedToken]]]:
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


def _columns(
    file: TextFile, names: Sequence[str]
) -> tuple[int, int | None, int | None, int | None]:
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
