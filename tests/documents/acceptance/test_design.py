"""A sample that is read in turns accepts falsely no more often than it says."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from voile.documents.acceptance.design import SampleDesign, design, stops


def naive_stops(units: int, turns: tuple[int, ...], there: int) -> list[float]:
    """Draw token by token, and follow every state."""

    @cache
    def chance(read: int, found: int, turn: int) -> tuple[float, ...]:
        while turn < len(turns) and turns[turn] == read:
            if found <= turn:
                return tuple(float(turn == one) for one in range(len(turns)))
            turn += 1
        if turn == len(turns):
            return (0.0,) * len(turns)
        left, unread = there - found, units - read
        parts = [0.0] * len(turns)
        for more, ways in ((1, left), (0, unread - left)):
            if ways:
                for place, own in enumerate(chance(read + 1, found + more, turn)):
                    parts[place] += ways / unread * own
        return tuple(parts)

    return list(chance(0, 0, 0))


@settings(max_examples=60, deadline=None)
@given(st.integers(4, 30), st.data())
def test_the_chances_to_stop_are_those_of_drawing_one_by_one(
    units: int, data: st.DataObject
) -> None:
    turns = tuple(sorted(data.draw(st.sets(st.integers(1, units), min_size=1, max_size=4))))
    there = data.draw(st.integers(0, units))
    found = stops(units, turns, np.array([there]))[0]
    assert found.tolist() == pytest.approx(naive_stops(units, turns, there), abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(60, 3_000),
    st.integers(0, 12),
    st.sampled_from([0.9, 0.97, 1.0]),
    st.sampled_from([0.01, 0.05]),
    st.integers(1, 5),
)
def test_no_number_of_identifiers_is_accepted_falsely_more_often(
    units: int, allowed: int, recall: float, level: float, looks: int
) -> None:
    made = design(units, allowed, recall, level, looks)
    assume(made is not None and made.turns != (0,))
    assert made is not None
    assert made.size() <= level + 1e-6
    rng = np.random.default_rng(units + allowed)
    for there in (allowed + 1, allowed + looks, allowed + 2 * looks):
        if there <= units:
            false = _false(made, there, rng, draws=600)
            assert false <= level + 4 * (level / 600) ** 0.5


def _false(made: SampleDesign, there: int, rng: np.random.Generator, *, draws: int) -> float:
    """Draw, read, remove what is found, and count how often too many are left where it accepts."""
    wrong = 0
    for _ in range(draws):
        places = np.sort(rng.choice(made.units, there, replace=False))
        places = places[rng.random(there) < made.recall]
        read = 0
        while True:
            found = int(np.searchsorted(places, read))
            decided = made.decide(read, found)
            if decided is not None:
                wrong += decided and there - found > made.allowed
                break
            read = made.turns[found]
    return wrong / draws


def test_turns_cost_little_over_one_turn_and_accept_much_more_often() -> None:
    one, many = (design(10_000, 9, 1.0, 0.05, looks) for looks in (1, 8))
    assert one is not None
    assert many is not None
    assert many.turns[0] < 1.12 * one.turns[0]
    left = np.array([2])
    assert stops(10_000, one.turns, left).sum() < 0.6
    assert stops(10_000, many.turns, left).sum() > 0.99


def test_a_reader_who_misses_too_many_proves_nothing_of_few() -> None:
    assert design(10_000, 0, 0.9, 0.05, 4) is None
    assert design(10_000, -1, 1.0, 0.05, 4) is None


def test_what_allows_all_needs_no_reading() -> None:
    assert design(100, 100, 0.9, 0.05, 4) == SampleDesign(100, 100, 0.9, (0,))
