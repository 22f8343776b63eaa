"""Tables too large to walk: what is scored on a floor's cells is what is scored on all."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from tests.tables.fitting.searches.runs import assert_scores_as_from_scratch, run_of

from voile.tables.fitting.kernels.cell_sums import sum_cells
from voile.tables.fitting.kernels.compiled_scorer import CompiledScorer
from voile.tables.fitting.scoring import evaluator, policy_figures
from voile.tables.fitting.scoring.evaluator import PolicyEvaluator
from voile.tables.fitting.search import search
from voile.tables.fitting.searches import large
from voile.tables.fitting.searches.floors import order_cuts
from voile.tables.fitting.trees import forest
from voile.tables.people.counts import Constraints
from voile.tables.scoring.group_measures import weigh_losses

SIZES = (14, 2, 9)
LIMITS = [{}, {"k": 2, "suppress": 0.5}, {"k": 2, "l_diversity": 2, "suppress": 0.99}]


def weighed_space(small_space, seed, **limits):
    """Return a space by the default loss: half divergence, half entropy."""
    counts = small_space(seed, sizes=SIZES).evaluator.counts
    loss = weigh_losses(counts, weight=0.5)
    return SimpleNamespace(evaluator=PolicyEvaluator(counts, Constraints(**limits), loss=loss))


def drawn_policies(n_bits, count=6):
    rows = np.random.default_rng(3).random((count, n_bits)) < 0.4
    return np.concatenate([rows, np.ones((1, n_bits), bool), np.zeros((1, n_bits), bool)])


@pytest.mark.parametrize("limits", LIMITS)
def test_a_policy_scores_alone_as_it_does_among_all_cells(small_space, monkeypatch, limits):
    space = weighed_space(small_space, 4, **limits)
    policies = drawn_policies(space.evaluator.n_bits)
    whole = space.evaluator.scores(policies)
    monkeypatch.setattr(evaluator, "LARGE", 0)
    alone = space.evaluator.scores(policies)
    for name in ("risk", "loss", "suppressed"):
        np.testing.assert_allclose(getattr(alone, name), getattr(whole, name), atol=1e-12)


@pytest.mark.parametrize("limits", LIMITS[:2])
def test_a_policys_own_cells_sum_up_to_the_kernels_figures(small_space, limits):
    ours = weighed_space(small_space, 5, **limits).evaluator
    loss = ours.loss.each
    for policy in drawn_policies(ours.n_bits):
        cells = ours.cells.coarsen_charged(policy, loss.spread, np.array(loss.charges))
        listed = ours.cells.charge_details(loss.spread, np.array(loss.charges)).coarsen(policy)
        assert len(listed.details) == len(cells.details)
        assert ours.cells.count_under(policy) == len(cells.p)
        wanted = CompiledScorer(listed, ours.rules).figures(np.ones((1, listed.n_bits), bool))[0]
        np.testing.assert_allclose(sum_cells(cells, ours.rules), wanted, atol=1e-9)


@pytest.mark.parametrize("limits", LIMITS)
def test_a_large_search_scores_exactly_and_comes_near_the_whole_one(
    small_space, monkeypatch, limits
):
    space = weighed_space(small_space, 6, **limits)
    whole = search(space, method="quick").frontier
    monkeypatch.setattr(evaluator, "LARGE", 0)
    monkeypatch.setattr(large, "WALKED", 9 * len(space.evaluator.cells.p) // 2)
    monkeypatch.setattr(large, "SETTLED", 9 * len(space.evaluator.cells.p) // 3)
    found, again = (search(space, method="quick", random_state=seed) for seed in (1, 2))
    assert_scores_as_from_scratch(space.evaluator, found.frontier)
    np.testing.assert_array_equal(found.frontier.policies, again.frontier.policies)
    assert whole.area() <= found.frontier.area() < 1.5 * whole.area() + 0.02


def test_a_limit_ends_a_large_search_exactly(small_space, monkeypatch):
    space = weighed_space(small_space, 6)
    monkeypatch.setattr(evaluator, "LARGE", 0)
    least = search(space, method="quick").evaluations
    found = search(space, method="best", evaluations=least + 500)
    assert found.evaluations == least + 500
    assert found.stopped == "evaluations"
    assert_scores_as_from_scratch(space.evaluator, found.frontier)


def test_a_floor_keeps_required_cuts_and_makes_no_forbidden_one(small_space, monkeypatch):
    space = weighed_space(small_space, 7)
    free = np.random.default_rng(1).integers(0, 3, space.evaluator.n_bits)
    space.evaluator.required[:], space.evaluator.forbidden[:] = free == 1, free == 2
    np.testing.assert_array_equal(np.sort(order_cuts(space.evaluator)), np.flatnonzero(free == 0))
    monkeypatch.setattr(evaluator, "LARGE", 0)
    found = search(space, method="quick").frontier
    assert found.policies[:, free == 1].all()
    assert not found.policies[:, free == 2].any()
    assert_scores_as_from_scratch(space.evaluator, found)


def test_strategies_see_the_whole_lattice_again_after_a_floor(small_space):
    run = run_of(weighed_space(small_space, 8))
    run.begin()
    before = run.n_bits
    floor = np.zeros(before, dtype=np.bool_)
    floor[order_cuts(run.evaluator)[:3]] = True
    with run.on_floor(floor):
        assert run.n_bits == 3
    assert run.n_bits == before


def test_figures_of_policies_are_the_same_on_coarser_cells(small_space, monkeypatch):
    counts = weighed_space(small_space, 9).evaluator.counts
    policies = np.sort(drawn_policies(sum(SIZES) - 3, 40)[:40], axis=0)
    policies[:, 4] = False
    whole = PolicyEvaluator(counts).figures(policies)
    monkeypatch.setattr(policy_figures, "SMALL", 0)
    monkeypatch.setattr(policy_figures, "FEW", 4)
    for name, values in vars(PolicyEvaluator(counts).figures(policies)).items():
        np.testing.assert_allclose(values, getattr(whole, name), atol=1e-12)


@pytest.mark.parametrize("population", [True, False])
def test_a_large_table_grows_fewer_trees_and_loses_little(small_space, monkeypatch, population):
    counts = small_space(10, sizes=SIZES).evaluator.counts
    if not population:
        from dataclasses import replace

        counts = replace(counts, sample=np.ceil(counts.sample), population=np.ceil(counts.sample))
    ground = forest.TreeGround(counts, Constraints())
    assert ground.risk_counts_boxes is not population
    whole = forest.grow_forest(ground, loss_weight=0.5).frontier
    monkeypatch.setattr(forest, "GROWN", 0)
    assert len(forest.plan_growths([ground], 0.5)) == 2
    few = forest.grow_forest(ground, loss_weight=0.5).frontier
    assert whole.area() <= few.area() < 1.1 * whole.area()
    monkeypatch.setattr(forest, "GROWN", 7 * ground.size)
    assert len(forest.plan_growths([ground], 0.5)) == (7 if population else 5)
