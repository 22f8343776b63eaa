"""The best set there is, or a bound on it: the whole lattice, or branch and bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from voile.errors import RequestError
from voile.itemsets.feasible import Feasible
from voile.itemsets.incidence import Incidence
from voile.itemsets.labels import unlike
from voile.itemsets.searches import greedy
from voile.itemsets.searches.run import Run

if TYPE_CHECKING:
    from voile.itemsets.kernels.branch import Search

Floats = NDArray[np.float64]

MOST_BITS = 20
MOST_BRANCHED = 2048
STEPS = 64
ROUNDING = 1e-12


def explore(run: Run) -> None:
    """Score the whole lattice of up to 20 candidates; else branch and bound, from greedy sets.

    Guarantee: the optimum, with `bound` equal to it; stopped by a limit, `bound` is proven and
    no feasible set is worth more. DistCnt takes the lattice only.

    An evaluation is one set looked at. Cost: O(candidates 2**candidates); with branch and bound
    exponential at worst, O(patterns + candidates**2 / 64) a set.
    """
    if fits(run):
        lattice(run)
    else:
        greedy.some(run)
        branch(run)


def fits(run: Run) -> bool:
    """Say whether the whole lattice may be scored: few candidates, presences, single rows."""
    simple = not run.constraint.absences and not run.rows.n_shared
    return len(run.candidates) <= MOST_BITS and simple


def lattice(run: Run) -> None:
    """Score every set: sums over all supersets or subsets at once (zeta transforms)."""
    rows = run.rows.project(run.candidates)
    masks, bits = _masks(rows), len(run.candidates)
    support = _over_supersets(_tally(masks, rows.own, 1 << bits))
    rare = (support > 0) & (support < run.constraint.k)
    if run.constraint.m is not None:
        rare &= np.bitwise_count(np.arange(1 << bits)) <= run.constraint.m
    feasible = ~_any_subset(rare)
    utility = _utilities(run, rows, masks)
    best = int(np.argmax(np.where(feasible, utility, -np.inf)))
    run.offer(run.candidates[(best >> np.arange(bits)) & 1 == 1])
    run.bound = run.utility
    run.evaluations += 1 << bits


def _masks(rows: Incidence) -> NDArray[np.int64]:
    """Return each pattern as a number whose bits are its features."""
    sizes = np.diff(rows.starts)
    of = np.repeat(np.arange(len(sizes)), sizes)
    return _tally(of, np.left_shift(1, rows.items), len(sizes)).astype(np.int64)


def _tally(of: NDArray[np.integer], values: NDArray[np.integer], size: int) -> Floats:
    """Sum values by their number."""
    return np.bincount(of, weights=values, minlength=size).astype(np.float64)


def _over_supersets(values: Floats) -> Floats:
    """Sum over all supersets of each set."""
    for bit in range(len(values).bit_length() - 1):
        halves = values.reshape(-1, 2, 1 << bit)
        halves[:, 0] += halves[:, 1]
    return values


def _any_subset(values: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Say for each set whether one of its subsets is among those given."""
    for bit in range(len(values).bit_length() - 1):
        halves = values.reshape(-1, 2, 1 << bit)
        halves[:, 1] |= halves[:, 0]
    return values


def _utilities(run: Run, rows: Incidence, masks: NDArray[np.int64]) -> Floats:
    """Return what every set is worth."""
    bits = len(run.candidates)
    if run.worth.name == "distcnt":
        return _told_apart(run, rows, masks)
    values = np.zeros(1)
    for weight in run.weights[run.candidates]:
        values = np.concatenate([values, values + weight])
    assert len(values) == 1 << bits
    return values


def _told_apart(run: Run, rows: Incidence, masks: NDArray[np.int64]) -> Floats:
    """Return DistCnt of every set.

    Pairs of unlike labels by the features they differ on are a convolution over exclusive or,
    which the Walsh-Hadamard transform makes a product; whole numbers, hence exact. A set leaves
    together the pairs that differ only on features outside of it.
    """
    assert run.worth.labels is not None
    size = 1 << len(run.candidates)
    table = run.worth.labels.table(rows)
    spectra = [_walsh(_tally(masks, c, size)) for c in table.T]
    whole = np.sum(spectra, axis=0)
    differ = _walsh(whole**2 - np.sum([s**2 for s in spectra], axis=0)) / size / 2
    subsets = _over_supersets(differ[::-1].copy())  # of complements: supersets of the mirrored
    return 1 - subsets / unlike(run.worth.labels.sizes)


def _walsh(values: Floats) -> Floats:
    for bit in range(len(values).bit_length() - 1):
        halves = values.reshape(-1, 2, 1 << bit)
        halves[:, 0], halves[:, 1] = halves.sum(axis=1), halves[:, 0] - halves[:, 1]
    return values


def branch(run: Run) -> None:
    """Branch and bound from the best set so far."""
    from voile.itemsets.kernels.branch import colours, explore

    if len(run.candidates) > MOST_BRANCHED:
        raise RequestError(
            f"exact search takes up to {MOST_BRANCHED:,} features, not {len(run.candidates):,}",
            instead="use the method best, or publish fewer",
        )
    order = np.argsort(-run.weights[run.candidates], kind="stable")
    rows = run.rows.project(run.candidates).arranged(order)
    state = Feasible(rows, run.constraint)
    pairs = _pairs(rows, run)
    weights = run.weights[run.candidates[order]]
    search = _tables(rows, weights, pairs, colours(_tables(rows, weights, pairs, 0)))
    search.most[0] = run.utility
    slack = ROUNDING * weights.sum()
    while search.stand[0] >= 0:
        done = explore(*state.parts, search, run.room(STEPS), slack)
        run.bound = max(run.utility, float(search.most[:].max()))
        if search.best.any():
            run.offer(run.candidates[order[search.best.astype(np.bool_)]])
        run.spend(done)
    run.bound = run.utility


def _pairs(rows: Incidence, run: Run) -> NDArray[np.uint64]:
    """Return bit rows of who may be shared with whom, for all that two features tell."""
    from voile.itemsets.kernels.branch import may_pair
    from voile.itemsets.kernels.groups import equals

    features = len(rows.features)
    bits = np.ones((features, features), dtype=np.bool_)
    np.fill_diagonal(bits, val=False)
    padded = np.zeros((features, -(-features // 64) * 64), dtype=np.bool_)
    if run.constraint.m == 1:
        padded[:, :features] = bits
    pairs = np.packbits(padded, axis=1, bitorder="little").view(np.uint64)
    if run.constraint.m != 1:
        may_pair(rows.groups, equals(rows.groups), run.constraint.k, pairs)
    return pairs


def _tables(rows: Incidence, weights: Floats, pairs: NDArray[np.uint64], depth: int) -> Search:
    """Return a search that begins, with room for sets of up to `depth` features."""
    from voile.itemsets.kernels.branch import Search

    features, patterns, levels = len(weights), len(rows.own), depth + 2

    def table(width: int) -> NDArray[np.int32]:
        return np.zeros((levels, width), dtype=np.int32)

    alive = np.zeros((levels, pairs.shape[1]), dtype=np.uint64)
    ones = np.zeros(pairs.shape[1] * 64, dtype=np.bool_)
    ones[:features] = True
    alive[0] = np.packbits(ones, bitorder="little").view(np.uint64)
    search = Search(
        weights=weights,
        pairs=np.repeat(pairs[None], levels, axis=0),
        order=table(features),
        bound=np.zeros((levels, features)),
        left=np.zeros(levels, dtype=np.int64),
        alive=alive,
        path=np.zeros(levels, dtype=np.int32),
        worth=np.zeros(levels),
        of=table(patterns),
        lead=table(patterns),
        length=table(patterns),
        patterns=table(patterns),
        weight=np.zeros((levels, patterns), dtype=np.int64),
        sizes=np.zeros((levels, 2), dtype=np.int64),
        stand=np.zeros(2, dtype=np.int64),
        best=np.zeros(features, dtype=np.int32),
        most=np.array([0.0, weights.sum()]),
    )
    search.patterns[0, 0], search.weight[0, 0] = patterns, rows.own.sum()
    search.sizes[0, 0] = 1
    return search
