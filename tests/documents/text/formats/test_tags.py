"""Examples of `text/formats/tags`."""

from __future__ import annotations

from voile.documents.text.document import Span
from voile.documents.text.formats.tags import JoinedText, TaggedToken, is_tag, join, join_tagged


def test_examples_of_is_tag():
    assert [tag for tag in ("O", "B-PER", "PER", "B", "I-") if is_tag(tag)] == [
        "O",
        "B-PER",
        "PER",
    ]


def test_examples_of_join_tagged():
    tokens = [(0, 3, "I-PER"), (4, 7, "I-PER"), (8, 9, "B-PER"), (9, 10, "I-LOC")]
    assert [(span.start, span.end, span.label) for span in join_tagged(tokens)] == [
        (0, 7, "PER"),
        (8, 9, "PER"),
        (9, 10, "LOC"),
    ]


def test_examples_of_join():
    assert join(
        [[TaggedToken("Ms", "O"), TaggedToken("May", "B-PER")], [TaggedToken("left", "O", "VBD")]]
    ) == JoinedText(
        text="Ms May\nleft", spans=[Span(start=3, end=6, label="PER")], pos=[(7, 11, "VBD")]
    )
