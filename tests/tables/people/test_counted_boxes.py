"""Groups estimated in boxes where people are counted by some columns."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.tables.people.counted_boxes import estimate_sums, expect_inverse


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
    """All 6 people of the box are in the source: groups of 1, 2 and 3 are just that."""
    n = np.array([1.0, 2.0, 3.0])
    found = estimate_sums(n, np.full(3, 6.0), np.full(3, 6.0))
    assert (found.matches, found.uniques) == (pytest.approx(3), 1)
    fewer = estimate_sums(n, np.full(3, 6.0), np.full(3, 2.0))
    assert fewer == found


@pytest.mark.parametrize("groups", [300, 3_000])
def test_sums_hold_on_samples_of_populations_drawn_anew(groups):
    """Four boxes, uneven groups in each, and a tenth of the people drawn at random."""
    rng = np.random.default_rng(groups)
    box = rng.integers(0, 4, groups)
    people = rng.negative_binomial(0.7, 0.02, groups) + 1
    matches, truth, uniques, alone = 0.0, 0.0, 0.0, 0.0
    for _ in range(30):
        n = rng.binomial(people, 0.1).astype(float)
        subjects, counted = np.bincount(box, n), np.bincount(box, people.astype(float))
        seen = n > 0
        found = estimate_sums(n[seen], subjects[box[seen]], counted[box[seen]])
        matches, uniques = matches + found.matches, uniques + found.uniques
        truth += (n[seen] / people[seen]).sum()
        alone += (people[seen] == 1).sum()
    assert 0.9 < matches / truth < 1.2
    assert uniques > 0.5 * alone
