"""Patterns that find identifiers by their form, and how overlapping findings are settled."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import starmap
from typing import Protocol, TypeAlias

from voile.documents.replacements.removal import Reason, Removal
from voile.documents.words.normalisation import normalise

Slice: TypeAlias = tuple[int, int]


class Finder(Protocol):
    """What `find` needs: a label, a reason, and where something is found."""

    @property
    def by(self) -> Reason:
        """Say why what is found goes."""

    @property
    def checked(self) -> bool:
        """Return whether a checksum distinguishes what is found from look-alikes."""

    @property
    def label(self) -> str:
        """Name the type of what is found."""

    def slices(self, plain: str) -> Iterable[Slice]:
        """Find the (start, end) of each in a text that is normalised already."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """An identifier that its form gives away."""

    name: str  # what the user calls it
    label: str  # the type that its removals bear
    slices: Callable[[str], Iterable[Slice]]  # finds the (start, end) of each in a normalised text
    checked: bool = False  # whether a checksum distinguishes it from look-alikes

    @property
    def by(self) -> Reason:
        return Reason("pattern", self.name)

    def find(self, text: str) -> list[Removal]:
        """Find it in a text as it came, hidden characters and look-alikes in it or not."""
        return find(text, (self,))


def find(text: str, finders: Iterable[Finder]) -> list[Removal]:
    """Return what any of the finders finds, in the order of the text and apart. Cost: O(characters)
    each.

    Where findings overlap, all their characters go, as one removal. The longest gives the label and
    the name; of equally long ones the finder that is named first, then the one that starts first.
    """
    plain = normalise(text)
    found = [
        (end - start, -rank, -start, Removal(start, end, finder.label, (finder.by,)))
        for rank, finder in enumerate(finders)
        for start, end in starmap(plain.original, finder.slices(plain.text))
    ]
    found.sort(key=lambda one: one[3].start)
    return _settled(found)


def _settled(found: list[tuple[int, int, int, Removal]]) -> list[Removal]:
    groups: list[list[tuple[int, int, int, Removal]]] = []
    end = 0
    for one in found:
        if groups and one[3].start < end:
            groups[-1].append(one)
        else:
            groups.append([one])
        end = max(end, one[3].end)
    return [_union(group) for group in groups]


def _union(group: list[tuple[int, int, int, Removal]]) -> Removal:
    best = max(group)[3]
    end = max(one[3].end for one in group)
    return Removal(group[0][3].start, end, best.label, best.by)
