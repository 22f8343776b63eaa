"""The informed adversary against a naive twin, and at its limits."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.study.adversary.acquaintance import ALL
from voile.study.adversary.informed import DAYS, KNOWN, Facts, inform

PARTS = ("diagnoses", "readings")
rng = np.random.default_rng


def facts_of(drawn):
    return {one: frozenset((fact,) for fact in own) for one, own in drawn.items()}


def same(drawn) -> Facts:
    return Facts(facts_of(drawn), facts_of(drawn))


def has_days(own, known) -> bool:
    """Say whether one shift takes all known days to a person's own."""
    return not known or any({day + shift for day in known} <= {*own}
                            for shift in range(-40, 41))  # fmt: skip


def naive(groups, parts, days, way, size):
    """Return expected matches, at most, and people alone, straight from the definition."""
    named = [name for name in parts if way in (name, ALL)]
    matches = most = 0.0
    alone = 0
    for one, own in groups.items():
        units = [(name, fact) for name in named for fact in parts[name].known.get(one, ())]
        units += [(DAYS, day) for day in days.get(one, ())] if way in (DAYS, ALL) else []
        largest = 0.0
        for group, weight in own.items():
            chances = []
            for known in combinations(units, len(units) if size is None else min(size, len(units))):
                said = [day for name, day in known if name == DAYS]
                left = [
                    other
                    for other in groups
                    if group in groups[other]
                    and all(
                        fact in parts[name].shown.get(other, ())
                        for name, fact in known
                        if name != DAYS
                    )
                    and has_days(days.get(other, ()), said)
                ]
                chances.append(1 / len(left))
            matches += weight * float(np.mean(chances))
            most += weight * max(chances)
            largest = max(largest, *chances)
        alone += largest == 1.0
    return matches, most, alone


@st.composite
def releases(draw):
    people = [f"P{n}" for n in range(draw(st.integers(1, 9)))]
    groups = {}
    for one in people:
        own = draw(st.sets(st.integers(0, 2), min_size=1, max_size=2))
        groups[one] = {group: 1 / len(own) for group in own}
    parts = {}
    for name in PARTS:
        sets = st.frozensets(st.integers(0, 4), max_size=4)
        knows = {one: draw(sets) for one in people}
        parts[name] = Facts(
            facts_of({one: own | draw(sets) for one, own in knows.items()}), facts_of(knows)
        )
    days = {one: tuple(sorted(draw(st.sets(st.integers(0, 8), max_size=4)))) for one in people}
    return groups, parts, days


@given(releases())
@settings(max_examples=60, deadline=None)
def test_figures_are_those_of_a_naive_twin(release):
    groups, parts, days = release
    for one in inform(*release, rng(1)):
        expected = naive(groups, parts, days, one.part, one.facts)
        assert (one.matches, one.most, one.alone) == pytest.approx(expected), one


@given(releases())
@settings(max_examples=30, deadline=None)
def test_more_facts_and_more_parts_never_lower_the_bound(release):
    found = {(one.part, one.facts): one for one in inform(*release, rng(1))}
    for way in {part for part, _ in found}:
        risks = [found[way, size].most for size in (*KNOWN, None)]
        assert risks == sorted(risks)
        assert found[ALL, 0].most <= found[way, 1].most + 1e-9
        for size in (*KNOWN, None):
            assert found[way, size].matches <= found[way, size].most + 1e-9
            assert found[way, size].most <= found[ALL, size].most + 1e-9


def test_two_diagnoses_single_out_who_shares_each():
    """Of four people in one group each diagnosis is of two, each pair of one."""
    groups = {one: {0: 1.0} for one in "abcd"}
    sick = {"a": {1, 2}, "b": {1, 3}, "c": {4, 2}, "d": {4, 3}}
    found = {(x.part, x.facts): x for x in inform(groups, {"diagnoses": same(sick)}, {}, rng(1))}
    assert [found["diagnoses", n].most for n in KNOWN] == [2.0, 4.0, 4.0]
    assert [found["diagnoses", n].alone for n in KNOWN] == [0, 4, 4]
    assert found[ALL, 0].matches == 1.0


def test_days_are_known_up_to_one_shift():
    """Gaps of 3 and 4 days are of both in the group; together in this order of one alone."""
    groups = {"a": {0: 1.0}, "b": {0: 1.0}}
    days = {"a": (0, 3, 7), "b": (100, 104, 107)}
    found = {(x.part, x.facts): x for x in inform(groups, {}, days, rng(1))}
    assert [found[DAYS, n].alone for n in KNOWN] == [0, 0, 2]
    assert [found[DAYS, n].most for n in KNOWN] == [1.0, 1.0, 2.0]


def test_of_people_of_whom_nothing_is_known_the_group_is_left():
    groups = {"a": {0: 1.0}, "b": {0: 1.0}, "c": {0: 0.5, 1: 0.5}}
    found = inform(groups, {"diagnoses": same({})}, {}, rng(1))
    assert {one.part for one in found} == {ALL}
    assert all(one.most == pytest.approx(1 / 3 + 1 / 3 + 1 / 6 + 1 / 2) for one in found)
    assert {one.alone for one in found} == {1}


def test_too_many_combinations_are_bounded_by_all_facts(monkeypatch):
    """What is not tried is never taken for less."""
    monkeypatch.setattr("voile.study.adversary.informed.TRIED", 0)
    groups = {one: {0: 1.0} for one in "abcd"}
    sick = {"a": {1, 2, 5}, "b": {1, 3, 5}, "c": {4, 2, 5}, "d": {4, 3, 5}}
    found = {(x.part, x.facts): x for x in inform(groups, {"diagnoses": same(sick)}, {}, rng(1))}
    assert found["diagnoses", 1].most == found["diagnoses", None].most == 4.0


def test_means_over_many_combinations_are_drawn(monkeypatch):
    generator = rng(3)
    people = [f"P{n}" for n in range(30)]
    groups = {one: {n % 2: 1.0} for n, one in enumerate(people)}
    facts = same({one: generator.choice(20, 10, replace=False).tolist() for one in people})
    whole = [x.matches for x in inform(groups, {"items": facts}, {}, rng(1)) if x.facts == 2]
    monkeypatch.setattr("voile.study.adversary.informed.DRAWN", 40)
    drawn = [x.matches for x in inform(groups, {"items": facts}, {}, rng(1)) if x.facts == 2]
    assert drawn == pytest.approx(whole, rel=0.1)
    assert drawn != whole
