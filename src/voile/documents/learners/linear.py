"""Classifiers that add up the weights of a token's columns, and of the classes before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import Brief
from voile.documents.learners.history import follow
from voile.documents.learners.learner import Arrays, Margins, Sight
from voile.documents.learners.storing import packed, taken, unpacked

Weights = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Linear(Brief):
    """A sum of weights for each type.

    Parameters
    ----------
    weights : (columns, T).
    bias : (T,) what every token gets.
    history : (window, T, T) what a token gains for each type decided 1, 2, ... tokens before it.
    """

    weights: Weights
    bias: Weights
    history: Weights

    def margins(self, sight: Sight) -> Margins:
        """Return each token's margin for each type, (n, T), decided from left to right."""
        return follow(sight.scores(self.weights) + self.bias, self.history, sight.first)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return all of it as arrays of numbers."""
        return packed(self.weights) | {"bias": self.bias, "history": self.history}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Linear:
        """Read it back; nothing in the arrays is run."""
        bias = taken(arrays, "bias", "f", (None,))
        types = len(bias)
        history = taken(arrays, "history", "f", (None, types, types))
        return cls(
            unpacked(arrays, types), bias.astype(np.float32), history.astype(np.float32, order="C")
        )
