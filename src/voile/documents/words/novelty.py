"""Measure the novelty of texts for a kit: the share of words that no note of the kit contains."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_WORD = re.compile(r"[^\W\d_]{2,}")
_FOLDS = 5
_LEAST_WORDS, _LEAST_TEXTS = 8, 20
_HIGH, _FLOOR = 0.95, 0.1
"""The percentile of the kit's own notes, and the share below which nothing counts as high.

The floor matters for notes from a template.
"""


@dataclass(frozen=True, eq=False)
class NoveltyCheck:
    """The hashed words of a kit's notes, and the distribution of new words in these notes.

    usual, high : the median and the 95th percentile of the notes' shares of new words. A word is
        new if no other fold of the kit's own notes contains it. Upper and lower case are different.
    """

    words: NDArray[np.uint32]
    usual: float
    high: float

    @classmethod
    def learn(cls, texts: Sequence[str], subjects: Sequence[str]) -> NoveltyCheck | None:
        """Learn the words of notes; return None if there are too few notes. Cost: O(characters).

        Each note is compared with the notes of the other folds. All notes of a subject are in one
        fold.
        """
        folds: dict[str, int] = {}
        own = []
        for text, subject in zip(texts, subjects, strict=True):
            bit = 1 << _hash(subject) % _FOLDS
            words = _WORD.findall(text)
            if len(words) >= _LEAST_WORDS:
                own.append((words, bit))
            for word in {*words}:
                folds[word] = folds.get(word, 0) | bit
        shares = [sum(folds[w] == bit for w in words) / len(words) for words, bit in own]
        if len(shares) < _LEAST_TEXTS:
            return None
        usual, high = np.quantile(shares, [0.5, _HIGH])
        known = np.unique(np.array([*map(_hash, folds)], np.uint32))
        return cls(known, float(usual), max(float(high), _FLOOR))

    def measure(self, texts: Iterable[str]) -> float | None:
        """Return the median share of new words in some texts.

        It is None if no text has enough words.
        """
        shares = []
        for text in texts:
            words = _WORD.findall(text)
            if len(words) >= _LEAST_WORDS:
                numbers = np.array([*map(_hash, words)], np.uint32)
                shares.append(1 - float(np.isin(numbers, self.words).mean()))
        return float(np.median(shares)) if shares else None

    def to_data(self) -> dict[str, Any]:
        """Return plain data for a kit."""
        words = base64.b64encode(self.words.astype("<u4").tobytes()).decode("ascii")
        return {"words": words, "usual": self.usual, "high": self.high}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> NoveltyCheck:
        """Create the check from the data of `to_data`."""
        words = np.frombuffer(base64.b64decode(data["words"]), "<u4")
        return cls(words.astype(np.uint32), data["usual"], data["high"])


def _hash(word: str) -> int:
    digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return int.from_bytes(digest, "little")
