"""A linear head on the reader's vectors and voile's own columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from voile.core.brief import BriefRepr
from voile.documents.model.classifiers.arrays import misfit, pack, take, unpack
from voile.documents.model.classifiers.classifier import Arrays, Margins, TokenSight
from voile.documents.reader.encoder import TextEncoder
from voile.documents.reader.installed import open_reader

Weights = NDArray[np.float32]


NEIGHBOURS = 3
"""The vectors for a token: those of the token before it, of itself, and of the token after it."""


@dataclass(frozen=True, eq=False)
class ReaderClassifier(BriefRepr):
    """A linear head. The reader itself stays in its installation folder."""

    saved_as: ClassVar[str] = "read"

    sha256: str  # SHA-256 of the reader's weights
    layer: int
    # mean, spread: (width,) of the training vectors
    mean: Weights
    spread: Weights
    windows: Weights  # (3, width, T) for the token before, the token itself and the token after
    weights: Weights  # (columns, T)
    bias: Weights  # (T,)

    def undo_standardisation(self, mean: Weights, spread: Weights) -> ReaderClassifier:
        """Return the head for vectors that are not standardised."""
        return replace(self, mean=mean, spread=spread)

    def open_encoder(self) -> TextEncoder:
        """Open the installed reader.

        Raises
        ------
        RequestError : the reader is absent, or a different one is installed.
        """
        return open_reader(self.sha256, self.layer)

    def margins(self, sight: TokenSight) -> Margins:
        """Return the margin of each type for each token, (n, T), as log-odds."""
        found = sight.scores(self.weights).astype(np.float64) + self.bias
        vectors = self.open_encoder().encode(sight.words, sight.gap, sight.first)
        # one document at a time, so that sums do not depend on other documents
        with threadpool_limits(1):
            for begin, end in pairwise(sight.first.tolist()):
                own = (vectors[begin:end].astype(np.float32) - self.mean) / self.spread
                found[begin:end] += score_windows(own, self.windows, np.array([0, end - begin]))
        return found

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        own = {"reader": np.array(self.sha256), "layer": np.array(self.layer)}
        head = {"mean": self.mean, "spread": self.spread, "windows": self.windows}
        return {**pack(self.weights), **own, **head, "bias": self.bias}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> ReaderClassifier:
        bias = take(arrays, "bias", "f", (None,))
        types = len(bias)
        mean = take(arrays, "mean", "f", (None,))
        spread = take(arrays, "spread", "f", mean.shape)
        windows = take(arrays, "windows", "f", (NEIGHBOURS, len(mean), types))
        if (spread <= 0).any():
            raise misfit("spread")
        layer = int(take(arrays, "layer", "iu", ()))
        reader = str(take(arrays, "reader", "U", ()).item())
        return cls(reader, layer, mean, spread, windows, unpack(arrays, types), bias)


def score_windows(dense: Weights, windows: Weights, first: NDArray[np.intp]) -> Weights:
    """Return the scores of vectors and their neighbours, (n, T).

    The result equals `join_neighbours(dense, first) @ windows` with 3 x width rows, without the
    joined vectors.
    """
    types = windows.shape[2]
    each = dense @ windows.transpose(1, 0, 2).reshape(dense.shape[1], NEIGHBOURS * types)
    before, found, after = (each[:, k * types : (k + 1) * types] for k in range(NEIGHBOURS))
    found = found.copy()
    inside = find_followers(first, len(dense))
    found[1:] += np.where(inside[1:, None], before[:-1], 0)
    found[:-1] += np.where(inside[1:, None], after[1:], 0)
    return np.asarray(found)


def find_followers(first: NDArray[np.intp], n: int) -> NDArray[np.bool_]:
    """Return whether a token of the same document precedes each token, (n,)."""
    found = np.ones(n, dtype=np.bool_)
    begins = first[:-1]
    found[begins[begins < n]] = False
    return found
