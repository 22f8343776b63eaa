"""Releases of rows that come and go, against comparing every person with every other."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.tables.joint.difference import OutRelease, ReleaseTimeline
from voile.tables.joint.people import ReleasedPeople

SOME = range(1, 13)
RELEASE = st.tuples(
    st.dictionaries(st.sampled_from(SOME), st.tuples(st.integers(0, 3), st.integers(1, 2))),
    st.sampled_from([None, "a", "b"]),
)


def out_of(shown: dict[int, tuple[int, int]], space: str | None) -> OutRelease:
    """A release of people: the group of each, 0 where it is suppressed, and one kept value."""
    who = np.array(sorted(shown), np.uint64)
    group, kept = (np.array([shown[int(p)][i] for p in who], np.uint64) for i in (0, 1))
    return OutRelease(ReleasedPeople.of_rows(who, group, {"kept": kept}, are_joined=False), space)


def looks(person: int, releases: list[tuple[dict[int, tuple[int, int]], str | None]]) -> tuple:
    """What all releases show of a person, the long way."""
    seen, last = [], {}
    for shown, space in releases:
        group, kept = shown.get(person, (0, 0))
        changed = bool(group) and space is not None and last.get(space, kept) != kept
        seen.append((group, changed))
        if group and space is not None:
            last[space] = kept
    return tuple(seen)


@settings(deadline=None, max_examples=150)
@given(st.lists(RELEASE, min_size=1, max_size=4), st.integers(0, 3))
def test_classes_are_those_of_the_long_way(releases, others):
    *before, new = [out_of(*one) for one in releases]
    outside = np.full(len(new.people), float(others))
    timeline = ReleaseTimeline(before, new, np.zeros(len(new.people), np.uint64), outside)
    look = {person: looks(person, releases) for person in SOME}
    seen = {person: own for person, own in look.items() if any(group for group, _ in own)}
    many = Counter(seen.values())
    here = {int(person) for person in new.people.who}
    matches = sum(1 / (many[own] + others * (p in here)) for p, own in seen.items())
    found = timeline.figures(10.0)
    assert found.matches == pytest.approx(matches)
    assert found.k == min(many.values(), default=float("inf"))
    waits = {int(p) for p in new.people.who[timeline.waiting(3)]}
    never = {p for p, own in seen.items() if not any(group for group, _ in own[:-1])}
    assert waits == {p for p in never if many[seen[p]] < 3}


@settings(deadline=None, max_examples=50)
@given(st.lists(RELEASE, min_size=2, max_size=4))
def test_the_order_of_rows_changes_nothing_and_a_row_twice_shows_where_rows_are_joined(releases):
    shown, space = releases[0]
    one = out_of(shown, space).people
    who = np.array([*sorted(shown, reverse=True)], np.uint64)
    group, kept = (np.array([shown[int(p)][i] for p in who], np.uint64) for i in (0, 1))
    again = ReleasedPeople.of_rows(who, group, {"kept": kept}, are_joined=False)
    assert again.digest() == one.digest()
    twice = [np.append(x, x) for x in (who, group)]
    both, joined = (
        ReleasedPeople.of_rows(*twice, {"kept": np.append(kept, kept)}, are_joined=are_joined)
        for are_joined in (False, True)
    )
    assert list(both.who) == list(one.who)
    assert (both.shown == one.shown).all()
    assert not (joined.shown == one.shown)[one.shown != 0].any()
    assert not (both.kept["kept"] == one.kept["kept"]).any()
    some = group != 0
    more = ReleasedPeople.of_rows(
        np.append(who, who[some]), np.append(group, group[some] + 9), {}, are_joined=False
    )
    assert not (more.shown == one.shown)[one.shown != 0].any()
