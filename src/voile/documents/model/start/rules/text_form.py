"""A form: a regular expression that finds an identifier of a type in a normalised text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from voile.documents.replacements.removal import RemovalReason

_CLOSE = 48
"""The number of characters before a find that may contain its cue."""


@dataclass(frozen=True)
class TextForm:
    """A regular expression for an identifier of a type.

    The find is its group `found`, or else all.
    """

    name: str
    label: str
    expression: re.Pattern[str]
    before: re.Pattern[str] | None = None  # a pattern that must end where the find begins
    needs: tuple[str, ...] = ()  # a text without any of these, in lower case, has no such form
    near: re.Pattern[str] | None = None  # search only near the matches of this pattern
    checked = False

    @property
    def by(self) -> RemovalReason:
        return RemovalReason("rule", self.name)

    def slices(self, plain: str) -> Iterator[tuple[int, int]]:
        """Yield the offsets of the form in a normalised text."""
        if self.needs and not any(map(plain.lower().__contains__, self.needs)):
            return
        group = "found" if "found" in self.expression.groupindex else 0
        for area in self._areas(plain):
            for match in self.expression.finditer(plain, *area):
                start, end = match.span(group)
                if self.before is None or self.before.search(plain, max(0, start - _CLOSE), start):
                    yield start, end

    def _areas(self, plain: str) -> Iterator[tuple[int, int]]:
        """Yield the parts of a text to search, ordered and disjoint."""
        if self.near is None:
            yield 0, len(plain)
            return
        begin = end = 0
        for match in self.near.finditer(plain):
            if match.start() - _CLOSE > end:
                if end:
                    yield begin, end
                begin = match.start() - _CLOSE
            end = match.end() + _CLOSE
        if end:
            yield max(0, begin), end


def make_form(
    name: str, label: str, *expressions: str, case: bool = False, needs: tuple[str, ...] = ()
) -> TextForm:
    joined = "|".join(f"(?:{one})" for one in expressions)
    flags = re.NOFLAG if case else re.IGNORECASE
    return TextForm(
        name, label, re.compile(rf"(?<![\w./-])(?:{joined})(?![\w])", flags), needs=needs
    )


def make_number_after(name: str, label: str, before: str, found: str) -> TextForm:
    """Return a form for figures after some words. Figures are rarer, and are searched first."""
    number = re.compile(rf"(?<![\w./-])(?:{found})(?![\w])", re.IGNORECASE)
    return TextForm(name, label, number, re.compile(rf"(?<!\w)(?:{before})\Z", re.IGNORECASE))


def make_form_after(
    name: str,
    label: str,
    before: str,
    found: str,
    *,
    case: bool = False,
    near: re.Pattern[str] | None = None,
) -> TextForm:
    flags = re.NOFLAG if case else re.IGNORECASE
    form = re.compile(rf"\b(?:{before})(?P<found>{found})(?![\w])", flags)
    return TextForm(name, label, form, near=near)
