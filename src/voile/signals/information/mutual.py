"""Mutual information between messages and the class, in bits."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import digamma, entr

from voile.core.errors import RequestError
from voile.core.evidence import Z95
from voile.keys.random import RandomState, streams
from voile.signals.information.leakage import ClassInformation
from voile.signals.information.near_points import MOST, NearPoints, count_by_trees
from voile.signals.information.subjects import CheckedSubjects, Whose
from voile.signals.model.codec.given import as_labels, as_table
from voile.signals.model.codec.pieces import Floats
from voile.signals.model.codec.place import CLASSES

NEIGHBOURS = 3
PERMUTATIONS = 100


def mutual_information(
    Z: ArrayLike,
    c: ArrayLike,
    subjects: Whose = None,
    *,
    neighbours: int = NEIGHBOURS,
    permutations: int = PERMUTATIONS,
    random_state: RandomState = 0,
) -> ClassInformation:
    """Estimate I(Z; C | S) by nearest neighbours.

    Each reading has a distance to its `neighbours`-th neighbour of the same class. The estimate
    counts the readings of each class within this distance. Each class has the probability that the
    adversary believes for the subject: I(Z; C | S) is the sum of p(s) I(Z; C | S = s). Columns are
    first scaled to the same spread.

    Parameters
    ----------
    Z : (n, d) numbers, or (n,).
    c : (n,) classes, each with more than `neighbours` readings.
    subjects : (n,) the subject of each reading, or `Subjects` with beliefs and weights. None: each
        reading belongs to a different person. Intervals and the null treat subjects as units. The
        null keeps the classes of a subject together. If `Subjects.own` is true, each subject is
        estimated alone, and the null shuffles classes within the subject. Such a subject needs two
        classes with more than `neighbours` readings each.
    neighbours : >= 1. A small number follows fine structure; a large number has less variance.
    permutations : number of shuffles for the null, >= 0. With 0 the null is NaN.
    random_state : for the shuffles and for breaking ties.

    Raises
    ------
    RequestError : a reading is missing or infinite, or a class has too few readings. With own laws,
        no subject has two classes with enough readings.

    Guarantee: consistent; biased towards 0 where classes differ within the neighbourhoods.

    Cost: O(k n log n) for each permutation, more in many dimensions; O(n) for each distinct belief.

    Source: Ross, *Mutual Information between Discrete and Continuous Data Sets*, 2014.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> c = np.arange(500) % 2
    >>> found = mutual_information(rng.normal(size=500) + 20 * c, c, permutations=0)
    >>> round(found.bits, 2), round(found.entropy, 2)
    (1.0, 1.0)
    """
    deals, ties = streams(random_state, "deals", "ties")
    table, labels = as_table(Z).astype(np.float64), as_labels(np.asarray(c))
    if labels.shape != (len(table),) or not len(table):
        raise RequestError(f"there are {len(table)} readings and {labels.size} classes")
    if not np.isfinite(table).all():
        raise RequestError("a reading is missing or infinite", where="Z")
    codes = np.unique(labels, return_inverse=True)[1]
    k = int(codes.max()) + 1
    known = CheckedSubjects.of(subjects, len(codes), k)
    if np.bincount(codes).min() <= neighbours:
        raise RequestError(f"a class has only {np.bincount(codes).min()} readings", where=CLASSES)
    spread = table.std(axis=0)
    # equal readings have no neighbour order, so a tiny jitter breaks ties
    points = table / np.where(spread > 0, spread, 1) + ties.normal(0, 1e-9, table.shape)
    parts = [np.arange(len(codes))]
    each = np.full(len(codes), 1 / len(codes))
    if known.own:
        rows, known, parts = _own(codes, known, neighbours)
        points, codes, each = points[rows], codes[rows], known.share
    laws = [_law(known.at(part), codes[part], k) for part in parts]

    once = permutations and len(points) <= MOST
    clouds = [NearPoints.of(points[part]) if once else points[part] for part in parts]

    def estimated(codes: NDArray[np.intp]) -> Floats:
        out = np.empty(len(codes))
        for part, cloud, (beliefs, chances) in zip(parts, clouds, laws, strict=True):
            own = np.unique(codes[part], return_inverse=True)[1]
            out[part] = contributions(cloud, own, neighbours, beliefs, chances)
        return out

    deal = [_dealt(codes, known.whose, deals, within=known.own) for _ in range(permutations)]
    null = np.array([each @ estimated(one) for one in deal])
    most = [chances @ entr(beliefs).sum(axis=1) / np.log(2) for beliefs, chances in laws]
    entropy = sum(each[part].sum() * one for part, one in zip(parts, most, strict=True))
    return _summary(estimated(codes), each, known.whose, null, float(entropy))


def _own(
    codes: NDArray[np.intp], known: CheckedSubjects, neighbours: int
) -> tuple[NDArray[np.intp], CheckedSubjects, list[NDArray[np.intp]]]:
    """Keep the subjects with enough readings in two classes.

    Return the rows of their readings, the checked subjects and the rows of each subject.
    """
    counts = np.zeros((len(known.names), int(codes.max()) + 1), dtype=np.intp)
    np.add.at(counts, (known.whose, codes), 1)
    enough = counts > neighbours
    enough &= enough.sum(axis=1, keepdims=True) > 1
    rows = np.flatnonzero(enough[known.whose, codes])
    if not len(rows):
        raise RequestError(
            f"no subject has over {neighbours} readings in each of two classes", where="subjects"
        )
    kept = known.at(rows)
    by_subject = np.argsort(kept.whose, kind="stable")
    return rows, kept, np.split(by_subject, np.cumsum(np.bincount(kept.whose))[:-1])


def _law(known: CheckedSubjects, codes: NDArray[np.intp], k: int) -> tuple[Floats, Floats]:
    """Return the distinct beliefs over the classes present, and the p(s) of each belief."""
    beliefs, chances = known.distinct(codes, k)
    some = beliefs[:, np.unique(codes)]
    return some / np.maximum(some.sum(axis=1, keepdims=True), 1e-300), chances


def contributions(
    points: Floats | NearPoints,
    codes: NDArray[np.intp],
    neighbours: int = NEIGHBOURS,
    beliefs: Floats | None = None,
    chances: Floats | None = None,
) -> Floats:
    """Return each reading's contribution to the estimate, in bits. The estimate is their mean."""
    n, counts = len(codes), np.bincount(codes)
    if beliefs is None or chances is None:
        beliefs, chances = counts[None] / n, np.ones(1)
    # if beliefs equal the class shares, the classes of the neighbours do not matter
    apart = len(beliefs) > 1 or not np.allclose(beliefs[0] * n, counts)
    if isinstance(points, NearPoints):
        near = points.count(codes, neighbours, apart=apart)
    else:
        rows = np.arange(n)
        near = count_by_trees(points, codes, neighbours, rows, apart=apart)
    common = digamma(neighbours) - digamma(counts[codes])
    out = np.zeros(n)
    for row, chance in zip(beliefs, chances, strict=True):
        each = row / counts if len(near) > 1 else np.array([1 / n])  # weight of a reading
        mass = each @ near
        there = row[codes] > 0
        # Ross's unbiased logarithm of a count, with the effective number of equally weighted
        # readings
        as_many, of = mass[there] ** 2 / (each**2 @ near)[there], 1 / (row**2 / counts).sum()
        log = digamma(as_many) - np.log(as_many) + np.log(mass[there]) - digamma(of) + np.log(of)
        out[there] += chance * row[codes][there] * (common[there] - log)
    return np.asarray(out * n / counts[codes] / np.log(2))


def _dealt(
    codes: NDArray[np.intp],
    whose: NDArray[np.intp],
    rng: np.random.Generator,
    *,
    within: bool = False,
) -> NDArray[np.intp]:
    """Shuffle the classes among readings, or among subjects if subjects have several readings.

    Subjects exchange whole runs of classes. The runs are concatenated and cut to the lengths of the
    new owners. If `within` is true, the classes of each subject are shuffled among its own
    readings.
    """
    n_subjects = int(whose.max()) + 1
    if n_subjects == len(codes):
        shuffled: NDArray[np.intp] = rng.permutation(codes)
        return shuffled
    by_subject = np.argsort(whose, kind="stable")
    dealt = np.empty_like(codes)
    if within:
        mixed = rng.permutation(len(codes))
        dealt[by_subject] = codes[mixed[np.argsort(whose[mixed], kind="stable")]]
        return dealt
    swapped = rng.permutation(n_subjects)[whose]
    dealt[by_subject] = codes[np.argsort(swapped, kind="stable")]
    return dealt


def _summary(
    own: Floats, each: Floats, whose: NDArray[np.intp], null: Floats, entropy: float
) -> ClassInformation:
    bits = float(each @ own)
    # variance of a mean of clusters: the contributions of one subject are summed first
    sums = np.bincount(whose, each * (own - bits))
    error = float(np.sqrt((sums**2).sum()))
    return ClassInformation(
        bits=bits,
        low=bits - Z95 * error,
        high=bits + Z95 * error,
        null=float(np.quantile(null, 0.95)) if len(null) else float("nan"),
        p_value=float((1 + (null >= bits).sum()) / (1 + len(null))) if len(null) else float("nan"),
        entropy=entropy,
    )
