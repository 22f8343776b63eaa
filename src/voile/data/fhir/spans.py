"""Find the positions of JSON values in a text, to replace one without changing any other byte."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

SPACE = re.compile(r"[ \t\r\n]*")


class JsonSpan(NamedTuple):
    """The start and end of a value. `begin` is the start of its member name, if it has one."""

    start: int
    end: int
    begin: int


class TextEdit(NamedTuple):
    """Replace the characters from `start` to `end` with `text`."""

    start: int
    end: int
    text: str


class BrokenJsonError(ValueError):
    """The text is not JSON, or an object has two members of the same name."""


def _refuse_constant(_: str) -> Any:
    raise BrokenJsonError


def _refuse_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Raise BrokenJsonError for two members of the same name. Readers treat them differently."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise BrokenJsonError
    return found


_ANY = json.JSONDecoder(parse_constant=_refuse_constant)
UNIQUE = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_refuse_twins)
"""A decoder that rejects an object with two members of the same name, at any depth."""


def read_value(text: str, at: int = 0, *, decoder: json.JSONDecoder = _ANY) -> tuple[Any, int]:
    """Return the JSON value at a position, and the position of its end."""
    try:
        return decoder.raw_decode(text, at)
    except (ValueError, RecursionError):
        raise BrokenJsonError from None


def read_document(text: str, *, decoder: json.JSONDecoder = _ANY) -> tuple[Any, JsonSpan]:
    """Return the only value of a text, and its span without surrounding blanks.

    >>> read_document(' {"id": "a"} ')
    ({'id': 'a'}, JsonSpan(start=1, end=12, begin=1))
    """
    start = _skip_space(text, 0)
    found, end = read_value(text, start, decoder=decoder)
    if _skip_space(text, end) != len(text):
        raise BrokenJsonError
    return found, JsonSpan(start, end, start)


def find_members(text: str, at: int) -> dict[str, JsonSpan]:
    """Return the members of the object at a position by name, in their order."""
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
    """Return the items of the array at a position."""
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
    """Return the edit that removes a member or item, with a comma that is no longer needed."""
    at = parts.index(one)
    if at + 1 < len(parts):
        return TextEdit(one.begin, parts[at + 1].begin, "")
    return TextEdit(parts[at - 1].end if at else one.begin, one.end, "")


def _find_next(text: str, end: int, closing: str) -> int:
    """Return the position of the next part, or of the closing sign."""
    at = _skip_space(text, end)
    return at if text.startswith(closing, at) else _skip_space(text, _skip_sign(text, at, ","))


def _skip_sign(text: str, at: int, sign: str) -> int:
    """Return the position after a sign. Blanks before the sign are skipped."""
    at = _skip_space(text, at)
    if not text.startswith(sign, at):
        raise BrokenJsonError
    return at + 1


def _skip_space(text: str, at: int) -> int:
    found = SPACE.match(text, at)
    assert found is not None  # it may be empty
    return found.end()
