"""Examples of `adversary/mentions`."""

from __future__ import annotations

from voile.documents.attack.mentions import compared_words


def test_examples_of_compared_words():
    assert compared_words("J. O'Brien") == ("brien",)
