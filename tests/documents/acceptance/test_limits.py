"""Each limit equals what counting every case by itself gives."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.documents.acceptance.limits import (
    lower_recall,
    missed_limit,
    seen_at_most,
)

LEVELS = st.sampled_from([0.01, 0.05, 0.3])
RECALLS = st.sampled_from([0.5, 0.8, 0.95, 1.0])


def naive_seen_at_most(found: int, drawn: int, units: int, there: int, recall: float) -> float:
    """Sum over how many are drawn, and how many of them are seen."""
    chance = Fraction(0)
    own = Fraction(recall)
    for shown in range(min(there, drawn) + 1):
        ways = comb(there, shown) * comb(units - there, drawn - shown)
        for seen in range(min(found, shown) + 1):
            sees = comb(shown, seen) * own**seen * (1 - own) ** (shown - seen)
            chance += Fraction(ways, comb(units, drawn)) * sees
    return float(chance)


@given(st.data(), st.integers(1, 40), RECALLS)
def test_the_chance_of_so_few_seen_sums_over_what_is_drawn_and_seen(
    data: st.DataObject, units: int, recall: float
) -> None:
    drawn = data.draw(st.integers(0, units))
    found = data.draw(st.integers(0, drawn))
    for there in range(units + 1):
        chance = naive_seen_at_most(found, drawn, units, there, recall)
        assert seen_at_most(found, drawn, units, there, recall) == pytest.approx(chance, abs=1e-9)


@given(st.integers(0, 60), RECALLS, LEVELS)
def test_what_a_reader_missed_is_at_most_the_largest_number_not_refuted(
    found: int, recall: float, level: float
) -> None:
    limit = missed_limit(found, recall, level)
    assert limit is not None

    def chance(missed: int) -> float:
        trials, own = found + missed, Fraction(recall)
        return float(
            sum(comb(trials, k) * own**k * (1 - own) ** (trials - k) for k in range(found + 1))
        )

    assert limit == 0 or chance(limit) > level
    assert chance(limit + 1) <= level


@given(st.integers(1, 80), LEVELS, st.data())
def test_a_recall_lies_below_its_limit_no_more_often_than_the_level(
    planted: int, level: float, data: st.DataObject
) -> None:
    recall = data.draw(st.floats(0.3, 0.999))
    too_high = [n for n in range(planted + 1) if lower_recall(n, planted, level) > recall]
    chance = sum(comb(planted, n) * recall**n * (1 - recall) ** (planted - n) for n in too_high)
    assert chance <= level + 1e-9


def test_nothing_planted_and_nothing_seen_say_nothing() -> None:
    assert lower_recall(0, 0, 0.05) == lower_recall(0, 20, 0.05) == 0.0
    assert missed_limit(3, 0.0, 0.05) is None
    assert missed_limit(3, 1.0, 0.05) == 0


@pytest.mark.parametrize("level", [0.0, 1.0, float("nan")])
def test_a_level_is_a_chance(level: float) -> None:
    with pytest.raises(ValueError, match="level"):
        lower_recall(1, 2, level)
