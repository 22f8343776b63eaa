"""A measure checks what is said to be one of its values."""

from __future__ import annotations

import math

import pytest

from voile.core.measures import DisplayMeasure

SHARE = DisplayMeasure("risk", "Risk", "share", "a / b")
COUNT = DisplayMeasure("k", "k", "subjects", "least group", (1.0, math.inf), "higher", "rises")


def test_a_value_within_its_bounds_passes():
    assert SHARE.check(0.25) == 0.25
    assert COUNT.check(math.inf) == math.inf


def test_rounding_just_outside_is_brought_back():
    assert SHARE.check(1 + 1e-12) == 1.0
    assert SHARE.check(-1e-12) == 0.0


@pytest.mark.parametrize("wrong", [math.nan, 1.001, -0.1, math.inf])
def test_anything_else_is_refused(wrong):
    with pytest.raises(ValueError, match=r"risk = .* lies outside"):
        SHARE.check(wrong)
    with pytest.raises(ValueError, match="k = "):
        COUNT.check(0.0)


def test_the_worst_of_risks_is_the_largest_and_of_least_groups_the_smallest():
    assert SHARE.worst([0.2, 0.5, 0.1]) == 0.5
    assert COUNT.worst([11.0, 2.0, 30.0]) == 2.0
