"""Removals from a text, before their replacements are known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal, NamedTuple, Protocol

from voile.core.errors import RequestError
from voile.documents.text.document import Document


class RemovalReason(NamedTuple):
    """The reason for a removal: the kind of remover, and its name."""

    kind: Literal[
        "pass", "pattern", "list", "repeat", "known", "possible", "rule", "starter", "reader"
    ]
    # the learner, pattern, list, rule or column of known values; empty for a repeat; for the
    # pretrained model only whether the find is unlikely
    name: str = ""
    number: int = 0  # the committee's pass, from 1; 0 for other reasons

    def __str__(self) -> str:
        match self.kind:
            case "pass":
                return f"pass {self.number}, {self.name}"
            case "pattern" | "rule" | "known":
                return f"{self.kind} {self.name}"
            case "possible":
                return f"possibly {self.name}"
            case "starter" | "reader":
                return ", ".join(filter(None, (self.kind, self.name)))
            case "list":
                return self.name
            case "repeat":
                return "repeat"


@dataclass(frozen=True, order=True, slots=True)
class TextRemoval:
    """Characters to remove from a text: `start` to before `end`, their type, and the reasons."""

    # start, end: offsets in the original text
    start: int
    end: int
    label: str  # the type, as in the corpus
    by: tuple[RemovalReason, ...] = ()  # all reasons, each once


class KnownFinder(Protocol):
    """A finder of known values, which columns next to the notes contain."""

    @property
    def kinds(self) -> Mapping[str, str]:
        """The kind of each column."""

    @property
    def hits(self) -> Mapping[str, int]:
        """The number of finds of each column so far."""

    @staticmethod
    def sure(removal: TextRemoval) -> bool:
        """Return whether a find is certainly the known value."""

    def propose(self, documents: Sequence[Document]) -> list[list[TextRemoval]]:
        """Find the values in each document, in order and without overlaps."""

    def propose_sure(self, documents: Sequence[Document]) -> list[list[TextRemoval]]:
        """Find the values in each document that are certain."""

    def check(self, link: str | None = None) -> None:
        """Raise an error for columns without a find in any document.

        link : the name of the column that links values and notes by subject.
        """


def check_removals(text: str, removals: Iterable[TextRemoval]) -> list[TextRemoval]:
    """Return the removals in order, and refuse those that overlap or are outside the text."""
    ordered = sorted(removals)
    end = 0
    for one in ordered:
        if not 0 <= one.start < one.end <= len(text):
            raise RequestError(f"the removal {one.start} to {one.end} is not inside the text")
        if one.start < end:
            raise RequestError(
                f"the removal {one.start} to {one.end} lies over the one before it",
                instead="join them first",
            )
        end = one.end
    return ordered


def each_once(*removals: TextRemoval) -> tuple[RemovalReason, ...]:
    """Return the distinct reasons of several removals."""
    return tuple(dict.fromkeys(chain.from_iterable(one.by for one in removals)))
