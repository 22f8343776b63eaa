"""Cut the text before and after a line between words, with a sign at each cut."""

from __future__ import annotations

import re

CUT = "…"
_BLANKS = re.compile(r"\s+(?=\S)")
_WORDS = re.compile(r".*\S(?=\s)", re.DOTALL)


def text_before(text: str, place: int, most: int, *, since: int = 0) -> str:
    """Return the text before a position, back to `since`, with at most `most` characters.

    A sign marks a cut. A longer word is cut inside. O(most).

    >>> text_before("Motivo de ingreso: dolor", 19, 10)
    '… ingreso: '
    """
    start = max(since, place - most)
    if start == since:
        return text[start:place]
    blanks = _BLANKS.search(text, start - 1, place)
    return f"{CUT} {text[blanks.end() : place]}" if blanks else f"{CUT}{text[start:place]}"


def text_after(text: str, place: int, most: int, *, until: int | None = None) -> str:
    """Return the text after a position, up to `until`, with at most `most` characters.

    A sign marks a cut.

    >>> text_after("Motivo de ingreso: dolor", 6, 5)
    ' de …'
    """
    last = len(text) if until is None else until
    end = min(place + most, last)
    if end == last:
        return text[place:end]
    words = _WORDS.match(text, place, end + 1)
    return f"{words[0]} {CUT}" if words else f"{text[place:end]}{CUT}"
