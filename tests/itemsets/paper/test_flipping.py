"""Random flipping: k rows alike, clusters as Byun's, flips as many as were counted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from voile.core.errors import RequestError
from voile.itemsets import RandomFlipping
from voile.itemsets.measures.containment import anonymity, row_exact_anonymity
from voile.itemsets.paper.flipping import cluster_rows
from voile.itemsets.rows.incidence import Incidence
from voile.keys.random import ProtectiveRandom


def differing(X, cluster):
    return int((X[cluster].min(axis=0) != X[cluster].max(axis=0)).sum())


def naive_clusters(X, k, start):
    """Greedy k-member clustering, row by row, from a row given; ties to the first pattern."""
    patterns = {}
    for row in map(tuple, X.tolist()):
        patterns.setdefault(row, len(patterns))
    rank = [patterns[tuple(row)] for row in X.tolist()]
    left = sorted(range(len(X)), key=lambda r: rank[r])
    clusters, first = [], start
    while len(left) >= k:
        origin = X[first]
        first = max(left, key=lambda r: (int((X[r] != origin).sum()), -rank[r]))
        cluster = [first]
        left.remove(first)
        while len(cluster) < k:
            here = list(cluster)
            best = min(left, key=lambda r: (differing(X, [*here, r]), rank[r] != rank[here[-1]]))
            cluster.append(best)
            left.remove(best)
        clusters.append(cluster)
    for r in left:
        loss = [len(c) * differing(X, c) for c in clusters]
        more = [(len(c) + 1) * differing(X, [*c, r]) for c in clusters]
        clusters[int(np.argmin(np.array(more) - loss))].append(r)
    return clusters


def total_loss(X, clusters):
    return sum(len(c) * differing(X, c) for c in clusters)


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 10_000), k=st.integers(1, 5))
def test_every_row_is_alike_k_and_flips_are_counted(table, seed, k):
    X = table(seed).X
    flipping = RandomFlipping(k=k)
    if k > len(X):
        with pytest.raises(RequestError, match="use a k of at most"):
            flipping.fit_transform(X)
        return
    released = flipping.fit_transform(X).toarray()
    assert row_exact_anonymity(released).min() >= k
    assert anonymity(released) >= k
    assert np.bincount(flipping.clusters_).min() >= k
    assert flipping.flipped_ == (released != X).mean()
    for cluster in range(flipping.clusters_.max() + 1):
        here = flipping.clusters_ == cluster
        same = X[here].min(axis=0) == X[here].max(axis=0)
        assert (released[here][:, same] == X[here][:, same]).all()


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10_000), k=st.integers(2, 4))
def test_clusters_as_the_naive_twin(seed, k):
    rng = np.random.default_rng(seed)
    X = (rng.random((rng.integers(k, 12), 5)) < 0.4).astype(np.int8)
    clusters = cluster_rows(Incidence.of(X), k, np.random.default_rng(seed))
    ours = [np.flatnonzero(clusters == c).tolist() for c in range(clusters.max() + 1)]
    twins = [total_loss(X, naive_clusters(X, k, start)) for start in range(len(X))]
    assert total_loss(X, ours) in twins


def test_equal_rows_cost_nothing():
    X = np.repeat(np.eye(6, dtype=np.int8), 4, axis=0)
    flipping = RandomFlipping(k=4)
    assert (flipping.fit_transform(X).toarray() == X).all()
    assert flipping.flipped_ == 0


def test_a_cell_shows_a_one_as_often_as_its_cluster_has_them():
    """Each of 20,000 columns is drawn for itself."""
    X = np.repeat([[1], [1], [1], [0]], 20_000, axis=1)
    released = RandomFlipping(k=4).fit_transform(X)
    ones = released.sum() // 4
    assert abs(ones / 20_000 - 0.75) < 4 * np.sqrt(0.75 * 0.25 / 20_000)


def test_stays_sparse_and_draws_afresh():
    X = sparse.random_array((60, 400), density=0.05, rng=np.random.default_rng(0))
    X.data[:] = 1
    first, second = (RandomFlipping(k=5).fit_transform(X) for _ in range(2))
    assert sparse.issparse(first)
    assert (first != second).nnz > 0
    again = [
        RandomFlipping(5).fit_transform(X, protective=ProtectiveRandom.for_tests(1)) for _ in "ab"
    ]
    assert (again[0] != again[1]).nnz == 0


def test_refuses_two_rows_of_one_subject():
    with pytest.raises(RequestError, match="3 rows are of 2 subjects; join"):
        RandomFlipping(k=1).fit_transform(np.eye(3), subjects=["a", "a", "b"])


@pytest.mark.parametrize("k", [0, -1])
def test_refuses_k_below_one(k):
    with pytest.raises(RequestError, match="k must be at least 1"):
        RandomFlipping(k=k).fit_transform(np.eye(3))
