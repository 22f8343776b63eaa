"""Replace identifiers in notes that are JSON or other markup, so that the markup stays valid."""

from __future__ import annotations

import dataclasses
import html
import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from voile.documents.replacements.published import (
    PublishedText,
    RemovalReplacer,
    replace_removals,
)
from voile.documents.replacements.removal import TextRemoval
from voile.documents.replacements.spans import settle_spans
from voile.documents.text.document import Document

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
    """Return whether a text is a JSON object or list."""
    if text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def keep_json(text: str, made: PublishedText) -> PublishedText:
    """Return a published text that is JSON if its source is JSON: a replaced number gets quotes.

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


# HTML elements that need no closing tag.
_OPEN = "area base br col dd dt hr img input li link meta option p source td th tr track wbr"
_NEVER_CLOSED = frozenset(_OPEN.split())
_ATTRIBUTE = r"""\s+[\w:.-]+(?:\s*=\s*(?:"[^"<]*"|'[^'<]*'|[^\s"'<>=`]+))"""
_TAG = re.compile(rf"</?(?P<name>[A-Za-z][\w:.-]*)(?P<attributes>(?:{_ATTRIBUTE})*)\s*(/?)>")
_VALUE = re.compile(r"""=\s*(?:"(?P<a>[^"<]*)"|'(?P<b>[^'<]*)'|(?P<c>[^\s"'<>=`]+))""")
_ENDS = re.compile(r"<!--|-->|<!\[CDATA\[|\]\]>|<\?xml[^>]*\?>|<!doctype[^>]*>", re.IGNORECASE)
_REFERENCE = re.compile(r"&(?:#[0-9]+|#[xX][0-9a-fA-F]+|[A-Za-z][A-Za-z0-9]*);")
_RAW = re.compile(r"<!--.*?-->|<!\[CDATA\[.*?\]\]>", re.DOTALL)
_ESCAPES = {ord(one): f"&#{ord(one)};" for one in "&<>\"'"}
_IN_WORDS = "'’-‐‑"
_Places = list[tuple[int, int]]


def spare_elements(text: str, removals: Sequence[TextRemoval]) -> Sequence[TextRemoval]:
    """Return the removals without the syntax of elements, and with whole words of references.

    A word in angle brackets is an element if it is closed somewhere or belongs to HTML. So
    `<Smith>` in plain text is still removed.

    >>> note = '<p title="Anna">O&#39;Brien</p>'
    >>> spared = spare_elements(note, [TextRemoval(9, 15, "NAME"), TextRemoval(16, 17, "NAME")])
    >>> [note[one.start : one.end] for one in spared]
    ['Anna', 'O&#39;Brien']
    """
    if not removals or not (tags := _find_tags(text)):
        return removals
    syntax, words = _find_syntax(text, tags)
    whole = settle_spans(text, [_complete_word(one, words) for one in removals])
    return [part for one in whole for part in _subtract(text, one, syntax)]


def replace_in_elements(
    document: Document, removals: Sequence[TextRemoval], put: RemovalReplacer
) -> PublishedText:
    """Replace removals without the syntax of elements, and escape the replacements.

    The replacer sees characters instead of their references: O'Brien for `O&#39;Brien`.
    """
    text = document.text
    spared = spare_elements(text, removals)
    if not spared or not (tags := _find_tags(text)):
        return put(document, spared)
    raw = [match.span() for match in _RAW.finditer(text)]
    bare = [value.span("c") for tag in tags for value in _values_of(text, tag)]
    meant = [
        old if _is_inside(one.start, raw) else html.unescape(old)
        for one in spared
        for old in (text[one.start : one.end],)
    ]
    plain = replace_removals(text, spared, meant)
    made = put(
        dataclasses.replace(document, text=plain.text, spans=()),
        [TextRemoval(one.start, one.end, one.label, one.by) for one in plain.edits],
    )
    edits, words = [], []
    for edit in made.edits:
        start, end = plain.to_source(edit.source_start, edit.source_end)
        edits.append(TextRemoval(start, end, edit.label, edit.by))
        new = made.text[edit.start : edit.end]
        new = new if _is_inside(start, raw) else new.translate(_ESCAPES)
        words.append("&#32;".join(new.split()) if _is_inside(start, bare) else new)
    return replace_removals(text, edits, words)


def _find_tags(text: str) -> list[re.Match[str]]:
    if "<" not in text:
        return []
    tags = list(_TAG.finditer(text))
    opened, closed = (
        {one["name"] for one in tags if one[0].startswith("</") is is_end}
        for is_end in (False, True)
    )
    known = (opened & closed) | {one["name"] for one in tags if one[3]}
    return [one for one in tags if one["name"] in known or one["name"].lower() in _NEVER_CLOSED]


def _find_syntax(text: str, tags: Sequence[re.Match[str]]) -> tuple[_Places, _Places]:
    """Return the parts that no removal covers, and the words that are removed only as a whole."""
    syntax = [match.span() for match in _ENDS.finditer(text)]
    for tag in tags:
        done = tag.start()
        for value in _values_of(text, tag):
            start, end = value.span(value.lastgroup or 0)
            syntax.append((done, start))
            done = end
        syntax.append((done, tag.end()))
    references = list(_REFERENCE.finditer(text))
    syntax += [one.span() for one in references if not _is_letter(one[0])]
    words: _Places = []
    for one in references:
        if _is_letter(one[0]):
            start, end = _find_letters(text, *one.span())
            words.append((words.pop()[0] if words and words[-1][1] >= start else start, end))
    return sorted(syntax), words


def _values_of(text: str, tag: re.Match[str]) -> Iterator[re.Match[str]]:
    return _VALUE.finditer(text, *tag.span("attributes"))


def _is_letter(reference: str) -> bool:
    """Return whether a reference represents a part of a word: `&eacute;`, `&#39;`."""
    meant = html.unescape(reference)
    return meant.isalnum() or meant in _IN_WORDS


def _find_letters(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the offsets of a reference with the letters and digits around it."""
    while start and text[start - 1].isalnum():
        start -= 1
    while end < len(text) and text[end].isalnum():
        end += 1
    return start, end


def _complete_word(one: TextRemoval, words: _Places) -> TextRemoval:
    first = bisect_left(words, one.start + 1, key=lambda word: word[1])
    last = bisect_left(words, one.end, key=lambda word: word[0]) - 1
    if first > last:
        return one
    start, end = min(one.start, words[first][0]), max(one.end, words[last][1])
    return dataclasses.replace(one, start=start, end=end)


def _subtract(text: str, one: TextRemoval, syntax: _Places) -> Iterator[TextRemoval]:
    """Yield the parts of a removal between the syntax that contain a letter or digit."""
    done, cut = one.start, False
    first = bisect_left(syntax, one.start, key=lambda place: place[1])
    last = bisect_left(syntax, one.end, lo=first, key=lambda place: place[0])
    for start, end in [*syntax[first:last], (one.end, one.end)]:
        if end <= done and start < one.end:
            continue
        stop = min(start, one.end)
        cut = cut or start < one.end
        part = text[done:stop]
        if not cut or any(map(str.isalnum, part)):
            lead = len(part) - len(part.lstrip()) if cut else 0
            tail = len(part) - len(part.rstrip()) if cut else 0
            if done + lead < stop - tail:
                yield dataclasses.replace(one, start=done + lead, end=stop - tail)
        done = max(done, end)
        if start >= one.end or done >= one.end:
            return


def _is_inside(place: int, places: Sequence[tuple[int, int]]) -> bool:
    return any(start <= place < end for start, end in places)
