"""Align a redacted text with its original to find replacements without a record."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from difflib import SequenceMatcher

from voile.documents.replacements.published import PublishedEdit
from voile.documents.text.document import Document

PIECE = re.compile(r"\w+|\s+|[^\w\s]")
MARKS = (
    re.compile(r"\[[^\[\]\n]+\]|<[^<>\n]+>|\{[^{}\n]+\}"),
    re.compile(r"[█■▇_]{2,}|\*{2,}|[Xx]{3,}|#{2,}"),
)
"""Marks that tools put in place of removed text: a type in brackets, or blots."""
LEAST_ALIKE = 0.2
"""The least share of a published text, without marks, that must match its original in order."""


def align(original: str, published: str) -> tuple[PublishedEdit, ...]:
    """Return the replacements as edits; outside them both texts are equal.

    Cost: O(n m) in the pieces of both texts at worst, and near O(n) if little was replaced.

    >>> align("Ann May came.", "[NAME] came.")
    (PublishedEdit(start=0, end=6, source_start=0, source_end=7, label='', by=()),)
    """
    ours, theirs = PIECE.findall(published), PIECE.findall(original)
    at, there = _starts(ours), _starts(theirs)
    matcher = SequenceMatcher(None, theirs, ours, autojunk=False)
    return tuple(
        PublishedEdit(at[b1], at[b2], there[a1], there[a2], "")
        for how, a1, a2, b1, b2 in matcher.get_opcodes()
        if how != "equal"
    )


def is_of(original: Document, published: str, edits: Iterable[PublishedEdit]) -> bool:
    """Return whether a published text can come from this original: most of its text must match."""
    outside = sum(edit.end - edit.start for edit in edits)
    marks = sum(len(match[0]) for form in MARKS for match in form.finditer(published))
    rest = len(published) - marks
    return rest <= 0 or (len(published) - outside) / rest >= LEAST_ALIKE


def count_marks(published: Iterable[str]) -> Counter[str]:
    """Count each bracketed mark of texts by its form, and all blots as one."""
    bracketed, blots = MARKS
    found: Counter[str] = Counter()
    for text in published:
        found.update(match[0] for match in bracketed.finditer(text))
        found["blots"] += sum(1 for _ in blots.finditer(bracketed.sub(" ", text)))
    return +found


def _starts(pieces: list[str]) -> list[int]:
    starts = [0]
    for piece in pieces:
        starts.append(starts[-1] + len(piece))
    return starts
