"""What may be shared together, and what keeps a feature out, against every itemset there is."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.core.errors import InfeasibleError, RequestError
from voile.itemsets.measures.containment import anonymity
from voile.itemsets.measures.feasibility import BlockingItemset, Constraint, FeasibleSet
from voile.itemsets.rows.incidence import Incidence

seeds = st.integers(0, 2**32)
knowledge = st.sampled_from([None, 1, 2, 3])


@given(seeds, st.integers(1, 4), knowledge, st.booleans())
@settings(max_examples=300, deadline=None)
def test_a_feature_may_join_exactly_when_every_itemset_is_frequent_or_absent(
    table, seed, k, m, absences
):
    t = table(seed)
    k = min(k, t.n_subjects)
    state, S = FeasibleSet(t.incidence, Constraint(k, m, absences)), []
    for x in np.random.default_rng(seed).permutation(t.X.shape[1]).tolist():
        may = t.feasible([*S, x], k, m, absences)
        assert state.admits(x) == may
        if may:
            assert state.blocker(x) is None
            state.join(x)
            S.append(x)
        else:
            assert_blocks(t, state.blocker(x), x, k, m, absences)
    assert state.features.tolist() == S
    _, by_row = np.unique(t.X[:, S], axis=0, return_inverse=True) if S else (0, [0] * len(t.X))
    seen = state.classes[t.incidence.pattern]
    assert len(set(zip(seen.tolist(), list(by_row), strict=True))) == len(set(seen.tolist()))


def assert_blocks(t, found, x, k, m, absences):
    """An itemset with x in it, that occurs for too few; no part of it does."""
    assert found.features[0] == x
    assert m is None or len(found.features) <= m
    assert absences or all(found.present)
    assert 0 < len(t.matching(found.features, found.present)) == found.support < k
    items = list(zip(found.features, found.present, strict=True))
    for part in itertools.combinations(items, len(items) - 1):
        assert not part or len(t.matching(*zip(*part, strict=True))) >= k


@given(seeds, st.integers(1, 4), knowledge, st.booleans(), st.booleans())
@settings(max_examples=100, deadline=None)
def test_extending_is_trying_one_after_another(table, seed, k, m, absences, stop):
    t = table(seed)
    constraint = Constraint(min(k, t.n_subjects), m, absences)
    order = np.random.default_rng(seed).permutation(t.X.shape[1])
    at_once, one_by_one = (FeasibleSet(t.incidence, constraint) for _ in range(2))
    for x in order.tolist():
        if one_by_one.admits(x):
            one_by_one.join(x)
        elif stop:
            break
    half = len(order) // 2
    first = at_once.extend(order[:half], stop=stop)
    if not stop or len(first) == half:
        at_once.extend(order[half:], stop=stop)
    assert at_once.features.tolist() == one_by_one.features.tolist()
    np.testing.assert_array_equal(at_once.classes, one_by_one.classes)
    at_once.reset()
    assert not len(at_once.features)
    assert not at_once.classes.any()


@given(seeds, st.integers(1, 4))
@settings(max_examples=100, deadline=None)
def test_feasible_is_k_anonymous_by_containment_and_closed_downwards(table, seed, k):
    t = table(seed)
    k = min(k, t.n_subjects)
    feasible = set(t.feasible_sets(k))
    occur = np.flatnonzero(t.X.any(axis=0)).tolist()
    for size in range(len(occur) + 1):
        for S in itertools.combinations(occur, size):
            assert (S in feasible) == (anonymity(t.incidence, S) >= k)
            if S in feasible:
                smaller = itertools.combinations(S, max(size - 1, 0))
                assert all(part in feasible for part in smaller)
            if t.support(S) >= k:  # frequent implies feasible, not the reverse
                assert S in feasible


def test_the_papers_example(table_1):
    feasible = [S for S in table_1.feasible_sets(2) if S]
    frequent = [S for S in feasible if table_1.support(S) >= 2]
    assert (len(feasible), len(frequent)) == (19, 15)
    maximal = [S for S in feasible if not any(set(S) < set(T) for T in feasible)]
    assert maximal == [(0, 1, 4), (0, 2, 3, 4)]
    state = FeasibleSet(table_1.incidence, Constraint(2))
    assert state.extend([2, 3, 4, 1, 0]).tolist() == [2, 3, 4, 0]
    assert list(state.blockers()) == [
        BlockingItemset(features=(1, 2), present=(True, True), support=1)
    ]


def test_knowing_less_admits_more():
    X = np.array([[1, 1, 1], [1, 1, 0], [1, 0, 1], [0, 1, 1]])
    rows = Incidence.of(X)
    shared = [FeasibleSet(rows, Constraint(2, m)).extend([0, 1, 2]) for m in (1, 2, 3, None)]
    assert [len(features) for features in shared] == [3, 3, 2, 2]


@given(seeds)
@settings(max_examples=40, deadline=None)
def test_a_k_of_one_refuses_nothing(table, seed):
    t = table(seed)
    state = FeasibleSet(t.incidence, Constraint(1, absences=True))
    assert len(state.extend(np.arange(t.X.shape[1]))) == t.X.shape[1]


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        (lambda: Constraint(0), "k must be at least 1"),
        (lambda: Constraint(2, m=0), "m must be at least 1"),
    ],
)
def test_constraints_out_of_range_are_refused(rule, says):
    with pytest.raises(RequestError, match=says):
        rule()


def test_constraints_that_nothing_meets_say_what_would(table_1):
    rows = table_1.incidence
    with pytest.raises(RequestError, match=r"k is 7, and there are 6 subjects; .* at most 6"):
        FeasibleSet(rows, Constraint(7))
    assert Constraint(2).candidates(rows).tolist() == [0, 1, 2, 3, 4]
    assert Constraint(3).candidates(rows).tolist() == [0, 4]
    rare = rows.project([1, 2])
    with pytest.raises(InfeasibleError, match=r"no feature meets a k of 3; the largest .* is 2"):
        Constraint(3).candidates(rare)


@given(seeds, st.integers(1, 4), st.booleans())
@settings(max_examples=100, deadline=None)
def test_candidates_are_what_may_be_shared_alone(table, seed, k, absences):
    t = table(seed)
    k = min(k, t.n_subjects)
    alone = [S[0] for S in t.feasible_sets(k, absences=absences) if len(S) == 1]
    try:
        found = Constraint(k, absences=absences).candidates(t.incidence).tolist()
    except InfeasibleError:
        found = []
    assert found == alone


def test_a_feature_that_may_not_join_has_a_blocker():
    rows = Incidence.of(np.array([[1, 1, 0], [1, 1, 0], [1, 0, 1], [0, 0, 1]]))
    state = FeasibleSet(rows, Constraint(k=2))
    assert state.extend([0, 2, 1]).tolist() == [0, 1]
    assert state.blocker(2) == BlockingItemset(features=(2, 0), present=(True, True), support=1)
