"""Two digits are told, and never more protection, or less risk, than there is."""

from __future__ import annotations

import json
import math
from copy import deepcopy
from dataclasses import dataclass
from importlib import import_module

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from voile.core.rounding import (
    StatedNumber,
    StatingRules,
    coarse,
    exact,
    for_audience,
    round_number,
)
from voile.report.wording import share_of

FIGURES = st.floats(1e-12, 1e12)
STATING = StatingRules(at_least=frozenset({"k"}), people=frozenset({"uniques"}))


def digits(value: float) -> int:
    return len(f"{value:e}".partition("e")[0].replace(".", "").strip("0"))


@given(FIGURES, st.sampled_from(["up", "down", "nearest"]))
def test_no_third_digit_is_told(value, towards):
    short = round_number(value, towards)
    assert digits(float(f"{short:.12g}")) <= 2
    assert round_number(short, towards) == short
    assert round_number(value, "down") <= short <= round_number(value, "up")


@given(FIGURES)
def test_what_is_told_is_on_the_safe_side_and_near(value):
    down, up = round_number(value, "down"), round_number(value, "up")
    assert down <= value * (1 + 1e-11)
    assert up >= value * (1 - 1e-11)
    assert up - down <= 0.11 * value
    nearest = round_number(value)
    assert abs(nearest - value) <= min(up - value, value - down) + 1e-11 * value


@given(st.floats(0.01, 0.99).map(lambda x: round(x, 2)), st.sampled_from([1, -1]))
def test_the_last_bits_of_a_sum_are_no_digit(value, side):
    assume(value > 0)
    near = value * (1 + side * 4e-16)
    assert round_number(near, "up") == round_number(near, "down") == value


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_what_is_no_number_stays(value):
    assert round_number(value) is value
    assert coarse([value])[0] is value
    assert coarse([value], STATING)[0] is value


@given(st.integers(0, 99))
def test_few_people_are_told_in_tens_and_never_fewer(people):
    told = STATING(people, "uniques")
    assert told % 10 == 0
    assert people <= told < people + 10
    assert type(told) is int


def test_figures_go_the_way_that_promises_no_more():
    told = {
        "uniques": [(99, 100), (100, 100), (104, 100), (106, 110)],
        "k": [(129.0, 120.0), (5.67, 5.6)],
        "rows": [(32_561, 33_000), (1_049.0, 1_000.0)],
        "loss": [(0.0301, 0.031), (0.03, 0.03)],
    }
    for name, pairs in told.items():
        assert [STATING(exact, name) for exact, _ in pairs] == [x for _, x in pairs], name


@dataclass(frozen=True)
class Told:
    loss: float
    number: int
    words: str = "1234"


def test_every_number_within_is_stated_by_its_own_name():
    whole = {
        "loss": (0.0301, [0.0301]),
        "k": 129.0,
        "number": 1234,
        "version": 1234,
        "true": True,
        "none": None,
        "of": Told(0.0301, 1234),
        "type": Told,
    }
    assert coarse(whole, STATING) == {
        **whole,
        "loss": (0.031, [0.031]),
        "k": 120.0,
        "of": Told(0.031, 1234),
    }
    assert coarse(True) is True


def test_the_holder_sees_the_figures_as_they_are():
    assert for_audience([129.0, 0.0301], "internal", STATING) == [129.0, 0.0301]
    assert for_audience({"k": 129.0}, "public", STATING) == {"k": 120.0}


def test_a_whole_number_stays_one():
    assert json.dumps(for_audience({"rows": 1234}, "public", STATING)) == '{"rows": 1200}'


def test_a_copied_figure_remembers_what_it_was():
    assert exact(deepcopy(StatedNumber(0.011, exact=0.01003))) == 0.01003
    assert exact(StatedNumber(0.5)) == 0.5


SHARES = {
    "documents": ("risk", "published_documents"),
    "itemsets": ("unique_share", "empty_share"),
    "tables": ("share_under_11", "suppressed"),
}


@pytest.mark.parametrize(("kind", "name"), [(k, name) for k in SHARES for name in SHARES[k]])
@given(people=st.integers(41, 50_000), few=st.integers(1, 30))
def test_a_share_of_few_is_judged_before_it_is_rounded(kind, name, people, few):
    """10 of 997 were 1.1% of 1,000 once rounded: 11 and no longer few."""
    place = "model.quantities" if kind == "documents" else "verbs.report_data"
    stating = import_module(f"voile.{kind}.{place}").STATING
    for number in (few, people - few):
        told = for_audience({name: number / people, "people": people}, "public", stating)
        written = share_of(told[name], told["people"], "public")
        if number <= 10:
            assert written.startswith("under ")
            assert number / people < 11 / told["people"]
        elif people - number <= 10:
            assert written.startswith("over ")
            assert number / people > 1 - 11 / told["people"]


def test_what_a_reader_can_count_is_stated_as_it_is():
    names = frozenset({"rows"})
    state = StatingRules(at_least=names, people=names, exact=names)
    assert [state(value, "rows") for value in (43, 1234, 0.1234)] == [43, 1234, 0.1234]
