"""A removal from a text, before its replacement is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal, NamedTuple, Protocol

from voile.core.errors import RequestError
from voile.documents.text.document import Document


class RemovalReason(NamedTuple):
    """Why characters are removed: the kind of remover that found them, and its name."""

    kind: Literal[
        "pass", "pattern", "list", "repeat", "known", "possible", "rule", "starter", "reader"
    ]
    # of the learner, the pattern, the list, the rule or the known values' column; none of a repeat;
    # of the starter only that it is unlikely
    name: str = ""
    number: int = 0  # of the committee's pass, from 1; 0 of what is not a pass

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
    """Characters of a text that go: `start` to before `end`, their type, and why."""

    # start, end: offsets in the original text
    start: int
    end: int
    label: str  # the type, as in the corpus
    by: tuple[RemovalReason, ...] = ()  # everything that removes them, each once


class KnownFinder(Protocol):
    """Finds the values of the columns next to the notes."""

    @property
    def kinds(self) -> Mapping[str, str]:
        """The kind of each column."""

    @property
    def hits(self) -> Mapping[str, int]:
        """The number of finds of each column so far."""

    @staticmethod
    def sure(removal: TextRemoval) -> bool:
        """Return whether a find can be nothing else."""

    def propose(self, documents: Sequence[Document]) -> list[list[TextRemoval]]:
        """Find the values in each document, in order and apart."""

    def propose_sure(self, documents: Sequence[Document]) -> list[list[TextRemoval]]:
        """Find the values in each document that can be nothing else."""

    def check(self, link: str | None = None) -> None:
        """Refuse columns that meet no document; `link` has the subjects."""


def check_removals(text: str, removals: Iterable[TextRemoval]) -> list[TextRemoval]:
    """Return the removals in their order."""
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
    """Return the reasons of several removals, each once."""
    return tuple(dict.fromkeys(chain.from_iterable(one.by for one in removals)))
