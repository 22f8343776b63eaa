"""Rates keep their counts and so their intervals; evidence survives a file."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.evidence import Curve, Evidence, Finding, Rate, difference

counts = st.integers(1, 10**9).flatmap(
    lambda n: st.tuples(st.integers(0, n), st.just(n)).map(lambda pair: Rate(*pair))
)


@pytest.mark.parametrize(("successes", "trials"), [(-1, 3), (4, 3), (1, 0)])
def test_impossible_counts_are_refused(successes, trials):
    with pytest.raises(ValueError, match="successes of"):
        Rate(successes, trials)


def test_nothing_tried_says_nothing():
    rate = Rate(0, 0)
    assert math.isnan(rate.value)
    assert rate.interval() == (0.0, 1.0)


def test_wilson_agrees_with_a_worked_example():
    """Newcombe 1998, table I: 81 of 263 is 0.2553 to 0.3662."""
    low, high = Rate(81, 263).interval()
    assert (round(low, 4), round(high, 4)) == (0.2553, 0.3662)


@given(counts)
def test_an_interval_holds_its_rate(rate):
    low, high = rate.interval()
    assert 0 <= low <= rate.value <= high <= 1


@given(st.integers(1, 10**6))
def test_nothing_found_is_not_no_risk(n):
    low, high = Rate(0, n).interval()
    assert low == 0
    assert high >= min(1.0, 3 / n)


@given(counts, counts)
def test_a_difference_holds_its_value_and_turns_around(a, b):
    value, low, high = difference(a, b)
    assert low - 1e-12 <= value <= high + 1e-12
    back = difference(b, a)
    assert back == pytest.approx((-value, -high, -low))


def test_evidence_comes_back_equal_from_json():
    evidence = Evidence(
        "linkage",
        "linkability",
        "She holds a register.",
        ("age", "zip"),
        (
            Finding("correct claims", Rate(3, 10), Rate(1, 10), Rate(0, 4), "of her claims"),
            Finding("found", Rate(0, 0)),
        ),
        (Curve("precision", "share", "precision", (0.5, 1.0), (1.0, 0.3), (0.2, 0.1), (1.0, 0.6)),),
        ("the register has errors",),
    )
    assert Evidence.from_json(json.loads(json.dumps(evidence.to_json()))) == evidence
