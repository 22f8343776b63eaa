"""Examples of `patterns/pattern`."""

from __future__ import annotations

from voile.documents.patterns import PATTERNS
from voile.documents.replacements.removal import RemovalReason, TextRemoval


def test_examples_of_pattern():
    assert PATTERNS["email"].find("Write to who@tardis.example") == [
        TextRemoval(
            start=9,
            end=27,
            label="EMAIL",
            by=(RemovalReason(kind="pattern", name="email", number=0),),
        )
    ]
