"""Random flipping (RF), the rival that changes rows and leaves no column out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voile.core.errors import RequestError
from voile.core.estimator import EstimatorParameters
from voile.itemsets.measures.feasibility import Constraint
from voile.itemsets.rows.incidence import Incidence
from voile.keys.random import ProtectiveRandom

Sparse = Any  # a SciPy sparse array: SciPy has no types of its own


class RandomFlipping(EstimatorParameters):
    """Make the rows of k people equal, by flipping cells on which they differ.

    scikit-learn clones it and sets its parameters. It has no `transform`, since later rows have
    no cluster.

    Rows are clustered k at a time with those most like them. If rows of a cluster differ on a
    column, all get the value of one randomly drawn row. Flips cannot be distinguished from
    original values.

    Parameters
    ----------
    k : subjects, >= 1, whose rows are made equal.

    Attributes
    ----------
    clusters_ : (rows,) int64, the cluster of each row, 0 and up; not for sharing.
    flipped_ : the share of all cells that were flipped, in [0, 1].

    Guarantee: every row is equal to those of k subjects or more, proved by construction: exact
    k-anonymity, and so k-anonymity by containment. Column sums are kept in expectation.

    Cost: O(distinct rows / k) products of the matrix and a vector.

    Source: the rival RF of Zhang, Mohammed, Dave, Al Hasan, Transactions on Data Privacy 2017. It
    uses the greedy k-member clustering of Byun, Kamra, Bertino, Li, DASFAA 2007. Information loss
    is here the columns on which a cluster differs, times its rows.

    >>> rows = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 1, 1]])
    >>> flipping = RandomFlipping(k=2)
    >>> released = flipping.fit_transform(rows).toarray()
    >>> released[:, [0, 2]].tolist(), round(flipping.flipped_, 3)
    ([[1, 0], [1, 0], [0, 1], [0, 1]], 0.083)
    """

    def __init__(self, k: int = 5) -> None:
        self.k = k

    def fit_transform(
        self,
        X: Any,
        subjects: ArrayLike | None = None,
        *,
        protective: ProtectiveRandom | None = None,
    ) -> Sparse:
        """Return the rows with cells flipped, (rows, features) int8 CSR, in their order.

        The order reveals each row's person: shuffle the rows with their labels before a release.

        Parameters
        ----------
        X : an `Incidence`, or input of `Incidence.of`; every row another subject's.
        subjects : (rows,) the subject of each row; only to refuse several rows of one.
        protective : the source of randomness; given in tests only.
        """
        rows = Incidence.of(X, None, subjects)
        one_row_each(rows)
        Constraint(self.k).check(rows)
        rng = (protective or ProtectiveRandom()).generator()
        matrix = patterns_of(rows)[rows.pattern]
        self.clusters_ = cluster_rows(rows, self.k, rng)
        released, flips = _made_equal(matrix, self.clusters_, rng)
        self.flipped_ = flips / (rows.n_rows * len(rows.features))
        return released


def one_row_each(rows: Incidence) -> None:
    """Refuse several rows of one subject."""
    if rows.n_subjects < rows.n_rows:
        raise RequestError(
            f"{rows.n_rows:,} rows are of {rows.n_subjects:,} subjects",
            instead="join each subject's rows into one",
        )


def patterns_of(rows: Incidence) -> Sparse:
    """Return the distinct rows as a (patterns, features) sparse array of ones."""
    from scipy import sparse

    shape = (len(rows.own), len(rows.features))
    ones = np.ones(len(rows.items), dtype=np.int8)
    return sparse.csr_array((ones, rows.items, rows.starts), shape=shape)


def cluster_rows(rows: Incidence, k: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the cluster of each row, by greedy k-member clustering (Byun et al., Fig. 3).

    A cluster begins with the row farthest from the last cluster's first row. The very first begins
    with the row farthest from a random one. Then the row joins that adds the fewest columns on
    which the cluster differs. Remaining rows join the clusters with the least added loss. Equal
    rows are drawn at random.
    """
    patterns = patterns_of(rows).astype(np.int32)
    order = rng.permutation(rows.n_rows)
    order = order[np.argsort(rows.pattern[order], kind="stable")]  # equal rows side by side
    ends = np.cumsum(rows.own)
    clusters = np.full(rows.n_rows, -1, dtype=np.int64)
    left, count = rows.own.copy(), 0

    def assign(p: int, many: int, cluster: int) -> None:
        clusters[order[ends[p] - left[p] : ends[p] - left[p] + many]] = cluster
        left[p] -= many

    first = int(rng.choice(len(left), p=left / left.sum()))
    while left.sum() >= k:
        first = _farthest(patterns, first, left)
        for p, many in _members(patterns, first, left, k):
            assign(p, many, count)
        count += 1
    for p in np.repeat(np.arange(len(left)), left).tolist():
        assign(p, 1, _least_loss(patterns[rows.pattern], clusters, patterns[[p]]))
    return clusters


def _farthest(patterns: Sparse, p: int, left: NDArray[np.int64]) -> int:
    """Return the pattern left that differs from p on most columns."""
    sizes = np.diff(patterns.indptr)
    distance = sizes - 2 * (patterns @ _row(patterns, p))
    return int(np.argmax(np.where(left > 0, distance, -patterns.shape[1] - 1)))


def _members(
    patterns: Sparse, first: int, left: NDArray[np.int64], k: int
) -> list[tuple[int, int]]:
    """Return k rows as patterns with counts, begun with one of `first`; none is taken yet."""
    sizes = np.diff(patterns.indptr)
    some, every = _row(patterns, first), _row(patterns, first)
    taken = [(first, min(k, int(left[first])))]
    free = left > 0
    free[first] = False
    need = k - taken[0][1]
    while need:
        # |some or p| - |every and p|: the columns on which the cluster would differ.
        differ = sizes - patterns @ (some + every)
        best = int(np.argmin(np.where(free, differ, np.iinfo(np.int64).max)))
        taken.append((best, min(need, int(left[best]))))
        need -= taken[-1][1]
        free[best] = False
        joining = _row(patterns, best)
        some, every = some | joining, every & joining
    return taken


def _row(patterns: Sparse, p: int) -> NDArray[np.int32]:
    row = np.zeros(patterns.shape[1], dtype=np.int32)
    row[patterns.indices[patterns.indptr[p] : patterns.indptr[p + 1]]] = 1
    return row


def _least_loss(matrix: Sparse, clusters: NDArray[np.int64], row: Sparse) -> int:
    """Return the cluster whose information loss grows least when a row joins it."""
    held, sizes = _count_held(matrix, clusters)
    some, every = held.copy(), held.copy()
    some.data[:] = 1
    every.data = (held.data == sizes[_rows_of(held)]).astype(np.int32)
    columns = row.toarray()[0]
    before = (some - every).sum(axis=1)
    after = some.sum(axis=1) + columns.sum() - (some + every) @ columns
    return int(np.argmin((sizes + 1) * after - sizes * before))


def _count_held(matrix: Sparse, clusters: NDArray[np.int64]) -> tuple[Sparse, NDArray[np.int64]]:
    """Return (clusters, features) how many rows of each cluster hold each column, and its size."""
    from scipy import sparse

    rows = np.flatnonzero(clusters >= 0)
    of, count = clusters[rows], int(clusters.max()) + 1
    ones = np.ones(len(rows), dtype=np.int32)
    member = sparse.csr_array((ones, (of, rows)), shape=(count, len(clusters)))
    return (member @ matrix.astype(np.int32)).tocsr(), np.bincount(of, minlength=count)


def _rows_of(matrix: Sparse) -> NDArray[np.intp]:
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


def _made_equal(
    matrix: Sparse, clusters: NDArray[np.int64], rng: np.random.Generator
) -> tuple[Sparse, int]:
    held, sizes = _count_held(matrix, clusters)
    size = sizes[_rows_of(held)]
    shown = rng.integers(0, size) < held.data
    flips = int(np.where(shown, size - held.data, held.data).sum())
    held.data = shown.astype(np.int32)
    held.eliminate_zeros()
    return held[clusters].astype(np.int8), flips
