"""No policy is below a bound: every policy of small lattices, scored by the definitions alone."""

from __future__ import annotations

import numpy as np
import pytest

from voile.core.errors import InfeasibleError, RequestError
from voile.core.frontier import Frontier
from voile.tables.fitting.bounds.bound import bound
from voile.tables.fitting.scoring.evaluator import PolicyEvaluator
from voile.tables.fitting.search import search
from voile.tables.people.counts import CombinationCounts, Constraints
from voile.tables.scoring.group_measures import GroupMeasure, matches

WEIGHTS = (0.05, 0.4, 1.0, 3.0, 40.0)
EXACT = 1e-9


def none_found(n_bits):
    return Frontier.of([], [], np.zeros((0, n_bits), dtype=bool))


def assert_proved(found, truth):
    """Nothing real lies below what is said to be a lower bound, and `best` is real."""
    for weight, lower, best in zip(found.weight, found.bound, found.best, strict=True):
        least = truth.least(weight)
        assert lower <= least * (1 + EXACT) + EXACT
        assert best >= least * (1 - EXACT) - EXACT
    assert found.area <= truth.area() + EXACT
    assert (found.least_loss(truth.risk) <= truth.loss + EXACT).all()
    below = np.array([0.0, *np.sort(truth.risk)[:3] * 0.999])
    least = np.array([truth.least_loss(risk) for risk in below])
    assert (found.least_loss(below) <= least + EXACT).all()
    assert found.area <= found.staircase + EXACT
    assert found.hull <= found.staircase + EXACT


def check(seed, bits, make_counts, make_constraints, space_of, truth_of):
    """Compare with every policy; return the greatest gap to the optimum, None if infeasible."""
    counts = make_counts(seed, bits=bits)
    n_bits = sum(counts.sizes) - len(counts.sizes)
    constraints = make_constraints(seed, n_bits)
    space, truth = space_of(counts, constraints), truth_of(counts, constraints)
    if not len(truth.risk):
        with pytest.raises(InfeasibleError):
            bound(space, none_found(n_bits), weights=WEIGHTS)
        return None
    found = bound(space, none_found(n_bits), weights=WEIGHTS)
    assert_proved(found, truth)
    assert found.stopped == "finished"
    least = np.array([truth.least(weight) for weight in WEIGHTS])
    return float(((least - found.bound) / np.maximum(least, EXACT)).max())


@pytest.mark.whole
def test_no_policy_of_small_lattices_is_below(some_counts, some_constraints, space_of, truth_of):
    fixtures = (some_counts, some_constraints, space_of, truth_of)
    gaps = [check(seed, 8, *fixtures) for seed in range(60)]
    assert sum(gap is None for gap in gaps) < 20
    assert np.mean([gap <= 1e-6 for gap in gaps if gap is not None]) > 0.6


@pytest.mark.slow
def test_no_policy_of_hundreds_of_lattices_is_below(
    some_counts, some_constraints, space_of, truth_of
):
    fixtures = (some_counts, some_constraints, space_of, truth_of)
    bits = np.random.default_rng(0).integers(2, 15, 300)
    gaps = [check(1000 + seed, int(most), *fixtures) for seed, most in enumerate(bits)]
    assert sum(gap is None for gap in gaps) < 90


@pytest.mark.parametrize("seed", [101, 130, 147, 344])
def test_holds_where_suppression_makes_a_loss_above_one(some_counts, space_of, truth_of, seed):
    counts, constraints = some_counts(seed, sizes=(3, 3, 2)), Constraints(k=3, suppress=0.9)
    truth = truth_of(counts, constraints)
    found = bound(space_of(counts, constraints), none_found(5), weights=(1.0, 40.0, 300.0))
    assert_proved(found, truth)
    least = [truth.least(weight) for weight in found.weight]
    assert (found.floors.min(axis=0) <= np.multiply(least, 1 + EXACT)).all()


@pytest.mark.whole
@pytest.mark.parametrize(("power", "under"), [(2.0, None), (1.0, 5.0), (0.5, 3.0)])
def test_holds_for_a_risk_that_weighs_groups_otherwise(some_counts, power, under):
    risk = matches(power=power, under=under)
    for seed in range(8):
        space = _Weighed(PolicyEvaluator(some_counts(seed, sizes=(4, 2, 4)), risk=risk))
        whole = search(space, method="exhaustive").frontier
        found = bound(space, none_found(7), weights=WEIGHTS)
        for weight, lower in zip(found.weight, found.bound, strict=True):
            assert lower <= (whole.loss + weight * whole.risk).min() + EXACT
        assert found.area <= whole.area() + EXACT


class _Weighed:
    def __init__(self, evaluator):
        self.evaluator = evaluator


@pytest.mark.parametrize("rules", [{}, {"k": 3}, {"max_risk": 0.3, "l_diversity": 2}])
def test_one_attribute_is_solved_at_once(some_counts, space_of, truth_of, rules):
    """Also where cells that break a rule may not be had."""
    constraints, solved = Constraints(**rules), 0
    for seed in range(10):
        counts = some_counts(seed, sizes=(9,))
        space, truth = space_of(counts, constraints), truth_of(counts, constraints)
        if not len(truth.risk):
            continue
        found = bound(space, search(space).frontier, weights=WEIGHTS)
        for weight, lower in zip(found.weight, found.bound, strict=True):
            assert lower == pytest.approx(truth.least(weight), rel=1e-7, abs=1e-9)
        assert found.optimal.all()
        solved += 1
    assert solved > 5


def test_alike_rows_agree_without_multipliers(space_of):
    """Where each outer value has the same cells and must stand alone, the relaxation is exact."""
    rng = np.random.default_rng(4)
    row = rng.integers(1, 9, 6).astype(float)
    codes = np.stack(np.unravel_index(np.arange(30), (5, 6)), axis=1).astype(np.int32)
    counts = CombinationCounts(
        (5, 6), codes, np.tile(row, 5), np.tile(row * 7, 5), np.zeros((30, 0))
    )
    required = np.array([True] * 4 + [False] * 5)
    space = space_of(counts, Constraints(required=required))
    whole = search(space, method="exhaustive").frontier
    steps = []
    found = bound(space, whole, weights=WEIGHTS, progress=steps.append)
    assert found.optimal.all()
    assert len(steps) == 2


@pytest.mark.whole
def test_a_bound_only_rises_and_the_multipliers_raise_it(some_counts, space_of):
    space = space_of(some_counts(12, sizes=(8, 2, 9)))
    steps = []
    found = bound(space, search(space, method="best").frontier, progress=steps.append)
    gaps = [step.gap for step in steps]
    assert (np.diff(gaps) <= 1e-12).all()
    assert gaps[-1] < gaps[0] / 2
    assert found.gap.max() == pytest.approx(gaps[-1])
    assert (np.diff([step.seconds for step in steps]) >= 0).all()


@pytest.mark.whole
def test_better_policies_met_on_the_way_are_returned(some_counts, space_of, truth_of):
    counts = some_counts(7, sizes=(6, 2, 6))
    space, truth = space_of(counts), truth_of(counts, Constraints())
    found = bound(space, none_found(11), weights=WEIGHTS)
    risk, loss = space.evaluator.evaluate(found.frontier.policies)
    np.testing.assert_allclose(found.frontier.risk, risk, atol=1e-10)
    np.testing.assert_allclose(found.frontier.loss, loss, atol=1e-10)
    least = [truth.least(weight) for weight in found.weight]
    np.testing.assert_allclose(found.best, least, rtol=0.01)


def test_stopped_before_a_bound_there_is_none(some_counts, space_of):
    space = space_of(some_counts(3, sizes=(9, 3, 9)))
    frontier = search(space).frontier
    found = bound(space, frontier, seconds=1e-9)
    assert found.stopped == "seconds"
    assert np.isnan(found.bound).all()
    assert np.isnan(found.gap).all()
    assert np.isnan(found.seconds).all()
    assert not found.optimal.any()
    assert found.area == pytest.approx(found.least_risk)  # below it there is no policy
    assert (found.least_loss([found.least_risk, 0.5, 1.0]) == 0).all()
    np.testing.assert_allclose(found.frontier.area(), frontier.area())


def test_interrupted_keeps_what_is_proved(some_counts, space_of, truth_of):
    counts = some_counts(12, sizes=(6, 2, 6))
    space, truth = space_of(counts), truth_of(counts, Constraints())

    def press_ctrl_c(step):
        raise KeyboardInterrupt

    found = bound(space, search(space).frontier, weights=WEIGHTS, progress=press_ctrl_c)
    assert found.stopped == "interrupted"
    assert np.isfinite(found.bound).all()
    assert_proved(found, truth)


def test_a_bound_of_nothing_is_none(some_counts, space_of):
    """Where records may be suppressed, nothing is had before inner partitions are gone through."""
    counts = some_counts(12, sizes=(6, 2, 6))
    space = space_of(counts, Constraints(k=3, suppress=0.3))
    steps = []

    def press_ctrl_c(step):
        steps.append(step)
        raise KeyboardInterrupt

    found = bound(space, search(space).frontier, weights=WEIGHTS, progress=press_ctrl_c)
    assert steps[0].bounded == 0
    assert np.isnan(found.bound).all()
    assert np.isnan(found.seconds).all()
    assert not found.floors.any()
    assert not found.least_loss([0.0, 0.5]).any()


def test_ctrl_c_before_the_first_step_is_no_bound_either(some_counts, space_of, monkeypatch):
    def press_ctrl_c(*_):
        raise KeyboardInterrupt

    space = space_of(some_counts(12, sizes=(6, 2, 6)))
    frontier = search(space).frontier
    monkeypatch.setattr("voile.tables.fitting.bounds.bound.continue_from", press_ctrl_c)
    found = bound(space, frontier)
    assert found.stopped == "interrupted"
    assert np.isnan(found.bound).all()
    assert (found.area, found.staircase) == (pytest.approx(0, abs=1e-8), frontier.area())
    whole = bound(space_of(some_counts(12, sizes=(6, 2, 6))), frontier, seconds=1e-9)
    np.testing.assert_array_equal(found.best, whole.best)


def test_scores_of_another_table_are_not_believed(some_counts, space_of, truth_of):
    counts = some_counts(12, sizes=(6, 2, 6))
    whole = search(space_of(counts), method="exhaustive").frontier
    better = Frontier.of(whole.risk, whole.loss * 0.9, whole.policies)
    found = bound(space_of(counts), better, weights=WEIGHTS)
    assert_proved(found, truth_of(counts, Constraints()))
    other = space_of(some_counts(12, sizes=(6, 2, 5)))
    with pytest.raises(RequestError, match=r"not of this table's policies; .* 10 booleans"):
        bound(other, whole)


def test_many_weights_a_few_at_a_time_are_all_tightened(some_counts, space_of, monkeypatch):
    space = space_of(some_counts(12, sizes=(6, 2, 6)))
    frontier = search(space, method="best").frontier
    together = bound(space, frontier, weights=WEIGHTS)
    monkeypatch.setattr("voile.tables.fitting.bounds.proof.ROOM", 1)
    apart = bound(space, frontier, weights=WEIGHTS)
    np.testing.assert_allclose(apart.bound, together.bound, rtol=1e-9)


def test_all_subjects_alike_and_one_combination(space_of):
    codes = np.zeros((1, 2), dtype=np.int32)
    counts = CombinationCounts((2, 3), codes, np.array([5.0]), np.array([5.0]), np.zeros((1, 0)))
    space = space_of(counts)
    found = bound(space, none_found(3))
    assert found.optimal.all()
    only = space_of(counts, Constraints(forbidden=np.ones(3, dtype=bool)))
    assert bound(only, none_found(3)).optimal.all()


def test_frame_has_columns_of_one_length(some_counts, space_of):
    found = bound(space_of(some_counts(1, sizes=(3, 3))), none_found(4))
    columns = found.frame()
    assert list(columns) == ["weight", "bound", "best", "gap", "seconds"]
    assert {len(column) for column in columns.values()} == {20}
    np.testing.assert_allclose(columns["weight"][[0, -1]], [0.03, 3000])


def test_refuses_what_it_cannot_do(some_counts, space_of):
    counts = some_counts(1, sizes=(3, 3))
    space = space_of(counts)
    for weights in ([], [0.0], [-1.0], [np.inf], [np.nan]):
        with pytest.raises(RequestError, match="weights"):
            bound(space, none_found(4), weights=weights)
    with pytest.raises(RequestError, match="seconds"):
        bound(space, none_found(4), seconds=0)
    own = GroupMeasure(
        "own", "Own", "x", "x", generalising="falls", each=lambda g: g.subjects / g.group
    )
    with pytest.raises(RequestError, match="no bound for own"):
        bound(_Weighed(PolicyEvaluator(counts, risk=own)), none_found(4))
    sizes = (14, 14, 14)
    codes = np.array([[0, 0, 0], [13, 13, 13]], dtype=np.int32)
    large = CombinationCounts(sizes, codes, np.ones(2), np.ones(2), np.zeros((2, 0)))
    with pytest.raises(RequestError, match=r"2\^13 partitions"):
        bound(space_of(large), none_found(39))
    forbidden = np.zeros(39, dtype=bool)
    forbidden[30:] = True
    fewer = space_of(large, Constraints(forbidden=forbidden))
    assert bound(fewer, none_found(39), weights=[1.0]).optimal.all()
