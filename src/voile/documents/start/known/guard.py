"""Words that the notes themselves use as words: in small letters, or in the notes of many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voile.documents.replacements.dates import MONTHS, WEEKDAYS
from voile.documents.start.known.looks import listed_names
from voile.documents.start.known.vocabulary import SMALL, Look, written
from voile.documents.words.tokens import Tokens

SHARE = 0.1
"""Of a word's occurrences: as many in small letters, and it is an ordinary word."""


@dataclass(frozen=True)
class Guard:
    """Which folded words are ordinary, so that one alone is no known value for sure.

    Learnt from the notes: a word of which `SHARE` of all occurrences are in small letters, those of
    the subject's own values aside. Months and days of the week always are.
    """

    words: frozenset[str] = frozenset()

    @classmethod
    def learn(cls, tokens: Tokens, look: Look, own: NDArray[np.bool_]) -> Guard:
        """Learn from all tokens but a subject's `own`, (n,)."""
        counts = np.bincount(tokens.form[~own], minlength=len(tokens.forms)).tolist()
        small: Counter[str] = Counter()
        total: Counter[str] = Counter()
        for form, word, n in zip(tokens.forms, look.folds, counts, strict=True):
            total[word] += n
            if n and written(form) == SMALL:
                small[word] += n
        return cls(frozenset(word for word, n in small.items() if n >= SHARE * total[word]))

    def is_ordinary(self, word: str) -> bool:
        return word in self.words or word in MONTHS or word in WEEKDAYS

    def is_other(self, word: str) -> bool:
        """Return whether a word is more likely itself than another with a typo."""
        given, surnames = listed_names()
        return self.is_ordinary(word) or word in given or word in surnames


def texts_with(tokens: Tokens, forms: Sequence[int]) -> dict[int, int]:
    """Return in how many texts each of some forms is."""
    wanted = np.zeros(len(tokens.forms), dtype=np.bool_)
    wanted[list(forms)] = True
    at = np.flatnonzero(wanted[tokens.form])
    pairs = np.unique(np.stack([tokens.form[at], tokens.document[at]]), axis=1)
    return dict(Counter(pairs[0].tolist()))
