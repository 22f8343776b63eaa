"""Replace words in a Word file without leaving traces of the old ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import unescape
from io import BytesIO
from typing import NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from voile.core.errors import SourceError
from voile.data.formats.word import MARKS, WordFile, tree_of
from voile.data.formats.word_cleaning import ELSEWHERE, UnwritableError, clean

KEYWORDS = frozenset({
    "arial", "black", "blue", "calibri", "cambria", "center", "courier", "cyan", "georgia",
    "gray", "green", "grey", "helvetica", "left", "magenta", "office", "right", "roman", "single",
    "tahoma", "thick", "times", "verdana", "wave", "white", "yellow",
})  # fmt: skip
"""Formatting keywords that are also names of people."""
_ATTRIBUTE = re.compile(r'\s(?!xmlns)[\w:]+="([^"]*)"')
_WORD = re.compile(r"[^\W_]{4,}")
OVER = "a removed text crosses the end of a paragraph"
FORMATTING = "its formatting contains a removed text as well"
CHANGED = "cannot be written again with its text"


class TextChange(NamedTuple):
    """A range of characters in the text of a Word file, with its replacement."""

    start: int
    end: int
    words: str


def rewrite(raw: bytes, name: str, text: str, changes: Sequence[TextChange]) -> bytes:
    """Return a Word file with changes in its `text`. The changes are sorted and do not overlap.

    Guarantee: if the file is read again, it has the changed text. Its text is nowhere else in the
    file, and no attribute contains a removed word. The same input gives the same bytes.

    Raises SourceError: the file has another text, or cannot be written in this way. The message
    quotes no word.
    """
    word = WordFile(raw, name)
    if word.text != text:
        raise SourceError(
            "the document changed after voile read it", where=name, instead="run again"
        )
    try:
        _make_changes(word, changes)
        clean(word)
        made = _save_package(word)
        _check(made, name, text, changes)
    except UnwritableError as error:
        raise SourceError(str(error), where=name) from None
    except SourceError:
        raise
    except Exception:  # a library's message could quote the file
        raise SourceError(CHANGED, where=name) from None
    return made


def _make_changes(word: WordFile, changes: Sequence[TextChange]) -> None:
    """Make each change in the first run that it touches, and remove its other characters."""
    at = first = 0
    waiting = set(range(len(changes)))
    for element, words in word.pieces:
        start, end = at, at + len(words)
        while first < len(changes) and changes[first].end <= start:
            first += 1
        at = end
        made, place, number = "", start, first
        while number < len(changes) and changes[number].start < end:
            change = changes[number]
            made += words[place - start : max(change.start - start, 0)]
            if element is not None and element.tag not in MARKS and number in waiting:
                made += change.words
                waiting.remove(number)
            place = min(change.end, end)
            number += 1
        if number == first:
            continue
        if element is None:
            raise UnwritableError(OVER)
        if element.tag in MARKS:
            element.getparent().remove(element)
        else:
            element.text = made + words[place - start :]
    if waiting:
        raise UnwritableError(OVER)


def _save_package(word: WordFile) -> bytes:
    """Return the bytes of the file, without the time of writing."""
    stream, made = BytesIO(), BytesIO()
    word.package.save(stream)
    with ZipFile(stream) as archive, ZipFile(made, "w", ZIP_DEFLATED) as again:
        for name in sorted(archive.namelist(), key=lambda name: (name[0] != "[", name)):
            again.writestr(ZipInfo(name), archive.read(name), ZIP_DEFLATED)
    return made.getvalue()


def _check(made: bytes, name: str, text: str, changes: Sequence[TextChange]) -> None:
    again = WordFile(made, name)
    if again.text != change_text(text, changes):
        raise UnwritableError(CHANGED)
    read = {id(piece.element) for piece in again.pieces}
    for part in again.package.iter_parts():
        for one in tree_of(part).iter():
            own = "" if id(one) in read else one.text
            if f"{own or ''}{one.tail or ''}".strip():
                raise UnwritableError(ELSEWHERE)
    removed = {
        word
        for change in changes
        for word in _WORD.findall(text[change.start : change.end].casefold())
        if not word.isdigit() or len(word) > 6
    }
    if (removed - KEYWORDS) & set(_attribute_words(made)):
        raise UnwritableError(FORMATTING)


def _attribute_words(made: bytes) -> Iterable[str]:
    with ZipFile(BytesIO(made)) as archive:
        for name in archive.namelist():
            for value in _ATTRIBUTE.findall(archive.read(name).decode()):
                if not value.startswith("http://schemas."):
                    yield from _WORD.findall(unescape(value).casefold())


def change_text(text: str, changes: Sequence[TextChange]) -> str:
    """Return a text with the changes applied."""
    parts, at = [], 0
    for start, end, words in changes:
        parts += [text[at:start], words]
        at = end
    return "".join([*parts, text[at:]])
