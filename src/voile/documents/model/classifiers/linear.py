"""Classifiers that sum the weights of a token's columns and of the preceding classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.documents.model.classifiers.arrays import pack, take, unpack
from voile.documents.model.classifiers.classifier import Arrays, Margins, TokenSight

Weights = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class LinearClassifier(BriefRepr):
    """A linear classifier for each type."""

    saved_as: ClassVar[str] = "linear"

    weights: Weights  # (columns, T)
    bias: Weights  # (T,) added to every token
    # (window, T, T) added for each type that was assigned 1, 2, ... tokens before
    history: Weights

    def margins(self, sight: TokenSight) -> Margins:
        """Return the margin of each type for each token, (n, T), decided from left to right."""
        return decide_in_order(sight.scores(self.weights) + self.bias, self.history, sight.first)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        return pack(self.weights) | {"bias": self.bias, "history": self.history}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> LinearClassifier:
        bias = take(arrays, "bias", "f", (None,))
        types = len(bias)
        history = take(arrays, "history", "f", (None, types, types))
        return cls(
            unpack(arrays, types), bias.astype(np.float32), history.astype(np.float32, order="C")
        )


@njit(cache=True, nogil=True)
def decide_in_order(
    scores: NDArray[np.float32], history: NDArray[np.float32], first: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return the margins of each token, (n, T), given the classes of the tokens before it.

    A token's class is the type with the highest positive margin, or else harmless. Cost: O(n window
    T).
    """
    n, types = scores.shape
    margins = np.zeros((n, types))
    classes = np.zeros(n, np.int16)
    for d in range(len(first) - 1):
        start = first[d]
        for i in range(start, first[d + 1]):
            margins[i] = scores[i]
            for k in range(min(len(history), i - start)):
                if classes[i - 1 - k]:
                    margins[i] += history[k, classes[i - 1 - k] - 1]
            top = np.argmax(margins[i])
            if margins[i, top] > 0:
                classes[i] = top + 1
    return margins
