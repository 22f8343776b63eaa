"""A release names its intervals by what its rows show, and by nothing else."""

from __future__ import annotations

import json
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from voile.core.round_cuts import roundest
from voile.tables.domains.domain import ValueDomain, build_domain
from voile.tables.domains.parser import CellParser
from voile.tables.policies.policy import Policy
from voile.tables.recoding.naming import name_intervals

WHOLE, DECIMAL, DATE, LISTED = map(CellParser, ("integer", "decimal", "date", "listed"))


def names(domain, cuts, released):
    """Name the intervals between cuts after these places, by the values that are released."""
    policy = Policy((domain,), np.isin(np.arange(len(domain) - 1), cuts))
    shown = np.array([value in released for value in domain.values])
    return name_intervals(domain, policy.intervals[domain.column], shown)


def labels(*asked):
    return [name.label for name in names(*asked)]


def declared(domain):
    return ValueDomain(
        domain.column, domain.values, domain.parser, declared=(True,) * len(domain.values)
    )


AGE = ValueDomain("age", (*range(20, 60), 108, None), WHOLE)
FULL = ValueDomain("age", tuple(range(120)), WHOLE)


def test_an_interval_without_a_released_row_has_no_name():
    assert labels(AGE, [39, 40], {20, 59}) == ["any"]
    assert labels(AGE, [9, 39, 40], {20, 59, None}) == ["under 40", "40 and over", "missing"]
    assert labels(AGE, [9], {20}) == ["any"]


def test_the_outermost_intervals_are_open_unless_somebody_declared_their_ends():
    assert labels(FULL, [17, 84], {1, 20, 97}) == ["under 18", "18-84", "85 and over"]
    assert labels(declared(FULL), [17, 84], {1, 20, 97}) == ["0-17", "18-84", "85-119"]
    assert labels(declared(FULL), [17, 84], {20}) == ["18-84"]


def test_a_single_value_of_a_released_row_is_shown():
    assert labels(AGE, [39, 40], {20, 108}) == ["under 100", "108"]


def test_a_cut_in_a_gap_is_named_by_neither_neighbour():
    pay = ValueDomain("pay", (1_204, 2_377, 40_951, 987_654), WHOLE)
    assert labels(pay, [1], {1_204, 2_377, 987_654}) == ["under 500000", "500000 and over"]
    assert labels(pay, [1], {1_204, 2_377, 40_951}) == ["under 20000", "20000 and over"]
    dose = ValueDomain(
        "dose", (Decimal("1.25"), Decimal("1.31"), Decimal("7"), Decimal("8")), DECIMAL
    )
    assert labels(dose, [0, 2], set(dose.values)) == ["1.25", "1.3 to below 8", "8"]
    assert labels(dose, [1], set(dose.values)) == ["under 4", "4 and over"]
    born = ValueDomain("born", ("1931-05-04", "1931-05-09", "1958-12-31", "2003-01-07"), DATE)
    assert labels(born, [1], set(born.values)) == ["before 1940-01-01", "1940-01-01 and later"]
    assert labels(born, [0, 2], set(born.values))[1] == "1931-05-07 to 1999-12-31"


def test_text_is_named_by_what_is_shown_of_it():
    town = ValueDomain("town", ("Bo", "Ada", "CANARYTOWN", "Cy", None), LISTED)
    assert labels(town, [], {"Ada", "Bo"}) == ["Ada|Bo"]
    assert labels(town, [1], {"Ada", "Bo", "Cy", None}) == ["Ada|Bo", "Cy|missing"]
    zips = ValueDomain("zip", ("37010", "37011", "37012", "37013"), CellParser("text"))
    assert labels(zips, [], {"37011", "37012"}) == ["37011-37012"]
    assert labels(declared(zips), [], {"37011"}) == ["37010-37013"]


WORDS = st.lists(st.booleans(), min_size=2, max_size=12).filter(any)


@given(WORDS, st.data())
def test_other_values_of_hidden_people_change_no_name(shown, data):
    cuts = data.draw(st.lists(st.integers(0, len(shown) - 2), max_size=6))
    kind = data.draw(st.sampled_from(["whole", "decimal", "text"]))

    def made(hidden):
        numbers = [10 * i + (0 if is_shown else hidden) for i, is_shown in enumerate(shown)]
        if kind == "whole":
            domain = ValueDomain("x", tuple(numbers), WHOLE)
        elif kind == "decimal":
            domain = ValueDomain("x", tuple(Decimal(x) / 4 for x in numbers), DECIMAL)
        else:
            domain = ValueDomain("x", tuple(f"town {x}" for x in numbers), LISTED)
        released = {v for v, is_shown in zip(domain.values, shown, strict=True) if is_shown}
        return names(domain, cuts, released)

    assert made(3) == made(7)


@given(st.sets(st.integers(-60, 400), min_size=2, max_size=20), st.data())
def test_every_released_value_is_within_its_own_interval_alone(values, data):
    domain = build_domain("x", values, WHOLE)
    released = data.draw(st.sets(st.sampled_from(sorted(values)), min_size=1))
    cuts = data.draw(st.lists(st.integers(0, len(domain) - 2), max_size=8))
    found = names(domain, cuts, released)
    assert len({name.label for name in found}) == len(found)
    for value in released:
        holding = [
            name
            for name in found
            if (name.first is None or name.first <= value)
            and (name.last is None or value <= name.last)
        ]
        assert [value in name.values for name in holding] == [True]


@given(st.integers(-(10**6), 10**6), st.integers(1, 10**6))
@example(-4, 4)
def test_the_roundest_number_lies_between(below, width):
    assert below < roundest(below, below + width) <= below + width


def test_the_outermost_single_ages_of_suppressed_people_are_nowhere():
    found = names(FULL, list(range(96, 100)), set(range(20, 60)))
    assert [name.label for name in found] == ["any"]
    assert not any(age in json.dumps([str(n) for n in found]) for age in ("97", "98", "99"))


@pytest.mark.parametrize("text", ["any", "under 20", "20 and over"])
def test_open_labels_are_told_apart_from_text(text):
    town = ValueDomain("town", (text, "x"), LISTED)
    assert labels(town, [0], {text, "x"}) == [text, "x"]
