"""Identifiers that the words and signs around them give away: titles, labels, letters, dates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from voile.core.errors import RequestError
from voile.documents.committee.committee import TokenRemovals
from voile.documents.committee.repeats import NameWords, find_mentions
from voile.documents.replacements.names import LANGUAGES, Language
from voile.documents.replacements.removal import Removal, join_removals
from voile.documents.start.rules import names
from voile.documents.start.rules.reading import Reading
from voile.documents.start.rules.rule import Rule
from voile.documents.start.rules.vocabulary import vocabulary
from voile.documents.text.document import Document
from voile.documents.words.tokens import Forms, Tokens, tokenise

__all__ = ["REPEAT", "Rule", "Rules"]

NAME = "NAME"
REPEAT = Rule("repeat", NAME, re.compile(""))


class Finding(NamedTuple):
    """A rule's find: its first token, and the one after its last."""

    rule: Rule
    start: int
    end: int


class Rules:
    """Propose what the rules of a language find, and further mentions of names found surely.

    >>> rules = Rules("english")
    >>> note = Document("Seen by Dr. Osei. Osei wrote.")
    >>> [(one.start, one.end, str(one.by[0])) for one in rules.propose([note])[0]]
    [(12, 16, 'rule title'), (18, 22, 'rule repeat')]
    """

    def __init__(self, language: Language = "english") -> None:
        if language not in LANGUAGES:
            raise RequestError(f"no rules for {language}", instead=f"use {' or '.join(LANGUAGES)}")
        self.language = language
        self._letter = names.letters_of(vocabulary(language))
        self._known, self._seen = Forms(), NameWords()

    def propose(self, documents: Sequence[Document]) -> list[list[Removal]]:
        """Return the proposals for each document, in its order and apart. Cost: O(characters)."""
        tokens = tokenise((document.text for document in documents), self._known)
        by_document: list[list[list[Removal]]] = [[] for _ in documents]
        for one in self.find(tokens):
            start, end = int(tokens.starts[one.start]), int(tokens.ends[one.end - 1])
            removal = Removal(start, end, one.rule.label, (one.rule.by,))
            by_document[tokens.document[one.start]].append([removal])
        return [join_removals(*found) for found in by_document]

    def find(self, tokens: Tokens) -> list[Finding]:
        """Return what the rules find, in their order, then further mentions."""
        reading = Reading(tokens, self._letter)
        found = [
            Finding(rule, start, end)
            for rule in names.RULES
            for start, end in reading.find(rule.expression, "found")
        ]
        return [*found, *self._repeats(tokens, found)]

    def _repeats(self, tokens: Tokens, found: Sequence[Finding]) -> Iterator[Finding]:
        """Yield each token with a word of a name that was found surely in its document."""
        sure = np.zeros(len(tokens), dtype=np.int16)
        for one in found:
            if one.rule.sure and one.rule.label == NAME:
                sure[one.start : one.end] = 1
        removed = TokenRemovals(tokens, sure, sure - np.int16(1))
        again = find_mentions(removed, np.array([False, True]), self._seen)
        for place in np.flatnonzero(again).tolist():
            yield Finding(REPEAT, place, place + 1)
