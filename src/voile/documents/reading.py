"""From a source with roles to documents: who is read, what leaves, and what is set aside."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.documents.corpus import Corpus, Document
from voile.documents.formats.tables import documents_of, spans_of_texts
from voile.errors import RequestError
from voile.hold_out import HoldOut
from voile.io import Source
from voile.roles import Role, Roles

BATCH_ROWS = 512
"""Rows at a time; a row may be a whole book."""
LONGEST = 20_000_000
"""Characters of the longest text that is worked on."""
KEPT = ("sensitive", "keep")
UNTREATED: tuple[Role, ...] = ("quasi", "private", "items", "reading")
_LOST = re.compile("[\x00-\x08\x0e-\x1b\x7f\ufffd]")


@dataclass(frozen=True)
class Reading:
    """Say which rows and columns of a source are read, and how.

    Parameters
    ----------
    roles : of every column. hold_out : who is set aside.
    """

    roles: Roles
    hold_out: HoldOut

    @classmethod
    def all_of(cls, roles: Roles) -> Reading:
        """Read every row."""
        return cls(roles, HoldOut(0.0, b"", roles.subject))

    @cached_property
    def texts(self) -> list[str]:
        """The columns of text."""
        return self.roles.of("text")

    def check(self, source: Source) -> None:
        """Refuse roles that do not fit the source, or this kind of data."""
        self.roles.check(source.columns)
        spans_of_texts(self.roles, source.schema())
        if untreated := self.roles.of(*UNTREATED):
            raise RequestError(
                f"column {untreated[0]} has the role {self.roles.columns[untreated[0]].role}, "
                "which documents do not treat",
                where="roles",
                instead="make it keep or drop",
            )

    def corpus(self, source: Source) -> Corpus:
        """Return the annotated documents to learn from, without those held out; one pass.

        A document that a subject has twice is read once, and the order of rows is forgotten, so
        that neither changes what is learnt. Texts of one row are one person's. Empty texts, and
        those that `lacks` names, are left out. Memory: all of the text.
        """
        found: dict[tuple[object, ...], Document] = {}
        for document in self._documents(source):
            if document.text.strip() and lacks(document.text) is None:
                key = (document.subject or "", document.text, document.spans)
                found.setdefault(key if self.roles.subject else (*key, document.id), document)
        ordered = sorted(found.values(), key=lambda one: (one.subject or "", one.text, one.spans))
        return Corpus(ordered)

    def all(self, source: Source) -> Corpus:
        """Return every document of a source, in order; one for each row and text column."""
        return Corpus(self._documents(source))

    def _documents(self, source: Source) -> Iterator[Document]:
        annotated = [name for name in spans_of_texts(self.roles, source.schema()).values() if name]
        subject = [self.roles.subject] if self.roles.subject else []
        columns = list(dict.fromkeys([*self.texts, *annotated, *subject]))
        first = 0
        for batch in source.batches(columns, batch_rows=BATCH_ROWS):
            held = self.hold_out.held(batch, first)
            documents = documents_of(batch, self.roles, first=first + 1)
            width = len(self.texts)
            for row in np.flatnonzero(~held).tolist():
                own = documents[row * width : (row + 1) * width]
                yield from own if subject or width == 1 else _of_one(own)
            first += len(batch)


def _of_one(documents: list[Document]) -> list[Document]:
    """Give the texts of a row without a subject one subject, named by what they say."""
    said = hashlib.sha256("\0".join(one.text for one in documents).encode()).hexdigest()
    return [replace(one, subject=said) for one in documents]


def lacks(text: str) -> str | None:
    """Say why a text cannot be worked on; None if it can.

    >>> lacks("Jos\\ufffd came"), lacks("José came")
    ('characters that were lost in decoding', None)
    """
    if len(text) > LONGEST:
        return f"a text of more than {LONGEST:,} characters"
    return "characters that were lost in decoding" if _LOST.search(text) else None


def hashes(corpus: Corpus, key: bytes) -> NDArray[np.int64]:
    """Return a keyed number for each text, so that a kit knows what it learnt from, (d,)."""
    return np.array([hash_of(one.text, key) for one in corpus], dtype=np.int64)


def hash_of(text: str, key: bytes) -> int:
    """Return the keyed number of one text."""
    digest = hashlib.blake2b(text.encode(errors="surrogatepass"), key=key, digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def strings(column: pa.Array) -> list[str | None]:
    """Return a column of text as Python strings."""
    found: list[str | None] = column.to_pylist()
    return found
