"""Patterns that find identifiers by their form, and the choice between overlapping matches."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import starmap
from typing import Protocol, TypeAlias

from voile.documents.replacements.removal import RemovalReason, TextRemoval
from voile.documents.replacements.spans import settle_spans
from voile.documents.words.normalisation import normalise

Slice: TypeAlias = tuple[int, int]


class PatternFinder(Protocol):
    """The interface that `find` requires: a label, a reason, and the positions of matches."""

    @property
    def by(self) -> RemovalReason:
        """The reason for removing a match."""

    @property
    def checked(self) -> bool:
        """Whether a checksum distinguishes a match from look-alikes."""

    @property
    def label(self) -> str:
        """The type of a match."""

    def slices(self, plain: str) -> Iterable[Slice]:
        """Find the (start, end) of each match in a normalised text."""


@dataclass(frozen=True, slots=True)
class TextPattern:
    """A pattern for an identifier with a recognisable form."""

    name: str  # the name for users
    label: str  # the type of its removals
    # finds the (start, end) of each match in a normalised text
    slices: Callable[[str], Iterable[Slice]]
    checked: bool = False  # whether a checksum distinguishes a match from look-alikes

    @property
    def by(self) -> RemovalReason:
        return RemovalReason("pattern", self.name)

    def find(self, text: str) -> list[TextRemoval]:
        """Find the matches in an original text, despite hidden characters and look-alikes."""
        return find(text, (self,))


def find(text: str, finders: Iterable[PatternFinder]) -> list[TextRemoval]:
    """Return the matches of all finders, ordered and disjoint.

    If matches overlap, the longest match is kept. If they are equally long, the match that starts
    first is kept, and then that of the first finder (see `settle_spans`). Cost: O(characters) for
    each finder.
    """
    plain = normalise(text)
    found = [
        TextRemoval(start, end, finder.label, (finder.by,))
        for finder in finders
        for start, end in starmap(plain.original, finder.slices(plain.text))
    ]
    return settle_spans(text, found)
