"""Raked shares give the runs their people, and change evenness no more than that takes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.tables.recoding.raking import rake


def column(seed):
    """Return widths and people of intervals, and the people that some of their values give runs."""
    rng = np.random.default_rng(seed)
    runs, intervals = rng.integers(2, 6), rng.integers(1, 7)
    ends = np.sort(rng.integers(0, runs, (intervals, 2)), axis=1)
    at = np.arange(runs)
    inside = (at >= ends[:, :1]) & (at <= ends[:, 1:])
    width = inside * rng.integers(1, 5, runs)
    people = rng.integers(1, 40, intervals).astype(float)
    likely = inside * rng.uniform(0.2, 1, inside.shape)
    return width.astype(float), people, people @ (likely / likely.sum(axis=1, keepdims=True))


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6))
def test_every_run_gets_its_people_and_every_interval_keeps_its_own(seed):
    width, people, held = column(seed)
    share = rake(width, people, held)
    assert share.sum(axis=1) == pytest.approx(np.ones(len(people)))
    assert (share[width == 0] == 0).all()
    assert people @ share == pytest.approx(held, abs=1e-3 * people.sum())


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6))
def test_a_run_is_as_much_denser_than_another_in_every_interval(seed):
    width, people, held = column(seed)
    share = rake(width, people, held)
    density = np.divide(share, width, out=np.zeros_like(share), where=width > 0)
    for one in density:
        for other in density:
            both = (one > 0) & (other > 0)
            ratios = one[both] / other[both]
            assert ratios == pytest.approx(np.full(len(ratios), ratios[:1]), rel=1e-9)


def test_values_that_are_even_stay_even():
    width = np.array([[2.0, 3.0], [2.0, 0.0]])
    people = np.array([50.0, 10.0])
    share = rake(width, people, np.array([30.0, 30.0]))
    assert share == pytest.approx(np.array([[0.4, 0.6], [1.0, 0.0]]))


def test_counts_that_no_people_have_are_come_near_to():
    width = np.array([[1.0, 0.0], [1.0, 1.0]])
    share = rake(width, np.array([40.0, 10.0]), np.array([30.0, 20.0]))
    assert share[1, 1] > 0.99
