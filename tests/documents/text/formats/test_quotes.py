"""Examples of `text/formats/quotes`."""

from __future__ import annotations

from voile.documents.text.document import Span
from voile.documents.text.formats.quotes import QuotedSpan, place_quotes


def test_examples_of_place_quotes():
    assert place_quotes("a\r\nbc", [QuotedSpan(((2, 4),), "NAME", "bc")], "document 1") == (
        Span(start=3, end=5, label="NAME"),
    )
