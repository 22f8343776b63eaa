"""The classifier of a two-step ensemble: a CRF's candidates, and an SVM's decisions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from voile.documents.model.classifiers.arrays import pack, take, unpack
from voile.documents.model.classifiers.classifier import Arrays, Margins, TokenSight
from voile.documents.model.classifiers.crf import CrfClassifier

NEAR = 6.0
"""The bound of log-odds for the SVM; larger log-odds are clipped."""


BELOW = 20.0
"""The distance of other tokens' margins below their log-odds, and so below candidates' margins."""


def neighbours(
    odds: Margins, rows: NDArray[np.intp], first: NDArray[np.intp]
) -> NDArray[np.float32]:
    """Return the log-odds of some tokens and their neighbours, (rows, 3 T), scaled to [-1, 1]."""
    document = np.searchsorted(first, rows, side="right")
    start, end = first[document - 1], first[document]
    columns = []
    for step in (0, -1, 1):
        at = rows + step
        inside = (at >= start) & (at < end)
        there = odds[np.where(inside, at, rows)]
        columns.append(np.where(inside[:, None], np.clip(there, -NEAR, NEAR), -NEAR) / NEAR)
    return np.concatenate(columns, axis=1).astype(np.float32)


@dataclass(frozen=True, eq=False)
class EnsembleClassifier:
    saved_as: ClassVar[str] = "judged"

    weights: NDArray[np.float32]  # (columns, m + T), for the CRF's m labels and the SVM's T types
    chain: CrfClassifier  # the CRF
    beside: NDArray[np.float32]  # (3 T, T) the SVM's weights for the CRF's log-odds
    bias: NDArray[np.float32]  # (T,) of the SVM
    cut: float  # log-odds above which a token is a candidate

    def margins(self, sight: TokenSight) -> Margins:
        """Return the margin of each type for each token, (n, T): the SVM's for candidates."""
        scores = sight.scores(self.weights)
        labels = len(self.chain.labels)
        odds = self.chain.odds(scores[:, :labels], sight.first)
        rows = np.flatnonzero(odds.max(axis=1, initial=self.cut) > self.cut)
        margins = odds - BELOW
        beside = neighbours(odds, rows, sight.first) @ self.beside
        margins[rows] = scores[rows, labels:] + beside + self.bias
        return margins

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        own = {"beside": self.beside, "bias": self.bias, "cut": np.array(self.cut)}
        return {**self.chain.to_arrays(), **pack(self.weights), **own}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> EnsembleClassifier:
        bias = take(arrays, "bias", "f", (None,))
        types = len(bias)
        labels = len(take(arrays, "labels", "i", (None,)))
        weights = unpack(arrays, labels + types)
        chain = CrfClassifier.from_arrays({**arrays, **pack(weights[:, :labels])})
        take(arrays, "shift", "f", (types,))
        beside = take(arrays, "beside", "f", (3 * types, types))
        return cls(weights, chain, beside, bias, float(take(arrays, "cut", "f", ())))
