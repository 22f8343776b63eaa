"""The paper's learned affine maps (Section 5): least mutual information, one class pinned."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import differential_evolution, minimize

from voile.errors import RequestError
from voile.random import RandomState, streams
from voile.signals.information import contributions
from voile.signals.methods.fitted import Fitted, Sample, normal_law, plain
from voile.signals.pieces import Floats
from voile.signals.steps import Affine

Objective: TypeAlias = Literal["histogram", "neighbours"]
Optimiser: TypeAlias = Literal["local", "evolution"]
FEWEST = 5  # readings per bin and class aimed at
MOST_BINS = 10
REACH = 4.0  # histograms span this many standard deviations each way
WIDE = 2.0  # how far the search goes, in standard deviations and in logarithms of scale


@dataclass(frozen=True)
class LearnedAffine:
    """Search for z = A x + b per class that tells least; the commonest class stays as it is.

    Kept to compare with the paper. A is lower triangular with a positive diagonal: among matrices
    that give a normal class the same law, there is one such.

    Parameters
    ----------
    objective : mutual information by `histogram`, as in the paper (biased up by about (bins - 1)
        (classes - 1) / (2 n ln 2) bits), or by nearest `neighbours`.
    optimiser : `local` (Powell, from each class's readings as they are), or `evolution`
        (differential evolution, a population from all over the range).
    evaluations : most evaluations of the objective, >= 1.

    Guarantee: none on what is found; the map is injective.
    """

    objective: Objective = "histogram"
    optimiser: Optimiser = "local"
    evaluations: int = 20_000

    def fit(self, sample: Sample, random_state: RandomState) -> Fitted:
        """Fit; O(n) for each evaluation of the histogram, O(n log n) of the neighbours."""
        if self.objective not in get_args(Objective) or self.optimiser not in get_args(Optimiser):
            raise RequestError(
                "no such objective or optimiser",
                where="LearnedAffine",
                instead="histogram or neighbours, local or evolution",
            )
        sample = sample.dithered(random_state)
        pinned = int(np.argmax(sample.shares))
        own = sample.X[sample.c == pinned]
        middle, unit = own.mean(axis=0), own.std(axis=0)
        V = ((sample.X - middle) / unit).T
        best = self._search(V, sample.c, pinned, random_state)
        frame = Affine(np.diag(unit), middle)
        frames = tuple(one.turned().then(frame) for one in _maps(best, sample.c, pinned, len(V)))
        d = len(V)
        return Fitted(sample.shares, frames, ((),) * len(frames), normal_law(d), plain(d))

    def _search(
        self, V: Floats, c: NDArray[np.intp], pinned: int, random_state: RandomState
    ) -> Floats:
        """Return the parameters of the best maps found, those of the pinned class left out."""
        (rng,) = streams(random_state, "affine")
        d, free = len(V), int(c.max())
        size = free * (d + d * (d + 1) // 2)
        if not size:
            return np.empty(0)
        told = OBJECTIVES[self.objective]

        def objective(theta: Floats) -> float:
            Z = np.empty_like(V)
            for k, one in enumerate(_maps(theta, c, pinned, d)):
                Z[:, c == k] = one.forward(V[:, c == k])
            return told(Z, c)

        bounds = [(-WIDE, WIDE)] * size
        if self.optimiser == "local":
            found = minimize(
                objective,
                np.zeros(size),
                method="Powell",
                bounds=bounds,
                options={"maxfev": self.evaluations},
            )
        else:
            per_turn = 15 * size
            found = differential_evolution(
                objective,
                bounds,
                maxiter=max(self.evaluations // per_turn - 1, 1),
                rng=rng,
                polish=False,
            )
        return np.asarray(found.x, dtype=np.float64)


def _maps(theta: Floats, c: NDArray[np.intp], pinned: int, d: int) -> list[Affine]:
    """Turn parameters into one map per class: shift, log diagonal and what lies below it."""
    size = d + d * (d + 1) // 2
    rest = iter(theta.reshape(-1, size))
    maps = []
    for k in range(int(c.max()) + 1):
        part = np.zeros(size) if k == pinned else next(rest)
        matrix = np.diag(np.exp(part[d : 2 * d]))
        matrix[np.tril_indices(d, -1)] = part[2 * d :]
        maps.append(Affine(matrix, part[:d]))
    return maps


def by_histogram(Z: Floats, c: NDArray[np.intp]) -> float:
    """Return the mutual information of (d, n) readings and classes, counted in bins, in bits."""
    d, n = Z.shape
    classes = int(c.max()) + 1
    bins = int(np.clip((n / (FEWEST * classes)) ** (1 / d), 2, MOST_BINS))
    spread = Z.std(axis=1, keepdims=True)
    inner = (Z - Z.mean(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1)
    codes = ((np.clip(inner / REACH, -1, 1) + 1) / 2 * bins).astype(np.intp).clip(0, bins - 1)
    cell = np.ravel_multi_index(tuple(codes), (bins,) * d)
    joint = np.bincount(cell * classes + c, minlength=bins**d * classes).reshape(-1, classes) / n
    return _entropy(joint.sum(axis=0)) + _entropy(joint.sum(axis=1)) - _entropy(joint)


def _entropy(p: Floats) -> float:
    some = p[p > 0]
    return float(-(some * np.log2(some)).sum())


def by_neighbours(Z: Floats, c: NDArray[np.intp]) -> float:
    """Return the mutual information by Ross's estimator, in bits; no two readings are equal."""
    spread = Z.std(axis=1)
    return float(contributions(Z.T / np.where(spread > 0, spread, 1), c).mean())


OBJECTIVES: Mapping[str, Callable[[Floats, NDArray[np.intp]], float]] = {
    "histogram": by_histogram,
    "neighbours": by_neighbours,
}
