"""Examples of `replacements/replacer`."""

from __future__ import annotations

from voile.documents.replacements.removal import TextRemoval
from voile.documents.replacements.replacer import make_replacer
from voile.documents.text.document import Document


def test_examples_of_make_replacer():
    assert (
        make_replacer("mark")(Document("Ask Anna."), [TextRemoval(4, 8, "NAME")]).text
        == "Ask [NAME]."
    )
