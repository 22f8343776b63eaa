"""Measures in NumPy against dictionaries, and against the kernels where both can answer."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.tables.fitting.scoring.evaluator import PolicyEvaluator
from voile.tables.fitting.scoring.group_scorer import MeasuredScorer
from voile.tables.people.counts import CombinationCounts, Constraints
from voile.tables.scoring.group_measures import RecordGroups, information, matches

seeds = st.integers(0, 2**32)
limits = st.sampled_from(
    [
        Constraints(),
        Constraints(k=3, l_diversity=2),
        Constraints(max_risk=0.2, l_diversity=3, suppress=0.1),
        Constraints(k=2, entropy_l=1.5, t_closeness=0.4),
        Constraints(t_closeness=0.3, l_diversity=2),
    ]
)
columns = st.sampled_from([(), (2, 2), (3, 1)])
PAIRS = ("eq. 2-4", "weighed", "mutual", "own", "outcomes")


def groups_of(counts, policy):
    """Gather the groups of a policy in a dictionary: n, people, width, outcomes, sensitive."""
    bits = np.split(policy, np.cumsum(np.array(counts.sizes) - 1)[:-1])
    intervals = [np.concatenate([[0], np.cumsum(b)]) for b in bits]
    none = np.zeros(counts.sensitive.shape[1])
    groups = defaultdict(lambda: [0.0, 0.0, 1.0, [0.0, 0.0], none, []])
    for c, code in enumerate(counts.codes):
        key = tuple(of[v] for of, v in zip(intervals, code, strict=True))
        group = groups[key]
        group[0] += counts.sample[c]
        group[1] += counts.population[c]
        group[2] = np.prod([(of == i).sum() for of, i in zip(intervals, key, strict=True)])
        group[3] = [a + b[c] for a, b in zip(group[3], counts.outcomes, strict=True)]
        if counts.sample[c] > 0:
            group[4] = group[4] + counts.sensitive[c]
            group[5].append(c)
    return [group for group in groups.values() if group[0] > 0]


def is_diverse(counts, shown, limits):
    """Say whether a group of these subjects by value shows enough of each sensitive column."""
    whole, first = counts.sensitive.sum(axis=0), 0
    for values, ordered in counts.sensitive_columns:
        own, everybody = (one[first : first + values].tolist() for one in (shown, whole))
        first += values
        if not enough(own, everybody, limits, ordered):
            return False
    return True


def enough(own, everybody, limits, ordered):
    n, total = sum(own), sum(everybody)
    if sum(x > 0 for x in own) < limits.l_diversity:
        return False
    if n == 0:
        return limits.entropy_l == 1 and limits.t_closeness == 1
    nats = -sum(x / n * math.log(x / n) for x in own if x)
    away = [x / n - y / total for x, y in zip(own, everybody, strict=True)]
    far = sum(map(abs, away)) / 2
    if ordered:
        far = sum(abs(sum(away[: v + 1])) for v in range(len(away))) / max(len(away) - 1, 1)
    return nats >= math.log(limits.entropy_l) - 1e-9 and far <= limits.t_closeness + 1e-9


def one(measure, n, people, width, outcomes):
    arrays = (np.array([float(x)]) for x in (n, people, width))
    return float(measure.each(RecordGroups(*arrays, tuple(np.array([o]) for o in outcomes)))[0])


def twin(counts, limits, risk, loss, policy):
    """Score one policy, group by group, straight from the definitions."""

    def source(measure, c):
        own = [counted[c] for counted in counts.outcomes]
        return one(measure, counts.sample[c], counts.population[c], 1, own)

    seen = np.flatnonzero(counts.sample > 0)
    most_risk = sum(source(risk, c) for c in seen)
    [whole] = groups_of(counts, np.zeros_like(policy))
    most_loss = one(loss, *whole[:4]) - sum(source(loss, c) for c in seen)
    found, lost, dropped = 0.0, 0.0, 0.0
    for n, people, width, outcomes, shown, cells in groups_of(counts, policy):
        g = max(n, people, 1)
        large = (limits.k == 1 or n >= limits.k - 1e-9) and g * limits.max_risk >= 1 - 1e-9
        if large and (not limits.diverse or is_diverse(counts, shown, limits)):
            found += one(risk, n, people, width, outcomes)
            lost += one(loss, n, people, width, outcomes) - sum(source(loss, c) for c in cells)
        else:
            dropped += n / counts.subjects
    share = lost / most_loss + dropped if most_loss > 1e-9 else 0.0
    return found / most_risk if most_risk else 0.0, np.clip(share, 0, 1), dropped


def some_policies(seed, n_bits, count=8):
    rng = np.random.default_rng(seed)
    return rng.random((count, n_bits)) < rng.random((count, 1))


def measured(evaluator):
    """Score in NumPy what the evaluator scores."""
    source = RecordGroups.of(evaluator.counts)
    return MeasuredScorer.of(
        evaluator.cells, source, evaluator.rules, evaluator.risk, evaluator.loss
    )


def close(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


def joined(parts):
    return np.concatenate([np.zeros((0, 3)), *parts])


@pytest.mark.parametrize("pair", PAIRS)
@given(seed=seeds, limits=limits, columns=columns)
@settings(max_examples=30, deadline=None)
def test_scores_equal_the_twins(own, pair, seed, limits, columns):
    counts = own.counts(seed, columns=columns)
    risk, loss = own.pairs(counts)[pair]
    evaluator = PolicyEvaluator(counts, limits, risk=risk, loss=loss)
    policies = some_policies(seed, evaluator.n_bits)
    scores = evaluator.scores(policies)
    wanted = np.array([twin(counts, limits, risk, loss, policy) for policy in policies])
    close(np.stack([scores.risk, scores.loss, scores.suppressed], axis=1), wanted)


@given(seeds, limits, columns, st.sampled_from([(1.0, None), (2.0, None), (1.0, 5), (0.5, 11)]))
@settings(max_examples=40, deadline=None)
def test_answers_as_the_kernels_do(own, seed, limits, columns, weighing):
    power, under = weighing
    counts = own.counts(seed, columns=columns)
    evaluator = PolicyEvaluator(counts, limits, risk=matches(power=power, under=under))
    compiled, ours = evaluator.scorer, measured(evaluator)
    assert type(compiled) is not type(ours)
    policies = some_policies(seed, evaluator.n_bits)
    close(ours.score(policies), compiled.score(policies))
    close(ours.flips(policies), compiled.flips(policies))
    order = np.random.default_rng(seed).permutation(np.flatnonzero(policies[0]))
    close(joined(ours.walk(policies[0], order)), joined(compiled.walk(policies[0], order)))
    for d, size in enumerate(counts.sizes):
        last = np.maximum(np.arange(size), size - 1 - seed % 2)
        wanted = compiled.intervals(d, policies[1], last)
        for i, row in enumerate(ours.intervals(d, policies[1], last)):
            close(row[i : last[i] + 1], wanted[i, i : last[i] + 1])


@pytest.mark.parametrize("pair", PAIRS)
@given(seed=seeds, limits=limits)
@settings(max_examples=15, deadline=None)
def test_every_question_is_answered_as_from_scratch(own, pair, seed, limits):
    counts = own.counts(seed, spread=seed % 3 == 0)
    risk, loss = own.pairs(counts)[pair]
    scorer = measured(PolicyEvaluator(counts, limits, risk=risk, loss=loss))
    n_bits = int((scorer.sizes - 1).sum())
    start = np.zeros(n_bits, dtype=bool)
    start[np.random.default_rng(seed).permutation(n_bits)[:8]] = True
    order = np.random.default_rng(seed).permutation(np.flatnonzero(start))
    rows = np.tile(start, (len(order), 1))
    for step, bit in enumerate(order):
        rows[step:, bit] = False
    close(joined(scorer.walk(start, order)), scorer.score(rows))
    if n_bits < 10:
        flipped = start ^ np.eye(n_bits, dtype=bool)
        close(scorer.flips(start[None])[0], scorer.score(flipped))
    free = np.random.default_rng(seed).random(n_bits) < 0.8
    scored = 0
    for some in scorer.descend(start, free, rescue=seed % 2 == 0, allowed=0.0):
        close(some.sums, scorer.score(some.policies(np.arange(len(some.sums)))))
        scored += len(some.sums)
    merges = int((start & free).sum())
    assert scored == merges * (merges + 1) // 2


@given(seeds, st.booleans())
@settings(max_examples=40, deadline=None)
def test_merges_where_most_risk_goes_for_the_loss(own, seed, rescue):
    counts = own.counts(seed)
    risk, loss = own.pairs(counts)["mutual"]
    limits = Constraints(k=3) if rescue else None
    evaluator = PolicyEvaluator(counts, limits, risk=risk, loss=loss)
    plain = PolicyEvaluator(counts, risk=risk, loss=loss)
    bottom = np.ones(evaluator.n_bits, dtype=bool)
    [some] = evaluator.scorer.descend(bottom, bottom, rescue=rescue, allowed=0.0)
    for policy, after in zip(some.on_the_way, some.on_the_way[1:], strict=False):
        left = np.flatnonzero(policy)
        rows = np.concatenate([policy[None], policy ^ np.eye(len(policy), dtype=bool)[left]])
        scores, kept = plain.scores(rows), evaluator.scores(rows)
        taken = (scores.risk[0] - scores.risk[1:]) / scores.risk[0]
        if rescue and kept.suppressed[0] > 0:
            taken += 1 - kept.suppressed[1:] / kept.suppressed[0]
        cost = scores.loss[1:] - scores.loss[0]
        ratio = np.where(cost < 1e-11, np.inf, taken / np.maximum(cost, 1e-11))
        merged = ratio[left == np.flatnonzero(policy & ~after)[0]][0]
        assert merged == np.inf or merged >= ratio.max() * (1 - 1e-6) - 1e-9


@pytest.mark.parametrize("pair", ["mutual", "own"])
@given(seed=seeds)
@settings(max_examples=20, deadline=None)
def test_the_lattice_without_some_cuts_scores_as_the_whole(own, pair, seed):
    counts = own.counts(seed)
    risk, loss = own.pairs(counts)[pair]
    forbidden = np.zeros(6, dtype=bool)
    forbidden[np.random.default_rng(seed).permutation(6)[:2]] = True
    evaluator = PolicyEvaluator(counts, Constraints(k=2, forbidden=forbidden), risk=risk, loss=loss)
    narrow = some_policies(seed, 4)
    wide = np.zeros((len(narrow), 6), dtype=bool)
    wide[:, ~forbidden] = narrow
    found, wanted = evaluator.normalise(evaluator.scorer.score(narrow)), evaluator.scores(wide)
    close(found.risk, wanted.risk)
    close(found.loss, wanted.loss)
    assert len(joined(evaluator.scorer.walk(np.ones(4, dtype=bool), np.arange(4)))) == 4


def test_by_hand(own):
    # Sizes 2 x 2; three subjects with outcome 0, one with 1; people 4, 1, 5.
    counts = CombinationCounts(
        (2, 2),
        np.array([[0, 0], [0, 1], [1, 0]], dtype=np.int32),
        np.array([1.0, 1.0, 2.0]),
        np.array([4.0, 1.0, 5.0]),
        np.zeros((3, 0)),
        (np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 0.0]]),),
    )
    wrong = own.loss(lambda groups: groups.subjects - groups.outcomes[0].max(axis=1))
    rare = own.risk(lambda groups: groups.subjects * (groups.group < 5))
    evaluator = PolicyEvaluator(counts, risk=rare, loss=wrong)
    policies = np.array([[1, 1], [1, 0], [0, 1], [0, 0]], dtype=bool)
    risk, loss = evaluator.evaluate(policies)
    np.testing.assert_allclose(risk, [1, 0, 1 / 2, 0])
    np.testing.assert_allclose(loss, [0, 1, 0, 1])


def test_a_measure_that_is_flat_scores_0(own):
    counts = own.counts(1)
    risk, loss = own.risk(lambda g: g.subjects * 0), own.loss(lambda g: g.subjects / 3)
    found = PolicyEvaluator(counts, risk=risk, loss=loss).evaluate(some_policies(0, 6))
    assert not np.any(found)


def test_few_groups_fit_in_a_table_at_a_time(own, monkeypatch):
    monkeypatch.setattr("voile.tables.fitting.scoring.group_scorer.DENSE", 40)
    monkeypatch.setattr("voile.tables.fitting.scoring.group_scorer.ROWS", 60)
    monkeypatch.setattr("voile.tables.fitting.scoring.group_walk.PIECE", 3)
    evaluator = PolicyEvaluator(own.counts(4, sizes=(5, 4, 6)), Constraints(k=2, l_diversity=2))
    ours, wanted = measured(evaluator), evaluator.scorer
    policies = some_policies(0, evaluator.n_bits, 20)
    close(ours.score(policies), wanted.score(policies))
    close(ours.flips(policies), wanted.flips(policies))
    close(ours.at(policies[0]).totals[2:], wanted.score(policies[:1])[0])
    last = np.full(6, 5)
    found, right = ours.intervals(2, policies[0], last), wanted.intervals(2, policies[0], last)
    for i in range(6):
        close(found[i, i:], right[i, i:])


def test_no_policy_scores_nothing(own):
    evaluator = PolicyEvaluator(own.counts(0))
    none = np.zeros((0, evaluator.n_bits), dtype=bool)
    assert measured(evaluator).score(none).shape == (0, 3)


def test_information_and_matches_are_the_papers(own):
    counts = own.counts(7)
    default, named = (
        PolicyEvaluator(counts),
        PolicyEvaluator(counts, risk=matches(), loss=information()),
    )
    policies = some_policies(3, 6)
    assert np.array_equal(default.evaluate(policies), named.evaluate(policies))
    assert type(default.scorer) is type(named.scorer)
