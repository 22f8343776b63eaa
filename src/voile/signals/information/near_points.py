"""How many points are nearer than those of the own class, for many deals of classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from voile.signals.model.codec.pieces import Floats

NEAREST = 128  # points that are looked through before trees are
MOST = 30_000  # points whose nearest are held in memory


@dataclass(frozen=True, eq=False)
class NearPoints:
    """Points, and the nearest of all of them to each: looked up once for many deals of classes."""

    points: Floats
    order: NDArray[np.intp]  # (n, m) the nearest first, each point itself among them
    apart: Floats  # (n, m) how far they are, by the largest difference of a column

    @classmethod
    def of(cls, points: Floats) -> NearPoints:
        most = min(NEAREST, len(points))
        apart, order = cKDTree(points).query(points, np.arange(1, most + 1), p=np.inf)
        return cls(points, order.astype(np.intp), apart)

    def count(self, codes: NDArray[np.intp], neighbours: int, *, apart: bool) -> Floats:
        """Return how many points are nearer than the `neighbours`-th of the own class.

        apart : of each class, (k, n), or of all together, (1, n).
        """
        n, counts = self.apart.shape[0], np.bincount(codes)
        classes = codes[self.order]
        own = np.cumsum(classes == codes[:, None], axis=1, dtype=np.int16)
        place = (own <= neighbours).sum(axis=1)
        far = self.apart[np.arange(n), np.minimum(place, self.apart.shape[1] - 1)]
        radius = np.nextafter(far, 0)
        inside = self.apart <= radius[:, None]
        parts = [inside & (classes == one) for one in range(len(counts))] if apart else [inside]
        near = np.stack([part.sum(axis=1).astype(np.float64) for part in parts])
        # where the nearest hold too few of the class, or more may be as near as all of them
        left = np.flatnonzero((place == self.apart.shape[1]) | inside[:, -1])
        if len(left) and self.apart.shape[1] < n:
            near[:, left] = count_by_trees(self.points, codes, neighbours, left, apart=apart)
        return near


def count_by_trees(
    points: Floats, codes: NDArray[np.intp], neighbours: int, rows: NDArray[np.intp], *, apart: bool
) -> Floats:
    """Return for some rows the same as `NearPoints.count`, by trees of this deal of classes."""
    trees = [cKDTree(points[codes == one]) for one in range(int(codes.max()) + 1)]
    radius = np.empty(len(rows))
    for one, tree in enumerate(trees):
        own = codes[rows] == one
        if own.any():
            far = tree.query(points[rows[own]], neighbours + 1, p=np.inf)[0][:, -1]
            radius[own] = np.nextafter(far, 0)
    if not apart:
        trees = [cKDTree(points)]
    near = [
        tree.query_ball_point(points[rows], radius, p=np.inf, return_length=True) for tree in trees
    ]
    return np.stack(near).astype(np.float64)
