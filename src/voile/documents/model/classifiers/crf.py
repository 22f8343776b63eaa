"""The classifier of a conditional random field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from voile.documents.model.classifiers.arrays import misfit, pack, take, unpack
from voile.documents.model.classifiers.chain import MOST, best_labels, log_odds
from voile.documents.model.classifiers.classifier import Arrays, Margins, TokenSight


@dataclass(frozen=True, eq=False)
class CrfClassifier:
    """A trained conditional random field. Its margins are log-odds of marginals."""

    saved_as: ClassVar[str] = "chain"

    weights: NDArray[np.float32]  # (columns, m), for each label in the training data
    transitions: NDArray[np.float64]  # (m, m) from the previous label
    labels: NDArray[np.int16]  # (m,) these labels, ascending
    shift: NDArray[np.float64]  # (T,) added to the log-odds: the logarithm of the cost, or 0

    def margins(self, sight: TokenSight) -> Margins:
        return self.odds(sight.scores(self.weights), sight.first)

    def odds(self, scores: NDArray[np.float32], first: NDArray[np.intp]) -> Margins:
        """Return the margins, (n, T), from the scores of the known labels, (n, m)."""
        found = np.full((len(scores), len(self.shift)), -MOST)
        if len(self.labels):
            kinds = self.labels > 0
            every = log_odds(np.ascontiguousarray(scores), self.transitions, first)
            found[:, self.labels[kinds] - 1] = every[:, kinds]
        return np.asarray(found + self.shift)

    def path(self, sight: TokenSight) -> NDArray[np.int16]:
        """Return the labels of each document's most likely path, (n,)."""
        return self.labels[best_labels(sight.scores(self.weights), self.transitions, sight.first)]

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        return pack(self.weights) | {
            "transitions": self.transitions,
            "labels": self.labels,
            "shift": self.shift,
        }

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> CrfClassifier:
        labels = take(arrays, "labels", "i", (None,)).astype(np.int16)
        shift = take(arrays, "shift", "f", (None,))
        transitions = take(arrays, "transitions", "f", (len(labels), len(labels)))
        steps = np.diff(labels, prepend=-1, append=len(shift) + 1)
        if (steps < 1).any():
            raise misfit("labels")
        return cls(unpack(arrays, len(labels)), transitions, labels, shift)
