"""A row of the table for each adversary and k: feasible against its own, measured against all."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from voile.core.errors import RequestError
from voile.itemsets import Constraint, adversaries, select


def drawn(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 60)
    return (rng.random((60, 6)) < np.where(y, 0.6, 0.4)[:, None]).astype(np.int8), y


def least_shared(X, m):
    """The fewest rows that hold an itemset of at most m features that occurs."""
    held = [
        X[:, some].all(axis=1).sum()
        for size in range(m + 1)
        for some in itertools.combinations(range(X.shape[1]), size)
    ]
    return min(n for n in held if n)


@pytest.mark.parametrize("seed", range(3))
def test_each_set_is_that_of_its_adversary_and_its_k_is_counted_against_all(seed):
    X, y = drawn(seed)
    ms = (1, 2, 3, None)
    table = adversaries(X, y, k=(5, 15), m=ms, method="best", random_state=seed)
    assert [(one.m, one.k) for one in table] == [(m, k) for m in ms for k in (5, 15)]
    for one in table:
        asked = Constraint(one.k, one.m)
        chosen = select(X, y, constraint=asked, method="best", random_state=seed).features
        shown = X[:, chosen]
        assert one.features == len(chosen)
        assert one.reached == tuple(least_shared(shown, 6 if m is None else m) for m in ms)
        assert one.reached[ms.index(one.m)] >= one.k
        assert sorted(one.reached, reverse=True) == list(one.reached)
        _, counts = np.unique(shown, axis=0, return_counts=True)
        assert one.unique_share == (counts == 1).sum() / len(X)
        assert 0.4 < one.auc < 1


def test_a_k_that_no_feature_meets_has_no_row_and_too_few_of_a_class_have_no_auc():
    X, _ = drawn(0)
    y = (np.arange(len(X)) < 3).astype(int)
    least = int(X.sum(axis=0).max())
    (one,) = adversaries(X, y, k=(5, least + 1), m=(1,))
    assert (one.k, one.auc) == (5, None)
    with pytest.raises(RequestError, match="m must be at least 1"):
        adversaries(X, y, k=(5,), m=(0,))
