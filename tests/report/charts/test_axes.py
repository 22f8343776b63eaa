from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.report.charts import axes

VALUES = st.lists(st.floats(-1e6, 1e6).map(lambda v: round(v, 6)), min_size=1, max_size=20)
SHARES = st.lists(st.one_of(st.just(0.0), st.floats(1e-9, 1)), min_size=1, max_size=20)


@given(VALUES)
def test_every_value_and_tick_lies_on_a_linear_axis(values: list[float]) -> None:
    axis = axes.linear(values)
    assert all(-1e-9 <= axis.place(v) <= 1 + 1e-9 for v in (*values, *axis.ticks))
    assert 2 <= len(axis.ticks) <= 8
    assert 0.0 in axis.ticks


@given(VALUES)
def test_every_value_and_tick_lies_on_a_spread_axis(values: list[float]) -> None:
    axis = axes.build_axis(values)
    assert all(-1e-9 <= axis.place(v) <= 1 + 1e-9 for v in (*values, *axis.ticks))


@given(SHARES)
def test_a_log_axis_keeps_order_and_sets_zero_apart(values: list[float]) -> None:
    axis = axes.log10(values)
    placed = [axis.place(v) for v in sorted(values)]
    assert placed == sorted(placed)
    assert all(-1e-9 <= p <= 1 + 1e-9 for p in placed)
    assert len(axis.ticks) <= 7
    positive = [axis.place(v) for v in values if v > 0]
    if 0.0 in values and positive:
        assert min(positive) > axis.place(0.0) + 0.05


@given(st.floats(1e-6, 0.1))
def test_equal_ratios_are_equal_steps(value: float) -> None:
    axis = axes.log10([1e-6, 1.0])
    step = axis.place(10 * value) - axis.place(value)
    assert math.isclose(step, 1 / 6, rel_tol=1e-6)


@pytest.mark.parametrize("values", [[], [0.0], [0.0, 0.0], [math.nan]])
def test_nothing_to_place_still_gives_an_axis(values: list[float]) -> None:
    assert axes.linear(values).ticks == (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def test_one_value_on_a_log_axis() -> None:
    axis = axes.log10([0.01])
    assert axis.ticks == (0.001, 0.01)
    assert axis.place(0.01) == 1
