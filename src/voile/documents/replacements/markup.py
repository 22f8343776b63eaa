"""Notes that are JSON or other markup: a replacement of an identifier leaves them as valid."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from itertools import islice

from voile.documents.replacements.published import PublishedText, replace_removals
from voile.documents.replacements.removal import TextRemoval

MARKUP = (
    "the notes are markup (JSON, XML or HTML): names of fields and attributes stay as they "
    "are. A column of plain text for each field gives better results"
)
_LOOKED_AT = 200
_ELEMENT = re.compile(r"<(?:\?xml|!doctype|[A-Za-z][\w:.-]*(?:\s[^<>]*)?/?)>", re.IGNORECASE)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)


def are_markup(texts: Iterable[str]) -> bool:
    """Return whether most of the first texts are JSON, XML or HTML."""
    looked_at = [text for text in islice(texts, _LOOKED_AT) if text.strip()]
    return 2 * sum(map(_is_markup, looked_at)) > len(looked_at)


def _is_markup(text: str) -> bool:
    start = text.lstrip()
    return is_json(text) or (start[0] == "<" and _ELEMENT.match(start) is not None)


def is_json(text: str) -> bool:
    """Return whether a text is an object or a list of JSON."""
    if text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def keep_json(text: str, made: PublishedText) -> PublishedText:
    """Return a published text that is JSON if its source is: what replaces a number has quotes.

    >>> from voile.documents.replacements.marks import LabelMarks
    >>> from voile.documents.text.document import Document
    >>> note = '{"mrn": 88374, "name": "Anna"}'
    >>> made = LabelMarks()(Document(note), [TextRemoval(8, 13, "ID"), TextRemoval(24, 28, "NAME")])
    >>> keep_json(note, made).text
    '{"mrn": "[ID]", "name": "[NAME]"}'
    """
    if not made.edits or not is_json(text) or is_json(made.text):
        return made
    strings = [match.span() for match in _STRING.finditer(text)]
    removals, words = [], []
    for edit in made.edits:
        one = TextRemoval(edit.source_start, edit.source_end, edit.label, edit.by)
        new = made.text[edit.start : edit.end]
        inside = any(start < one.start and one.end < end for start, end in strings)
        words.append(json.dumps(new, ensure_ascii=False)[1:-1] if inside else _quote_words(new))
        removals.append(one)
    return replace_removals(text, removals, words)


def _quote_words(words: str) -> str:
    return json.dumps(words, ensure_ascii=False)
