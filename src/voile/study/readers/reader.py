"""The common interface of readers: find mentions in a text, read them, write them neutrally.

A reader knows one kind of mention and no people. Its result is the cells of a column that
the mention leaves possible.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, NamedTuple

from voile.documents.patterns.pattern import Slice
from voile.documents.replacements.removal import RemovalReason


class FoundMention(NamedTuple):
    """The possible raw cells of a mention, by its characters from start to before end."""

    start: int
    end: int
    cells: tuple[str, ...]


class MentionReader:
    """Reads the mentions of one kind; this one finds nothing, and reads nothing.

    planted : a sentence for each form, its mention between bars, by which recall is measured; some
    that no reader finds.
    """

    planted: ClassVar[Mapping[str, str]] = MappingProxyType({})

    def slices(self, plain: str) -> Iterable[Slice]:
        """Find the places of mentions in a normalised text, in addition to the kit's finds."""
        return ()

    def read_mention(self, mention: str) -> FoundMention | None:
        """Read a whole mention; None where it cannot be read, or says more than one value."""
        return None

    def neutral(self, mention: str) -> str | None:
        """Return words that leave every value possible; None where a mark stands for them."""
        return None


@dataclass(frozen=True)
class MentionFinder:
    """Finds the mentions of a type by its reader: they are removed, whatever the kit decides."""

    label: str
    reader: MentionReader
    checked: bool = True

    @property
    def by(self) -> RemovalReason:
        return RemovalReason("rule", f"for {self.label}")

    def slices(self, plain: str) -> Iterable[Slice]:
        return self.reader.slices(plain)
