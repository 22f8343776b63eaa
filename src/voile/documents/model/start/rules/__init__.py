"""Find identifiers by the words and signs around them: titles, labels, letters, dates."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.documents.model.committee.removals import TokenRemovals
from voile.documents.model.committee.repeats import NameWords, find_mentions
from voile.documents.model.start.lists import clusters_of, digest_of_clusters
from voile.documents.model.start.rules import details, names
from voile.documents.model.start.rules.finding import RuleFind, removals_by_document
from voile.documents.model.start.rules.reading import RuleAlphabet, TokenText
from voile.documents.model.start.rules.rule import NAME, LetterRule
from voile.documents.model.start.rules.vocabulary import vocabulary
from voile.documents.replacements.names import LANGUAGES, Language
from voile.documents.replacements.removal import TextRemoval
from voile.documents.text.document import Document, in_parts
from voile.documents.words.tokens import MOST_FORMS, Lists, TextTokens, TokenNumbers, tokenise

KIT_NAME = "rules"
"""The prefix of a kit's hinter name for rules."""
NO_NAME, PERHAPS, SURELY = range(3)
"""The levels of a token by the rules for names."""

REPEAT = LetterRule("repeat", NAME, re.compile(""))
RULES = names.RULES + details.RULES
RULE_NAMES = (*(rule.name for rule in RULES), REPEAT.name)


class LanguageRules:
    """A finder with the rules of a language, which also finds further mentions of sure names.

    >>> rules = LanguageRules("english")
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
            RuleAlphabet(names.letters_of(words), names.RULES),
            RuleAlphabet(details.letters_of(words), details.RULES),
        )
        self._known, self._seen = TokenNumbers(), NameWords()

    @cached_property
    def name(self) -> str:
        """The name of the rules in a kit, which distinguishes their versions."""
        return f"{KIT_NAME} {self.language} {_version(self.language)}"

    @property
    def lists(self) -> Lists:
        """The clusters of the language's words; see `TokenHinter`."""
        return clusters_of(self.language)

    def levels(self, tokens: TextTokens) -> NDArray[np.int32]:
        """Return the level of each token by the rules for names, (n,); see `TokenHinter`."""
        level = np.full(len(tokens), NO_NAME, dtype=np.int32)
        for one in sorted(self.find(tokens), key=lambda one: one.is_sure):
            if one.rule.label == NAME:
                level[one.start : one.end] = SURELY if one.is_sure else PERHAPS
        return level

    def propose(self, documents: Sequence[Document]) -> list[list[TextRemoval]]:
        """Return the proposals for each document, ordered and disjoint. Cost: O(characters)."""
        return [found for part in in_parts(documents) for found in self._propose_removals(part)]

    def propose_by_form(self, documents: Sequence[Document]) -> list[list[TextRemoval]]:
        """Return the sure finds of each document, and all finds that are not names."""
        return [
            found
            for part in in_parts(documents)
            for found in self._propose_removals(part, sure=True)
        ]

    def _propose_removals(
        self, documents: Sequence[Document], *, sure: bool = False
    ) -> list[list[TextRemoval]]:
        if len(self._known) > MOST_FORMS:
            self._known = TokenNumbers()
        tokens = tokenise((document.text for document in documents), self._known)
        found = [one for one in self.find(tokens) if one.is_sure or not sure]
        return removals_by_document(tokens, found, [one.text for one in documents])

    def find(self, tokens: TextTokens) -> list[RuleFind]:
        """Return the finds of the rules in order, followed by further mentions."""
        found = []
        for alphabet in self._alphabets:
            reading = TokenText(tokens, alphabet)
            found += [RuleFind(rule, *at) for rule in alphabet.rules for at in reading.find(rule)]
        return [*found, *self._repeats(tokens, found)]

    def _repeats(self, tokens: TextTokens, found: Sequence[RuleFind]) -> Iterator[RuleFind]:
        """Yield each token with a word of a surely found name in the same document."""
        sure = np.zeros(len(tokens), dtype=np.int16)
        for one in found:
            if one.rule.sure and one.rule.label == NAME:
                sure[one.start : one.end] = 1
        removed = TokenRemovals(tokens, sure, sure - np.int16(1), sure > 0)
        again = find_mentions(removed, np.array([False, True]), self._seen)
        for place in np.flatnonzero(again).tolist():
            yield RuleFind(REPEAT, place, place + 1)


def find_rules(name: str) -> LanguageRules:
    """Return the rules of a kit, by their full name."""
    rules = LanguageRules(cast(Language, name.split(" ")[1]))
    if rules.name != name:
        raise RequestError(
            "the kit learnt with another version of the rules",
            instead="apply it with the voile that made it, or make it again",
        )
    return rules


def _version(language: Language) -> str:
    """Return a hash of the expressions, and of the words and clusters of a language."""
    expressions = [
        (one.name, one.sure, one.expression.pattern, one.within and one.within.pattern)
        for one in RULES
    ]
    words = {key: _sort_words(value) for key, value in vars(vocabulary(language)).items()}
    data = json.dumps([expressions, words, digest_of_clusters(language)], sort_keys=True).encode()
    return hashlib.sha256(data).hexdigest()[:16]


def _sort_words(words: frozenset[str] | Mapping[str, frozenset[str]]) -> object:
    if isinstance(words, Mapping):
        return {key: sorted(own) for key, own in words.items()}
    return sorted(words)
