"""One Knothe-Rosenblatt layer, fitted to all classes at once; small classes use pooled curves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voile.signals.fitting.methods.smoothing import curve_of, grid_over, normal_tails, tails
from voile.signals.model.codec.pieces import Floats
from voile.signals.model.codec.steps import AffineMap, KnotheRosenblatt

HELD = 3.0  # conditional mean and spread are constant beyond this score
NEWTON = 5  # Newton steps for the log spread, since its likelihood is nearly quadratic
MOST = 1.0  # largest log of a conditional spread that one column adds


@dataclass(frozen=True)
class LayerChain:
    """The flexibility of a chain, and the shrinkage of each class towards the pooled curves."""

    degree: int = 5  # degree of the conditional mean, >= 1
    spread: int = 2  # degree of the log conditional spread; 0 for a constant spread
    bandwidth: float = 1.0  # times n^(-1/5), > 0; large for normal marginals
    kappa: float = 20.0  # weight of the pooled curves in readings, > 0
    depth: int = 1  # number of layers, >= 1; each reverses the columns of the last
    backwards: bool = False  # whether to start with the last column

    def order(self, d: int, turn: int) -> NDArray[np.int64]:
        """Return the order of d columns in layer number `turn`."""
        columns = np.arange(d)
        return columns[::-1] if self.backwards ^ (turn % 2 == 1) else columns


def fit_layer(
    W: Floats, c: NDArray[np.intp], order: NDArray[np.int64], grid: Floats, how: LayerChain
) -> tuple[KnotheRosenblatt, ...]:
    """Fit each class's triangular map to the standard normal law."""
    d, g, classes = len(W), len(grid), int(c.max()) + 1
    mean = np.zeros((classes, d, d, g))
    scale = np.ones((classes, d, d, g))
    curve = np.empty((classes, d, g))
    owns = [np.flatnonzero(c == k) for k in range(classes)]
    Z = np.empty_like(W)
    at_grid = _basis(grid, max(how.degree, how.spread))
    for place, j in enumerate(order):
        before = order[:place]
        left = W[j].copy()
        if place:
            bases = _bases(Z[before], how.degree)
            for k, beta in enumerate(_means(bases, left, owns, how.kappa)):
                left[owns[k]] -= beta @ bases[:, owns[k]]
                mean[k, j, before] = beta.reshape(place, -1) @ at_grid[: how.degree]
        if place and how.spread:
            bases = _bases(Z[before], how.spread)
            for k, gamma in enumerate(_spreads(bases, left, owns, how.kappa)):
                logs = gamma.reshape(place, -1) @ at_grid[: how.spread]
                scale[k, j, before] = np.exp(-np.clip(logs, -MOST, MOST))
                for i in before:
                    left[owns[k]] *= np.interp(Z[i, owns[k]], grid, scale[k, j, i])
        curve[:, j] = _curves(left, owns, grid, how)
        for k, own in enumerate(owns):
            Z[j, own] = np.interp(left[own], grid, curve[k, j])
    return tuple(KnotheRosenblatt(order, grid, mean[k], scale[k], curve[k]) for k in range(classes))


def fit_marginals(
    Y: Floats, here: NDArray[np.bool_], c: NDArray[np.intp], how: LayerChain
) -> tuple[tuple[AffineMap, ...], tuple[KnotheRosenblatt, ...]]:
    """Map each column of each class to the normal law separately, using the present readings.

    For incomplete (d, n) readings. The dependence between columns is unchanged.
    """
    d, classes = len(Y), int(c.max()) + 1
    owns = [[np.flatnonzero(here[j] & (c == k)) for k in range(classes)] for j in range(d)]
    mean = np.array([[Y[j, own].mean() for own in owns[j]] for j in range(d)])
    spread = np.array([[Y[j, own].std() for own in owns[j]] for j in range(d)])
    W = np.where(here, (Y - mean[:, c]) / spread[:, c], 0.0)
    grid = grid_over(W)
    curves = np.empty((classes, d, len(grid)))
    for j in range(d):
        places = np.flatnonzero(here[j])
        mine = [np.searchsorted(places, own) for own in owns[j]]
        curves[:, j] = _curves(W[j, places], mine, grid, how)
    flat = np.zeros((d, d, len(grid)))
    frames = tuple(AffineMap(np.diag(spread[:, k]), mean[:, k]) for k in range(classes))
    order = np.arange(d)
    return frames, tuple(KnotheRosenblatt(order, grid, flat, flat + 1, one) for one in curves)


def _bases(Z: Floats, degree: int) -> Floats:
    return np.concatenate([_basis(z, degree) for z in Z])


def _basis(v: Floats, degree: int) -> Floats:
    """Return Hermite polynomials 1 to `degree`, (degree, n), orthonormal under the normal law."""
    v = np.clip(v, -HELD, HELD)
    rows = [np.ones_like(v), v]
    for k in range(1, degree):
        rows.append((v * rows[k] - np.sqrt(k) * rows[k - 1]) / np.sqrt(k + 1))
    return np.stack(rows[1:]) if degree else np.empty((0, len(v)))


def _means(B: Floats, v: Floats, owns: Sequence[NDArray[np.intp]], kappa: float) -> list[Floats]:
    """Regress v on the rows of B in each class, by ridge towards the pooled regression."""
    pooled = _ridge(B, v, 1.0)
    left = v - pooled @ B
    return [pooled + _ridge(B[:, own], left[own], kappa) for own in owns]


def _ridge(B: Floats, v: Floats, kappa: float) -> Floats:
    return np.asarray(np.linalg.solve(B @ B.T + kappa * np.eye(len(B)), B @ v))


def _spreads(B: Floats, v: Floats, owns: Sequence[NDArray[np.intp]], kappa: float) -> list[Floats]:
    """Return g per class, with log spread g B, by Newton steps with shrinkage to the pooled g."""
    pooled = _log_spread(B, v, np.zeros(len(B)), 1.0)
    return [_log_spread(B[:, own], v[own], pooled, kappa) for own in owns]


def _log_spread(B: Floats, v: Floats, prior: Floats, kappa: float) -> Floats:
    """Maximise the normal likelihood of v with log spread a + g B, and return g."""
    B = np.concatenate([np.ones((1, B.shape[1])), B])
    rest = np.concatenate([[0.0], prior])
    pull = np.concatenate([[1e-6], np.full(len(prior), kappa)])
    curvature = 2 * (B @ B.T) + np.diag(pull)
    theta: Floats = rest.copy()
    for _ in range(NEWTON):
        excess = v * v * np.exp(-2 * np.clip(theta @ B, -3, 3)) - 1
        theta += np.asarray(np.linalg.solve(curvature, B @ excess - pull * (theta - rest)))
    return theta[1:]


def _curves(v: Floats, owns: Sequence[NDArray[np.intp]], grid: Floats, how: LayerChain) -> Floats:
    """Return each class's map of v to a normal score, (classes, g), shrunk to the pooled map."""
    pool = how.kappa * tails(v, grid, _bandwidth(len(v), how)) + normal_tails(grid)
    rows = []
    for own in owns:
        n = len(own)
        mixed = n * tails(v[own], grid, _bandwidth(n, how)) + pool
        rows.append(curve_of(mixed / (n + how.kappa + 1), grid))
    return np.stack(rows)


def _bandwidth(n: int, how: LayerChain) -> float:
    return min(how.bandwidth / math.pow(n, 0.2), 0.95)
