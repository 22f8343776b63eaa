"""Find words that the notes use as ordinary words: in lower case, or in many people's notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from voile.documents.model.start.known.vocabulary import FormWords
from voile.documents.replacements.dates import MONTHS, WEEKDAYS
from voile.documents.words.attributes import SMALL, classify_form
from voile.documents.words.tokens import GLUED, TextTokens

LABELS = 0.5
FEW_TEXTS = 2
SHARE = 0.1
"""The share of lower-case occurrences from which a word is an ordinary word."""


@dataclass(frozen=True)
class WordGuard:
    """The words of the notes' own language, which alone are no certain evidence of a known value.

    They are learned from the notes, without a subject's own values. Months and days of the week are
    ordinary words.
    """

    ordinary: frozenset[str] = frozenset()
    """Folded words with at least `SHARE` of lower-case occurrences, or mostly before a colon."""
    common: Mapping[str, int] = field(default_factory=dict)
    """Folded words in more than `FEW_TEXTS` texts, with the number of these texts.

    None of them is taken for another word with a typo.
    """

    @classmethod
    def learn(cls, tokens: TextTokens, look: FormWords, own: NDArray[np.bool_]) -> WordGuard:
        """Learn from all tokens except a subject's `own`, (n,)."""
        counted = ~own & ~_in_addresses(tokens) & ~_behind_letters(tokens)
        small, labels, total, texts = (Counter[str]() for _ in range(4))
        counts = zip(
            _counts(tokens, counted),
            _counts(tokens, counted & _labels(tokens)),
            _texts(tokens, counted),
            strict=True,
        )
        for form, word, (n, before, several) in zip(tokens.forms, look.folds, counts, strict=True):
            if n:
                total[word] += n
                labels[word] += before
                texts[word] += several
                small[word] += n * (classify_form(form) == SMALL)
        words = {word for word, n in small.items() if n and n >= SHARE * total[word]}
        words.update(word for word, n in labels.items() if n > LABELS * total[word])
        common = {word: n for word, n in texts.items() if n > FEW_TEXTS}
        return cls(frozenset(words), common)

    @cached_property
    def frequent(self) -> AbstractSet[str]:
        return self.common.keys() | self.ordinary

    def is_ordinary(self, word: str) -> bool:
        return word in self.ordinary or word in MONTHS or word in WEEKDAYS


def _counts(tokens: TextTokens, counted: NDArray[np.bool_]) -> list[int]:
    found: list[int] = np.bincount(tokens.form[counted], minlength=len(tokens.forms)).tolist()
    return found


def _texts(tokens: TextTokens, counted: NDArray[np.bool_]) -> list[int]:
    """Return the number of texts with each form."""
    forms = np.int64(len(tokens.forms))
    pairs = np.unique(tokens.document[counted] * forms + tokens.form[counted])
    found: list[int] = np.bincount(pairs % forms, minlength=len(tokens.forms)).tolist()
    return found


def _labels(tokens: TextTokens) -> NDArray[np.bool_]:
    """Return which tokens come before a colon."""
    return np.append(_are(tokens, ":")[1:] & (tokens.gap[1:] == GLUED), False)[: len(tokens)]


def _in_addresses(tokens: TextTokens) -> NDArray[np.bool_]:
    """Return which tokens are part of a web or e-mail address, where names are in lower case."""
    sign, glued = _are(tokens, "@./"), tokens.gap == GLUED
    found = np.zeros(len(tokens), dtype=np.bool_)
    found[1:] = glued[1:] & sign[:-1]
    found[:-2] |= glued[1:-1] & sign[1:-1] & glued[2:]
    return found


def _behind_letters(tokens: TextTokens) -> NDArray[np.bool_]:
    """Return which tokens an apostrophe joins to a capital, such as the end of O'brien."""
    capital = np.array([len(one) == 1 and one.isupper() for one in tokens.forms], dtype=np.bool_)
    joined = tokens.gap == GLUED
    found = np.zeros(len(tokens), dtype=np.bool_)
    found[2:] = capital[tokens.form[:-2]] & joined[1:-1] & _are(tokens, "'")[1:-1] & joined[2:]
    return found


def _are(tokens: TextTokens, signs: str) -> NDArray[np.bool_]:
    among = np.array([form in signs for form in tokens.forms], dtype=np.bool_)
    return among[tokens.form]
