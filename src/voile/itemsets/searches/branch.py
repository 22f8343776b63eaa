"""Branch and bound for the best set of hundreds of features, or a bound of its utility."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.itemsets.measures.feasibility import Constraint, FeasibleSet
from voile.itemsets.rows.incidence import Incidence
from voile.itemsets.searches.run import ItemsetsSearchRun

if TYPE_CHECKING:
    from voile.itemsets.kernels.branch import BranchState
    from voile.itemsets.kernels.covers import RowCovers

Floats = NDArray[np.float64]
Words = NDArray[np.uint64]

MOST_FEATURES = 2048
MOST_BYTES = 2**28
FEW = 1024
STEPS = 64
TRIES_BY_COVERS, TRIES_BY_CLASSES = 2**19, 2**12
ROUNDING = 1e-12


def is_quick(run: ItemsetsSearchRun) -> bool:
    """Return whether branch and bound is fast.

    It needs a modular utility, containment as the rule, and few rows and features.
    """
    rows = int(np.minimum(run.rows.own, run.constraint.k).sum())
    few = rows <= FEW and len(run.candidates) <= FEW
    return few and run.worth.weights is not None and _by_containment(run.rows, run.constraint)


def branch(run: ItemsetsSearchRun, *, most: int | None = None) -> None:
    """Search for the optimum, starting from the best set so far. `bound` is valid at any time.

    An evaluation is one examined set. With `most`, the search ends after about that many pairs of
    features. Pairs are tested with rows as bits if containment is the only rule and the rows are
    few.
    """
    from voile.itemsets.kernels.branch import explore

    if len(run.candidates) > MOST_FEATURES:
        raise RequestError(
            f"exact search takes up to {MOST_FEATURES:,} features, not {len(run.candidates):,}",
            instead="use the method best, or publish fewer",
        )
    order = np.argsort(-run.weights[run.candidates], kind="stable")
    rows = run.rows.project(run.candidates).arrange_features(order)
    state = FeasibleSet(rows, run.constraint)
    pairs = pairable(rows, run.constraint)
    weights = run.weights[run.candidates[order]]
    deepest = int(by_colours(rows, np.ones(len(weights)), pairs))
    covers = _covers(rows, run.constraint, deepest + 2)
    search = _search(rows, weights, pairs, covers, deepest)
    search.most[0] = run.utility
    slack = ROUNDING * weights.sum()
    tries = TRIES_BY_COVERS if len(covers.holders) else TRIES_BY_CLASSES
    while search.stand[0] >= 0 and (most is None or search.stand[2] < most):
        done = explore(*state.parts, search, run.room(STEPS), tries, slack)
        run.bound = max(run.utility, float(search.most[:].max()))
        if search.best.any():
            run.offer(run.candidates[order[search.best.astype(np.bool_)]])
        run.spend(done)
    if search.stand[0] < 0:
        run.bound = run.utility


def by_colours(rows: Incidence, weights: Floats, pairs: Words, first: int = 0) -> float:
    """Bound the weight of a set without clashes, of the features numbered `first` or higher.

    The features must be sorted by falling weight.
    """
    from voile.itemsets.kernels.branch import colour

    search = _search(rows, weights, pairs, _no_covers(), 0)
    search.alive[0] &= _pack_bits(np.arange(len(weights))[None] >= first)[0]
    colour(search, 0, 0)
    left = search.left[0]
    return float(search.bound[0, left - 1]) if left else 0.0


def pairable(rows: Incidence, constraint: Constraint) -> Words:
    """Return, as bit rows, the pairs of features that may be published together."""
    from voile.itemsets.kernels.branch import may_pair

    all_pairs = ~np.eye(len(rows.features), dtype=np.bool_)
    if constraint.m == 1:
        return _pack_bits(all_pairs)
    pairs = _pack_bits(np.zeros_like(all_pairs))
    may_pair(rows.groups, rows.sharing, constraint.k, pairs)
    return pairs


def _pack_bits(bits: NDArray[np.bool_]) -> Words:
    padded = np.zeros((len(bits), -(-bits.shape[1] // 64) * 64), dtype=np.bool_)
    padded[:, : bits.shape[1]] = bits
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def _by_containment(rows: Incidence, constraint: Constraint) -> bool:
    """Return whether the only requirement is that k single rows contain each row."""
    return constraint.m is None and not constraint.absences and not rows.n_shared


def _covers(rows: Incidence, constraint: Constraint, levels: int) -> RowCovers:
    """Return the containment relation of rows without features, with at most k equal rows."""
    from voile.itemsets.kernels.covers import RowCovers

    copies = np.minimum(rows.own, constraint.k)
    words = -(-int(copies.sum()) // 64)
    if not _by_containment(rows, constraint) or 16 * levels * 64 * words * words > MOST_BYTES:
        return _no_covers()
    of = np.repeat(np.arange(len(copies)), copies)
    holds = np.zeros((len(rows.features), len(of)), dtype=np.bool_)
    for x, (begin, end) in enumerate(zip(rows.column_starts, rows.column_starts[1:], strict=False)):
        holds[x] = np.isin(of, rows.holders[begin:end])
    everyone = np.zeros((2, levels, 64 * words, words), dtype=np.uint64)
    everyone[:, 0] = ~np.uint64(0)
    return RowCovers(_pack_bits(holds), *everyone)


def _no_covers() -> RowCovers:
    from voile.itemsets.kernels.covers import RowCovers

    return RowCovers(np.zeros((0, 1), np.uint64), *np.zeros((2, 1, 0, 1), np.uint64))


def _search(
    rows: Incidence, weights: Floats, pairs: Words, covers: RowCovers, depth: int
) -> BranchState:
    """Return the initial state of a search, with space for sets of up to `depth` features."""
    from voile.itemsets.kernels.branch import BranchState

    features, patterns, levels = len(weights), len(rows.own), depth + 2

    def table(width: int) -> NDArray[np.int32]:
        return np.zeros((levels, width), dtype=np.int32)

    alive = np.zeros((levels, pairs.shape[1]), dtype=np.uint64)
    alive[0] = _pack_bits(np.ones((1, features), dtype=np.bool_))[0]
    all_pairs = np.zeros((levels, *pairs.shape), dtype=np.uint64)
    all_pairs[0] = pairs
    search = BranchState(
        weights=weights,
        pairs=all_pairs,
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
        stand=np.zeros(3, dtype=np.int64),
        best=np.zeros(features, dtype=np.int32),
        most=np.array([0.0, weights.sum()]),
        covers=covers,
    )
    search.patterns[0, 0], search.weight[0, 0] = patterns, rows.own.sum()
    search.sizes[0, 0] = 1
    return search
