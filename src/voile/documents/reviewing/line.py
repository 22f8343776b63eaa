"""Lines for a reviewer, and a reviewer's answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from voile.core.errors import RequestError

Purpose = Literal["review", "census", "sample", "adjudication"]
BLIND = ("census", "sample")
"""The purposes that must not reveal a seeded identifier, which occurs in no document."""
COMMON = ("NAME", "DATE", "PHONE", "ADDRESS", "ID", "EMAIL", "AGE", "HOSPITAL", "PROFESSION")
"""Types that a reader may need even if the kit has none of them, in the order of their keys."""


@dataclass(frozen=True, order=True, slots=True)
class ShownSpan:
    """A part of a line that is an identifier, or proposed as one."""

    # start, end: offsets in the line's text
    start: int
    end: int
    label: str  # the type
    by: str = ""  # the column, rule, pass or reviewer
    doubt: float = 0.0  # 0: sure, to 1


@dataclass(frozen=True, slots=True)
class ReviewLine:
    """A line of a document with its neighbours, as a reviewer sees it.

    Parameters
    ----------
    number : the number in the store, from 1; 0 for a line that is not yet in a store.
    batch : the batch of the line.
    purpose : the use of its answer.
    document : the number of the document, from 0, in the order of the notes. For a release, it is
        in the order of the release's rows. It is -1 for seeded text without a document.
    start, end : the offsets in the source; -1 for seeded text without a document.
    before, text, after : the neighbouring text and the line; `text` may contain a seeded
        identifier.
    proposals : spans that are shown as identifiers until the reviewer changes them.
    why : the reason for this line, as a sentence without any word of the text.
    extra : JSON for the purpose, never shown.
    """

    number: int
    batch: int
    purpose: Purpose
    document: int
    start: int
    end: int
    before: str
    text: str
    after: str
    proposals: tuple[ShownSpan, ...] = ()
    why: str = ""
    extra: str = ""


@dataclass(frozen=True, slots=True)
class ReviewAnswer:
    """A reviewer's last answer for a line.

    `spans` are its identifiers, and all other text is harmless.
    """

    line: int
    reviewer: str
    at: str  # ISO 8601, UTC
    spans: tuple[ShownSpan, ...]
    unsure: bool  # undecided: not used in training or counts
    seconds: float


def check_spans(text: str, spans: Sequence[ShownSpan]) -> tuple[ShownSpan, ...]:
    """Return the spans in order; refuse those that overlap, are outside, or have no type."""
    ordered = tuple(sorted(spans))
    end = 0
    for one in ordered:
        if not (end <= one.start < one.end <= len(text) and one.label):
            raise RequestError(
                f"the span {one.start} to {one.end} is empty, outside its line, over another one or"
                " without a type"
            )
        end = one.end
    return ordered


def types_on_page(labels: Sequence[str]) -> list[str]:
    """Return the types that a reader may set, the kit's own among them."""
    return list(dict.fromkeys([*COMMON, *labels]))
