"""Decide which words of a document's names are given names, and which are surnames.

The evidence is the form of the name: the order, a comma, a title, a field name before it. Without
such evidence, the last letters of the word decide. Lists of names are never used. With the lists,
an adversary could then find the rare names, which are on no list.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from voile.documents.replacements.names import PARTICLES, TITLES, Language, NamePool, fold

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_SURNAME = re.compile(r"o['’]|mc[^\W\d_]{3}")
_POSSESSIVE = re.compile("['’]s", re.IGNORECASE)

# Titles only at the beginning of a name, before a given name. In English, Don is a name and D. an
# initial.
_FIRST: dict[Language, frozenset[str]] = {
    "english": frozenset(),
    "spanish": frozenset(["d", "da", "don", "dona", "dna"]),
}
BETWEEN = {"english": frozenset(["and"]), "spanish": frozenset(["y", "e"])}
_SHORT = {"mª": "maria", "fco": "francisco"}

_HYPHENS = frozenset("-‐‑")
_PREFIXES = frozenset(["al", "el", "ibn"])
"""Particles that a hyphen may join to their surname: al-Masri."""

_LAST_WORD = re.compile(r"([^\W\d_]+)\.?\s*$")
_BEFORE_GIVEN = re.compile(
    r"\b(?:(?:first|given|fore)\s?names?|nombre|hi|hello|hey|dear|thanks,|hola|querid[oa])"
    r"\s*:?\s*$",
    re.IGNORECASE,
)
_BEFORE_SURNAME = re.compile(
    r"\b(?:sur ?names?|(?:last|family)\s?names?|apellidos?)\s*:?\s*$", re.IGNORECASE
)
_CERTAIN = 9  # outweighs the evidence of word order


@dataclass(frozen=True, slots=True)
class NameMention:
    """A mention of a name, with its context."""

    value: str  # the result of `undisguise`
    before: str  # the end of the text before it


@dataclass(frozen=True, slots=True)
class MentionPart:
    """A word of a mention."""

    start: int
    end: int
    word: str  # folded, without the ending of a possessive or a family
    what: str  # "name", "initial", "particle" of the following name, "title" or "and"
    tail: str  # 's, or the s of a family, as written


@lru_cache(maxsize=4096)
def parts_of(mention: NameMention, language: Language) -> tuple[MentionPart, ...]:
    """Return the role of each word of a mention."""
    found = list(WORD.finditer(mention.value))
    parts = tuple(_part(mention, number, found, language) for number in range(len(found)))
    if any(part.what in {"name", "initial"} for part in parts):
        return parts
    return tuple(MentionPart(one.start, one.end, one.word, "name", "") for one in parts)


def _part(
    mention: NameMention, number: int, found: Sequence[re.Match[str]], language: Language
) -> MentionPart:
    text, (start, end) = found[number].group(), found[number].span()
    stem = text.removesuffix(tail := _tail(mention, text, len(found)))
    word = fold(_SHORT.get(stem.lower(), stem))
    after = mention.value[end : end + 1]
    is_prefix = after in _HYPHENS and fold(text) in _PREFIXES
    follows = (after.isspace() or is_prefix) and number + 1 < len(found)
    if fold(text) in PARTICLES and follows:
        what = "particle"
    elif fold(text) in TITLES or (not number and fold(text) in _FIRST[language]):
        what = "title"
    elif 0 < number < len(found) - 1 and text in BETWEEN[language]:
        what = "and"
    else:
        what = "initial" if len(stem) == 1 else "name"
    return MentionPart(start, end, word, what, tail)


def _tail(mention: NameMention, text: str, words: int) -> str:
    """Return the ending of a possessive, or of a family: "the Smiths"."""
    if len(text) > 3 and _POSSESSIVE.fullmatch(text[-2:]):
        return text[-2:]
    is_family = words == 1 and len(text) > 4 and text[0].isupper() and text[-1] in "sS"
    if is_family and text[-2] not in "sS" and re.search(r"\bthe\s+$", mention.before, re.I):
        return text[-1]
    return ""


class NameRoles:
    """The roles of the words in a document's names: given name or surname.

    A word has one role in a document, by the mention with the strongest evidence.
    """

    def __init__(self, mentions: Iterable[NameMention], pool: NamePool, language: Language) -> None:
        self._pool = pool
        self._language = language
        self._weight: dict[tuple[str, bool], int] = {}
        for mention in mentions:
            for word, is_given, weight in self._evidence(mention):
                known = self._weight.get((word, is_given), 0)
                self._weight[word, is_given] = max(known, weight)

    def is_given(self, word: str) -> bool:
        given, surname = (self._weight.get((word, role), 0) for role in (True, False))
        if given != surname:
            return given > surname
        return not _SURNAME.match(word) and self._pool.leans_given(word)

    def _evidence(self, mention: NameMention) -> Iterator[tuple[str, bool, int]]:
        """Yield (word, whether it is a given name, the weight of the evidence)."""
        before = mention.before
        for is_and, parts in groupby(
            parts_of(mention, self._language), lambda part: part.what == "and"
        ):
            if not is_and:
                yield from self._of_one(mention, list(parts), before)
                before = ""

    def _of_one(
        self, mention: NameMention, parts: list[MentionPart], before: str
    ) -> Iterator[tuple[str, bool, int]]:
        """Yield the evidence from the name of one person."""
        units = _units(mention.value, parts)
        words = [[part.word for part in unit] for unit in units]
        if _BEFORE_SURNAME.search(before):
            roles = [False] * len(units)
            weight = _CERTAIN
        elif surnames := self._before_comma(mention.value, units):
            roles = [number >= surnames for number in range(len(units))]
            weight = _CERTAIN
        elif len(units) == 1:
            role = self._alone(parts, before)
            roles, weight = ([] if role is None else [role]), _CERTAIN
        else:
            roles, weight = list(self._in_order(words)), len(units)
        for unit, role in zip(words, roles, strict=False):
            yield from ((word, role, weight) for word in unit)

    def _before_comma(self, value: str, units: Sequence[Sequence[MentionPart]]) -> int:
        """Return the number of surnames before a comma: "Smith, Anna"; 0 for another order."""
        most = 3 if self._language == "spanish" else 1
        for number in range(1, min(most + 1, len(units))):
            if "," in value[units[number - 1][-1].end : units[number][0].start]:
                return number
        return 0

    def _alone(self, parts: Sequence[MentionPart], before: str) -> bool | None:
        """Return the role of a single name by the word before it; None without evidence."""
        titles = [part.word for part in parts if part.what == "title"]
        if not titles and (last := _LAST_WORD.search(before)):
            titles = [fold(last[1])]
        if _FIRST[self._language].intersection(titles):
            return True
        if TITLES.intersection(titles) or any(part.what == "particle" for part in parts):
            return False
        return True if _BEFORE_GIVEN.search(before) else None

    def _in_order(self, words: Sequence[Sequence[str]]) -> Iterator[bool]:
        """Yield the roles of names in their usual order: Spanish names have one or two surnames."""
        spanish = self._language == "spanish"
        for number, unit in enumerate(words):
            after = len(words) - 1 - number
            if number == 0 or after == 0:
                yield number == 0
            elif spanish and len(words) > 3 and after == 1:
                yield False
            else:
                yield not spanish or self._pool.leans_given(unit[0])


def _units(value: str, parts: Iterable[MentionPart]) -> list[list[MentionPart]]:
    """Group the words of a name that hyphens join."""
    units: list[list[MentionPart]] = []
    for part in parts:
        if part.what not in {"name", "initial"}:
            continue
        joined = units and value[units[-1][-1].end : part.start] in _HYPHENS
        if joined:
            units[-1].append(part)
        else:
            units.append([part])
    return units
