from itertools import combinations as combinations_of
from itertools import pairwise
from math import comb, perm, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.tables.attack.chance import StrangerChance
from voile.tables.attack.estimation import estimate, excess_over_chance, expectation
from voile.tables.attack.model import HitMiss, RegisterGaps, best_candidates
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


def one_step(patterns, chances, model, checked):
    """Take the same step for all pairs at once, and return the log-likelihood before it."""
    weight = np.ones(len(patterns.combinations))
    excess, n = excess_over_chance(patterns, chances), max(len(weight), 1)
    misses, seen, found, evidence = expectation(patterns, excess, weight, model)
    wrong, people = misses + 0.05 * checked * n, seen + checked * n
    errors = np.where(people > 0, wrong / np.where(people > 0, people, 1), model.errors)
    with np.errstate(divide="ignore", invalid="ignore"):
        known = 0.05 * np.log(model.errors) + 0.95 * np.log1p(-model.errors)
    nats = np.log(evidence).sum() + (checked * n * known.sum() if checked else 0.0)
    return HitMiss(np.clip(errors, 0, 1), float(np.clip(found / n, 0, 1))), nats


def test_a_step_of_em_is_that_of_every_pair():
    rng = np.random.default_rng(8)
    register = rng.integers(-1, 4, (60, 3)).astype(np.int32)
    combinations = distinct_rows(rng.integers(-1, 4, (20, 3)).astype(np.int32))[0]
    start, chances = HitMiss(np.array([0.1, 0.4, 0.02]), 0.6), some_chances(combinations)
    patterns = agreement_patterns(combinations, register)
    for checked in (0.0, 0.3):
        step, _ = one_step(patterns, chances, start, checked)
        errors, share = every_step(combinations, chances, register, start, checked)
        assert step.errors == pytest.approx(errors)
        assert step.share == pytest.approx(share)


@settings(deadline=None)
@given(games(), st.sampled_from([0.0, 0.1]))
def test_em_never_lowers_the_likelihood(game, checked):
    combinations, register, _ = game
    patterns, chances = agreement_patterns(combinations, register), some_chances(combinations)
    model, likelihoods = HitMiss(np.full(combinations.shape[1], 0.05), 0.5), []
    for _ in range(6):
        model, nats = one_step(patterns, chances, model, checked)
        likelihoods.append(nats)
    for before, after in pairwise(likelihoods):
        assert after >= before - 1e-9


def register_of(codes, rng, *, lost=0.0, wrong=0.0):
    """Write a register of people, some of whose second column it loses, or first has wrong."""
    held = codes.copy()
    held[rng.random(len(held)) < lost, 1] = -1
    other = rng.random(len(held)) < wrong
    held[other, 0] = rng.permutation(held[:, 0])[other]
    return held


def estimated(released, register, **known):
    combinations, place = distinct_rows(released)
    patterns = agreement_patterns(combinations, register)
    chances = StrangerChance.learn(register, released).of(patterns)
    return estimate(patterns, chances, np.bincount(place).astype(float), **known)


def people_of(n, rng, missing=0.0):
    people = rng.integers(0, (400, 30, 50), (n, 3)).astype(np.int32)
    people[rng.random(n) < missing, 1] = -1
    return people


@pytest.mark.parametrize("held", [0.3, 0.6, 0.9])
@pytest.mark.parametrize("wrong", [0.0, 0.05, 0.2])
def test_how_many_agree_in_all_is_seen_whatever_the_errors_are(wrong, held):
    rng = np.random.default_rng(4)
    people = people_of(12_000, rng)
    register = register_of(people[int(2_000 * (1 - held)) :], rng, wrong=wrong)
    for known in ({}, {"overlap": held}):
        model = estimated(people[:2_000], register, **known)
        agreeing = model.share * np.prod(1 - model.errors)
        assert agreeing == pytest.approx(held * (1 - wrong), abs=0.06)


def test_a_value_that_a_person_lacks_everywhere_is_told_from_one_that_the_register_lost():
    rng = np.random.default_rng(5)
    people = people_of(12_000, rng, missing=0.1)
    for lost, once in ((0.0, 0.0), (0.2, 0.2)):
        gaps = estimated(people[:2_000], register_of(people[800:], rng, lost=lost)).gaps
        assert gaps.own[0, 1] == pytest.approx(once, abs=0.08)
        assert gaps.own[1, 1] > 0.7
        assert gaps.anybody[1] == pytest.approx(0.1 + 0.9 * lost, abs=0.02)


def test_a_release_that_lacks_nothing_finds_gaps_as_usual():
    rng = np.random.default_rng(6)
    people = people_of(12_000, rng)
    gaps = estimated(people[:2_000], register_of(people[800:], rng, lost=0.2)).gaps
    assert gaps.own[0] == pytest.approx(gaps.anybody, abs=1e-9)
    seen = np.array([[0, 0, 0]], dtype=np.int32)
    assert gaps.ratio(seen, (0, 2)) == pytest.approx(gaps.ratio(seen, (0, 1, 2)))


def test_the_ratio_of_gaps_is_the_product_of_those_of_each_column():
    gaps = RegisterGaps(np.array([[0.1, 0.2], [0.9, 0.5]]), np.array([0.3, 0.25]))
    seen = np.array([[4, 4], [-1, 4]], dtype=np.int32)
    assert gaps.ratio(seen, (0, 1)) == pytest.approx(
        [0.9 / 0.7 * 0.8 / 0.75, 0.1 / 0.7 * 0.8 / 0.75]
    )
    assert gaps.ratio(seen, (1,)) == pytest.approx([0.1 / 0.3 * 0.8 / 0.75, 0.9 / 0.3 * 0.8 / 0.75])


def test_an_overlap_that_is_given_stays():
    register = np.arange(40, dtype=np.int32)[:, None]
    patterns = agreement_patterns(register[:30], register)
    known = estimate(
        patterns, StrangerChance.learn(register, register).of(patterns), np.ones(30), overlap=0.4
    )
    assert known.share == 0.4
