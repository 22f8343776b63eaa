"""The order of inspection, and what is found on the way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import binom

from voile.documents.attack.inspections import (
    InspectionOrder,
    average_found,
    expect_at_random,
    inspection_order,
)

MARGINS = arrays(float, st.integers(0, 40), elements=st.floats(-2, 2))
ORDERS = ("margin", "paper", "negatives")


@st.composite
def walks(draw, least=0):
    types = draw(st.lists(st.integers(0, 2), min_size=least, max_size=40))
    subject = draw(st.lists(st.integers(0, 5), min_size=len(types), max_size=len(types)))
    return InspectionOrder(np.array(types, np.int16), np.array(subject, np.intp))


@given(MARGINS, st.sampled_from(ORDERS), st.integers(0, 9))
def test_the_order_is_a_permutation(margins, order, seed):
    way = inspection_order(margins, order, np.random.default_rng(seed))
    assert sorted(way.tolist()) == list(range(len(margins)))


@given(MARGINS, st.integers(0, 9))
def test_the_orders_are_what_they_say(margins, seed):
    rng = np.random.default_rng(seed)
    assert (np.diff(margins[inspection_order(margins, "margin", rng)]) <= 0).all()
    assert (np.diff((margins[inspection_order(margins, "paper", rng)] > 0).astype(int)) <= 0).all()
    assert (
        np.diff((margins[inspection_order(margins, "negatives", rng)] > 0).astype(int)) >= 0
    ).all()


def test_equals_come_in_random_order():
    margins = np.array([1.0] * 50 + [-1.0] * 50)
    ways = [
        inspection_order(margins, "paper", np.random.default_rng(seed))[:50] for seed in range(200)
    ]
    assert abs(np.mean(ways) - 24.5) < 1
    assert abs(np.mean([way[0] for way in ways]) - 24.5) < 3.5


@given(walks())
def test_finding_never_stops_and_ends_at_all_that_is_left(walk):
    found = walk.count_found(np.arange(60))
    steps = np.diff(found)
    assert found[0] == 0
    assert ((steps == 0) | (steps == 1)).all()
    assert found[-1] == walk.identifier_count == sum(one > 0 for one in walk.types.tolist())


@given(arrays(np.int16, st.integers(0, 40), elements=st.integers(0, 1)), st.integers(0, 9))
def test_who_knows_the_truth_finds_as_many_as_may_be(types, seed):
    way = inspection_order(types - 0.5, "margin", np.random.default_rng(seed))
    walk = InspectionOrder(types[way], np.zeros(len(types), np.intp))
    for inspections in range(50):
        assert walk.count_found(np.array([inspections]))[0] == min(inspections, types.sum())


@given(walks(), walks())
def test_the_interval_holds_the_mean_and_stays_possible(one, other):
    at = np.array([0, 1, 5, 100])
    told = average_found([one, other], at)
    assert (told.low <= told.mean).all()
    assert (told.mean <= told.high).all()
    assert (told.low >= 0).all()
    assert (told.high <= at + 1e-9).all()


def test_nothing_found_has_an_upper_end_of_three_in_the_inspections():
    walk = InspectionOrder(np.zeros(1000, np.int16), np.arange(1000))
    told = average_found([walk], np.array([100]))
    assert (told.mean[0], told.low[0]) == (0, 0)
    assert told.high[0] >= 3


def test_names_of_few_subjects_make_the_interval_wide():
    types = np.array([1] * 100 + [0] * 900, np.int16)
    alone = InspectionOrder(types, np.arange(1000))
    joint = InspectionOrder(types, np.arange(1000) // 100)  # all of one subject
    wide, narrow = (average_found([one], np.array([100])) for one in (joint, alone))
    assert wide.low[0] == 0 < 80 < narrow.low[0]


@given(walks())
def test_a_random_draw_finds_its_share(walk):
    at = np.array([0, 3, 10, len(walk), 100])
    told = expect_at_random([walk], at)
    for inspections, mean in zip(at, told.mean, strict=True):
        share = walk.identifier_count / len(walk) if len(walk) else 0
        assert mean == pytest.approx(min(inspections, len(walk)) * share)
    assert (told.low <= told.mean + 1e-9).all()
    assert (told.high >= told.mean - 1e-9).all()


def test_its_interval_holds_95_of_100_draws():
    walk = InspectionOrder(np.array([1] * 60 + [0] * 540, np.int16), np.zeros(600, np.intp))
    told = expect_at_random([walk], np.array([100]))
    rng = np.random.default_rng(1)
    draws = [int((rng.permutation(600)[:100] < 60).sum()) for _ in range(2000)]
    inside = np.mean([told.low[0] <= one <= told.high[0] for one in draws])
    assert 0.94 < inside < 0.985
    assert abs(np.mean(draws) - told.mean[0]) < 0.3


def test_the_interval_is_95_of_100_draws_of_subjects():
    """Of 400 people 1 in 4 is named, 5 tokens each: how many are drawn is binomial."""
    named = np.repeat(np.arange(400) % 4 == 0, 5).astype(np.int16)
    told = average_found([InspectionOrder(named, np.arange(2000) // 5)], np.array([2000]))
    low, high = (5 * binom.ppf(end, 400, 0.25) for end in (0.025, 0.975))
    assert told.mean[0] == 500
    assert told.low[0] == pytest.approx(low, abs=8)
    assert told.high[0] == pytest.approx(high, abs=8)
