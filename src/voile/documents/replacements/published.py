"""A text after its removals, and where each of its characters comes from."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple, Protocol

from voile.documents.replacements.removal import RemovalReason, TextRemoval
from voile.documents.text.document import Document, Span


class PublishedEdit(NamedTuple):
    """One replacement: `start` to before `end` of the published text stands for the source's."""

    start: int
    end: int
    source_start: int
    source_end: int
    label: str  # the type, or its category, of what was removed
    by: tuple[RemovalReason, ...] = ()  # why, as in `TextRemoval`


@dataclass(frozen=True, slots=True)
class PublishedText:
    """A text as it is published, with its edits in their order; outside these it is the source."""

    text: str
    edits: tuple[PublishedEdit, ...] = ()

    def to_source(self, start: int, end: int) -> tuple[int, int]:
        """Return the characters of the source that these stand for; of an edit, always all.
        O(log(edits)).
        """
        return _across(self.edits, start, end, _PUBLISHED, _SOURCE)

    def to_published(self, start: int, end: int) -> tuple[int, int]:
        """Return where these characters of the source are, or what replaces them."""
        return _across(self.edits, start, end, _SOURCE, _PUBLISHED)

    def carry_spans(self, spans: Iterable[Span]) -> tuple[Span, ...]:
        """Return the parts of the source's spans that are left, where they stand in the published
        text.
        """
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
    """A document as published; its spans are the identifiers that are left."""

    edits: tuple[PublishedEdit, ...] = ()  # the replacements, in the order of the text


def replace_removals(
    text: str, removals: Sequence[TextRemoval], replacements: Sequence[str]
) -> PublishedText:
    """Put each replacement in the place of its removal; these are in order and apart."""
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
        """Move a place that comes after the edits before `index`, and in none."""
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
    """Puts something in the place of each of a document's removals."""

    def __call__(self, document: Document, removals: Sequence[TextRemoval]) -> PublishedText: ...
