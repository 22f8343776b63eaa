"""AdaBoost of decision stumps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from voile.documents.learners.learner import LabelledExamples
from voile.documents.model.classifiers.linear import LinearClassifier


@dataclass(frozen=True)
class AdaBoost:
    """AdaBoost of confidence-rated stumps, one type against the rest (Schapire and Singer, 1999).

    rounds : the number of stumps, at least 1. A stump on a 0/1 column is linear, and so is their
        sum.
    prior : the number of imaginary tokens of each class in each half of a stump, above 0.
    cost_sensitive : whether each identifier's initial weight is its cost.

    Cost: 200,000 tokens with 1,000 rounds take 1 s on one core for each type.
    """

    rounds: int = 1000
    prior: float = 4.0
    cost_sensitive: bool = False

    @property
    def name(self) -> str:
        return "adaboost-cost" if self.cost_sensitive else "adaboost"

    def fit(self, examples: LabelledExamples, *, seed: int = 0) -> LinearClassifier:
        """Learn from the counted tokens.

        The algorithm is deterministic, so the seed has no effect.
        """
        types = examples.types
        matrix, labels = examples.matrix, examples.labels[examples.counted]
        if not examples.counted.all():
            matrix = matrix[np.flatnonzero(examples.counted)]
        turned = matrix.tocsc()
        rows = (matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32))
        holders = (turned.indptr.astype(np.int32), turned.indices.astype(np.int32))
        weights = np.zeros((matrix.shape[1], types), np.float32)
        bias = np.full(types, -1, np.float32)
        for kind in range(types):
            positive = (labels == kind + 1).astype(np.int8)
            if not positive.any():
                continue
            cost = examples.costs[kind] if self.cost_sensitive else 1.0
            start = np.where(positive, cost, 1.0)
            prior = self.prior / start.sum()
            weights[:, kind], bias[kind] = boost(
                rows, holders, positive, start, matrix.shape[1], self.rounds, prior
            )
        return LinearClassifier(weights, bias, np.zeros((0, types, types), np.float32))


Ints = NDArray[np.int32]
Floats = NDArray[np.float64]

MOST_SCALE = 1e6
"""The scale factor beyond which all sums are recomputed, before rounding errors become visible."""


@njit(cache=True, nogil=True)
def boost(
    rows: tuple[Ints, Ints],
    holders: tuple[Ints, Ints],
    positive: NDArray[np.int8],
    weight: Floats,
    columns: int,
    rounds: int,
    prior: float,
) -> tuple[Floats, float]:
    """Return the sum of the stumps as weights of the columns, (columns,), and a bias.

    `weight` is overwritten. Each half of a stump gets half the log-odds of its weights, which
    minimises Z = 2 sum sqrt(W+ W-) (Schapire and Singer, 1999, section 4.1). The half without the
    column changes all weights of a class by one factor, so only rows with the column are updated.

    Cost: O(columns + ones in the rows with the column) for each round, and O(ones) each time that
    weights have shrunk by `MOST_SCALE`.
    """
    weight /= weight.sum()
    sums, total, scale = np.zeros((2, columns)), np.zeros(2), np.ones(2)
    add_up(rows, positive, weight, sums, total)
    mixed, plain = np.flatnonzero(sums[1] > 0), np.flatnonzero(sums[1] == 0)
    weights, bias = np.zeros(columns), 0.0
    for _ in range(rounds):
        column = least(sums, total, scale, mixed, plain)
        held = np.maximum(scale * sums[:, column], 0.0)
        rest = np.maximum(scale * total - held, 0.0)
        with_it = 0.5 * np.log((held[1] + prior) / (held[0] + prior))
        without = 0.5 * np.log((rest[1] + prior) / (rest[0] + prior))
        weights[column] += with_it - without
        bias += without
        factor = np.exp(np.array([with_it - without, without - with_it]))
        for at in range(holders[0][column], holders[0][column + 1]):
            i = holders[1][at]
            kind = positive[i]
            change = weight[i] * (factor[kind] - 1.0)
            weight[i] += change
            total[kind] += change
            for place in range(rows[0][i], rows[0][i + 1]):
                sums[kind, rows[1][place]] += change
        scale *= np.exp(np.array([without, -without]))
        scale /= (scale * total).sum()
        if not scale.max() < MOST_SCALE:
            for i in range(len(positive)):
                weight[i] *= scale[positive[i]]
            weight /= weight.sum()
            scale[:] = 1.0
            add_up(rows, positive, weight, sums, total)
    return weights, bias


@njit(cache=True, nogil=True)
def add_up(
    rows: tuple[Ints, Ints], positive: NDArray[np.int8], weight: Floats, sums: Floats, total: Floats
) -> None:
    """Recompute the sum of the weights of each class, in total and for each column."""
    sums[:] = 0.0
    total[:] = 0.0
    for i in range(len(positive)):
        total[positive[i]] += weight[i]
        for at in range(rows[0][i], rows[0][i + 1]):
            sums[positive[i], rows[1][at]] += weight[i]


@njit(cache=True, nogil=True)
def least(
    sums: Floats, total: Floats, scale: Floats, mixed: NDArray[np.intp], plain: NDArray[np.intp]
) -> int:
    """Return the column of the stump with the smallest Z.

    The `plain` columns contain no identifiers. Among these, the column with the largest weight has
    the smallest Z.
    """
    best, column = np.inf, 0
    whole = scale * total
    top = plain[0] if len(plain) else -1
    for j in plain:
        if sums[0, j] > sums[0, top]:
            top = j
    if top >= 0:
        best, column = np.sqrt(max(whole[0] - scale[0] * sums[0, top], 0.0) * whole[1]), top
    for j in mixed:
        bad, good = max(scale[0] * sums[0, j], 0.0), max(scale[1] * sums[1, j], 0.0)
        rest = max(whole[0] - bad, 0.0) * max(whole[1] - good, 0.0)
        z = np.sqrt(bad * good) + np.sqrt(rest)
        if z < best:
            best, column = z, j
    return column
