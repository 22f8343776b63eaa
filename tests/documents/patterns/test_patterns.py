"""Examples of `patterns/__init__`."""

from __future__ import annotations

from voile.documents.patterns import patterns_of


def test_examples_of_patterns_of():
    assert [pattern.name for pattern in patterns_of(["phone", "email"], records=["@@999"])] == [
        "record @@999",
        "email",
        "phone",
    ]
