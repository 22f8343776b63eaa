"""Recognise a single value: an identifier of some form, or a person's name."""

from __future__ import annotations

import re
from functools import cache

from voile.documents.patterns.pattern import TextPattern
from voile.documents.replacements.names import LANGUAGES, builtin_names, fold, name_words

COVERED = 0.8  # of a value's characters; the other characters may be a label such as "Tel."
LOOKED_AT = 200  # characters
LONGEST_NAME = 60
_NUMBER = r"\d{1,4}[A-Za-z]?"
_ADDRESS = re.compile(rf"(?=.*[^\W\d_]{{3}})(?:{_NUMBER}\s[^\d].*|[^\d]+\s{_NUMBER}(?:\W.*)?)")


def is_all(pattern: TextPattern, text: str) -> bool:
    """Return whether a pattern covers nearly all of a value."""
    found = pattern.find(text[:LOOKED_AT])
    covered = sum(one.end - one.start for one in found)
    return covered >= COVERED * len(text.strip()) > 0


def is_address(text: str) -> bool:
    """Return whether a value consists of words and a house number, before or after them."""
    return _ADDRESS.match(text.strip()) is not None


def is_name(text: str) -> bool:
    """Return whether a value is one listed word, or a few words with a listed given name."""
    if len(text) > LONGEST_NAME or any(one.isdigit() for one in text):
        return False
    words = name_words(text)
    given, surnames = _load_lists()
    if len(words) == 1:
        return words[0] in given or words[0] in surnames
    return 2 <= len(words) <= 5 and not given.isdisjoint(words)


@cache
def _load_lists() -> tuple[frozenset[str], frozenset[str]]:
    """Return the given names and the words of surnames on the shipped lists, folded."""
    lists = [builtin_names(language) for language in LANGUAGES]
    given = {fold(name) for names in lists for name in (*names.female, *names.male)}
    surnames = {word for names in lists for name in names.surnames for word in name_words(name)}
    return frozenset(given), frozenset(surnames)
