"""Intervals are priced as by hand, many at once never above each, and paths are the cheapest."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from voile.tables.fitting.bounds.nesting import LatticeNesting
from voile.tables.fitting.bounds.pricing import price_intervals
from voile.tables.fitting.bounds.relaxation import (
    IntervalRelaxation,
    SecondsUsed,
    path,
    through,
    ways,
)
from voile.tables.fitting.scoring.evaluator import PolicyEvaluator
from voile.tables.people.counts import Constraints

SIZES = (3, 2, 4)  # the last is the inner, the first the outer, the second the rest
WEIGHTS = np.array([0.3, 5.0])


def relaxation_of(evaluator, deadline=np.inf):
    cells = evaluator.cells.coarsen(~evaluator.forbidden)
    nesting = LatticeNesting.of(cells, evaluator.required[~evaluator.forbidden])
    return IntervalRelaxation(nesting, evaluator, WEIGHTS, deadline)


def exact_costs(relaxation):
    """Price every outer interval by itself."""
    ends = np.argwhere(relaxation.allowed)
    pairs = np.arange(len(relaxation))
    member = np.ones((len(ends), len(pairs)), dtype=bool)
    solved = relaxation.solve(ends, member, pairs)
    costs = np.full((len(pairs), *relaxation.allowed.shape), np.inf)
    costs[solved.pair, *ends[solved.interval].T] = solved.cost
    return costs


def price_by_hand(evaluator, policy, first, last, weight):
    """Loss + weight x risk of the records of some outer values, the others being kept apart."""
    counts = evaluator.counts
    within = (counts.codes[:, 0] >= first) & (counts.codes[:, 0] <= last)
    sums: dict[tuple[int, int], list[float]] = {}
    rest = np.concatenate([[0], np.cumsum(policy[2:3])])
    inner = np.concatenate([[0], np.cumsum(policy[3:6])])
    for code, n, p in zip(counts.codes, counts.sample, counts.population, strict=True):
        if first <= code[0] <= last:
            cell = sums.setdefault((rest[code[1]], inner[code[2]]), [0.0, 0.0, 0.0])
            cell[0] += n
            cell[1] += p
            cell[2] += n * np.log(n) if n else 0.0
    total = 0.0
    for (r, z), (n, p, own) in sums.items():
        if n > 0:
            width = (last - first + 1) * (rest == r).sum() * (inner == z).sum()
            total += weight * n / max(n, p, 1) / evaluator.units[0]
            total += (own + n * np.log(width / n)) / evaluator.units[1]
    assert within.any() or total == 0
    return total


@pytest.mark.parametrize("seed", range(6))
def test_an_interval_costs_what_its_best_inner_partition_does(some_counts, seed):
    evaluator = PolicyEvaluator(some_counts(seed, sizes=SIZES))
    relaxation = relaxation_of(evaluator)
    rng = np.random.default_rng(seed)
    multipliers = rng.normal(size=(len(relaxation), 4, 3)).cumsum(axis=1) * 0.1
    ends = np.argwhere(relaxation.allowed)
    pairs = np.arange(len(relaxation))
    member = rng.random((len(ends), len(pairs))) < 0.7
    solved = relaxation.solve(ends, member, pairs, multipliers, traced=True)
    assert len(solved.cost) == member.sum()
    for interval, pair, lower, cuts in zip(*solved, strict=True):
        first, last = ends[interval]
        weight = WEIGHTS[relaxation.weight[pair]]
        policy = relaxation.nesting.combos[relaxation.combo[pair]].copy()
        price_of_cuts = multipliers[pair, last + 1] - multipliers[pair, first]
        wanted = {}
        for bits in itertools.product([False, True], repeat=3):
            policy[3:6] = bits
            by_hand = price_by_hand(evaluator, policy, first, last, weight)
            wanted[bits] = by_hand + price_of_cuts[list(bits)].sum()
        assert lower == pytest.approx(min(wanted.values()), abs=1e-10)
        assert wanted[tuple(cuts.tolist())] == pytest.approx(lower, abs=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_had_without_inner_partitions_is_never_above(some_counts, seed):
    relaxation = relaxation_of(PolicyEvaluator(some_counts(seed, sizes=(9, 3, 12))))
    exact, least = exact_costs(relaxation), relaxation.least()
    assert (least <= exact * (1 + 1e-12) + 1e-12).all()
    assert (least[relaxation.allowed[None].repeat(len(least), 0)] > 0).any()
    suppressing = PolicyEvaluator(some_counts(seed, sizes=(3, 2)), Constraints(k=2, suppress=0.5))
    assert not relaxation_of(suppressing).least()[:, 0].any()


@pytest.mark.parametrize("seed", range(4))
def test_only_what_may_matter_is_priced_and_the_path_is_exact(some_counts, seed):
    relaxation = relaxation_of(PolicyEvaluator(some_counts(seed, sizes=(37, 2, 40))))
    exact = exact_costs(relaxation)
    least = ways(exact)[0][:, -1]
    caps = least * np.random.default_rng(seed).choice([0.9, 1.1, np.inf], len(least))
    before = np.zeros(len(least))
    for costs in price_intervals(relaxation, caps):
        assert (costs <= exact * (1 + 1e-12) + 1e-12).all()
        found = ways(costs)[0][:, -1]
        assert (found >= before * (1 - 1e-12)).all()
        before = found
    np.testing.assert_allclose(found[caps > least], least[caps > least], rtol=1e-12)
    assert (found >= np.minimum(least, caps) * (1 - 1e-12)).all()
    if np.isfinite(caps).all():
        assert (costs < exact).mean() > 0.1


def test_a_required_cut_is_in_no_interval(some_counts):
    required = np.array([False, True, False, False, False, True])
    constraints = Constraints(required=required)
    relaxation = relaxation_of(PolicyEvaluator(some_counts(5, sizes=SIZES), constraints))
    assert relaxation.allowed.tolist() == [
        [True, True, False],
        [False, True, False],
        [False] * 2 + [True],
    ]
    ends = np.argwhere(relaxation.allowed)
    member = np.ones((len(ends), len(relaxation)), dtype=bool)
    pairs = np.arange(len(relaxation))
    solved = relaxation.solve(ends, member, pairs, traced=True)
    assert solved.cuts[:, 2].all()


def test_paths_are_the_cheapest_of_all():
    rng = np.random.default_rng(2)
    costs = np.where(np.triu(np.ones((6, 6))), rng.random((3, 6, 6)), np.inf)
    below, above = ways(costs)
    found = through(costs)
    for pair in range(3):
        every = {}
        for bits in itertools.product([False, True], repeat=5):
            edges = [0, *(np.flatnonzero(bits) + 1).tolist(), 6]
            steps = [(a, b - 1) for a, b in itertools.pairwise(edges)]
            every[tuple(steps)] = sum(costs[pair, a, b] for a, b in steps)
        least = min(every.values())
        assert below[pair, -1] == pytest.approx(least)
        assert above[pair, 0] == pytest.approx(least)
        assert every[tuple(path(costs[pair]))] == pytest.approx(least)
        for a, b in itertools.combinations_with_replacement(range(6), 2):
            having = min(cost for steps, cost in every.items() if (a, b) in steps)
            assert found[pair, a, b] == pytest.approx(having)


def test_stops_after_its_deadline(some_counts):
    relaxation = relaxation_of(PolicyEvaluator(some_counts(1, sizes=SIZES)), deadline=0.0)
    with pytest.raises(SecondsUsed):
        exact_costs(relaxation)
