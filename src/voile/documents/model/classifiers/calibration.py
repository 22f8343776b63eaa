"""Convert margins to probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.documents.model.classifiers.arrays import misfit, take
from voile.documents.model.classifiers.classifier import Arrays, Margins

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class IsotonicCalibration:
    """Probabilities by isotonic regression, one curve for each type (Zadrozny and Elkan, 2002).

    `fit_calibration` creates it from margins of tokens that the classifier did not learn from.

    Guarantee (for one type; proved, since the segments are those of the lower convex hull): remove
    the tokens with a probability above 1 / (1 + L). Then T = L FN + FP on the tokens of the fit is
    as small as with any threshold on the margin. L must be above 1. It must be below the number of
    harmless tokens with a margin below every identifier's.
    """

    knots: Floats  # (k,) margins, increasing within a type; the curve is linear between them
    chances: Floats  # (k,) the probabilities at the knots, in (0, 1)
    first: NDArray[np.intp]  # (T + 1,) the first knot of each type; each type has at least one

    def probabilities(self, margins: Margins) -> Floats:
        """Return the probability of each type for each token, (n, T); rows sum to at most 1."""
        if margins.shape[1] != len(self.first) - 1:
            raise RequestError(
                f"margins of {margins.shape[1]} types where {len(self.first) - 1} were learnt",
                instead="use the classifier that was calibrated",
            )
        margins, found = check_finite(margins), np.zeros(margins.shape)
        for kind in range(margins.shape[1]):
            part = slice(*self.first[kind : kind + 2])
            found[:, kind] = np.interp(margins[:, kind], self.knots[part], self.chances[part])
        found /= np.maximum(found.sum(axis=1, keepdims=True), 1.0)
        return found

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        return {"knots": self.knots, "chances": self.chances, "first": self.first}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> IsotonicCalibration:
        knots = take(arrays, "knots", "f", (None,))
        chances = take(arrays, "chances", "f", (len(knots),))
        first = take(arrays, "first", "iu", (None,)).astype(np.intp)
        if not len(first) or first[0] != 0 or first[-1] != len(knots) or (np.diff(first) < 1).any():
            raise misfit("first")
        starts = np.zeros(len(knots), dtype=np.bool_)
        starts[first[:-1]] = True
        if (np.diff(knots)[~starts[1:]] <= 0).any():
            raise misfit("knots")
        if (np.diff(chances)[~starts[1:]] < 0).any() or ((chances <= 0) | (chances >= 1)).any():
            raise misfit("chances")
        return cls(knots, chances, first)


def check_finite(margins: Margins) -> Margins:
    """Refuse margins that are not finite, since their tokens would not be removed."""
    if not np.isfinite(margins).all():
        raise RequestError("a margin is not a finite number", instead="correct the classifier")
    return margins
