"""Compute the least loss at a risk, and a bound on the area, from bounds on weighted sums."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voile.core.frontier import Frontier

Floats = NDArray[np.float64]

FINE = 2**14
LEAST_RISK = 1e-9


def least_loss(risk: ArrayLike, weights: Floats, floors: Floats, least_risk: float) -> Floats:
    """Return a lower bound on the loss of any policy of at most this risk, or 1 if there is none.

    A combo is one partition of all attributes except the two largest. A policy of a combo has loss
    >= floor - weight x risk for each weight. Its loss is therefore at least the largest of these
    values, and the bound is the smallest over the combos. A policy between two corners of the hull
    is beyond the reach of weighted sums. Only the lines of its own combo limit it.
    """
    at = np.asarray(risk, dtype=np.float64)
    least = np.ones_like(at)
    for floor in floors:
        lines = floor - np.multiply.outer(at, weights)
        np.minimum(least, lines.max(axis=-1), out=least)
    return np.where(at < least_risk, 1.0, np.maximum(least, 0.0))


def area(weights: Floats, floors: Floats, least_risk: float) -> float:
    """Return a lower bound on the area under any staircase: the lower sum of `least_loss`.

    The bound never increases with risk, so each step's least value is at its end.
    """
    steps = np.geomspace(max(least_risk, LEAST_RISK), 1.0, FINE)
    heights = least_loss(steps, weights, floors, least_risk)
    before = least_risk if least_risk > 0 else steps[0] * heights[0]
    return float(before + np.diff(steps) @ heights[1:])


def hull(frontier: Frontier) -> float:
    """Return the area under the convex hull of a frontier. Its height is 1 below the lowest risk.

    >>> frontier = Frontier.of([0, .5, 1], [1, .9, 0], np.zeros((3, 1)))
    >>> hull(frontier), frontier.area()
    (0.5, 0.95)
    """
    corners: list[tuple[float, float]] = []
    for point in zip(frontier.risk.tolist(), frontier.loss.tolist(), strict=True):
        while len(corners) > 1 and _is_above(corners[-2], corners[-1], point):
            corners.pop()
        corners.append(point)
    risk, loss = np.array(corners).T
    return float(risk[0] + np.trapezoid(loss, risk) + (1 - risk[-1]) * loss[-1])


def _is_above(
    left: tuple[float, float], middle: tuple[float, float], right: tuple[float, float]
) -> bool:
    across, down = right[0] - left[0], right[1] - left[1]
    return (middle[1] - left[1]) * across >= down * (middle[0] - left[0])
