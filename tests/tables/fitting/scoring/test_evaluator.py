"""Risk, loss and suppression against a naive twin, by hand, and at the limits."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.tables.fitting.scoring.evaluator import PolicyEvaluator
from voile.tables.people.counts import CombinationCounts, Constraints, SensitiveColumn


def twin(counts, constraints, policy):
    """Score one policy with dictionaries, straight from the definitions."""
    bits = np.split(policy, np.cumsum([size - 1 for size in counts.sizes])[:-1])
    interval_of = [[0, *np.cumsum(b).tolist()] for b in bits]
    widths = [[of.count(i) for i in range(of[-1] + 1)] for of in interval_of]

    def none():
        return np.zeros(counts.sensitive.shape[1])

    def tally(policy_intervals):
        n, p, kinds = defaultdict(float), defaultdict(float), defaultdict(none)
        for code, sample, people, sensitive in zip(
            counts.codes.tolist(), counts.sample, counts.population, counts.sensitive, strict=True
        ):
            cell = tuple(of[v] for of, v in zip(policy_intervals, code, strict=True))
            n[cell] += sample
            p[cell] += people
            kinds[cell] += sensitive
        return n, p, kinds

    n, p, kinds = tally(interval_of)
    bottom_n, bottom_p, _ = tally([range(size) for size in counts.sizes])
    total = sum(counts.sample)
    matches = sum(m / max(m, bottom_p[c], 1) for c, m in bottom_n.items() if m)
    combinations = math.prod(counts.sizes)
    top = sum(m / total * math.log(m / total * combinations) for m in bottom_n.values() if m)

    def by_column(shown):
        return np.split(shown, np.cumsum([c.values for c in counts.sensitive_columns])[:-1])

    def fewest(cell):
        return min((own > 0).sum() for own in by_column(kinds[cell]))

    def least_nats(cell):
        shares = [own[own > 0] / max(own.sum(), 1e-300) for own in by_column(kinds[cell])]
        return min(-(share * np.log(share)).sum() if len(share) else -1 for share in shares)

    def furthest(cell):
        whole, found = by_column(counts.sensitive.sum(axis=0)), 0.0
        for own, everybody, column in zip(
            by_column(kinds[cell]), whole, counts.sensitive_columns, strict=True
        ):
            if not own.sum():
                return 2.0
            away = own / own.sum() - everybody / everybody.sum()
            steps = abs(np.cumsum(away)).sum() / max(len(away) - 1, 1)
            found = max(found, steps if column.ordered else abs(away).sum() / 2)
        return found

    def released(cell):
        return (
            (constraints.k == 1 or n[cell] >= constraints.k - 1e-9)
            and (
                constraints.max_risk == 1
                or max(n[cell], p[cell], 1) * constraints.max_risk >= 1 - 1e-9
            )
            and (constraints.l_diversity == 1 or fewest(cell) >= constraints.l_diversity)
            and (constraints.entropy_l == 1 or least_nats(cell) >= math.log(constraints.entropy_l))
            and (constraints.t_closeness == 1 or furthest(cell) <= constraints.t_closeness)
        )

    risk = sum(m / max(m, p[c], 1) for c, m in n.items() if m and released(c)) / matches
    dropped = sum(m for c, m in n.items() if m and not released(c)) / total
    largest = max((1 / max(m, p[c], 1) for c, m in n.items() if m and released(c)), default=0.0)
    nats = 0.0
    for code, m in zip(counts.codes.tolist(), counts.sample, strict=True):
        cell = tuple(of[v] for of, v in zip(interval_of, code, strict=True))
        if m and released(cell):
            width = math.prod(w[i] for w, i in zip(widths, cell, strict=True))
            nats += m / total * math.log(m * width / n[cell])
    loss = (nats / top if top > 0 else 0.0) + (dropped if top > 0 else 0.0)
    return risk, min(1.0, loss), dropped, largest


@st.composite
def tables(draw, *, constrained=False, shares=({},)):
    sizes = tuple(draw(st.lists(st.integers(2, 5), min_size=1, max_size=4)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    cells = np.stack(np.unravel_index(np.arange(math.prod(sizes)), sizes), axis=1)
    cells = cells[rng.random(len(cells)) < draw(st.sampled_from([0.2, 0.6, 1.0]))]
    if not len(cells):
        cells = np.zeros((1, len(sizes)), dtype=np.int64)
    sample = rng.integers(0, draw(st.sampled_from([2, 4, 30])), len(cells)).astype(float)
    if draw(st.booleans()):
        sample *= rng.choice([1.0, 0.5, 1 / 3], len(cells))
    sample[rng.integers(len(cells))] += 1.0
    population = sample.copy()
    if draw(st.booleans()):
        population += rng.integers(0, 20, len(cells)) * (rng.random(len(cells)) < 0.7)
    if draw(st.booleans()):
        population *= rng.random(len(cells))
    kinds = draw(st.sampled_from([0, 3, 70])) if not constrained else 70
    sensitive = sample[:, None] * (rng.random((len(cells), kinds)) < 2 / max(kinds, 1))
    parts = draw(st.sampled_from([(), (1, 69), (2, 65, 3)])) if kinds == 70 else ()
    columns = tuple(SensitiveColumn(values, ordered=i % 2 > 0) for i, values in enumerate(parts))
    counts = CombinationCounts(
        sizes, cells.astype(np.int32), sample, population, sensitive, columns=columns
    )
    limits = Constraints()
    if constrained:
        limits = Constraints(
            k=draw(st.sampled_from([1, 2, 5, 40])),
            max_risk=draw(st.sampled_from([1.0, 0.3, 0.05])),
            l_diversity=draw(st.sampled_from([1, 2, 5])),
            **draw(st.sampled_from(shares)),
        )
    n_bits = sum(sizes) - len(sizes)
    policies = rng.random((5, n_bits)) < rng.random((5, 1))
    policies[0], policies[1] = False, True
    beside = policies ^ np.eye(n_bits, dtype=bool)[rng.integers(n_bits, size=5)]
    return counts, limits, np.concatenate([policies, beside])


def counts_of(sizes, codes, sample, population=None, sensitive=None):
    sample = np.array(sample, dtype=float)
    return CombinationCounts(
        sizes,
        np.array(codes, dtype=np.int32),
        sample,
        sample.copy() if population is None else np.array(population, dtype=float),
        np.zeros((len(sample), 0)) if sensitive is None else np.array(sensitive, dtype=float),
    )


def check(counts, limits, policies):
    evaluator = PolicyEvaluator(counts, limits)
    scores, records = evaluator.scores(policies), evaluator.figures(policies)
    expected = np.array([twin(counts, limits, policy) for policy in policies]).T
    np.testing.assert_allclose(records.suppressed, scores.suppressed, atol=1e-12)
    every = (scores.risk, scores.loss, scores.suppressed, records.largest)
    for found, wanted in zip(every, expected, strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-9)


@given(tables())
@settings(max_examples=150, deadline=None)
def test_equals_the_twin(case):
    check(*case)


SHARES = ({"entropy_l": 2.7}, {"t_closeness": 0.6}, {"entropy_l": 1.3, "t_closeness": 0.85})


@pytest.mark.parametrize("shares", [({},), SHARES], ids=["counts", "shares"])
@given(st.data())
@settings(max_examples=150, deadline=None)
def test_equals_the_twin_with_suppression(shares, data):
    check(*data.draw(tables(constrained=True, shares=shares)))


@given(tables(), st.randoms(use_true_random=False))
@settings(max_examples=80, deadline=None)
def test_risk_falls_and_loss_rises_towards_the_top(case, random):
    """Defs 3.7 and 3.8."""
    counts, limits, policies = case
    policy, chain = np.ones(policies.shape[1], dtype=bool), []
    for bit in random.sample(range(len(policy)), len(policy)):
        chain.append(policy.copy())
        policy[bit] = False
    risk, loss = PolicyEvaluator(counts, limits).evaluate(np.array([*chain, policy]))
    assert (np.diff(risk) <= 1e-12).all()
    assert (np.diff(loss) >= -1e-12).all()
    assert risk[0] == 1.0
    assert loss[0] == 0.0


@given(tables(constrained=True), st.randoms(use_true_random=False))
@settings(max_examples=80, deadline=None)
def test_suppression_falls_towards_the_top(case, random):
    counts, limits, policies = case
    policy, chain = np.ones(policies.shape[1], dtype=bool), []
    for bit in random.sample(range(len(policy)), len(policy)):
        chain.append(policy.copy())
        policy[bit] = False
    dropped = PolicyEvaluator(counts, limits).scores(np.array([*chain, policy])).suppressed
    assert (np.diff(dropped) <= 1e-12).all()


def test_by_hand():
    # Two attributes, 2 x 3. Subjects 1, 1, 2 of people 4, 1, 5; one cell of 10 people only.
    counts = counts_of(
        (2, 3), [[0, 0], [0, 1], [1, 0], [1, 2]], [1, 1, 2, 0], population=[4, 1, 5, 10]
    )
    policies = np.array([[1, 1, 1], [0, 1, 1], [1, 0, 1], [0, 0, 0]], dtype=bool)
    risk, loss = PolicyEvaluator(counts).evaluate(policies)
    matches = 1 / 4 + 1 + 2 / 5
    np.testing.assert_allclose(
        risk * matches, [matches, 3 / 9 + 1, 2 / 5 + 2 / 5, 4 / 20], rtol=1e-12
    )
    top = sum(m * math.log(m * 6 / 4) for m in (1, 1, 2))
    first = math.log(2 / 3) + 2 * math.log(2 * 2 / 3) + math.log(2)
    second = 2 * math.log(2)  # {1, 1} of two combinations costs nothing, 2 alone in two does
    np.testing.assert_allclose(loss * top, [0, first, second, top], atol=1e-12)


def test_fewer_people_than_subjects_count_as_many_as_the_subjects():
    counts = counts_of((2,), [[0], [1]], [2, 2], population=[1, 100])
    risk, _ = PolicyEvaluator(counts).evaluate(np.array([[True], [False]]))
    np.testing.assert_allclose(risk, [1, (4 / 101) / (1 + 2 / 100)])


def test_suppression_by_hand():
    counts = counts_of((2,), [[0], [1]], [1, 9], population=[10, 90])
    scores = PolicyEvaluator(counts, Constraints(k=2)).scores(np.array([[True], [False]]))
    np.testing.assert_allclose(scores.suppressed, [0.1, 0])
    np.testing.assert_allclose(scores.risk, [0.5, 0.5])
    np.testing.assert_allclose(scores.loss, [0.1, 1])


def test_a_group_of_exactly_the_limit_is_kept():
    counts = counts_of((2,), [[0], [1]], [3, 3], population=[20, 20], sensitive=[[1, 2], [3, 0]])
    bottom = np.array([[True]])
    for limits, dropped in [
        (Constraints(k=3), 0),
        (Constraints(k=4), 1),
        (Constraints(max_risk=0.05), 0),
        (Constraints(max_risk=0.049), 1),
        (Constraints(l_diversity=2), 0.5),
    ]:
        assert PolicyEvaluator(counts, limits).scores(bottom).suppressed[0] == dropped


def test_one_subject_and_an_even_table():
    risk, loss = PolicyEvaluator(counts_of((2,), [[1]], [1])).evaluate(np.array([[True], [False]]))
    assert risk.tolist() == [1, 1]
    assert loss.tolist() == [0, 1]
    even = counts_of((2,), [[0], [1]], [3, 3], population=[6, 6])
    risk, loss = PolicyEvaluator(even).evaluate(np.array([[True], [False]]))
    assert risk.tolist() == [1, 0.5]
    assert loss.tolist() == [0, 0]  # nothing is lost: all combinations are equally frequent


def test_subjects_written_twice_change_no_loss():
    cells = [[0, 0], [0, 1], [1, 2]]
    once = PolicyEvaluator(counts_of((2, 3), cells, [1, 2, 5], population=[9, 9, 9]))
    twice = PolicyEvaluator(counts_of((2, 3), cells, [2, 4, 10], population=[18, 18, 18]))
    policies = np.array([[0, 1, 0], [1, 0, 1]], dtype=bool)
    np.testing.assert_allclose(once.evaluate(policies), twice.evaluate(policies))


def test_a_domain_of_2_to_the_60_needs_memory_for_its_cells_only():
    rng = np.random.default_rng(0)
    codes = np.unique(rng.integers(0, 2**15, (200, 4)), axis=0)
    counts = counts_of((2**15,) * 4, codes, np.ones(len(codes)))
    ends = np.array([[False], [True]]).repeat(4 * (2**15 - 1), axis=1)
    risk, loss = PolicyEvaluator(counts).evaluate(ends)
    np.testing.assert_allclose(risk, [1 / len(codes), 1])
    np.testing.assert_allclose(loss, [1, 0])


def test_refuses_what_it_cannot_score():
    wide = PolicyEvaluator(counts_of((2,) * 62, [[0] * 62], [1]))
    with pytest.raises(RequestError, match="combinations of values, too many for global policies"):
        wide.evaluate(np.ones((1, 62), dtype=bool))
    assert wide.matches == 1.0  # what trees need of it
    with pytest.raises(RequestError, match="no subjects"):
        PolicyEvaluator(counts_of((2,), [[0]], [0], population=[5]))
    with pytest.raises(RequestError, match="no subjects"):
        PolicyEvaluator(counts_of((2,), np.zeros((0, 1)), []))
    with pytest.raises(RequestError, match="sensitive column"):
        PolicyEvaluator(counts_of((2,), [[0]], [1]), Constraints(l_diversity=2))
    fine = counts_of((3,), [[0]], [1])
    with pytest.raises(RequestError, match="required cuts must be 2 booleans"):
        PolicyEvaluator(fine, Constraints(required=np.array([True])))
    both = np.array([True, False])
    with pytest.raises(RequestError, match="both required and forbidden"):
        PolicyEvaluator(fine, Constraints(required=both, forbidden=both))


@pytest.mark.parametrize(
    "policies", [np.zeros((1, 3), bool), np.zeros(2, bool), np.zeros((1, 2), int)]
)
def test_refuses_policies_of_another_shape(policies):
    with pytest.raises(RequestError, match=r"booleans of shape \(m, 2\)"):
        PolicyEvaluator(counts_of((3,), [[0]], [1])).evaluate(policies)


def test_feasible_needs_every_constraint():
    counts = counts_of((3,), [[0], [1], [2]], [1, 1, 8])
    limits = Constraints(
        k=2, suppress=0.1, required=np.array([False, True]), forbidden=np.array([True, False])
    )
    evaluator = PolicyEvaluator(counts, limits)
    policies = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=bool)
    feasible = evaluator.feasible(policies, evaluator.scores(policies))
    assert feasible.tolist() == [False, True, False, False]
