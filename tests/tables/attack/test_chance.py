"""The chance that strangers agree, against people who are strangers."""

from __future__ import annotations

import numpy as np
import pytest

from voile.tables.attack.chance import StrangerChance, _fit
from voile.tables.attack.patterns import agreement_patterns
from voile.tables.attack.records import distinct_rows


def people(n, rng):
    """Draw people of whom b follows a, and c follows both."""
    a = rng.geometric(0.1, n) % 20
    b = (a // 4 + (rng.random(n) < 0.1) * rng.integers(0, 5, n)) % 5
    c = (a + b + rng.integers(0, 3, n)) % 12
    return np.column_stack([a, b, c]).astype(np.int32)


def agreements(strangers, register):
    """Return how often strangers agree with entries, over how often by chance, for each set."""
    combinations, place = distinct_rows(strangers)
    weight = np.bincount(place)
    patterns = agreement_patterns(combinations, register)
    agree, comparable = patterns.at_least
    chances = StrangerChance.learn(register, strangers).of(patterns)
    return weight @ (agree / (comparable * chances)) / len(strangers)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_strangers_agree_as_often_as_by_chance(missing):
    rng = np.random.default_rng(5)
    register, strangers = people(3_000, rng), people(20_000, rng)
    register[rng.random(len(register)) < missing, 2] = -1
    assert agreements(strangers, register) == pytest.approx(np.ones(8), abs=0.05)


def test_of_strangers_who_are_not_like_the_register_too():
    rng = np.random.default_rng(6)
    register, strangers = people(3_000, rng), people(60_000, rng)
    strangers = strangers[strangers[:, 0] > 9]
    assert agreements(strangers, register) == pytest.approx(np.ones(8), abs=0.12)


def test_a_combination_that_nobody_has_yet_is_rare_but_possible():
    rng = np.random.default_rng(7)
    register = people(3_000, rng)
    seen = np.array([[0, 0, 1], [19, 0, 0]], dtype=np.int32)
    assert not (register == seen[1]).all(axis=1).any()
    common, rare = StrangerChance.learn(register, register).of(agreement_patterns(seen, register))[
        :, -1
    ]
    assert common == pytest.approx((register == seen[0]).all(axis=1).mean(), rel=0.3)
    assert 0 < rare < common / 10


@pytest.mark.parametrize("register", [np.zeros((0, 2)), np.full((5, 2), -1), np.zeros((1, 2))])
def test_a_register_that_says_nothing_is_no_mistake(register):
    register, seen = register.astype(np.int32), np.array([[0, 0]], dtype=np.int32)
    chances = StrangerChance.learn(register, seen).of(agreement_patterns(seen, register))
    assert np.isfinite(chances).all()
    assert ((chances > 0) & (chances <= 1)).all()


def test_agreement_far_above_what_was_predicted_is_fitted() -> None:
    rng = np.random.default_rng(1)
    predicted, agree = rng.uniform(0.5e-6, 2e-6, 200), rng.poisson(500, 200).astype(float)
    law = _fit(predicted, agree, np.ones(200))
    assert np.abs(law.mean(predicted).mean() / agree.mean() - 1) < 0.5
