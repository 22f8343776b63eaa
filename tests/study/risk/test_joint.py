"""The joint risk equals its naive twin, and never falls where a text says more."""

from __future__ import annotations

from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.study.risk.after import RowsBeside
from voile.study.risk.joint import JointRisk, MatchRecords, TextLeaks, places_in
from voile.tables.fitting.space import PolicySpace

AGES, SEXES = (30, 31, 32, 33), ("f", "m")
PEOPLE = st.lists(st.tuples(st.sampled_from(AGES), st.sampled_from(SEXES)), min_size=4, max_size=12)
CHANCES = st.floats(0, 1)


def spaces(people, population):
    """Return a space over people who are in their population."""
    counted = [(a, s, (people + population).count((a, s))) for a, s in product(AGES, SEXES)]
    table = pa.table(
        dict(zip(("age", "sex", "people"), map(list, zip(*counted, strict=True)), strict=True))
    )
    rows = dict(zip(("age", "sex"), map(list, zip(*people, strict=True)), strict=True))
    return PolicySpace.of(
        pa.table(rows), table.filter(pa.array([c[2] > 0 for c in counted])), quasi=["age", "sex"]
    )


def naive(space, policy, people, population, leaks):
    """Add up, for each person and each thing a text may say, 1 / those who agree with all."""
    everyone = people + population
    cell = {
        p: tuple(
            policy.numbers_of(
                np.array([[d.code(x) for d, x in zip(space.domains, p, strict=True)]], np.int32)
            )[0]
        )
        for p in set(everyone)
    }
    total = 0.0
    for person in people:
        for says_age, says_sex in product((False, True), repeat=2):
            chance = 1.0
            for says, column in ((says_age, "age"), (says_sex, "sex")):
                own = leaks.columns.get(column, 0.0)
                chance *= own if says else 1 - own
            agree = [
                x
                for x in everyone
                if cell[x] == cell[person]
                and (not says_age or x[0] == person[0])
                and (not says_sex or x[1] == person[1])
            ]
            total += (1 - leaks.name) * chance / len(agree)
        total += leaks.name
    return total


@settings(deadline=None)
@given(PEOPLE, PEOPLE, st.lists(st.booleans(), min_size=4, max_size=4), CHANCES, CHANCES, CHANCES)
def test_equals_its_naive_twin(people, population, bits, age, sex, name):
    ages = sorted({a for a, _ in people + population})
    sexes = {s for _, s in people + population}
    if len(ages) < 2 or len(sexes) < 2:
        return
    space = spaces(people, population)
    policy = space.policy(np.array(bits[: space.n_bits]))
    leaks = TextLeaks({"age": age, "sex": sex}, name)
    found = JointRisk.of(space, policy).expect_matches(leaks)
    assert found == pytest.approx(naive(space, policy, people, population, leaks))
    alone = JointRisk.of(space, policy).expect_matches(TextLeaks({}))
    assert alone <= found + 1e-9


def test_limits():
    """At no leak it is the table's own risk; where a text names everybody, everybody is matched."""
    people = [(30, "f"), (31, "m"), (33, "m")]
    space = spaces(people, [(30, "f")] * 3 + [(32, "m")] * 5)
    policy = space.policy(space.top)
    judged = JointRisk.of(space, policy)
    assert judged.expect_matches(TextLeaks({})) == pytest.approx(3 / 11)
    assert judged.expect_matches(TextLeaks({}, 1.0)) == pytest.approx(3)
    assert judged.expect_matches(TextLeaks({"age": 1.0, "sex": 1.0})) == pytest.approx(
        1 / 4 + 1 + 1
    )


def test_what_other_rows_show_parts_the_released_people_alone():
    """Two people alike in the table: what is beside parts them, whatever the population counts."""
    space = spaces([(30, "f"), (30, "f"), (31, "m")], [(30, "f")] * 7)
    judged = JointRisk.of(space, space.policy(space.bottom))
    at = places_in(space, np.array([[0, 0], [0, 0], [1, 1]], np.int32))
    same = MatchRecords(at, np.ones(3), np.array([1, 1, 1]))  # of all: it tells nobody apart
    alike = MatchRecords(at, np.ones(3), np.array([1, 1, 2]))
    apart = MatchRecords(at, np.ones(3), np.array([1, 2, 2]))
    for one in (MatchRecords(at, np.ones(3)), same):
        assert judged.matches({}, 0.0, one) == pytest.approx(2 / 9 + 1)
    assert judged.matches({}, 0.0, alike) == pytest.approx(2)
    assert judged.matches({}, 0.0, apart) == pytest.approx(3)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.sampled_from(AGES), st.sampled_from(SEXES)),
             min_size=4, max_size=14),
    st.lists(st.integers(0, 2), min_size=6, max_size=6),
    st.lists(st.booleans(), min_size=4, max_size=4),
    st.sets(st.integers(0, 7), max_size=3),
)  # fmt: skip
def test_rows_beside_other_parts_equal_their_naive_twin(rows, beside, bits, left_out):
    """Of each released row: the shares of people of its group of whom other parts show the same.

    Never more than the table's own count of the group, which is all where parts show one thing.
    """
    if len({a for _, a, _ in rows}) < 2 or len({s for _, _, s in rows}) < 2:
        return
    space = spaces([(a, s) for _, a, s in rows], [])
    codes = np.array([[d.code(x) for d, x in zip(space.domains, row[1:], strict=True)]
                      for row in rows], np.int32)  # fmt: skip
    policy = space.policy(np.array(bits[: space.n_bits]))
    at, whose = places_in(space, codes), np.array([who for who, _, _ in rows])
    own = RowsBeside(at, whose, np.array(beside)[whose])
    released = ~np.isin(np.arange(len(space.counts.codes)), list(left_out))
    shown = [n for n in range(len(rows)) if released[at[n]]]
    share = {n: 1 / sum(whose[m] == whose[n] for m in shown) for n in shown}
    groups = [tuple(one) for one in policy.numbers_of(codes)]
    expected = 0.0
    for n in shown:
        agree = [m for m in shown if groups[m] == groups[n]
                 and beside[whose[m]] == beside[whose[n]]]  # fmt: skip
        group = [m for m in range(len(rows)) if groups[m] == groups[n]]
        is_same = len({beside[whose[m]] for m in shown}) == 1
        people = len(group) if is_same else min(len(group), sum(share[m] for m in agree))
        expected += share[n] / max(1.0, people)
    found = JointRisk.of(space, policy).expect_matches(TextLeaks({}), own.records(released))
    assert found == pytest.approx(expected)
