"""The laws p(x | c, s) of one subject's scores within its class, by partial pooling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.signals.model.codec.pieces import Floats
from voile.signals.model.codec.steps import AffineMap

NEVER = 1e12  # variance of a mean without readings


@dataclass(frozen=True, eq=False)
class SubjectLevels:
    """The normal law of each subject's next score in each class, by column.

    It contains numbers of each person, so it is private.
    """

    names: NDArray[Any]  # (m,) subjects, sorted
    mean: Floats  # (m, k, d) by subject, class and score column
    spread: Floats  # (m, k, d) standard deviations, above 0

    def steps(self, subject: object) -> tuple[AffineMap, ...] | None:
        """Return per class the map from a subject's scores to normal scores, or None if unknown."""
        (known,) = np.nonzero(self.names == subject)
        if not len(known):
            return None
        pairs = zip(self.mean[known[0]], self.spread[known[0]], strict=True)
        return tuple(AffineMap(np.diag(1 / spread), -mean / spread) for mean, spread in pairs)


def pool_levels(
    Y: Floats, codes: NDArray[np.intp], whose: NDArray[np.intp], names: NDArray[Any]
) -> SubjectLevels:
    """Fit the level of each subject by shrinkage to the class's level, stronger for fewer readings.

    A score of subject s in class c is y = a_sc + e. Levels a_sc are normal about 0, with a variance
    per class. They are correlated between the classes of one subject, so each class carries
    information about the others. e is normal with a variance per class. Variances are moment
    estimates, and levels are best linear predictions. Cost: O(n d + m k^3 d).

    Source: Henderson 1975, best linear unbiased prediction; Gelman, Hill 2007, partial pooling.
    """
    k, m = int(codes.max()) + 1, len(names)
    cell = whose * k + codes
    counts = np.bincount(cell, minlength=m * k).reshape(m, k)
    if not (counts > 1).any(axis=0).all() or not ((counts > 0).sum(axis=1) > 1).any():
        raise RequestError(
            "own laws need subjects with readings in several classes, and two in each class",
            where="subjects",
            instead="leave `own` out, or use a SequenceMap",
        )
    laws = [_column(y, cell, counts) for y in Y]
    mean, spread = (np.stack(part, axis=-1) for part in zip(*laws, strict=True))
    return SubjectLevels(names, mean, spread)


def _column(y: Floats, cell: NDArray[np.intp], counts: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """Return the mean and the standard deviation of the next score of one column, (m, k) each."""
    some = np.maximum(counts, 1)
    means = np.bincount(cell, y, minlength=counts.size).reshape(counts.shape) / some
    left = (y - means.ravel()[cell]) ** 2
    within = np.bincount(cell, left, minlength=counts.size).reshape(counts.shape).sum(axis=0)
    within /= np.maximum(counts - 1, 0).sum(axis=0)
    there = counts > 0
    # the mean square of subject means is the level's variance plus the readings' noise
    square = (means**2).sum(axis=0) / there.sum(axis=0)
    added = (there * within / some).sum(axis=0) / there.sum(axis=0)
    between = np.maximum(square - added, 1e-3 * within)
    prior = _together(means, there, between) * np.sqrt(np.outer(between, between))
    noise = np.where(there, within / some, NEVER)
    gain = np.linalg.solve(prior + noise[:, :, None] * np.eye(len(between)), prior)
    level = np.einsum("ms,msk->mk", means, gain)
    doubt = between - np.einsum("ks,msk->mk", prior, gain)
    return level, np.sqrt(np.maximum(doubt, 0) + within)


def _together(means: Floats, there: NDArray[np.bool_], between: Floats) -> Floats:
    """Return a common correlation of levels for all pairs of classes, from 0 to just below 1."""
    scaled = np.where(there, means, 0) / np.sqrt(between)
    pairs = scaled.sum(axis=1) ** 2 - (scaled**2).sum(axis=1)
    number = there.sum(axis=1)
    common = float(np.clip(pairs.sum() / (number * (number - 1)).sum(), 0, 0.99))
    return np.asarray(common + (1 - common) * np.eye(len(between)))
