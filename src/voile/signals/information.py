"""Mutual information between what is sent and the class, in bits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree
from scipy.special import digamma

from voile.errors import RequestError
from voile.evidence import Z95
from voile.random import RandomState, streams
from voile.signals.codec import as_labels, as_subjects, as_table
from voile.signals.pieces import Floats

NEIGHBOURS = 3
PERMUTATIONS = 100


@dataclass(frozen=True)
class Information:
    """What readings tell of the class.

    Parameters
    ----------
    bits : the estimate; below 0 by chance where there is nothing to tell.
    low, high : its 95% interval, by the spread of the subjects' contributions.
    null : the 95th percentile of the estimate with classes dealt out anew: what nothing looks like.
    p_value : share of such deals that told as much, from 1 / (deals + 1) up.
    entropy : H(C), the most there is to tell, in bits.
    """

    bits: float
    low: float
    high: float
    null: float
    p_value: float
    entropy: float


def mutual_information(
    Z: ArrayLike,
    c: ArrayLike,
    subjects: ArrayLike | None = None,
    *,
    neighbours: int = NEIGHBOURS,
    permutations: int = PERMUTATIONS,
    random_state: RandomState = 0,
) -> Information:
    """Estimate I(Z; C) by nearest neighbours.

    Each reading's distance to its `neighbours`-th neighbour of the same class is compared with
    how many readings of any class lie as near. Columns are first brought to one spread.

    Parameters
    ----------
    Z : (n, d) numbers, or (n,).
    c : (n,) classes, each of more than `neighbours` readings.
    subjects : (n,) whose reading each is; None: each a person's only one. Intervals and the null
        count subjects, and the null keeps a subject's classes together. An adversary who believes
        p(c | s) = p(c) of every subject is assumed.
    neighbours : >= 1; few follow fine structure, many vary less.
    permutations : deals of the null, >= 0; 0 leaves it out (NaN).
    random_state : of the null, and of what breaks ties.

    Guarantee: consistent; biased towards 0 where classes differ within the neighbourhoods. Cost:
    O(n log n) for each permutation, more in many dimensions.

    Source: Ross, *Mutual Information between Discrete and Continuous Data Sets*, 2014.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> c = np.arange(500) % 2
    >>> told = mutual_information(rng.normal(size=500) + 20 * c, c, permutations=0)
    >>> round(told.bits, 2), round(told.entropy, 2)
    (1.0, 1.0)
    """
    deals, ties = streams(random_state, "deals", "ties")
    table, labels = as_table(Z).astype(np.float64), as_labels(np.asarray(c))
    if labels.shape != (len(table),) or not len(table):
        raise RequestError(f"there are {len(table)} readings and {labels.size} classes")
    if not np.isfinite(table).all():
        raise RequestError("a reading is missing or infinite", where="Z")
    codes = np.unique(labels, return_inverse=True)[1]
    counts = np.bincount(codes)
    if counts.min() <= neighbours:
        raise RequestError(f"a class has only {counts.min()} readings", where="c")
    whose = as_subjects(subjects, len(codes))
    spread = table.std(axis=0)
    # equal readings have no neighbour order: a jitter far below any difference gives them one
    points = table / np.where(spread > 0, spread, 1) + ties.normal(0, 1e-9, table.shape)
    tree = cKDTree(points)
    told = contributions(points, codes, neighbours, tree)
    null = np.array(
        [
            contributions(points, _dealt(codes, whose, deals), neighbours, tree).mean()
            for _ in range(permutations)
        ]
    )
    return _summary(told, whose, null, counts / len(codes))


def contributions(
    points: Floats,
    codes: NDArray[np.intp],
    neighbours: int = NEIGHBOURS,
    tree: cKDTree | None = None,
) -> Floats:
    """Return each reading's part of Ross's estimate, in bits; the estimate is their mean."""
    tree = tree or cKDTree(points)
    n, counts = len(points), np.bincount(codes)
    radius = np.empty(n)
    for k in range(len(counts)):
        own = np.flatnonzero(codes == k)
        far = cKDTree(points[own]).query(points[own], neighbours + 1, p=np.inf)[0][:, -1]
        radius[own] = np.nextafter(far, 0)
    near = tree.query_ball_point(points, radius, p=np.inf, return_length=True)
    nats: Floats = digamma(n) + digamma(neighbours) - digamma(counts[codes]) - digamma(near)
    return np.asarray(nats / np.log(2))


def _dealt(
    codes: NDArray[np.intp], whose: NDArray[np.intp], rng: np.random.Generator
) -> NDArray[np.intp]:
    """Deal the classes out anew: among readings, or, where subjects have several, subjects.

    Subjects swap whole runs of classes, laid end to end and cut to the new owners' lengths.
    """
    n_subjects = int(whose.max()) + 1
    if n_subjects == len(codes):
        shuffled: NDArray[np.intp] = rng.permutation(codes)
        return shuffled
    by_subject = np.argsort(whose, kind="stable")
    swapped = rng.permutation(n_subjects)[whose]
    dealt = np.empty_like(codes)
    dealt[by_subject] = codes[np.argsort(swapped, kind="stable")]
    return dealt


def _summary(told: Floats, whose: NDArray[np.intp], null: Floats, shares: Floats) -> Information:
    bits = float(told.mean())
    # the variance of a mean of clusters: each subject's contributions go together
    sums = np.bincount(whose, told - bits)
    error = float(np.sqrt((sums**2).sum())) / len(told)
    return Information(
        bits=bits,
        low=bits - Z95 * error,
        high=bits + Z95 * error,
        null=float(np.quantile(null, 0.95)) if len(null) else float("nan"),
        p_value=float((1 + (null >= bits).sum()) / (1 + len(null))) if len(null) else float("nan"),
        entropy=float(-(shares * np.log2(shares)).sum()),
    )
