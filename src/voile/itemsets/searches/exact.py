"""Find the best set or a bound of its utility, by the whole lattice or by branch and bound."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.itemsets.measures.feasibility import Constraint
from voile.itemsets.rows.incidence import Incidence
from voile.itemsets.rows.labels import unlike
from voile.itemsets.searches import greedy
from voile.itemsets.searches.branch import branch
from voile.itemsets.searches.run import ItemsetsSearchRun

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

MOST_BITS = 20


def explore(run: ItemsetsSearchRun) -> None:
    """Score the whole lattice of up to 20 candidates, or use branch and bound from greedy sets.

    Guarantee: the optimum, or a proven `bound` if a limit stops the search. DistCnt requires the
    lattice. Cost: O(candidates 2**candidates). Branch and bound is exponential in the worst case.
    """
    if fits(run):
        lattice(run)
    else:
        greedy.some(run)
        branch(run)


def fits(run: ItemsetsSearchRun) -> bool:
    """Return whether the lattice can be scored.

    It needs few candidates, no absences and one row for each subject.
    """
    simple = not run.constraint.absences and not run.rows.n_shared
    return len(run.candidates) <= MOST_BITS and simple


def lattice(run: ItemsetsSearchRun) -> None:
    """Score every set, with sums over all supersets or subsets at once (zeta transforms)."""
    rows = run.rows.project(run.candidates)
    masks, bits = _masks(rows), len(run.candidates)
    utility = _utilities(run, rows, masks)
    best = int(np.argmax(np.where(_feasible(rows, masks, run.constraint), utility, -np.inf)))
    run.offer(run.candidates[(best >> np.arange(bits)) & 1 == 1])
    run.bound = run.utility
    run.evaluations += 1 << bits


def heaviest(rows: Incidence, weights: Floats, constraint: Constraint) -> float:
    """Return the largest weight of a feasible set of up to 20 features, by the whole lattice.

    It is an upper bound if subjects have several rows or absences count, because fewer sets are
    feasible then.
    """
    feasible = _feasible(rows, _masks(rows), constraint)
    return float(_sums(weights)[feasible].max())


def _feasible(rows: Incidence, masks: NDArray[np.int64], constraint: Constraint) -> Bools:
    """Return, for each set, whether none of its itemsets occurs for fewer than k subjects."""
    size = 1 << len(rows.features)
    support = _over_supersets(_tally(masks, rows.sharing, size))
    rare = (support > 0) & (support < constraint.k)
    if constraint.m is not None:
        rare &= np.bitwise_count(np.arange(size)) <= constraint.m
    return ~_any_subset(rare)


def _masks(rows: Incidence) -> NDArray[np.int64]:
    """Return each pattern as an integer with one bit for each feature."""
    sizes = np.diff(rows.starts)
    of = np.repeat(np.arange(len(sizes)), sizes)
    return _tally(of, np.left_shift(1, rows.items), len(sizes)).astype(np.int64)


def _tally(of: NDArray[np.integer], values: NDArray[np.integer], size: int) -> Floats:
    return np.bincount(of, weights=values, minlength=size).astype(np.float64)


def _over_supersets(values: Floats) -> Floats:
    for bit in range(len(values).bit_length() - 1):
        halves = values.reshape(-1, 2, 1 << bit)
        halves[:, 0] += halves[:, 1]
    return values


def _any_subset(values: Bools) -> Bools:
    """Return, for each set, whether one of its subsets is marked."""
    for bit in range(len(values).bit_length() - 1):
        halves = values.reshape(-1, 2, 1 << bit)
        halves[:, 1] |= halves[:, 0]
    return values


def _utilities(run: ItemsetsSearchRun, rows: Incidence, masks: NDArray[np.int64]) -> Floats:
    if run.worth.name == "distcnt":
        return _pairs_separated(run, rows, masks)
    return _sums(run.weights[run.candidates])


def _sums(weights: Floats) -> Floats:
    """Return the weight of every set of features."""
    values = np.zeros(1)
    for weight in weights:
        values = np.concatenate([values, values + weight])
    return values


def _pairs_separated(run: ItemsetsSearchRun, rows: Incidence, masks: NDArray[np.int64]) -> Floats:
    """Return the DistCnt of every set.

    The number of pairs of different labels, by the features in which they differ, is a convolution
    over exclusive or. The Walsh-Hadamard transform turns it into a product of integers, so the
    result is exact. A set does not separate the pairs that differ only in features outside it.
    """
    assert run.worth.labels is not None
    size = 1 << len(run.candidates)
    table = run.worth.labels.table(rows)
    spectra = [_walsh(_tally(masks, c, size)) for c in table.T]
    whole = np.sum(spectra, axis=0)
    differ = _walsh(whole**2 - np.sum([s**2 for s in spectra], axis=0)) / size / 2
    subsets = _over_supersets(
        differ[::-1].copy()
    )  # subsets of a complement are supersets in reverse order
    return 1 - subsets / unlike(run.worth.labels.sizes)


def _walsh(values: Floats) -> Floats:
    for bit in range(len(values).bit_length() - 1):
        halves = values.reshape(-1, 2, 1 << bit)
        halves[:, 0], halves[:, 1] = halves.sum(axis=1), halves[:, 0] - halves[:, 1]
    return values
