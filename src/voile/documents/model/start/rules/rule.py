"""A rule: its name, its expression, and whether its finds are sure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from voile.documents.replacements.removal import RemovalReason

NAME = "NAME"


@dataclass(frozen=True)
class LetterRule:
    """A regular expression over the letters of a text. Its group `found` is proposed."""

    name: str
    label: str  # the type of its finds
    expression: re.Pattern[str]
    within: re.Pattern[str] | None = None  # the parts of a text to search; None for the whole text
    sure: bool = False  # whether further mentions of its finds are also proposed

    @property
    def by(self) -> RemovalReason:
        return RemovalReason("rule", self.name)
