"""One file of documents: its text, its lines, its documents."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from voile.core.errors import SourceError
from voile.data.formats.jsonlines import LINE_BYTES, numbered_lines
from voile.data.text import known_encoding, marked_encoding, raw_chunks, utf8_chunks
from voile.documents.text.document import Document, Span

_COMPRESSED = re.compile(r"\.gz$", re.IGNORECASE)


@dataclass(frozen=True)
class File:
    path: Path
    name: str  # what its document is called, where it holds one
    # whether it is one of several files, so that the name distinguishes their documents
    several: bool = False
    encoding: str | None = None  # of its text; without one UTF-8, or what a byte order mark says
    subject: str | None = None  # the field or column that says whom a document is about

    def text(self) -> str:
        """Return the whole text, of 64 MiB at most: line ends stay, a byte order mark does not."""
        whole = bytearray()
        for chunk in utf8_chunks(self.path, self._encoding()):
            whole += chunk
            if len(whole) > LINE_BYTES:
                raise SourceError(
                    f"is longer than {LINE_BYTES >> 20} MiB",
                    where=self.path.name,
                    instead="give each document a file or a line of its own",
                )
        return whole.decode()

    def marked(self) -> bool:
        """Return whether it begins with UTF-8's byte order mark, which is not in its text."""
        return next(raw_chunks(self.path), b"").startswith(BOM_UTF8)

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Stream the lines in UTF-8, with their ends and numbers."""
        return numbered_lines(self.path, self._encoding())

    def head(self) -> str:
        """Return the beginning, as far as it is text: enough to distinguish formats."""
        encoding = self._encoding()
        return next(raw_chunks(self.path), b"")[: 1 << 16].decode(encoding, errors="ignore")

    def called(self, own: object) -> str:
        """Return the id of a document that this file calls its own so."""
        return f"{self.name} {own}" if self.several else str(own)

    def document(
        self,
        text: str,
        spans: Sequence[Span] = (),
        *,
        id: str,
        subject: str | None = None,
        pos: Sequence[tuple[int, int, str]] = (),
        annotated: bool = True,
    ) -> Document:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise SourceError(
                f"character {error.start} is an unpaired surrogate", where=f"document {id}"
            ) from None
        return Document(text, tuple(spans), id, subject, tuple(pos), annotated)

    def _encoding(self) -> str:
        return marked_encoding(self.path) or known_encoding(self.encoding or "utf-8")


@contextmanager
def report_unreadable(path: Path) -> Iterator[None]:
    """Turn an error of the system into one sentence."""
    try:
        yield
    except OSError as error:
        raise SourceError(f"cannot be read ({error.strerror})", where=path.name) from None


def suffix(path: Path) -> str:
    """Give a name's last suffix before .gz, in small letters."""
    return Path(_COMPRESSED.sub("", path.name)).suffix.lower()


def stem(path: Path) -> str:
    """Give a path without its last suffix and .gz: "ward/110-01" of ward/110-01.xml.gz."""
    return Path(_COMPRESSED.sub("", str(path))).with_suffix("").as_posix()
