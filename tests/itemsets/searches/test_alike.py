"""What alike rows have in common is frequent, and so may be shared."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.itemsets.kernels.alike import best_common
from voile.itemsets.rows.incidence import Incidence

seeds = st.integers(0, 2**32)
ENOUGH = 2**40


def found(rows, weights, k, work=ENOUGH):
    order = np.arange(len(rows.own), dtype=np.int32)
    return best_common(rows.groups, np.asarray(weights, dtype=float), order, k, work).tolist()


@given(seeds, st.integers(1, 4))
@settings(max_examples=100, deadline=None)
def test_at_least_k_subjects_have_it_all(table, seed, k):
    t = table(seed)
    weights = np.random.default_rng(seed).integers(0, 3, t.X.shape[1])
    common = found(t.incidence, weights, k)
    assert not common or t.support(common) >= k
    assert all(weights[x] > 0 for x in common)
    if k == 1:  # then the heaviest row itself
        assert weights[common].sum() == (t.X @ weights).max()


def test_finds_the_near_duplicates_among_many_rows():
    rng = np.random.default_rng(0)
    X = (rng.random((60, 80)) < 0.1).astype(int)
    X[[3, 17, 40], :30] = 1
    assert set(found(Incidence.of(X), np.ones(80), 3)) >= set(range(30))


def test_ends_when_its_work_is_done():
    X = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 1], [0, 1, 1]])
    assert found(Incidence.of(X), np.ones(3), 2, work=0) == [0]
    assert found(Incidence.of(X), np.ones(3), 2) == [1, 2]
