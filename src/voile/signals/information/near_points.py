"""Counts of the points that are nearer than the k-th neighbour of the same class.

The neighbours are found once and used for many shuffles of the classes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from voile.signals.model.codec.pieces import Floats

NEAREST = 128  # neighbours to search before trees are used
MOST = 30_000  # maximum number of points with neighbours in memory


@dataclass(frozen=True, eq=False)
class NearPoints:
    """Points and the nearest neighbours of each, found once for many shuffles of the classes."""

    points: Floats
    order: NDArray[np.intp]  # (n, m) the neighbours of each point, nearest first, itself included
    apart: Floats  # (n, m) distances to them, in the maximum norm

    @classmethod
    def of(cls, points: Floats) -> NearPoints:
        most = min(NEAREST, len(points))
        apart, order = cKDTree(points).query(points, np.arange(1, most + 1), p=np.inf)
        return cls(points, order.astype(np.intp), apart)

    def count(self, codes: NDArray[np.intp], neighbours: int, *, apart: bool) -> Floats:
        """Count the points that are nearer than the `neighbours`-th neighbour of the same class.

        With `apart`, return one count per class, (k, n). Otherwise return one count for all
        classes, (1, n).
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
        # points with too few neighbours of their class, or with possible ties beyond the stored
        # ones
        left = np.flatnonzero((place == self.apart.shape[1]) | inside[:, -1])
        if len(left) and self.apart.shape[1] < n:
            near[:, left] = count_by_trees(self.points, codes, neighbours, left, apart=apart)
        return near


def count_by_trees(
    points: Floats, codes: NDArray[np.intp], neighbours: int, rows: NDArray[np.intp], *, apart: bool
) -> Floats:
    """Return the same counts as `NearPoints.count` for some rows, with trees for these classes."""
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
