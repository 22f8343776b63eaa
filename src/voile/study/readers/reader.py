"""The common interface of readers: find mentions in a text, read them, write them neutrally.

A reader handles one kind of mention and has no data on people. Its result is the cells of a column
that are possible given the mention.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, NamedTuple

from voile.documents.patterns.pattern import Slice
from voile.documents.replacements.removal import RemovalReason


class FoundMention(NamedTuple):
    """The possible raw cells of a mention, with its start and end (exclusive) in characters."""

    start: int
    end: int
    cells: tuple[str, ...]


class MentionReader:
    """A reader of one kind of mention. This base class finds and reads nothing.

    planted : by form, a sentence with its mention between bars, used to measure recall. No reader
        finds some of them.
    """

    planted: ClassVar[Mapping[str, str]] = MappingProxyType({})

    def slices(self, plain: str) -> Iterable[Slice]:
        """Find the positions of mentions in a normalised text, in addition to the kit's."""
        return ()

    def read_mention(self, mention: str) -> FoundMention | None:
        """Read a whole mention. Return None if it cannot be read, or states several values."""
        return None

    def neutral(self, mention: str) -> str | None:
        """Return words that leave every value possible, or None if there are none.

        A placeholder then replaces the mention.
        """
        return None


@dataclass(frozen=True)
class MentionFinder:
    """A finder of a type's mentions by its reader. They are removed, whatever the kit decides."""

    label: str
    reader: MentionReader
    checked: bool = True

    @property
    def by(self) -> RemovalReason:
        return RemovalReason("rule", f"for {self.label}")

    def slices(self, plain: str) -> Iterable[Slice]:
        return self.reader.slices(plain)
