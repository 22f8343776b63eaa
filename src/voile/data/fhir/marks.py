"""Find, add and remove the mark of an encoded value, an extension in the text of an element.

An encoded value is no longer a measurement, and every reader must notice that. FHIR provides
`modifierExtension` for facts that change the meaning of an element.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from voile.data.fhir import spans

URL = "urn:voile:encoded-reading"
MARKS = "modifierExtension"

Members: TypeAlias = Mapping[str, spans.JsonSpan]
MarkTag: TypeAlias = Mapping[str, str | int]


class ReadingMark(NamedTuple):
    """The extension that marks an encoded value, with its facts by name."""

    span: spans.JsonSpan
    facts: Mapping[str, Any]


def find_mark(text: str, members: Members) -> ReadingMark | None:
    """Return the mark of an element, or None.

    Raises
    ------
    BrokenJsonError : the mark does not have the form that `add_mark` writes.
    """
    found = [_read_mark(text, one) for one in _find_extensions(text, members)]
    return next((mark for mark in found if mark), None)


def add_mark(text: str, members: Members, tag: MarkTag) -> spans.TextEdit:
    kinds = {str: "valueString", int: "valueUnsignedInt"}
    inner = [{"url": name, kinds[type(fact)]: fact} for name, fact in tag.items()]
    mark = json.dumps({"url": URL, "extension": inner}, separators=(",", ":"))
    if every := _find_extensions(text, members):
        return spans.TextEdit(every[-1].end, every[-1].end, f",{mark}")
    if MARKS in members:
        return spans.TextEdit(members[MARKS].start, members[MARKS].end, f"[{mark}]")
    at = members["valueQuantity"].begin
    return spans.TextEdit(at, at, f'"{MARKS}":[{mark}],')


def remove_mark(text: str, members: Members, mark: ReadingMark) -> spans.TextEdit:
    """Remove a mark, and the list of extensions if it contains no other."""
    every = _find_extensions(text, members)
    if len(every) == 1:
        return spans.remove_part(list(members.values()), members[MARKS])
    return spans.remove_part(every, mark.span)


def _find_extensions(text: str, members: Members) -> list[spans.JsonSpan]:
    return spans.find_items(text, members[MARKS].start) if MARKS in members else []


def _read_mark(text: str, span: spans.JsonSpan) -> ReadingMark | None:
    data = spans.read_value(text, span.start)[0]
    if not isinstance(data, dict) or data.get("url") != URL:
        return None
    try:
        facts = {
            part["url"]: next(part[name] for name in part if name != "url")
            for part in data["extension"]
        }
    except (LookupError, TypeError, StopIteration):
        raise spans.BrokenJsonError from None
    return ReadingMark(span, facts)
