"""Proposers of identifiers in unmarked text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from voile.documents.patterns.pattern import TextPattern, find
from voile.documents.replacements.removal import TextRemoval
from voile.documents.text.document import Document


class RemovalProposer(Protocol):
    def propose(self, documents: Sequence[Document]) -> list[list[TextRemoval]]:
        """Return the proposals for each document, ordered and disjoint."""


class PatternProposer:
    """A proposer of the matches of patterns."""

    def __init__(self, patterns: Sequence[TextPattern]) -> None:
        self._patterns = tuple(patterns)

    def propose(self, documents: Sequence[Document]) -> list[list[TextRemoval]]:
        """Return the matches of the patterns in each document.

        Cost: O(characters) for each pattern.
        """
        return [find(document.text, self._patterns) for document in documents]
