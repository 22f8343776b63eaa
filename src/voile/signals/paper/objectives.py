"""Three estimates of I(Z; C | S), the leakage of messages about the class, for use in a search."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from scipy.special import entr

from voile.signals.information.mutual import NEIGHBOURS, contributions
from voile.signals.model.codec.pieces import Codes, Floats
from voile.signals.model.codec.steps import AffineMap

Beliefs: TypeAlias = tuple[Floats, Floats]  # the distinct p(c | s), (g, k), and p(s) of each, (g,)
Leakage: TypeAlias = Callable[[Sequence[AffineMap]], float]
FEWEST = 5  # target number of readings per bin and class
MOST_BINS = 10
MOST_CELLS = 2**20
REACH = 4.0  # histograms extend this many standard deviations in each direction
COMPONENTS = 3  # components of each class's mixture


def leakage_by(kind: str, V: Floats, c: Codes, beliefs: Beliefs) -> Leakage:
    """Return the leakage of the readings V, (d, n), as a function of one map per class.

    Every class must have readings.
    """
    if kind == "mixture":
        return _by_mixture(V, c, beliefs)

    def leakage(maps: Sequence[AffineMap]) -> float:
        Z = np.empty_like(V)
        for which, one in enumerate(maps):
            Z[:, c == which] = one.forward(V[:, c == which])
        return BY_POINTS[kind](Z, c, beliefs)

    return leakage


def by_histogram(Z: Floats, c: Codes, beliefs: Beliefs) -> float:
    """Estimate the leakage of (d, n) messages about their classes from counts in bins.

    The cost is O(k bins^d + n). It is O(d n log n) if there are more than `MOST_CELLS` bins, since
    only bins with readings are then counted.
    """
    d, n = Z.shape
    k = int(c.max()) + 1
    bins = int(np.clip((n / (FEWEST * k)) ** (1 / d), 2, MOST_BINS))
    spread = Z.std(axis=1, keepdims=True)
    inner = (Z - Z.mean(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1)
    codes = ((np.clip(inner / REACH, -1, 1) + 1) / 2 * bins).astype(np.intp).clip(0, bins - 1)
    cells = bins**d
    if cells <= MOST_CELLS:
        cell = np.ravel_multi_index(tuple(codes), (bins,) * d)
    else:
        cell = np.unique(codes, axis=1, return_inverse=True)[1].reshape(-1)
        cells = int(cell.max()) + 1
    laws = np.bincount(c * cells + cell, minlength=k * cells).reshape(k, -1)
    laws = laws / laws.sum(axis=1, keepdims=True)
    rows, chances = beliefs
    each = entr(rows @ laws).sum(axis=1) - rows @ entr(laws).sum(axis=1)
    return float(chances @ each) / float(np.log(2))


def by_neighbours(Z: Floats, c: Codes, beliefs: Beliefs) -> float:
    """Estimate the leakage of (d, n) messages about their classes by nearest neighbours.

    No two readings may be equal. The cost is O(k n log n).
    """
    spread = Z.std(axis=1)
    points = Z.T / np.where(spread > 0, spread, 1)
    return float(contributions(points, c, NEIGHBOURS, *beliefs).mean())


def _by_mixture(V: Floats, c: Codes, beliefs: Beliefs) -> Leakage:
    """Return the leakage as a function of the maps, under one normal mixture per class.

    The mixtures are fitted once, since an affine map of a mixture is another mixture. The estimate
    is averaged over the readings. Each evaluation costs O(k^2 n).
    """
    from sklearn.mixture import GaussianMixture  # type: ignore[import-untyped]

    k = int(c.max()) + 1
    owns = [np.flatnonzero(c == which) for which in range(k)]
    fits = [GaussianMixture(COMPONENTS, random_state=0).fit(V[:, own].T) for own in owns]
    laws = [_law(one.weights_, one.means_, one.precisions_cholesky_) for one in fits]
    rows, chances = beliefs

    def leakage(maps: Sequence[AffineMap]) -> float:
        volumes = [float(np.linalg.slogdet(one.matrix)[1]) for one in maps]
        per_class = []
        for which, own in enumerate(owns):
            Z = maps[which].forward(V[:, own])
            logs = np.stack(
                [
                    law(one.inverse(Z)) - volume
                    for law, one, volume in zip(laws, maps, volumes, strict=True)
                ]
            )
            top = logs.max(axis=0)
            mixed = np.log(rows @ np.exp(logs - top)) + top
            per_class.append((logs[which] - mixed).mean(axis=1))
        gained = np.where(rows.T > 0, rows.T * np.stack(per_class), 0.0).sum(axis=0)
        return float(chances @ gained) / float(np.log(2))

    return leakage


def _law(weights: Floats, means: Floats, roots: Floats) -> Callable[[Floats], Floats]:
    """Return the log-density of a normal mixture; `roots` are Cholesky roots of the precisions."""
    d = means.shape[1]
    size = np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
    heights = np.log(weights) + size - d / 2 * np.log(2 * np.pi)
    centres = means[:, None] @ roots

    def log_density(V: Floats) -> Floats:
        apart = V.T[None] @ roots - centres
        logs = heights[:, None] - 0.5 * (apart**2).sum(axis=2)
        top = logs.max(axis=0)
        return np.asarray(np.log(np.exp(logs - top).sum(axis=0)) + top)

    return log_density


BY_POINTS: Mapping[str, Callable[[Floats, Codes, Beliefs], float]] = {
    "histogram": by_histogram,
    "neighbours": by_neighbours,
}
