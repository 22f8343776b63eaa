"""Examples of `patterns/pattern`."""

from __future__ import annotations

from voile.documents.patterns import PATTERNS
from voile.documents.replacements.removal import Reason, Removal


def test_examples_of_pattern():
    assert PATTERNS["email"].find("Write to who@tardis.example") == [
        Removal(
            start=9, end=27, label="EMAIL", by=(Reason(kind="pattern", name="email", number=0),)
        )
    ]
