"""The messages to and from the page, as JSON with offsets in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from voile.core.errors import RequestError
from voile.core.wording import visible
from voile.documents.reviewing.beside import text_after, text_before
from voile.documents.reviewing.desk import Act, KeyStroke, LineView
from voile.documents.reviewing.line import BLIND, ShownSpan
from voile.documents.reviewing.progress import ReviewStanding
from voile.documents.reviewing.words import Place

KNOWN = "known "
"""The prefix of `ShownSpan.by` for a value in a column next to the notes."""
BESIDE = 40
"""The number of characters before and after a line that is shown on a sheet."""


class _SentAnswer(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    act: Act
    line: int = Field(ge=0)
    key: int = Field(ge=0)
    words: list[int] = Field(default=[0, 0], min_length=2, max_length=2)
    label: str = Field(default="", max_length=100)
    until: int = Field(default=0, ge=0)


def stroke_of(raw: bytes, types: Sequence[str]) -> KeyStroke:
    """Read a message of the page.

    Raises
    ------
    RequestError : the message does not have the page's form.
    """
    try:
        sent = _SentAnswer.model_validate_json(raw)
    except ValidationError:
        raise RequestError("this is not a stroke of the page's") from None
    if sent.act == "mark" and sent.label not in types:
        raise RequestError("there is no such type", instead=f"use {', '.join(types)}")
    label = sent.label if sent.act == "mark" else ""
    return KeyStroke(
        sent.act, sent.line, sent.key, (sent.words[0], sent.words[1]), label, sent.until
    )


def screen_of(
    look: LineView | None,
    standing: ReviewStanding,
    sheet: Sequence[LineView] = (),
    *,
    reviewer: str,
    types: Sequence[str],
    learning: bool,
    others: bool = False,
) -> dict[str, Any]:
    """Return all contents of the page.

    `others` means that lines wait for another reviewer, but not for this one.
    """
    state = "line" if look else "learning" if learning else "waiting" if others else "done"
    return {
        "state": state,
        "reviewer": reviewer,
        "types": list(types),
        "standing": asdict(standing),
        "line": _line(look) if look else None,
        "sheet": [_beside(one) for one in sheet],
    }


def _beside(look: LineView) -> dict[str, Any]:
    line = look.line
    return {
        "number": line.number,
        "before": visible(text_before(line.before, len(line.before), BESIDE)),
        "text": visible(line.text),
        "after": visible(text_after(line.after, 0, BESIDE)),
    }


def _line(look: LineView) -> dict[str, Any]:
    line, words = look.line, look.words
    return {
        "number": line.number,
        "key": look.key,
        "purpose": line.purpose,
        "document": 0 if line.purpose in BLIND else line.document + 1,
        "why": visible(line.why),
        "before": visible(line.before),
        "after": visible(line.after),
        **_pieces(line.text, words),
        "marks": [_mark(one, words) for one in look.spans if _list_covered(one, words)],
    }


def _pieces(text: str, words: Sequence[Place]) -> dict[str, Any]:
    """Return the words, the gap before each word, and the text after the last word."""
    ends = [0, *(end for _, end in words)]
    return {
        "words": [visible(text[start:end]) for start, end in words],
        "gaps": [visible(text[end:start]) for end, (start, _) in zip(ends, words, strict=False)],
        "tail": visible(text[ends[-1] :]),
    }


def _mark(one: ShownSpan, words: Sequence[Place]) -> dict[str, Any]:
    covered = _list_covered(one, words)
    by = visible(one.by)
    column = by.removeprefix(KNOWN) if by.startswith(KNOWN) else ""
    return {
        "from": covered[0],
        "to": covered[-1] + 1,
        "label": one.label,
        "by": by,
        "column": column,
        "doubt": one.doubt,
    }


def _list_covered(one: ShownSpan, words: Sequence[Place]) -> list[int]:
    return [n for n, (start, end) in enumerate(words) if one.start <= start and end <= one.end]
