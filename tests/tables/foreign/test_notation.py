"""Cells of other tools are read as the sets of values that they stand for."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.tables.domains.domain import ValueDomain
from voile.tables.domains.parser import BELOW_ALL, CellParser
from voile.tables.foreign.notation import CellNotation

AGES = ValueDomain("age", (*range(15, 40), None), CellParser("integer"))
ZIPS = ValueDomain("zip", ("00501", "00502", "10001", "10011"), CellParser("text"))
JOBS = ValueDomain("job", ("?", "clerk", "cook", "farmer", "judge, retired"), CellParser("text"))
DAYS = ValueDomain("day", ("1990-01-03", "1990-02-01", "1991-01-01"), CellParser("date"))
BINS = ValueDomain(
    "kg",
    (BELOW_ALL, Decimal(50), Decimal(70)),
    CellParser("decimal", edges=(Decimal(50), Decimal(70))),
)
GROUPS = {"manual": frozenset({"cook", "farmer"}), "*": frozenset(JOBS.values)}


def read(domain, text, groups=None):
    found = CellNotation(domain, groups)(text)
    return None if found is None else [domain.values[i] for i in np.flatnonzero(found)]


@pytest.mark.parametrize(
    "text",
    [
        *("20-29", "20 - 29", "20 to 29", "20..29", "20–29", "[20, 30)", "[20, 30[", "[20;29]"),
        *("(19, 29]", "]19, 29]", "(19,30)", "[20.0, 30.0)", "[20-29]", "['20-29']", "2*"),
        "20|21|22|23|24|25|26|27|28|29",
    ],
)
def test_an_interval_of_whole_numbers_is_read_however_it_is_written(text):
    assert read(AGES, text) == list(range(20, 30))


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        *(("<20", 15, 19), ("<=20", 15, 20), ("≤ 20", 15, 20), ("under 20", 15, 19)),
        *((">35", 36, 39), (">=35", 35, 39), ("35+", 35, 39), ("35 and over", 35, 39)),
        *(("(-inf, 20]", 15, 20), ("[35, inf)", 35, 39), ("20.0", 20, 20), ("any", 15, 39)),
    ],
)
def test_an_open_interval_ends_with_the_domain(text, low, high):
    assert read(AGES, text) == list(range(low, high + 1))


@pytest.mark.parametrize("text", ["*", "", "NA", " * ", "NaN", "NULL"])
def test_a_suppressed_cell_may_be_any_value_and_none(text):
    assert read(AGES, text) == list(AGES.values)


def test_missing_is_a_value_of_its_own():
    assert read(AGES, "missing") == [None]
    assert read(AGES, "38-39|missing") == [38, 39, None]


def test_text_is_read_as_members_groups_and_masks():
    assert read(JOBS, "cook") == ["cook"]
    assert read(JOBS, "clerk|cook") == ["clerk", "cook"]
    assert read(JOBS, "{clerk, cook}") == ["clerk", "cook"]
    assert read(JOBS, "['clerk,cook']") == ["clerk", "cook"]
    assert read(JOBS, "judge, retired") == ["judge, retired"]
    assert read(JOBS, "manual", GROUPS) == ["cook", "farmer"]
    assert read(JOBS, "manual|?", GROUPS) == ["?", "cook", "farmer"]
    assert read(ZIPS, "005*") == read(ZIPS, "005**") == read(ZIPS, "00501-00999")
    assert read(ZIPS, "00*01") == ["00501"]


def test_dates_and_bins_are_read_by_what_lies_in_them():
    assert read(DAYS, "1990-01-01 to 1990-12-31") == ["1990-01-03", "1990-02-01"]
    assert read(DAYS, "[1990-02-01, 1991-01-01[") == ["1990-02-01"]
    assert read(DAYS, "before 1990-02-01") == ["1990-01-03"]
    assert read(BINS, "[40, 60)") == [BELOW_ALL, Decimal(50)]  # each bin that the interval meets
    assert read(BINS, "70 and over") == [Decimal(70)]
    assert read(BINS, "[50, 70)") == [Decimal(50)]


@pytest.mark.parametrize("text", ["young", "38.67", "20-29 years", "[20, x)", "90-99", "2", "a|b"])
def test_what_cannot_be_read_is_not_guessed(text):
    assert read(AGES, text) is None


def test_a_label_of_a_hierarchy_comes_before_what_it_looks_like():
    """ARX's own example calls the ages 41 to 50 by 40-49."""
    assert read(AGES, "20-29", {"20-29": frozenset({21, 30})}) == [21, 30]


@given(st.integers(15, 39), st.integers(15, 39), st.booleans(), st.booleans())
def test_brackets_say_which_ends_are_in(low, high, has_low, has_high):
    text = f"{'[' if has_low else '('}{low}, {high}{']' if has_high else ')'}"
    inside = [
        age
        for age in range(15, 40)
        if (age > low or (has_low and age == low)) and (age < high or (has_high and age == high))
    ]
    assert read(AGES, text) == (inside or None)
