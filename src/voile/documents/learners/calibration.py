"""From margins to probabilities, and from probabilities to decisions by cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.documents.learners.arrays import misfit, take
from voile.documents.learners.learner import Arrays, LabelledExamples, Margins

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class IsotonicCalibration:
    """Probabilities by isotonic regression, one curve a type (Zadrozny and Elkan, 2002).

    Fit it on margins of tokens that the classifier did not learn from.

    Guarantee (one type; proved, since the stretches are those of the lower convex hull): removing
    where the probability is above 1 / (1 + L) makes T = L FN + FP on the tokens of the fit as small
    as any cut of the margin does, for every L above 1 and below the number of harmless tokens whose
    margin is below every identifier's.
    """

    knots: Floats  # (k,) margins, rising within a type; between two of them the curve is straight
    chances: Floats  # (k,) the probabilities there, above 0 and below 1
    first: NDArray[np.intp]  # (T + 1,) where each type's knots begin; each has one at least

    @classmethod
    def fit(
        cls, margins: Margins, labels: NDArray[np.int16], counted: NDArray[np.bool_]
    ) -> IsotonicCalibration:
        """Learn from the counted tokens. Cost: O(n log n) a type.

        The ends of a curve may hold tokens of one kind only. Of m tokens there the chance is 1 / (m
        + 1) or m / (m + 1), or the neighbouring stretch's where that is nearer to certain: nothing
        is certain.
        """
        if not counted.any():
            raise RequestError("no token to learn probabilities from", instead="give more text")
        seen, labels = _finite(margins[counted]), labels[counted]
        curves = [_curve(seen[:, t], labels == t + 1) for t in range(seen.shape[1])]
        none = np.zeros(0)
        return cls(
            np.concatenate([none, *(knots for knots, _ in curves)]),
            np.concatenate([none, *(chances for _, chances in curves)]),
            np.cumsum([0, *(len(knots) for knots, _ in curves)], dtype=np.intp),
        )

    def probabilities(self, margins: Margins) -> Floats:
        """Return each token's probability of each type, (n, T); rows sum to at most 1."""
        if margins.shape[1] != len(self.first) - 1:
            raise RequestError(
                f"margins of {margins.shape[1]} types where {len(self.first) - 1} were learnt",
                instead="use the classifier that was calibrated",
            )
        margins, found = _finite(margins), np.zeros(margins.shape)
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


def _finite(margins: Margins) -> Margins:
    """Refuse a margin that compares with nothing: its token would be kept."""
    if not np.isfinite(margins).all():
        raise RequestError("a margin is not a finite number", instead="correct the classifier")
    return margins


def _curve(margins: Floats, positive: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    from scipy.optimize import isotonic_regression

    values, place, total = np.unique(margins, return_inverse=True, return_counts=True)
    hits = np.bincount(place, weights=positive, minlength=len(values))
    fitted = isotonic_regression(hits / total, weights=total)
    starts, ends = fitted.blocks[:-1], fitted.blocks[1:] - 1
    share, size = fitted.x[starts], fitted.weights
    found = np.add.reduceat(hits, starts)
    if found[0] == 0:  # what lies below others is not likelier than they
        share[0] = min([1 / (size[0] + 1), *share[1:2]])
    if found[-1] == size[-1]:
        share[-1] = max([size[-1] / (size[-1] + 1), *share[-2:-1]])
    both = np.stack([starts, ends], axis=1).ravel()
    kept = np.append(True, both[1:] != both[:-1])
    return values[both[kept]], np.repeat(share, 2)[kept]


FAR = 8.0
"""Log-odds of what is always or never there."""


def fit_regressions(seen: Floats, examples: LabelledExamples) -> tuple[Floats, Floats]:
    """Return for each type the weights, (T, k), and bias, (T,), of regressors (n, T, k).

    A type that no token has is never found; one that every token has is always.
    """
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

    labels = examples.labels[examples.counted]
    weights, bias = np.zeros(seen.shape[1:]), np.full(examples.types, -FAR)
    for kind in range(examples.types):
        positive = labels == kind + 1
        if positive.any() and not positive.all():
            fitted = LogisticRegression(max_iter=500).fit(seen[examples.counted, kind], positive)
            weights[kind], bias[kind] = fitted.coef_[0], fitted.intercept_[0]
        elif positive.any():
            bias[kind] = FAR
    return weights, bias
