"""Where things stand in a JSON text, so that one can be exchanged and no other byte touched."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

SPACE = re.compile(r"[ \t\r\n]*")


class Span(NamedTuple):
    start: int
    end: int
    begin: int


class Edit(NamedTuple):
    """What stands from `start` to `end` becomes `text`."""

    start: int
    end: int
    text: str


class BrokenError(ValueError):
    """The text is not JSON, or an object has two members of one name."""


def _constant(_: str) -> Any:
    raise BrokenError


_decoder = json.JSONDecoder(parse_constant=_constant)


def value(text: str, at: int = 0) -> tuple[Any, int]:
    """Return the JSON value that begins here, and where it ends."""
    try:
        return _decoder.raw_decode(text, at)
    except (ValueError, RecursionError):
        raise BrokenError from None


def whole(text: str) -> Span:
    """Return the one value of a text, blanks around it left out."""
    start = _space(text, 0)
    end = value(text, start)[1]
    if _space(text, end) != len(text):
        raise BrokenError
    return Span(start, end, start)


def members(text: str, at: int) -> dict[str, Span]:
    """Return the members of the object that begins here, by name, in their order."""
    found: dict[str, Span] = {}
    begin = _space(text, _past(text, at, "{"))
    while not text.startswith("}", begin):
        name, end = value(text, begin)
        start = _space(text, _past(text, end, ":"))
        end = value(text, start)[1]
        if name in found:
            raise BrokenError
        found[name] = Span(start, end, begin)
        begin = _next(text, end, "}")
    return found


def items(text: str, at: int) -> list[Span]:
    """Return the items of the array that begins here."""
    found = []
    start = _space(text, _past(text, at, "["))
    while not text.startswith("]", start):
        found.append(Span(start, value(text, start)[1], start))
        start = _next(text, found[-1].end, "]")
    return found


def edited(text: str, edits: Iterable[Edit]) -> str:
    """Make edits that do not overlap."""
    parts, at = [], 0
    for edit in sorted(edits):
        parts += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*parts, text[at:]])


def left_out(these: Sequence[Span], one: Span) -> Edit:
    """Leave out one of several members or items, with the comma that it needs no more."""
    at = these.index(one)
    if at + 1 < len(these):
        return Edit(one.begin, these[at + 1].begin, "")
    return Edit(these[at - 1].end if at else one.begin, one.end, "")


def _next(text: str, end: int, closing: str) -> int:
    """Return where the next part begins after one, or the sign that closes them."""
    at = _space(text, end)
    return at if text.startswith(closing, at) else _space(text, _past(text, at, ","))


def _past(text: str, at: int, sign: str) -> int:
    """Return the place after a sign, blanks before it skipped."""
    at = _space(text, at)
    if not text.startswith(sign, at):
        raise BrokenError
    return at + 1


def _space(text: str, at: int) -> int:
    found = SPACE.match(text, at)
    assert found is not None  # it may be empty
    return found.end()
