from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.errors import RequestError
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


def every_pair(combination, register, model):
    """Compute the likelihood ratio of every entry, one pair at a time."""
    scores = []
    for entry in register:
        ratio = 1.0
        for j, (mine, theirs) in enumerate(zip(combination, entry, strict=True)):
            if mine < 0 or theirs < 0:
                continue
            held = [e[j] for e in register if e[j] >= 0]
            u = held.count(mine) / len(held)
            e = model.errors[j]
            m = (1 - e) + e * u
            ratio *= m / u if mine == theirs else e
        scores.append(ratio)
    return scores


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
    best = best_candidates(agreement_patterns(combinations, register), model)
    for i, combination in enumerate(combinations):
        scores = every_pair(combination, register, model)
        top = max(scores, default=0.0)
        prior = model.share / max(len(register), 1)
        total = 1 - model.share + prior * sum(scores)
        assert best.ratio[i] == pytest.approx(top)
        assert best.tied[i] == sum(s >= top * (1 - 1e-9) for s in scores)
        assert best.posterior[i] == pytest.approx(prior * top / total if total else 0.0)


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


def every_step(combinations, register, model):
    """Take one step of EM, one pair and one column at a time."""
    q = len(model.errors)
    misses, seen, found = np.zeros(q), np.zeros(q), 0.0
    for combination in combinations:
        scores = np.array(every_pair(combination, register, model))
        prior = model.share / len(register)
        total = 1 - model.share + prior * scores.sum()
        for entry, chance in zip(register, prior * scores / total, strict=True):
            found += chance
            for j in range(q):
                if combination[j] >= 0 and entry[j] >= 0:
                    held = register[register[:, j] >= 0, j]
                    u, e = np.mean(held == combination[j]), model.errors[j]
                    lucky = e * u / (1 - e + e * u)
                    misses[j] += chance * (lucky if entry[j] == combination[j] else 1)
                    seen[j] += chance
    return misses / seen, found / len(combinations)


def test_a_step_of_em_is_that_of_every_pair():
    rng = np.random.default_rng(8)
    register = rng.integers(-1, 4, (60, 3)).astype(np.int32)
    combinations = distinct_rows(rng.integers(-1, 4, (20, 3)).astype(np.int32))[0]
    start = HitMiss(np.array([0.1, 0.4, 0.02]), 0.6)
    patterns = agreement_patterns(combinations, register)
    step = estimate(patterns, np.ones(len(combinations)), start=start, steps=1)
    errors, share = every_step(combinations, register, start)
    assert step.errors == pytest.approx(errors)
    assert step.share == pytest.approx(share)


@settings(deadline=None)
@given(games())
def test_em_never_lowers_the_likelihood(game):
    combinations, register, _ = game
    patterns = agreement_patterns(combinations, register)
    weight = np.ones(len(combinations))
    model, likelihoods = None, []
    for _ in range(5):
        model = estimate(patterns, weight, start=model, steps=1)
        likelihoods.append(log_likelihood(patterns, weight, model))
    for before, after in pairwise(likelihoods):
        assert after >= before - 1e-9


def test_em_finds_the_errors_of_a_register():
    rng = np.random.default_rng(0)
    people = rng.integers(0, 40, (4000, 4)).astype(np.int32)
    register = people.copy()
    for j, e in enumerate([0.02, 0.1, 0.0, 0.2]):
        wrong = rng.random(4000) < e
        register[wrong, j] = rng.permutation(people[:, j])[wrong]
    combinations, place = distinct_rows(people[:1000])
    weight = np.bincount(place).astype(float)
    found = estimate(agreement_patterns(combinations, register[200:]), weight)
    assert found.errors == pytest.approx([0.02, 0.1, 0.0, 0.2], abs=0.04)
    assert found.share == pytest.approx(0.8, abs=0.04)


@pytest.mark.parametrize(("errors", "share"), [([1.5], 1.0), ([np.nan], 1.0), ([0.1], 2.0)])
def test_beliefs_outside_their_interval_are_refused(errors, share):
    with pytest.raises(RequestError):
        HitMiss(np.array(errors), share)
