"""Identifiers that the words and signs around them give away: titles, labels, letters, dates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from voile.core.errors import RequestError
from voile.documents.committee.committee import Remover, TokenRemovals
from voile.documents.committee.repeats import NameWords, find_mentions
from voile.documents.committee.worker import in_parts
from voile.documents.replacements.names import LANGUAGES, Language
from voile.documents.replacements.removal import Removal
from voile.documents.start.rules import details, names
from voile.documents.start.rules.finding import Finding, removals_by_document
from voile.documents.start.rules.language import check_language, guess_language
from voile.documents.start.rules.reading import Alphabet, Reading
from voile.documents.start.rules.rule import NAME, Rule
from voile.documents.start.rules.vocabulary import vocabulary
from voile.documents.text.document import Document
from voile.documents.words.tokens import Forms, Tokens, tokenise

__all__ = [
    "NAME",
    "REPEAT",
    "RULES",
    "RULE_NAMES",
    "Finding",
    "Rule",
    "Rules",
    "check_language",
    "guess_language",
]

REPEAT = Rule("repeat", NAME, re.compile(""))
RULES = names.RULES + details.RULES
RULE_NAMES = (*(rule.name for rule in RULES), REPEAT.name)


MOST_FORMS = Remover.MOST_FORMS
"""Forms remembered; beyond it all are forgotten."""


class Rules:
    """Propose what the rules of a language find, and further mentions of names found surely.

    >>> rules = Rules("english")
    >>> note = Document("Seen by Dr. Ossk. Ossk wrote.")
    >>> [(one.start, one.end, str(one.by[0])) for one in rules.propose([note])[0]]
    [(12, 16, 'rule title'), (18, 22, 'rule repeat')]
    """

    def __init__(self, language: Language = "english") -> None:
        if language not in LANGUAGES:
            raise RequestError(f"no rules for {language}", instead=f"use {' or '.join(LANGUAGES)}")
        self.language = language
        words = vocabulary(language)
        self._alphabets = (
            Alphabet(names.letters_of(words), names.RULES),
            Alphabet(details.letters_of(words), details.RULES),
        )
        self._known, self._seen = Forms(), NameWords()

    def propose(self, documents: Sequence[Document]) -> list[list[Removal]]:
        """Return the proposals for each document, in its order and apart. Cost: O(characters)."""
        return [found for part in in_parts(documents) for found in self._proposed(part)]

    def _proposed(self, documents: Sequence[Document]) -> list[list[Removal]]:
        if len(self._known) > MOST_FORMS:
            self._known = Forms()
        tokens = tokenise((document.text for document in documents), self._known)
        return removals_by_document(tokens, self.find(tokens))

    def find(self, tokens: Tokens) -> list[Finding]:
        """Return what the rules find, in their order, then further mentions."""
        found = []
        for alphabet in self._alphabets:
            reading = Reading(tokens, alphabet)
            found += [Finding(rule, *at) for rule in alphabet.rules for at in reading.find(rule)]
        return [*found, *self._repeats(tokens, found)]

    def _repeats(self, tokens: Tokens, found: Sequence[Finding]) -> Iterator[Finding]:
        """Yield each token with a word of a name that was found surely in its document."""
        sure = np.zeros(len(tokens), dtype=np.int16)
        for one in found:
            if one.rule.sure and one.rule.label == NAME:
                sure[one.start : one.end] = 1
        removed = TokenRemovals(tokens, sure, sure - np.int16(1), sure > 0)
        again = find_mentions(removed, np.array([False, True]), self._seen)
        for place in np.flatnonzero(again).tolist():
            yield Finding(REPEAT, place, place + 1)
