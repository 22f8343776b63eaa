"""Groups estimated in boxes where people are counted by some columns."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.tables.people.counted_boxes import estimate_matches, expect_inverse


@given(n=st.integers(1, 40), p=st.floats(0.02, 1.0))
def test_the_mean_of_one_over_f_is_the_sum_over_populations(n, p):
    if p == 1.0:
        naive = 1.0 / n
    else:
        log = [
            math.lgamma(h) - math.lgamma(n) - math.lgamma(h - n + 1)
            + n * math.log(p) + (h - n) * math.log1p(-p)
            for h in range(n, 6000)
        ]  # fmt: skip
        naive = sum(math.exp(one) / h for h, one in enumerate(log, n))
    found = float(expect_inverse(np.array([float(n)]), np.array([p]))[0])
    assert found == pytest.approx(naive, rel=1e-5)
    assert 0 < found <= 1 / n * (1 + 1e-12)


@pytest.mark.parametrize("n", [1.0, 2.5, 1e3, 1e6])
@pytest.mark.parametrize("p", [1e-9, 1e-3, 0.999999, 1.0])
def test_the_ends_are_numbers_between_no_risk_and_one_over_n(n, p):
    found = float(expect_inverse(np.array([n]), np.array([p]))[0])
    assert 0 < found <= 1 / n * (1 + 1e-12)


def test_a_box_that_the_source_fills_hides_nobody_else():
    """All 18 people of the box are in the source: groups of 5, 6 and 7 are just that."""
    n = np.array([5.0, 6.0, 7.0])
    assert estimate_matches(n, np.full(3, 18.0), np.full(3, 18.0)) == pytest.approx(3)
    assert estimate_matches(n, np.full(3, 18.0), np.full(3, 2.0)) == pytest.approx(3)


def test_small_groups_are_not_estimated():
    boxes = np.full(2, 40.0), np.full(2, 400.0)
    assert estimate_matches(np.array([5.0, 35]), *boxes) < 1.2
    assert estimate_matches(np.array([4.0, 36]), *boxes) is None


def test_sums_hold_on_samples_of_populations_drawn_anew():
    """Four boxes of uneven groups, a tenth of the people drawn at random, groups of 5 and more."""
    rng = np.random.default_rng(3)
    box, people = rng.integers(0, 4, 300), rng.integers(20, 900, 300)
    found = truth = 0.0
    for _ in range(30):
        n = rng.binomial(people, 0.1).astype(float)
        subjects, counted = np.bincount(box, n), np.bincount(box, people.astype(float))
        seen = n >= 5
        found += estimate_matches(n[seen], subjects[box[seen]], counted[box[seen]])
        truth += (n[seen] / people[seen]).sum()
    assert 0.95 < found / truth < 1.1
