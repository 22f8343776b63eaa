"""A rule: its name, its finds, and whether they are sure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from voile.documents.replacements.removal import RemovalReason

NAME = "NAME"


@dataclass(frozen=True)
class LetterRule:
    """A regular expression over the letters of a reading, whose group `found` is proposed."""

    name: str
    label: str  # the type of what it finds
    expression: re.Pattern[str]
    within: re.Pattern[str] | None = None  # what it is looked for in; None for all of a text
    sure: bool = False  # whether further mentions of what it found are proposed too

    @property
    def by(self) -> RemovalReason:
        return RemovalReason("rule", self.name)
