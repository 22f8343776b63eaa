"""Cuts lie on a grid of round numbers, and follow from nothing finer than its cells."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.itemsets.rows.grids import MOST_CUTS, LadderStep, candidates, find_step

STEPS = st.builds(LadderStep, st.sampled_from([1, 5, 25]), st.integers(-6, 6))
PLACES = st.lists(st.integers(-300, 300), min_size=2, max_size=60)


def counted(values):
    return np.unique(np.array(values, dtype=np.float64), return_counts=True)


@given(STEPS, st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20))
def test_a_number_is_in_the_cell_of_the_multiple_at_or_below_it(step, values):
    cells = step.cells(np.array(values))
    assert (step.multiples(cells) <= values).all()
    assert (values < step.multiples(cells + 1)).all()


@given(STEPS, st.integers(-5000, 5000))
def test_multiples_are_the_floats_that_their_decimals_are_written_as(step, place):
    wanted = Decimal(place * step.size).scaleb(step.power)
    (found,) = step.multiples(np.array([place])).tolist()
    assert found == float(wanted)
    assert step.cells(np.array([found])).tolist() == [place]


@given(STEPS, PLACES, st.data())
def test_moving_values_within_their_cells_moves_no_cut(step, places, data):
    widths = np.array(
        data.draw(st.lists(st.floats(0, 0.9), min_size=len(places), max_size=len(places)))
    )
    corner = step.multiples(np.array(places))
    moved = corner + widths * (step.multiples(np.array(places) + 1) - corner)
    assert step.cells(moved).tolist() == places
    assert candidates(*counted(moved), step) == candidates(*counted(corner), step)


@given(STEPS, PLACES)
def test_each_cut_divides_two_cells_that_hold_rows_and_no_other_cut_does(step, places):
    values = step.multiples(np.array(places))
    cuts = candidates(*counted(values), step)
    assert len(cuts) <= MOST_CUTS
    assert list(cuts) == sorted(set(cuts))
    parts = np.searchsorted(cuts, np.sort(values), side="right")
    assert set(parts.tolist()) == set(range(len(cuts) + 1))
    if len(set(places)) <= 16:
        assert len(cuts) == len(set(places)) - 1


def test_of_the_multiples_between_two_cells_the_roundest_is_the_cut():
    assert candidates(*counted([17, 18, 30, 64]), LadderStep(1, 0)) == (18.0, 20.0, 50.0)


@pytest.mark.parametrize(
    ("values", "dates", "whole", "step"),
    [
        (range(17, 91), False, True, LadderStep(1, 0)),
        (range(0, 100_000, 7), False, True, LadderStep(1, 3)),
        (np.linspace(0.5, 0.75, 999), False, False, LadderStep(1, -2)),
        ([0] * 970 + list(range(1, 31)), False, True, LadderStep(1, 0)),
        ([3, 3, 4], False, True, LadderStep(1, 0)),
        (range(24_000 - 40 * 12, 24_000), True, True, LadderStep(12, 0)),
        (range(24_000, 24_018), True, True, LadderStep(1, 0)),
    ],
)
def test_the_step_sees_the_middle_of_a_column_in_twenty_cells(values, dates, whole, step):
    assert find_step(*counted(values), dates=dates, whole=whole) == step


@given(st.lists(st.floats(0, 1000), min_size=40, max_size=80), st.integers(0, 2**32 - 1))
def test_the_step_found_follows_from_the_cells_that_it_makes(values, seed):
    step = find_step(*counted(values), dates=False, whole=False)
    cells = step.cells(np.array(values))
    inside = np.random.default_rng(seed).random(len(values)) * 0.9
    moved = step.multiples(cells) + inside * (step.multiples(cells + 1) - step.multiples(cells))
    low, high = np.quantile(values, [0.05, 0.95], method="inverted_cdf")
    if low != high and step.cells(np.array([high]))[0] - step.cells(np.array([low]))[0] >= 20:
        assert find_step(*counted(moved), dates=False, whole=False) == step
