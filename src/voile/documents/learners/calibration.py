"""From margins to probabilities, and from probabilities to decisions by cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.documents.learners.learner import Arrays, Margins
from voile.documents.learners.storing import taken, unfit

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Calibration:
    """Probabilities by isotonic regression, one curve a type (Zadrozny and Elkan, 2002).

    A probability never falls as its margin rises. Fit it on margins of tokens that the
    classifier did not learn from.

    Parameters
    ----------
    knots : (k,) margins, ascending within a type; between two the curve is straight.
    probabilities_at : (k,) what they stand for, above 0 and below 1.
    first : (T + 1,) where each type's knots begin.

    Guarantees (one type): cutting the probability at 1 / (1 + L) makes T = L FN + FP on the
    tokens of the fit as small as any cut of the margin can, for every L at once that is less
    than the number of harmless tokens below the lowest identifier.
    """

    knots: Floats
    chances: Floats
    first: NDArray[np.intp]

    @classmethod
    def fit(
        cls, margins: Margins, labels: NDArray[np.int16], counted: NDArray[np.bool_]
    ) -> Calibration:
        """Learn from the counted tokens.

        The lowest and the highest stretch of a curve hold one kind of token only; they are told
        as if one token of the other kind had been met beside theirs: of m tokens, 1 / (m + 1)
        and m / (m + 1). So nothing is ever said to be certain. Cost: O(n log n) a type.

        Parameters
        ----------
        margins : (n, T).
        labels : (n,) 0 of harmless tokens, else 1 to T.
        counted : (n,) false of tokens that are left out.
        """
        curves = [
            _curve(margins[counted, t], labels[counted] == t + 1) for t in range(margins.shape[1])
        ]
        none = np.zeros(0)
        return cls(
            np.concatenate([none, *(knots for knots, _ in curves)]),
            np.concatenate([none, *(chances for _, chances in curves)]),
            np.cumsum([0, *(len(knots) for knots, _ in curves)], dtype=np.intp),
        )

    def probabilities(self, margins: Margins) -> Floats:
        """Return each token's probability of each type, (n, T); rows sum to at most 1."""
        found = np.zeros(margins.shape)
        for t in range(margins.shape[1]):
            part = slice(*self.first[t : t + 2])
            if part.stop > part.start:
                found[:, t] = np.interp(margins[:, t], self.knots[part], self.chances[part])
        return found / np.maximum(found.sum(axis=1, keepdims=True), 1.0)


def _curve(margins: Floats, positive: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    from scipy.optimize import isotonic_regression

    values, place = np.unique(margins, return_inverse=True)
    total = np.bincount(place, minlength=len(values)).astype(float)
    hits = np.bincount(place, weights=positive, minlength=len(values))
    if not len(values):
        return values, values
    r = isotonic_regression(hits / total, weights=total)
    starts, ends = r.blocks[:-1], r.blocks[1:] - 1
    m = r.weights
    p = r.x[starts]
    k = np.round(p * m)
    p = np.where(k == 0, 1 / (m + 1), np.where(k == m, m / (m + 1), p))
    p = np.maximum.accumulate(p)
    knots = np.column_stack([values[starts], values[ends]]).ravel()
    return knots, np.repeat(p, 2)


def decide(probabilities: Floats, costs: Floats) -> NDArray[np.int16]:
    """Return what each token is removed as: 0 to keep it, else its likeliest type, 1 to T.

    It is removed where keeping it costs more than losing it would: sum_t costs_t p_t > 1 - sum_t p_t.
    """
    if not probabilities.shape[1]:
        return np.zeros(len(probabilities), np.int16)
    remove = probabilities @ costs > 1.0 - probabilities.sum(axis=1)
    return np.where(remove, probabilities.argmax(axis=1) + 1, 0).astype(np.int16)
