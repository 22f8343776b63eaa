"""Bytes that are text: decompressed, decoded and checked as a stream."""

from __future__ import annotations

import codecs
import gzip
import io
import itertools
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from voile.core.errors import RequestError, SourceError
from voile.data.signatures import HEAD, find_signature, is_binary

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

CHUNK = 1 << 20
LOST = "\N{REPLACEMENT CHARACTER}"
"""The character for bytes that could not be decoded."""
SAVED = "say its encoding, or save it as UTF-8"
ZEROS = "remove it, or say the encoding if it is one such as utf-16"
MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


ESCAPES = ("idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "utf-7")
"""Python's codecs that no text file uses."""


class DecodingError(SourceError):
    """A source contains bytes that are not text of its encoding. Give `--encoding`."""


def raw_chunks(path: Path) -> Iterator[bytes]:
    """Stream the bytes of a file, decompressed if its name ends in .gz."""
    position = 0
    with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
        try:
            while chunk := file.read1(CHUNK):  # `read` would drop the bytes before a damage
                position += len(chunk)
                yield chunk
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise SourceError(
                f"the compressed file is damaged or truncated after {position} bytes of text",
                where=path.name,
                instead="copy the file again",
            ) from None


def about_lines(path: Path) -> int | None:
    """Estimate the number of lines from the first ones. None for compressed text."""
    if path.suffix.lower() == ".gz":
        return None
    head = next(raw_chunks(path), b"")
    lines = max(head.count(b"\n"), 1)  # the last one may have no end
    return path.stat().st_size * lines // max(len(head), 1)


def utf8_chunks(path: Path, encoding: str, errors: str = "strict") -> Iterator[bytes]:
    """Stream the text of a file as UTF-8 without a byte order mark.

    errors : as in `open`. "replace" writes U+FFFD for bytes that are not text of the encoding.

    Raises DecodingError: there are such bytes, and `errors` is "strict". The message contains the
    position of the first one. Raises SourceError: there is a zero byte, or a compressed file is
    damaged.
    """
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    as_it_is = encoding == "utf-8" and errors == "strict"
    one_byte_units = not encoding.startswith("utf-16")
    start = 0
    for chunk in raw_chunks(path):
        if one_byte_units and b"\0" in chunk:
            what = f"byte {start + chunk.index(0)} is NUL (a zero byte), which text does not hold"
            raise SourceError(what, where=path.name, instead=ZEROS)
        held = len(decoder.getstate()[0])
        try:
            text = decoder.decode(chunk)
        except UnicodeDecodeError as error:
            raise _no_text(path, start - held + error.start, encoding) from None
        start += len(chunk)
        yield chunk if as_it_is else text.encode()
    try:
        rest = decoder.decode(b"", True)
    except UnicodeDecodeError:
        raise _no_text(path, start - len(decoder.getstate()[0]), encoding) from None
    if rest:
        yield rest.encode()


def _no_text(path: Path, offset: int, encoding: str) -> DecodingError:
    return DecodingError(
        f"byte {offset} is not valid {encoding} text", where=path.name, instead=SAVED
    )


def check_text(path: Path, *, encoding: str | None = None) -> None:
    """Raise SourceError if the first bytes show that a text file has another format.

    encoding : the encoding that the user named. Control characters can be text in it.
    """
    head = next(raw_chunks(path), b"")[:HEAD]
    if found := find_signature(head):
        raise SourceError(
            f"the file contains {found.format}, but has the name of a text file",
            where=path.name,
            instead=found.remedy,
        )
    if encoding is None and b"\0" not in head and is_binary(head):
        raise SourceError(
            "the file contains control characters, and is not text",
            where=path.name,
            instead="save the file as UTF-8 text, or name its encoding with --encoding",
        )


def marked_encoding(path: Path) -> str | None:
    """Return the encoding of a file's byte order mark, or None without one."""
    head = next(raw_chunks(path), b"")
    return next((encoding for mark, encoding in MARKS.items() if head.startswith(mark)), None)


def find_encoding(path: Path, errors: str = "strict") -> str:
    """Return the encoding of a text file: utf-8, utf-8-sig, utf-16 or windows-1252.

    The whole file is read. A byte order mark decides. Otherwise, the encoding is UTF-8 if the whole
    file is UTF-8. It is windows-1252 if less than half of the characters beyond ASCII decode as
    UTF-8. Any other file is damaged.

    errors : "replace" treats a damaged file as UTF-8.

    Raises DecodingError: the file is damaged, and `errors` is "strict".
    """
    if marked := marked_encoding(path):
        return marked
    decoder = codecs.getincrementaldecoder("utf-8")()
    ascii_so_far = True
    start = 0
    for chunk in itertools.chain(raw_chunks(path), [b""]):
        held = len(decoder.getstate()[0])
        try:
            text = decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            if ascii_so_far and not _mostly_utf8(path):
                return "windows-1252"
            if errors != "strict":
                return "utf-8"
            raise _no_text(path, start - held + error.start, "utf-8") from None
        ascii_so_far = ascii_so_far and text.isascii()
        start += len(chunk)
    return "utf-8"


def _mostly_utf8(path: Path) -> bool:
    """Return whether at least half of the characters beyond ASCII decode as UTF-8."""
    beyond = lost = 0
    for chunk in utf8_chunks(path, "utf-8", "replace"):
        text = chunk.decode()
        beyond += len(text) - len(text.encode("ascii", errors="ignore"))
        lost += text.count(LOST)
    return beyond >= 2 * lost


def known_encoding(name: str) -> str:
    """Return the codec name of an encoding that the user named.

    >>> known_encoding("UTF8"), known_encoding("latin-1")
    ('utf-8', 'iso8859-1')
    """
    try:
        "".encode(name)
        known = codecs.lookup(name).name
    except (LookupError, ValueError):
        known = ""
    if not known or known in ESCAPES:
        raise RequestError(
            f"there is no encoding {name}", instead="use utf-8, utf-16 or windows-1252"
        )
    return known


class ChunkReader(io.RawIOBase):
    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        """Return True, because the object can only be read."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = memoryview(chunk)
        target = memoryview(buffer)
        size = min(len(target), len(self._rest))
        target[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size


def unpack_cell(cell: str) -> object:
    """Return the value of a JSON cell, or None if it is not an object or list."""
    if cell[:1] not in "{[":
        return None
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        return None
