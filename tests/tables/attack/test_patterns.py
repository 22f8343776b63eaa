from itertools import combinations as combinations_of
from itertools import pairwise
from math import comb, perm, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.tables.attack.chance import Chance
from voile.tables.attack.model import (
    HitMiss,
    best_candidates,
    estimate,
    log_likelihood,
)
from voile.tables.attack.patterns import agreement_patterns
from voile.tables.attack.records import distinct_rows


@st.composite
def games(draw):
    """Draw released combinations, a register over the same columns, and beliefs."""
    q = draw(st.integers(0, 4))
    row = st.tuples(*[st.integers(-1, 3)] * q)
    released = draw(st.lists(row, max_size=12))
    register = draw(st.lists(row, max_size=25))
    errors = draw(st.lists(st.sampled_from([0.0, 0.03, 0.25, 1.0]), min_size=q, max_size=q))
    combinations = distinct_rows(np.array(released, dtype=np.int32).reshape(len(released), q))[0]
    model = HitMiss(np.array(errors), draw(st.sampled_from([0.0, 0.5, 1.0])))
    return combinations, np.array(register, dtype=np.int32).reshape(len(register), q), model


def every_pair(combination, chances, register, model):
    """Compute the likelihood ratio of every entry, one pair and one set of hits at a time."""
    scores = []
    for entry in register:
        pairs = list(zip(combination, entry, strict=True))
        compared = [j for j, (mine, theirs) in enumerate(pairs) if mine >= 0 and theirs >= 0]
        agreed = [j for j in compared if combination[j] == entry[j]]
        sets = (hits for r in range(len(agreed) + 1) for hits in combinations_of(agreed, r))
        scores.append(
            sum(
                prod(1 - e if j in hits else e for j, e in enumerate(model.errors) if j in compared)
                / chances[sum(1 << j for j in hits)]
                for hits in sets
            )
        )
    return scores


def some_chances(combinations):
    """Draw the chance of each set of columns for each combination; a larger set is rarer."""
    q = combinations.shape[1]
    each = np.random.default_rng(len(combinations)).uniform(0.2, 1, (len(combinations), 1 << q))
    return each * 0.5 ** np.array([s.bit_count() for s in range(1 << q)])


@settings(deadline=None)
@given(games())
def test_patterns_are_those_of_every_pair(game):
    combinations, register, _ = game
    patterns = agreement_patterns(combinations, register)
    for i, combination in enumerate(combinations):
        expected: dict[tuple[tuple[int, ...], int], int] = {}
        for entry in register:
            has = tuple(j for j, v in enumerate(entry) if v >= 0)
            agreed = sum(1 << b for b, j in enumerate(has) if entry[j] == combination[j])
            expected[has, agreed] = expected.get((has, agreed), 0) + 1
        found = {
            (b.columns, a): int(n) for b in patterns.blocks for a, n in enumerate(b.counts[i]) if n
        }
        assert found == expected


@settings(deadline=None)
@given(games())
def test_best_candidates_are_those_of_every_pair(game):
    combinations, register, model = game
    chances = some_chances(combinations)
    alone = np.ones(len(combinations), dtype=np.int64)
    best = best_candidates(agreement_patterns(combinations, register), chances, model, alone)
    for i, combination in enumerate(combinations):
        scores = every_pair(combination, chances[i], register, model)
        top = max(scores, default=0.0)
        prior = model.share / max(len(register), 1)
        total = 1 - model.share + prior * sum(scores)
        assert best.ratio[i] == pytest.approx(top)
        assert best.tied[i] == sum(s >= top * (1 - 1e-9) for s in scores)
        assert best.posterior[i] == pytest.approx(prior * top / total if total else 0.0)


@pytest.mark.parametrize("share", [0.05, 0.5, 1.0])
@pytest.mark.parametrize("alike", [1, 2, 5])
@pytest.mark.parametrize("tied", [1, 2, 7])
def test_the_posterior_of_several_alike_counts_every_way_to_give_them_entries(tied, alike, share):
    register = np.array([[0, 0]] * tied + [[0, 1]] * 3 + [[5, 5]] * 30, dtype=np.int32)
    patterns = agreement_patterns(np.zeros((1, 2), dtype=np.int32), register)
    chances = np.array([[1.0, 0.3, 0.2, 0.05]])
    model = HitMiss(np.array([0.05, 0.05]), share)
    best = best_candidates(patterns, chances, model, np.array([alike]))
    prior = share / len(register)
    rest = every_pair([0, 0], chances[0], register[tied:], model)
    others = 1 - share + prior * sum(rest)
    ways = [
        comb(alike, b) * perm(tied, b) * (prior * best.ratio[0]) ** b * others ** (alike - b)
        for b in range(min(alike, tied) + 1)
    ]
    given = sum(b * each for b, each in enumerate(ways)) / sum(ways)
    exact = {"rel": 1e-9} if 1 in (alike, tied) else {"rel": 0.03}
    assert best.posterior[0] == pytest.approx(given / alike / tied, **exact)


def test_sparse_codes_are_counted_like_dense_ones():
    rng = np.random.default_rng(4)
    register = rng.integers(0, 30, (500, 4)).astype(np.int32)
    combinations = distinct_rows(rng.integers(0, 30, (200, 4)).astype(np.int32))[0]
    scattered = np.sort(rng.choice(2**31 - 2, 30, replace=False)).astype(np.int32)
    dense = agreement_patterns(combinations, register)
    sparse = agreement_patterns(scattered[combinations], scattered[register])
    assert (dense.blocks[0].counts == sparse.blocks[0].counts).all()


def test_too_many_columns_are_refused():
    with pytest.raises(RequestError, match="at most 10 columns"):
        agreement_patterns(np.zeros((1, 11), np.int32), np.zeros((1, 11), np.int32))


def every_step(combinations, chances, register, model, checked):
    """Take one step of EM, one pair and one set of hits at a time."""
    q, n = len(model.errors), len(combinations)
    misses, seen, found = np.full(q, 0.05 * checked * n), np.full(q, checked * n), 0.0
    for combination, own in zip(combinations, chances, strict=True):
        prior = model.share / len(register)
        total = 1 - model.share + prior * sum(every_pair(combination, own, register, model))
        for entry in register:
            compared = [j for j in range(q) if combination[j] >= 0 and entry[j] >= 0]
            agreed = [j for j in compared if combination[j] == entry[j]]
            for r in range(len(agreed) + 1):
                for hits in combinations_of(agreed, r):
                    likely = prod(
                        1 - model.errors[j] if j in hits else model.errors[j] for j in compared
                    )
                    chance = prior * likely / own[sum(1 << j for j in hits)] / total
                    found += chance
                    seen[compared] += chance
                    misses[[j for j in compared if j not in hits]] += chance
    return misses / seen, found / n


def test_a_step_of_em_is_that_of_every_pair():
    rng = np.random.default_rng(8)
    register = rng.integers(-1, 4, (60, 3)).astype(np.int32)
    combinations = distinct_rows(rng.integers(-1, 4, (20, 3)).astype(np.int32))[0]
    start, chances = HitMiss(np.array([0.1, 0.4, 0.02]), 0.6), some_chances(combinations)
    patterns, weight = agreement_patterns(combinations, register), np.ones(len(combinations))
    for checked in (0.0, 0.3):
        step = estimate(patterns, chances, weight, start=start, steps=1, checked=checked)
        errors, share = every_step(combinations, chances, register, start, checked)
        assert step.errors == pytest.approx(errors)
        assert step.share == pytest.approx(share)


@settings(deadline=None)
@given(games(), st.sampled_from([0.0, 0.1]))
def test_em_never_lowers_the_likelihood(game, checked):
    combinations, register, _ = game
    patterns, chances = agreement_patterns(combinations, register), some_chances(combinations)
    weight = np.ones(len(combinations))
    model, likelihoods = None, []
    for _ in range(5):
        model = estimate(patterns, chances, weight, start=model, steps=1, checked=checked)
        likelihoods.append(log_likelihood(patterns, chances, weight, model, checked))
    for before, after in pairwise(likelihoods):
        assert after >= before - 1e-9


def test_an_overlap_that_is_given_stays():
    register = np.arange(40, dtype=np.int32)[:, None]
    patterns = agreement_patterns(register[:30], register)
    known = estimate(
        patterns, Chance.learn(register, register).of(patterns), np.ones(30), overlap=0.4
    )
    assert known.share == 0.4
