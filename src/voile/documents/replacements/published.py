"""A text after its removals, with the origin of each of its characters."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple, Protocol

from voile.documents.replacements.removal import RemovalReason, TextRemoval
from voile.documents.text.document import Document, Span


class PublishedEdit(NamedTuple):
    """A replacement of a source part by the characters from `start` to before `end`."""

    start: int
    end: int
    source_start: int
    source_end: int
    label: str  # the type of the removed text, or its category
    by: tuple[RemovalReason, ...] = ()  # the reasons, as in `TextRemoval`


@dataclass(frozen=True, slots=True)
class PublishedText:
    """A published text with its edits in order. Outside the edits it equals the source."""

    text: str
    edits: tuple[PublishedEdit, ...] = ()

    def to_source(self, start: int, end: int) -> tuple[int, int]:
        """Return the source offsets of a part of the published text. O(log(edits)).

        A part of an edit corresponds to the whole source part of the edit.
        """
        return _across(self.edits, start, end, _PUBLISHED, _SOURCE)

    def to_published(self, start: int, end: int) -> tuple[int, int]:
        """Return the offsets of a source part, or of its replacement, in the published text."""
        return _across(self.edits, start, end, _SOURCE, _PUBLISHED)

    def carry_spans(self, spans: Iterable[Span]) -> tuple[Span, ...]:
        """Return the remaining parts of the source's spans, as spans of the published text."""
        return tuple(part for span in spans for part in self._left_of(span))

    def _left_of(self, span: Span) -> Iterator[Span]:
        first = bisect_right(self.edits, span.start, key=attrgetter("source_end"))
        last = bisect_left(self.edits, span.end, lo=first, key=attrgetter("source_start"))
        over = self.edits[first:last]
        starts = [span.start, *(edit.source_end for edit in over)]
        ends = [*(edit.source_start for edit in over), span.end]
        for source_start, source_end in zip(starts, ends, strict=True):
            if source_start < source_end:
                start, end = self.to_published(source_start, source_end)
                part = self.text[start:end]
                start += len(part) - len(part.lstrip())
                if part := part.strip():
                    yield Span(start, start + len(part), span.label)


@dataclass(frozen=True, slots=True)
class PublishedDocument(Document):
    """A published document, with spans for the identifiers that are left."""

    edits: tuple[PublishedEdit, ...] = ()  # the replacements, in the order of the text


def replace_removals(
    text: str, removals: Sequence[TextRemoval], replacements: Sequence[str]
) -> PublishedText:
    """Replace each removal by its replacement. The removals are ordered and disjoint."""
    parts: list[str] = []
    edits: list[PublishedEdit] = []
    done = length = 0
    for removal, new in zip(removals, replacements, strict=True):
        parts += (text[done : removal.start], new)
        start = length + removal.start - done
        length = start + len(new)
        done = removal.end
        here, there = (start, length), (removal.start, removal.end)
        edits.append(PublishedEdit(*here, *there, removal.label, removal.by))
    parts.append(text[done:])
    return PublishedText("".join(parts), tuple(edits))


_Ends = tuple[Callable[[PublishedEdit], int], Callable[[PublishedEdit], int]]


_PUBLISHED: _Ends = (attrgetter("start"), attrgetter("end"))


_SOURCE: _Ends = (attrgetter("source_start"), attrgetter("source_end"))


def _across(
    edits: Sequence[PublishedEdit], start: int, end: int, here: _Ends, there: _Ends
) -> tuple[int, int]:
    def moved(index: int, place: int) -> int:
        """Move an offset that is after the edits before `index`, and inside no edit."""
        if not index:
            return place
        return place - here[1](edits[index - 1]) + there[1](edits[index - 1])

    first = bisect_right(edits, start, key=here[1])
    inside = first < len(edits) and here[0](edits[first]) <= start
    new_start = there[0](edits[first]) if inside else moved(first, start)
    last = bisect_left(edits, end, key=here[1])
    inside = last < len(edits) and here[0](edits[last]) < end
    return new_start, there[1](edits[last]) if inside else moved(last, end)


class RemovalReplacer(Protocol):
    """A replacer of each of a document's removals."""

    def __call__(self, document: Document, removals: Sequence[TextRemoval]) -> PublishedText: ...
