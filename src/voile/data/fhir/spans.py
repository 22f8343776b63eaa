"""Find the positions of JSON values in a text, to replace one and keep every other byte."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

SPACE = re.compile(r"[ \t\r\n]*")


class JsonSpan(NamedTuple):
    """The start and end of a value. begin : the start of its member name, if it has one."""

    start: int
    end: int
    begin: int


class TextEdit(NamedTuple):
    """Replace the characters from `start` to `end` with `text`."""

    start: int
    end: int
    text: str


class BrokenJsonError(ValueError):
    """The text is not JSON, or an object has two members of one name."""


def _refuse_constant(_: str) -> Any:
    raise BrokenJsonError


def _refuse_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse two members of one name: readers differ in which of them they take."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise BrokenJsonError
    return found


_ANY = json.JSONDecoder(parse_constant=_refuse_constant)
UNIQUE = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_refuse_twins)
"""Refuses an object with two members of one name, however deep it is."""


def read_value(text: str, at: int = 0, *, decoder: json.JSONDecoder = _ANY) -> tuple[Any, int]:
    """Return the JSON value that begins here, and where it ends."""
    try:
        return decoder.raw_decode(text, at)
    except (ValueError, RecursionError):
        raise BrokenJsonError from None


def read_document(text: str, *, decoder: json.JSONDecoder = _ANY) -> tuple[Any, JsonSpan]:
    """Return the one value of a text, and its span without the blanks around it.

    >>> read_document(' {"id": "a"} ')
    ({'id': 'a'}, JsonSpan(start=1, end=12, begin=1))
    """
    start = _skip_space(text, 0)
    found, end = read_value(text, start, decoder=decoder)
    if _skip_space(text, end) != len(text):
        raise BrokenJsonError
    return found, JsonSpan(start, end, start)


def find_members(text: str, at: int) -> dict[str, JsonSpan]:
    """Return the members of the object that begins here, by name, in their order."""
    found: dict[str, JsonSpan] = {}
    begin = _skip_space(text, _skip_sign(text, at, "{"))
    while not text.startswith("}", begin):
        name, end = read_value(text, begin)
        start = _skip_space(text, _skip_sign(text, end, ":"))
        end = read_value(text, start)[1]
        if name in found:
            raise BrokenJsonError
        found[name] = JsonSpan(start, end, begin)
        begin = _find_next(text, end, "}")
    return found


def find_items(text: str, at: int) -> list[JsonSpan]:
    """Return the items of the array that begins here."""
    found = []
    start = _skip_space(text, _skip_sign(text, at, "["))
    while not text.startswith("]", start):
        found.append(JsonSpan(start, read_value(text, start)[1], start))
        start = _find_next(text, found[-1].end, "]")
    return found


def apply_edits(text: str, edits: Iterable[TextEdit]) -> str:
    """Apply edits that do not overlap.

    >>> apply_edits('{"a": 1}', [TextEdit(6, 7, "20")])
    '{"a": 20}'
    """
    parts, at = [], 0
    for edit in sorted(edits):
        parts += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*parts, text[at:]])


def remove_part(parts: Sequence[JsonSpan], one: JsonSpan) -> TextEdit:
    """Remove one of several members or items, with the comma that it no longer needs."""
    at = parts.index(one)
    if at + 1 < len(parts):
        return TextEdit(one.begin, parts[at + 1].begin, "")
    return TextEdit(parts[at - 1].end if at else one.begin, one.end, "")


def _find_next(text: str, end: int, closing: str) -> int:
    """Return where the next part begins after one, or the sign that closes them."""
    at = _skip_space(text, end)
    return at if text.startswith(closing, at) else _skip_space(text, _skip_sign(text, at, ","))


def _skip_sign(text: str, at: int, sign: str) -> int:
    """Return the position after a sign and the blanks before it."""
    at = _skip_space(text, at)
    if not text.startswith(sign, at):
        raise BrokenJsonError
    return at + 1


def _skip_space(text: str, at: int) -> int:
    found = SPACE.match(text, at)
    assert found is not None  # it may be empty
    return found.end()
