"""What is kept along a chain equals what is scored from scratch, at every step."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.tables.fitting.kernels.hashing import insert, lookup, remove
from voile.tables.fitting.kernels.lattice import lattice
from voile.tables.fitting.kernels.walk import changes, descend, follow

seeds = st.integers(0, 2**32)
limits = st.fixed_dictionaries(
    {
        "k": st.sampled_from([1, 3]),
        "max_risk": st.sampled_from([1.0, 0.2]),
        "l_diversity": st.sampled_from([1, 2]),
        "entropy_l": st.sampled_from([1.0, 1.0, 1.6]),
        "t_closeness": st.sampled_from([1.0, 1.0, 0.4]),
        "columns": st.sampled_from([(), (2, 2)]),
    }
)


def assert_scores(evaluator, scores, policies):
    expected = evaluator.scores(policies)
    for name in ("risk", "loss", "suppressed"):
        found, wanted = getattr(scores, name), getattr(expected, name)
        np.testing.assert_allclose(found, wanted, atol=1e-10, err_msg=name)


@given(seeds, limits)
@settings(max_examples=100, deadline=None)
def test_a_chain_scores_as_from_scratch(small_space, seed, limits):
    evaluator = small_space(seed, **limits).evaluator
    order = np.random.default_rng(seed).permutation(evaluator.n_bits)
    sums = np.empty((len(order), 3))
    follow(lattice(evaluator.cells, evaluator.rules), order, sums)
    policies = np.ones((len(order), len(order)), dtype=bool)
    for step, bit in enumerate(order):
        policies[step:, bit] = False
    assert_scores(evaluator, evaluator.normalise(sums), policies)


def neighbours_of(evaluator, guide, allowed=0.0):
    n = evaluator.n_bits
    at = lattice(evaluator.cells, evaluator.rules)
    sums = np.empty((n * (n + 1) // 2, 3))
    merged, open_bits = np.empty(n, dtype=np.int32), np.ones(n, dtype=bool)
    count, bits = descend(at, changes(at), open_bits, guide, allowed, n, sums, merged)
    assert count == len(bits) == n * (n + 1) // 2
    policies, policy = [], np.ones(n, dtype=bool)
    for bit in merged:
        for other in np.flatnonzero(policy):
            policies.append(policy.copy())
            policies[-1][other] = False
        policy[bit] = False
    assert not policy.any()
    return evaluator.normalise(sums), np.array(policies), merged


@given(seeds, limits, st.sampled_from([0, 1]))
@settings(max_examples=100, deadline=None)
def test_all_neighbours_score_as_from_scratch(small_space, seed, limits, guide):
    evaluator = small_space(seed, **limits).evaluator
    scores, policies, _ = neighbours_of(evaluator, guide)
    assert_scores(evaluator, scores, policies)


@pytest.mark.whole
@pytest.mark.parametrize("constraints", [{}, {"k": 2, "l_diversity": 2}])
def test_a_hashed_table_scores_as_a_direct_one(small_space, constraints):
    for seed in range(3):
        evaluator = small_space(seed, sizes=(2, 2, 3), spread=True, **constraints).evaluator
        at = lattice(evaluator.cells, evaluator.rules)
        assert at.state[0] > 0
        order = np.random.default_rng(seed).permutation(evaluator.n_bits)[:400]
        sums = np.empty((len(order), 3))
        follow(at, order, sums)
        policies = np.ones((len(order), evaluator.n_bits), dtype=bool)
        for step, bit in enumerate(order):
            policies[step:, bit] = False
        assert_scores(evaluator, evaluator.normalise(sums), policies)


@given(seeds)
@settings(max_examples=60, deadline=None)
def test_merges_the_pair_with_most_risk_taken_away_for_each_nat(small_space, seed):
    evaluator = small_space(seed).evaluator
    _, _, merged = neighbours_of(evaluator, 0)
    policy = np.ones(evaluator.n_bits, dtype=bool)
    for bit in merged:
        left = np.flatnonzero(policy)
        rows = np.tile(policy, (len(left) + 1, 1))
        rows[np.arange(len(left)), left] = False
        risk, loss = evaluator.evaluate(rows)
        taken, cost = risk[-1] - risk[:-1], loss[:-1] - loss[-1]
        ratio = np.where(cost < 1e-11, np.inf, taken / np.maximum(cost, 1e-11))
        chosen = ratio[left == bit][0]
        assert chosen == np.inf or chosen >= ratio.max() * (1 - 1e-6) - 1e-9
        policy[bit] = False


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 40)), max_size=200))
@settings(max_examples=60, deadline=None)
def test_the_hash_table_behaves_as_a_dictionary(steps):
    table, wanted = np.full(2 << 6, -1), {}
    for number, (put, key) in enumerate(steps):
        key *= 2**40
        if put:
            insert(table, 6, key, number)
            wanted[key] = number
        elif key in wanted:
            remove(table, 6, key)
            del wanted[key]
    for key in range(41):
        assert lookup(table, 6, key * 2**40) == wanted.get(key * 2**40, -1)
