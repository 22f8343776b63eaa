"""Known values as one would match them in an afternoon: the rival of documents_known."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache

from rapidfuzz import process
from rapidfuzz.distance import DamerauLevenshtein

from voile.documents import Document
from voile.documents.replacements.names import PARTICLES, fold
from voile.documents.replacements.removal import TextRemoval

WORD = re.compile(r"\w+")
SHORTEST, TYPO_FROM = 3, 4
BETWEEN = r"[\s./()-]{0,2}"
MONTHS = (
    ("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"),
    ("january february march april may june july august september october november december"),
)


class Prototype:
    """Match words folded or one typo away, numbers by their digits, days by a list of forms.

    A word with a typo has a capital, and is none that the notes have in small letters.
    """

    def __init__(
        self,
        patients: Mapping[str | None, Mapping[str, Sequence[str]]],
        people: Mapping[str, Sequence[str]],
        notes: Iterable[Document],
    ) -> None:
        self._patients, self._people = patients, people
        self._small = {
            word for one in notes for word in WORD.findall(one.text) if word == word.lower()
        }

    def propose(self, documents: Sequence[Document]) -> list[list[TextRemoval]]:
        return [self._of(one) for one in documents]

    def _of(self, document: Document) -> list[TextRemoval]:
        own = self._patients.get(document.subject, {})
        kinds = {kind: [*own.get(kind, ()), *self._people.get(kind, ())] for kind in KINDS}
        found = set(self._names(document.text, kinds["name"]))
        lowered = document.text.lower()
        for kind, expressions in KINDS.items():
            for value in kinds[kind] if kind != "name" else ():
                if kind == "text" and not _may_be_in(value, lowered):
                    continue
                for pattern in _compiled(expressions, value):
                    found |= {match.span() for match in pattern.finditer(document.text)}
        return [TextRemoval(start, end, "KNOWN") for start, end in sorted(found)]

    def _names(self, text: str, names: Sequence[str]) -> Iterable[tuple[int, int]]:
        words = {word for name in names for word in _words(name)}
        long = [word for word in words if len(word) >= TYPO_FROM]
        tokens = list(WORD.finditer(text))
        forms = {fold(token.group()) for token in tokens}
        doubtful = [form for form in forms - words - self._small if len(form) >= TYPO_FROM]
        near = process.cdist(doubtful, long, scorer=DamerauLevenshtein.distance, score_cutoff=1)
        typos = {form for form, row in zip(doubtful, near, strict=True) if (row <= 1).any()}
        for token in tokens:
            form = fold(token.group())
            if form in words or (form in typos and token.group() != token.group().lower()):
                yield token.span()


@cache
def _compiled(expressions: Callable[[str], list[str]], value: str) -> list[re.Pattern[str]]:
    return [re.compile(rf"(?<!\w){one}(?!\w)", re.IGNORECASE) for one in expressions(value)]


@cache
def _words(name: str) -> frozenset[str]:
    words = {fold(word) for word in WORD.findall(name)}
    return frozenset(one for one in words if len(one) >= SHORTEST and one not in PARTICLES)


@cache
def _first(value: str) -> str:
    return next(iter(WORD.findall(value)), "").lower()


def _may_be_in(value: str, lowered: str) -> bool:
    return _first(value) in lowered


def _digits(value: str) -> list[str]:
    digits = re.sub(r"\D", "", value).lstrip("0")
    return [rf"0*{BETWEEN.join(digits)}"] if len(digits) >= SHORTEST else []


def _days(value: str) -> list[str]:
    match = re.fullmatch(r"(\d\d?)[/-](\d\d?)[/-](\d{4})", value)
    if not match or not 1 <= int(match[2]) <= 12:
        return []
    day, month, year = map(int, match.groups())
    names = "|".join(names.split()[month - 1] for names in MONTHS)
    short = "|".join(names.split()[month - 1][:3] for names in MONTHS)
    name = rf"(?:{names}|{short})\.?"
    return [
        rf"0?{day}[/.-]0?{month}[/.-](?:{year}|{year % 100:02})",
        rf"{year}[/.-]0?{month}[/.-]0?{day}",
        rf"0?{day}(?: de |[ -]){name}(?: de |[ -]){year}",
        rf"{name} 0?{day},? {year}",
    ]


def _text(value: str) -> list[str]:
    return [r"\W+".join(map(re.escape, WORD.findall(value)))] if WORD.search(value) else []


KINDS = {"name": _text, "id": _digits, "phone": _digits, "date": _days, "text": _text}
"""What is matched by regular expressions, and how; names are matched word by word."""
