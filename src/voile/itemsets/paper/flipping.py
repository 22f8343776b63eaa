"""Random flipping (RF), a rival method that changes rows and keeps all columns."""

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
    """Make the rows of k people equal by flipping the cells in which they differ.

    Rows are clustered k at a time with the most similar rows. If the rows of a cluster differ in a
    column, all of them get the value of one randomly drawn row. Flips cannot be distinguished from
    original values.

    scikit-learn can clone the estimator and set its parameters. It has no `transform`, because
    later rows have no cluster.

    Parameters
    ----------
    k : number of subjects whose rows are made equal, >= 1.

    Attributes
    ----------
    clusters_ : (rows,) int64, the cluster of each row, from 0. Do not share it.
    flipped_ : the share of all cells that were flipped, in [0, 1].

    Guarantee: every row is equal to the rows of at least k subjects, proved by construction. This
    is exact k-anonymity, and therefore k-anonymity by containment. Column sums are preserved in
    expectation.

    Cost: O(distinct rows / k) products of the matrix and a vector.

    Source: the rival RF of Zhang, Mohammed, Dave, Al Hasan, Transactions on Data Privacy 2017. It
    uses the greedy k-member clustering of Byun, Kamra, Bertino, Li, DASFAA 2007. The information
    loss of a cluster is here the number of columns in which it differs, times its number of rows.

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
        """Return the rows with flipped cells as (rows, features) int8 CSR, in the original order.

        The order reveals the person of each row. Shuffle the rows with their labels before a
        release.

        Parameters
        ----------
        X : an `Incidence`, or input of `Incidence.of`. Every row must belong to another subject.
        subjects : (rows,) the subject of each row, used only to reject several rows of one subject.
        protective : the source of randomness. Only tests pass it.
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
    """Raise RequestError if a subject has several rows."""
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

    A cluster begins with the row farthest from the first row of the last cluster. The very first
    cluster begins with the row farthest from a random row. Then the row is added that increases the
    number of differing columns least. Leftover rows join the cluster with the least added loss.
    Equal rows are drawn at random.
    """
    patterns = patterns_of(rows).astype(np.int32)
    order = rng.permutation(rows.n_rows)
    order = order[np.argsort(rows.pattern[order], kind="stable")]  # equal rows are adjacent
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
    """Return the pattern with unassigned rows that differs from p in most columns."""
    sizes = np.diff(patterns.indptr)
    distance = sizes - 2 * (patterns @ _row(patterns, p))
    return int(np.argmax(np.where(left > 0, distance, -patterns.shape[1] - 1)))


def _members(
    patterns: Sparse, first: int, left: NDArray[np.int64], k: int
) -> list[tuple[int, int]]:
    """Return k rows as patterns with counts, starting with `first`. No row is assigned yet."""
    sizes = np.diff(patterns.indptr)
    some, every = _row(patterns, first), _row(patterns, first)
    taken = [(first, min(k, int(left[first])))]
    free = left > 0
    free[first] = False
    need = k - taken[0][1]
    while need:
        # |some or p| - |every and p| is the number of columns in which the cluster would differ.
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
    """Return the cluster whose information loss increases least when a row joins it."""
    held, sizes = _count_held(matrix, clusters)
    some, every = held.copy(), held.copy()
    some.data[:] = 1
    every.data = (held.data == sizes[_rows_of(held)]).astype(np.int32)
    columns = row.toarray()[0]
    before = (some - every).sum(axis=1)
    after = some.sum(axis=1) + columns.sum() - (some + every) @ columns
    return int(np.argmin((sizes + 1) * after - sizes * before))


def _count_held(matrix: Sparse, clusters: NDArray[np.int64]) -> tuple[Sparse, NDArray[np.int64]]:
    """Return (clusters, features) counts of the rows with each column, and the cluster sizes."""
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
