"""Convert a source with roles to documents: which rows are read, and which columns are released."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.core.errors import RequestError
from voile.data import Source
from voile.data.hold_out import HoldOut
from voile.data.roles import Role, Roles
from voile.data.text import LOST
from voile.documents.text.document import Document, Span
from voile.documents.text.formats.tables import batch_documents, pos_columns, span_columns

BATCH_ROWS = 512
"""The number of rows in a batch; a row may be a whole book."""
LONGEST = 20_000_000
"""The number of characters of the longest text that is processed."""
KEPT: tuple[Role, ...] = ("sensitive", "keep")
UNTREATED: tuple[Role, ...] = ("quasi", "private", "items", "reading", "weight")
LOST_CHARACTERS = "the character U+FFFD, which stands for characters that were lost in decoding"
CONTROLS = r"[\x00-\x08\x0e-\x1b\x7f]"
"""Control characters, which have no meaning in notes: they are removed and counted."""
_CONTROL = re.compile(CONTROLS)


@dataclass(frozen=True)
class DocumentReader(BriefRepr):
    """A reader of the rows and columns of a source."""

    shows = ("texts",)

    roles: Roles  # the role of every column
    hold_out: HoldOut  # the subjects that are held out

    @classmethod
    def all_of(cls, roles: Roles) -> DocumentReader:
        return cls(roles, HoldOut(0.0, b"", roles.subject))

    @cached_property
    def texts(self) -> list[str]:
        """The text columns."""
        return self.roles.of("text")

    @cached_property
    def pos(self) -> list[str]:
        """The columns of parts of speech.

        They are never released, since they reveal the positions of words.
        """
        return list(dict.fromkeys(filter(None, pos_columns(self.roles).values())))

    def check(self, source: Source, *, annotated: bool = True) -> None:
        """Refuse roles that do not fit the source, or that documents do not support."""
        unread = set() if annotated else set(self.roles.of("label")) - set(source.columns)
        self.roles.check({**source.columns, **dict.fromkeys(unread, pa.null())}, "text")
        span_columns(self.roles, source.schema())
        if untreated := self.roles.of(*UNTREATED):
            raise RequestError(
                f"column {untreated[0]} has the role {self.roles.columns[untreated[0]].role}, "
                "which documents do not handle",
                where="roles",
                instead="make it keep or drop",
            )

    def documents(self, batch: pa.RecordBatch, first: int, *, annotated: bool) -> list[Document]:
        """Return the documents of a batch, ordered by row and then by text column.

        All texts of a row without a subject belong to one person, identified by a hash of the
        texts. So all copies of such a row belong to one person.
        """
        if not batch.num_rows:
            return []
        batch = self._legible(batch, annotated=annotated)
        found = batch_documents(batch, self.roles, first=first + 1, annotated=annotated)
        width = len(self.texts)
        rows = (found[start : start + width] for start in range(0, len(found), width))
        return [without_controls(one) for row in rows for one in _of_one(row)]

    def read_documents(self, source: Source, *, annotated: bool = True) -> Iterator[Document]:
        """Yield the documents of a source in order, one for each row and text column.

        Held-out subjects are skipped.

        annotated : whether the source has the columns of labels.
        """
        spans = span_columns(self.roles, source.schema()).values() if annotated else ()
        subject = [self.roles.subject] if self.roles.subject else []
        columns = list(dict.fromkeys([*self.texts, *filter(None, spans), *self.pos, *subject]))
        width, first = len(self.texts), 0
        for batch in source.batches(columns, batch_rows=BATCH_ROWS):
            free = np.repeat(~self.hold_out.find_held(batch, first), width)
            documents = self.documents(batch, first, annotated=annotated)
            yield from (documents[place] for place in np.flatnonzero(free).tolist())
            first += len(batch)

    def _legible(self, batch: pa.RecordBatch, *, annotated: bool) -> pa.RecordBatch:
        """Set spans and parts of speech to null in rows where decoding lost characters.

        This applies to characters lost in the text, the subject, the spans or the parts of speech.
        """
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        gone = {name: has_lost_characters(cells) for name, cells in columns.items()}
        nowhere = np.zeros(len(batch), dtype=np.bool_)
        whose = gone.get(self.roles.subject or "", nowhere)
        tags, spans = pos_columns(self.roles), span_columns(self.roles, batch.schema)
        for text, by in spans.items():
            beside = [name for name in (by if annotated else None, tags[text]) if name in columns]
            where = np.any([whose, gone[text], *(gone[name] for name in beside)], axis=0)
            if where.any():
                for name in beside:
                    columns[name] = pc.if_else(pa.array(where), None, columns[name])
        return pa.RecordBatch.from_pydict(columns, schema=batch.schema)


def is_usable(document: Document) -> bool:
    return bool(document.text.strip()) and why_unusable(document.text) is None


def _of_one(row: Sequence[Document]) -> Sequence[Document]:
    if row[0].subject is not None:
        return row
    said = hashlib.sha256("\0".join(one.text for one in row).encode()).hexdigest()
    return [replace(one, subject=said) for one in row]


def why_unusable(text: str) -> str | None:
    """Return why a text cannot be processed; None if it can."""
    if len(text) > LONGEST:
        return f"a text of more than {LONGEST:,} characters"
    return LOST_CHARACTERS if LOST in text else None


def without_controls(document: Document) -> Document:
    """Return a document without control characters, with its spans moved accordingly."""
    gone = np.array([one.start() for one in _CONTROL.finditer(document.text)])
    if not len(gone):
        return document

    def moved(place: int) -> int:
        return place - int(np.searchsorted(gone, place))

    return replace(
        document,
        text=_CONTROL.sub("", document.text),
        spans=tuple(
            Span(moved(one.start), moved(one.end), one.label)
            for one in document.spans
            if moved(one.start) < moved(one.end)
        ),
        unknown=tuple((moved(a), moved(b)) for a, b in document.unknown if moved(a) < moved(b)),
        pos=tuple((moved(a), moved(b), tag) for a, b, tag in document.pos if moved(a) < moved(b)),
    )


def count_controls(column: pa.Array) -> int:
    """Return the number of control characters in a text column."""
    found = pc.sum(pc.count_substring_regex(column.cast(pa.large_string()), CONTROLS)).as_py()
    return int(found or 0)


def has_lost_characters(column: pa.Array) -> NDArray[np.bool_]:
    """Return which cells contain characters that were lost in decoding, as a mask (n,)."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not pa.types.is_string(kind) and not pa.types.is_large_string(kind):
        return np.zeros(len(column), dtype=np.bool_)
    found = pc.fill_null(pc.match_substring(column.cast(kind), LOST), False)
    cells: NDArray[np.bool_] = found.to_numpy(zero_copy_only=False)
    return cells


def text_hash(text: str, key: bytes) -> int:
    """Return the keyed 64-bit hash of a text."""
    digest = hashlib.blake2b(text.encode(errors="surrogatepass"), key=key, digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
