"""The weighed loss in the compiled kernels, against the definitions and the NumPy scorer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.tables.fitting.scoring.evaluator import PolicyEvaluator
from voile.tables.fitting.scoring.group_scorer import MeasuredScorer
from voile.tables.people.counts import Constraints, row_keys
from voile.tables.scoring.group_measures import RecordGroups, information, matches, weigh_losses
from voile.tables.scoring.losses import CombinationGrouping, losses

seeds = st.integers(0, 2**32)
weights = st.sampled_from([0.0, 0.3, 0.5, 0.9])
importances = st.sampled_from([None, (1, 2, 0), (3, 1, 1)])
limits = st.builds(
    Constraints,
    k=st.sampled_from([1, 3]),
    max_risk=st.sampled_from([1.0, 0.2]),
    l_diversity=st.sampled_from([1, 2]),
)


def some_policies(seed, n_bits, count=8):
    rng = np.random.default_rng(seed)
    return rng.random((count, n_bits)) < rng.random((count, 1))


def grouped(counts, limits, policy):
    """Return the groups that a policy makes, and which are released, from the definitions."""
    bits = np.split(policy, np.cumsum([size - 1 for size in counts.sizes])[:-1])
    of = [np.concatenate([[0], np.cumsum(own)]) for own in bits]
    intervals = np.column_stack([own[codes] for own, codes in zip(of, counts.codes.T, strict=True)])
    keys = row_keys(intervals, [own[-1] + 1 for own in of])
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    n, p = (np.bincount(group, w, len(first)) for w in (counts.sample, counts.population))
    kinds = np.array([(counts.sensitive[group == g] > 0).any(axis=0).sum() for g in range(len(n))])
    kept = (n >= limits.k - 1e-9) | (limits.k == 1)
    kept &= np.maximum(np.maximum(n, p), 1) * limits.max_risk >= 1 - 1e-9
    kept &= (kinds >= limits.l_diversity) | (limits.l_diversity == 1)
    values = tuple(np.arange(own[-1] + 1)[:, None] == own for own in of)
    return CombinationGrouping(group, intervals[first], values, kept)


def close(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


@given(seeds, limits, weights, importances)
@settings(max_examples=150, deadline=None)
def test_weighs_distribution_and_resolution(own, seed, limits, weight, importance):
    counts = own.counts(seed)
    loss = weigh_losses(counts, weight=weight, importance=importance)
    evaluator = PolicyEvaluator(counts, limits, loss=loss)
    assert evaluator.is_compiled
    policies = some_policies(seed, evaluator.n_bits)
    for policy, found in zip(policies, evaluator.scores(policies).loss, strict=True):
        lost = losses(counts, grouped(counts, limits, policy), importance=importance)
        wanted = weight * lost["distribution"] + (1 - weight) * lost["resolution"]
        if lost["distribution"] < 1 and lost["resolution"] < 1:  # above 1 each counts as 1
            assert found == pytest.approx(wanted, abs=1e-9)
        else:
            assert found >= wanted - 1e-9


@given(seeds, limits, importances)
@settings(max_examples=100, deadline=None)
def test_the_figures_of_policies_are_those_of_their_groupings(own, seed, limits, importance):
    counts = own.counts(seed)
    assume(len(np.unique(counts.codes[counts.sample > 0], axis=0)) > 1)  # one kind has no entropy
    evaluator = PolicyEvaluator(counts, limits, importance=importance)
    policies = some_policies(seed, evaluator.n_bits)
    figures = evaluator.figures(policies)
    for i, policy in enumerate(policies):
        wanted = losses(counts, grouped(counts, limits, policy), importance=importance)
        assert {name: getattr(figures, name)[i] for name in wanted} == pytest.approx(
            wanted, abs=1e-9
        )


def measured(evaluator, cuts=None):
    source = RecordGroups.of(evaluator.counts, columns=True)
    whole = MeasuredScorer.of(
        evaluator.cells, source, evaluator.rules, evaluator.risk, evaluator.loss
    )
    return whole if cuts is None else whole.coarsen_lattice(cuts)


def answer_alike(compiled, ours, seed):
    n_bits = int((compiled.sizes - 1).sum())
    policies = some_policies(seed, n_bits)
    close(ours.score(policies), compiled.score(policies))
    close(ours.flips(policies), compiled.flips(policies))
    order = np.random.default_rng(seed).permutation(np.flatnonzero(policies[0]))
    chains = [
        np.concatenate([np.zeros((0, 3)), *s.walk(policies[0], order)]) for s in (ours, compiled)
    ]
    close(*chains)
    for d, size in enumerate(compiled.sizes):
        last = np.maximum(np.arange(size), size - 1 - seed % 2)
        wanted = compiled.intervals(d, policies[1], last)
        for i, row in enumerate(ours.intervals(d, policies[1], last)):
            close(row[i : last[i] + 1], wanted[i, i : last[i] + 1])
    for some in compiled.descend(policies[2], policies[2], rescue=seed % 2 == 1, allowed=0.0):
        close(some.sums, compiled.score(some.policies(np.arange(len(some.sums)))))


@given(seeds, limits, weights, importances)
@settings(max_examples=100, deadline=None)
def test_the_kernels_answer_as_numpy_does(own, seed, limits, weight, importance):
    counts = own.counts(seed)
    loss = weigh_losses(counts, weight=weight, importance=importance)
    evaluator = PolicyEvaluator(counts, limits, risk=matches(power=1 + seed % 2), loss=loss)
    answer_alike(evaluator.scorer, measured(evaluator), seed)


@given(seeds, limits, weights)
@settings(max_examples=60, deadline=None)
def test_so_they_do_where_cuts_are_forbidden(own, seed, limits, weight):
    counts = own.counts(seed)
    forbidden = np.random.default_rng(seed).random(sum(counts.sizes) - len(counts.sizes)) < 0.4
    asked = Constraints(limits.k, limits.max_risk, limits.l_diversity, forbidden=forbidden)
    evaluator = PolicyEvaluator(counts, asked, loss=weigh_losses(counts, weight=weight))
    if not forbidden.any():
        return
    answer_alike(evaluator.scorer, measured(evaluator, ~forbidden), seed)


def test_they_do_in_domains_too_large_for_a_table_of_all_keys(own):
    for seed in range(3):
        counts = own.counts(seed, sizes=(2, 2, 3), spread=True)
        evaluator = PolicyEvaluator(counts, loss=weigh_losses(counts))
        policies = some_policies(seed, evaluator.n_bits, 3)
        order = np.random.default_rng(seed).permutation(np.flatnonzero(policies[0]))[:99]
        found = np.concatenate(list(evaluator.scorer.walk(policies[0], order)))
        rows = np.tile(policies[0], (len(order), 1))
        for step, bit in enumerate(order):
            rows[step:, bit] = False
        close(found, evaluator.scorer.score(rows))


@given(seeds)
@settings(max_examples=30, deadline=None)
def test_a_weight_of_one_is_the_paper_s_loss(own, seed):
    counts = own.counts(seed)
    assert weigh_losses(counts, weight=1, importance=(1, 2, 3)) == information()


@pytest.mark.parametrize("weight", [-0.1, 1.1, float("nan")])
def test_a_weight_out_of_range_is_refused(own, weight):
    with pytest.raises(RequestError, match="between 0 and 1"):
        weigh_losses(own.counts(0), weight=weight)
