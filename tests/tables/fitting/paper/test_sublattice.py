"""The heuristic, the three conditions, each alone, and the search they make."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.core.frontier import Frontier
from voile.tables.fitting.paper.chains import RandomChain, draw_order
from voile.tables.fitting.paper.clauses import PolicySublattice
from voile.tables.fitting.paper.sublattice import (
    FigureRectangle,
    SublatticeSearch,
    SublatticeVerdict,
    decide,
    update_probability,
)
from voile.tables.fitting.scoring.evaluator import PolicyEvaluator
from voile.tables.fitting.searches.run import TablesSearchLimit, TablesSearchRun
from voile.tables.people.counts import CombinationCounts

seeds = st.integers(0, 2**32)
tenths = st.integers(0, 10).map(lambda number: number / 10)
points = st.lists(st.tuples(tenths, tenths), max_size=6)


def frontier_of(*pairs):
    risk, loss = zip(*pairs, strict=True)
    return Frontier.of(risk, loss, np.zeros((len(pairs), 1)))


THREE = frontier_of((0, 1), (0.5, 0.5), (1, 0))


def run_of(space, seed, evaluations=None):
    rng = np.random.default_rng(seed)
    run = TablesSearchRun(
        space.evaluator, evaluations=evaluations, seconds=None, rng=rng, progress=None
    )
    run.begin()
    return run


def found(space, method, seed, evaluations=None):
    run = run_of(space, seed, evaluations)
    with suppress(TablesSearchLimit):
        method(run)
    return run.frontier()


# The heuristic (eq. 1).


def test_the_cap_keeps_the_heuristic_within_one():
    """The printed form takes the frontier's own height: (1 - .2) * .2 / .04 = 4."""
    assert update_probability(THREE, FigureRectangle(0.1, 0.3, 0.2, 0.4)) == 1.0


def free(frontier, risk, loss):
    return not ((frontier.risk <= risk) & (frontier.loss <= loss)).any()


@given(points, tenths, tenths, tenths, tenths)
@example([(0.5, 0.5)], 0.2, 0.2, 0.3, 0.9)
@example([(0.5, 0.5)], 0.2, 0.9, 0.5, 0.5)
@settings(max_examples=100, deadline=None)
def test_the_heuristic_counts_the_squares_that_nothing_dominates(pairs, x, y, z, w):
    frontier = frontier_of((0, 1), *pairs, (1, 0))
    left, right, low, high = min(x, y), max(x, y), min(z, w), max(z, w)
    risks = np.arange(left + 0.05, right, 0.1) if right > left else [left]
    losses = np.arange(low + 0.05, high, 0.1) if high > low else [low]
    squares = [free(frontier, risk + 1e-9, loss + 1e-9) for risk in risks for loss in losses]
    expected = sum(squares) / len(squares)
    assert update_probability(frontier, FigureRectangle(left, right, low, high)) == pytest.approx(
        expected
    )


def test_rectangles_of_no_width_no_height_and_neither():
    assert update_probability(THREE, FigureRectangle(0.6, 0.6, 0.4, 0.8)) == pytest.approx(0.25)
    assert update_probability(THREE, FigureRectangle(0.25, 0.75, 0.6, 0.6)) == pytest.approx(0.5)
    assert update_probability(THREE, FigureRectangle(0.4, 0.4, 0.4, 0.4)) == 1.0
    assert update_probability(THREE, FigureRectangle(0.5, 0.5, 0.5, 0.5)) == 0.0
    assert update_probability(THREE, FigureRectangle(0.6, 0.6, 0.7, 0.7)) == 0.0


# The conditions: each decides what the other two would not.


def test_condition_1_alone_prunes_what_is_wholly_dominated():
    below = FigureRectangle(0.6, 0.9, 0.6, 0.9)
    assert decide(THREE, below, threshold=0.0) is SublatticeVerdict.PRUNE
    assert decide(THREE, below, threshold=1.0) is SublatticeVerdict.PRUNE
    without = frontier_of((0, 1), (1, 0))  # only the point in the middle dominates it
    assert decide(without, below, threshold=1.0) is SublatticeVerdict.SEARCH


def test_condition_1_prunes_a_corner_that_only_equals_the_frontier():
    assert (
        decide(THREE, FigureRectangle(0.5, 0.7, 0.5, 0.7), threshold=0.0) is SublatticeVerdict.PRUNE
    )


def test_condition_2_alone_searches_what_is_wholly_free():
    """Condition 3 never searches at a threshold of 1."""
    assert (
        decide(THREE, FigureRectangle(0.1, 0.3, 0.2, 0.4), threshold=1.0)
        is SublatticeVerdict.SEARCH
    )


def test_condition_3_alone_tells_apart_what_the_frontier_crosses():
    crossed = FigureRectangle(0.4, 0.6, 0.4, 0.8)
    assert update_probability(THREE, crossed) == pytest.approx(0.625)
    assert decide(THREE, crossed, threshold=0.62) is SublatticeVerdict.SEARCH
    assert decide(THREE, crossed, threshold=0.63) is SublatticeVerdict.SKIP


@given(points, tenths, tenths, tenths, tenths, tenths)
@settings(max_examples=100, deadline=None)
def test_the_conditions_agree_with_the_heuristic(pairs, x, y, z, w, threshold):
    frontier = frontier_of((0, 1), *pairs, (1, 0))
    rectangle = FigureRectangle(min(x, y), max(x, y), min(z, w), max(z, w))
    share, verdict = update_probability(frontier, rectangle), decide(frontier, rectangle, threshold)
    if verdict is SublatticeVerdict.PRUNE:
        assert share == 0
    elif verdict is SublatticeVerdict.SKIP:
        assert share <= threshold
    else:
        assert share > threshold or share == pytest.approx(1)


# The search.


@given(seeds, st.integers(0, 6))
@settings(max_examples=40, deadline=None)
def test_nothing_pruned_could_enter_the_exact_frontier(small_space, seed, few):
    """The rectangle of a random sublattice holds all its policies (Defs 3.7, 3.8)."""
    evaluator = small_space(seed).evaluator
    rng = np.random.default_rng(seed)
    every = (np.arange(2**6)[:, None] >> np.arange(6) & 1).astype(bool)
    risk, loss = (scores.round(12) for scores in evaluator.evaluate(every))
    some = rng.choice(64, few + 2, replace=False)
    frontier = Frontier.of(risk[some], loss[some], every[some])
    top = rng.random(6) < 0.4
    bottom = top | (rng.random(6) < 0.6)
    rectangle = FigureRectangle.of(evaluator.scores(np.stack([top, bottom])))
    inside = (every >= top).all(axis=1) & (every <= bottom).all(axis=1)
    assert (risk[inside] >= rectangle.least_risk - 1e-9).all()
    assert (loss[inside] <= rectangle.most_loss + 1e-9).all()
    if decide(frontier, rectangle, 0.5) is SublatticeVerdict.PRUNE:
        for one, other in zip(risk[inside], loss[inside], strict=True):
            assert not free(frontier, one + 1e-9, other + 1e-9)


def test_ends_or_a_chain_to_begin_with(small_space):
    """From a chain, the first evaluations are those of a random-chain search."""
    space = small_space(4, sizes=(5, 4, 6))
    whole = 2 + 11  # the ends, and what lies between them on a chain of 12 merges
    chain = found(space, RandomChain(), 0, whole)
    same = found(space, SublatticeSearch(initial="chain"), 0, whole)
    assert same.risk.tolist() == chain.risk.tolist()
    assert found(space, SublatticeSearch(), 0, whole).risk.tolist() != chain.risk.tolist()


@dataclass(frozen=True)
class Watched(SublatticeSearch):
    """Keeps what was drawn, and searches nothing."""

    drawn: list = field(default_factory=list)

    def judge(self, run, drawn):
        super().judge(run, drawn)
        self.drawn.append(drawn)
        return SublatticeVerdict.SKIP


@pytest.mark.parametrize("free", [1, 3, 11, 99])
def test_sublattices_leave_as_many_cuts_free_as_asked_at_every_height(small_space, free):
    search = Watched(free=free)
    with suppress(TablesSearchLimit):
        search(run_of(small_space(4, sizes=(5, 4, 6)), 0, evaluations=600))  # 12 cuts
    assert {int((one.bottom & ~one.top).sum()) for one in search.drawn} == {min(free, 12)}
    assert {int(one.top.sum()) for one in search.drawn} == set(range(12 - min(free, 12) + 1))


def test_sublattices_leave_any_number_of_cuts_free(small_space):
    search = Watched()
    with suppress(TablesSearchLimit):
        search(run_of(small_space(4, sizes=(5, 4, 6)), 0, evaluations=600))
    assert {int((one.bottom & ~one.top).sum()) for one in search.drawn} == set(range(1, 13))


def test_ends_once_the_pruned_cover_the_lattice(small_space):
    run = run_of(small_space(0, sizes=(3, 2)), 0, evaluations=100_000)
    SublatticeSearch(threshold=0.0)(run)
    assert run.evaluations < 100_000


@pytest.mark.parametrize("order", ["bits", "attributes"])
def test_without_a_limit_as_many_evaluations_as_20_chains(small_space, order):
    space = small_space(1, sizes=(9, 9, 9))
    run = run_of(space, 0)
    SublatticeSearch(order=order)(run)
    assert 20 * 24 <= run.evaluations < 21 * 24 + 2


def test_a_strategy_goes_by_its_name_or_as_an_object(small_space):
    from voile.tables.fitting.search import search

    space = small_space(2, sizes=(9, 9, 9))
    named = search(space, method="random-chain", random_state=3, evaluations=99).frontier
    given = search(space, method=RandomChain(), random_state=3, evaluations=99)
    assert given.frontier.risk.tolist() == named.risk.tolist()
    assert given.method == "RandomChain(order='bits')"


@given(seeds)
@settings(max_examples=50, deadline=None)
def test_an_order_by_attributes_takes_one_after_another(small_space, seed):
    run = run_of(small_space(0, sizes=(5, 2, 7)), seed)
    attribute = np.repeat([0, 1, 2], [4, 1, 6])
    cuts = np.flatnonzero(np.random.default_rng(seed).random(11) < 0.7)
    order = draw_order(run, cuts, "attributes")
    assert sorted(order) == cuts.tolist()
    changes = int((np.diff(attribute[order]) != 0).sum())
    assert changes == max(len(set(attribute[cuts])) - 1, 0)


def test_both_orders_draw_every_order_of_attributes(small_space):
    run = run_of(small_space(0), 0)
    firsts = {
        order: {int(draw_order(run, np.arange(6), order)[0]) for _ in range(200)}
        for order in ("bits", "attributes")
    }
    assert firsts == {"bits": set(range(6)), "attributes": set(range(6))}


def test_prunes_a_sublattice_whose_top_suppresses_too_much(small_space):
    space = small_space(0, k=3)
    bottom = np.ones(6, dtype=bool)
    assert space.evaluator.scores(bottom[None]).suppressed[0] > 0
    run = run_of(space, 0)
    assert (
        SublatticeSearch().judge(run, PolicySublattice(bottom, bottom)) is SublatticeVerdict.PRUNE
    )
    assert (
        SublatticeSearch(0).judge(run, PolicySublattice(~bottom, bottom))
        is not SublatticeVerdict.PRUNE
    )


@pytest.fixture(scope="module")
def town():
    """Make 48 cuts over 20,000 people, unevenly spread, and a sample of 3% of them."""
    rng = np.random.default_rng(0)
    sizes = (20, 2, 30)
    one, two, three = (rng.dirichlet(np.full(size, 0.7)) for size in sizes)
    shares = (one[:, None, None] * two[:, None] * three).ravel()
    people = rng.poisson(shares * 20_000)
    sample = rng.binomial(people, 0.03) * 1.0
    codes = np.stack(np.unravel_index(np.arange(1200), sizes), axis=1).astype(np.int32)
    return PolicyEvaluator(
        CombinationCounts(sizes, codes, sample, people * 1.0, np.zeros((1200, 0)))
    )


@pytest.mark.whole
def test_without_the_heuristic_the_search_loses(town, small_space):
    """A threshold of 0 searches whatever is not pruned."""
    space = replace(small_space(0), evaluator=town)
    by_seed = [
        [found(space, SublatticeSearch(threshold), seed, 600).area() for threshold in (0.0, 0.7)]
        for seed in range(8)
    ]
    without, guided = np.mean(by_seed, axis=0)
    assert guided < 0.97 * without
    assert sum(one > other for one, other in by_seed) >= 6


def test_refuses_a_threshold_out_of_range():
    for threshold in (-0.1, 1.1, float("nan")):
        with pytest.raises(RequestError, match="threshold must lie between 0 and 1"):
            SublatticeSearch(threshold=threshold)


def test_refuses_sublattices_without_a_free_cut():
    with pytest.raises(RequestError, match="free must be at least 1"):
        SublatticeSearch(free=0)


def test_refuses_a_start_and_an_order_that_there_are_not(small_space):
    with pytest.raises(RequestError, match="no initial frontier 'chains'"):
        SublatticeSearch(initial="chains")
    with pytest.raises(RequestError, match="no order 'bit'"):
        RandomChain("bit")(run_of(small_space(0), 0))
