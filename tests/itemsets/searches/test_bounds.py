"""No feasible set is worth more than the bound, whatever is asked and however few are coloured."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.core.errors import InfeasibleError
from voile.itemsets import Constraint, Incidence, select
from voile.itemsets.searches import bounds
from voile.itemsets.searches.bounds import utility_bound
from voile.itemsets.searches.run import SetUtility
from voile.itemsets.selection import bound_of


def by_hand(table, worth, k, m, absences):
    sets = table.feasible_sets(k, m, absences)
    return max(worth(np.array(some, dtype=np.int32)) for some in sets)


@given(
    seed=st.integers(0, 5000),
    k=st.integers(2, 4),
    m=st.sampled_from([None, 1, 2]),
    absences=st.booleans(),
    utility=st.sampled_from(["coverage", "hamdist", "mutual-information", "distcnt", "cm"]),
    most=st.sampled_from([1, 3, 2**13]),
    bits=st.sampled_from([1, 2, 20]),
    blocks=st.sampled_from([0, 1, 5]),
)
def test_no_feasible_set_is_worth_more(table, seed, k, m, absences, utility, most, bits, blocks):
    made = table(seed)
    worth = SetUtility.of(utility, made.incidence, made.y)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(bounds, "MOST_FEATURES", most)
        patched.setattr(bounds, "MOST_BITS", bits)
        patched.setattr(bounds, "MOST_BLOCKS", blocks)
        try:
            bound = utility_bound(worth, Constraint(min(k, made.n_subjects), m, absences))
        except InfeasibleError:
            return
    best = by_hand(made, worth, min(k, made.n_subjects), m, absences)
    assert bound >= best - 1e-9
    assert bound <= worth(np.arange(made.X.shape[1])) + 1e-9


def test_a_block_counts_its_best_feasible_set():
    three = np.repeat([[1, 1, 0], [1, 0, 1], [0, 1, 1]], 3, axis=0)
    X = np.vstack([three, [[1, 1, 1]]])
    worth = SetUtility.of(np.array([4.0, 3.0, 2.0]), Incidence.of(X), None)
    assert utility_bound(worth, Constraint(k=2)) == 7  # no two clash, all three do


@pytest.mark.parametrize("blocks", [0, 1])
def test_of_features_that_clash_pairwise_the_heaviest_counts(monkeypatch, blocks):
    monkeypatch.setattr(bounds, "MOST_BLOCKS", blocks)
    X = np.array([[1, 1, 1, 0]] + [[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1]] * 3)
    worth = SetUtility.of(np.array([5.0, 4.0, 3.0, 2.0]), Incidence.of(X), None)
    assert utility_bound(worth, Constraint(k=3)) == 7
    assert utility_bound(worth, Constraint(k=3, m=1)) == 14  # she never knows two together


@pytest.mark.parametrize("blocks", [0, 1])
def test_a_weight_is_split_among_clashes(monkeypatch, blocks):
    monkeypatch.setattr(bounds, "MOST_BLOCKS", blocks)
    X = np.array([[1, 1, 0], [1, 0, 1]] + [[1, 0, 0], [0, 1, 0], [0, 0, 1]] * 3)
    worth = SetUtility.of(np.array([3.0, 2.0, 2.0]), Incidence.of(X), None)
    assert utility_bound(worth, Constraint(k=3)) == 4  # the first clashes with both others


def test_rows_too_many_or_too_long_are_bounded_by_all_that_may_be_shared(monkeypatch):
    X = np.array([[1, 1], [1, 0], [1, 0], [0, 1], [0, 1]])
    worth = SetUtility.of("size", Incidence.of(X), None)
    assert utility_bound(worth, Constraint(k=2)) == 1
    monkeypatch.setattr(bounds, "MOST_BITS", 1)
    for limit in ("MOST_ONES", "MOST_PAIRS"):
        with monkeypatch.context() as patched:
            patched.setattr(bounds, limit, 0)
            assert utility_bound(worth, Constraint(k=2)) == 2


def test_what_a_search_proved_is_kept(table_1):
    worth = SetUtility.of("hamdist", table_1.incidence, table_1.y)
    found = select(table_1.X, table_1.y, constraint=Constraint(k=2), utility="hamdist")
    assert bound_of(found, worth) == found.bound == found.utility
    greedy = select(
        table_1.X, table_1.y, constraint=Constraint(k=2), utility="hamdist", method="greedy"
    )
    assert greedy.bound is None
    assert bound_of(greedy, worth) >= found.utility
