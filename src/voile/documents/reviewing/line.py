"""Lines for a reviewer, and a reviewer's answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from voile.core.errors import RequestError

Purpose = Literal["review", "census", "sample", "adjudication"]
BLIND = ("census", "sample")
"""Purposes of which nothing may tell a planted identifier: it stands in no document."""
COMMON = ("NAME", "DATE", "PHONE", "ADDRESS", "ID", "EMAIL", "AGE", "HOSPITAL", "PROFESSION")
"""Types that a reader may need though a kit has none of them, in the order of their keys."""


@dataclass(frozen=True, order=True, slots=True)
class ShownSpan:
    """Characters of a line that are an identifier, or proposed as one."""

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
    number : of the store, from 1; 0 of a line that is not yet in one.
    batch : in which it is read.
    purpose : the use of its answer.
    document : its number, from 0, in the order of the notes. If a release is read, it is the order
        of the release's rows. It is -1 if planted text has none.
    start, end : its characters in the source; -1 if planted text has none.
    before, text, after : the neighbours and the line; `text` may contain a planted identifier.
    proposals : spans that are shown as identifiers until the reviewer changes them.
    why : the reason for this line, as a sentence, without a word of the text.
    extra : JSON of the purpose's own, never shown.
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
    """A reviewer's last answer for a line: `spans` are its identifiers, all others are harmless."""

    line: int
    reviewer: str
    at: str  # ISO 8601, UTC
    spans: tuple[ShownSpan, ...]
    unsure: bool  # nobody knows: neither learnt from nor counted
    seconds: float


def check_spans(text: str, spans: Sequence[ShownSpan]) -> tuple[ShownSpan, ...]:
    """Return spans in their order; they lie inside the text and apart, each with a type."""
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
