"""Patterns that find identifiers by their form, and how overlapping findings are settled."""

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
    """What `find` needs: a label, a reason, and where something is found."""

    @property
    def by(self) -> RemovalReason:
        """Give the reason for removing a match."""

    @property
    def checked(self) -> bool:
        """Return whether a checksum distinguishes a match from look-alikes."""

    @property
    def label(self) -> str:
        """Name the type of a match."""

    def slices(self, plain: str) -> Iterable[Slice]:
        """Find the (start, end) of each in a text that is normalised already."""


@dataclass(frozen=True, slots=True)
class TextPattern:
    """An identifier that its form gives away."""

    name: str  # what the user calls it
    label: str  # the type that its removals bear
    slices: Callable[[str], Iterable[Slice]]  # finds the (start, end) of each in a normalised text
    checked: bool = False  # whether a checksum distinguishes it from look-alikes

    @property
    def by(self) -> RemovalReason:
        return RemovalReason("pattern", self.name)

    def find(self, text: str) -> list[TextRemoval]:
        """Find it in a text as it came, hidden characters and look-alikes in it or not."""
        return find(text, (self,))


def find(text: str, finders: Iterable[PatternFinder]) -> list[TextRemoval]:
    """Return the matches of all finders, in the order of the text and apart.

    If matches overlap, the longest has its characters. If some are equally long, the one that
    starts first has them, then that of the first finder (see `settle_spans`). Cost: O(characters)
    each.
    """
    plain = normalise(text)
    found = [
        TextRemoval(start, end, finder.label, (finder.by,))
        for finder in finders
        for start, end in starmap(plain.original, finder.slices(plain.text))
    ]
    return settle_spans(text, found)
