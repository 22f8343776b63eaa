"""More weights go where the bound on the area is furthest from the hull."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.core.frontier import Frontier
from voile.tables.fitting.bounds.bound import bound
from voile.tables.fitting.bounds.sandwich import between
from voile.tables.fitting.search import search
from voile.tables.policies.envelope import area, hull

inner = st.tuples(st.integers(1, 30), st.integers(1, 30))
points = st.lists(inner, max_size=20).map(
    lambda some: Frontier.of(*np.transpose([(0, 30), (30, 0), *some]) / 30, np.zeros(len(some) + 2))
)
weights = st.lists(st.floats(0.01, 100), min_size=1, max_size=6, unique=True).map(
    lambda some: np.sort(np.array(some))
)


def proved(frontier, asked):
    """Return the area proved where each bound is tight."""
    return area(asked, (frontier.loss + asked[:, None] * frontier.risk).min(axis=1)[None], 0.0)


@given(points, weights)
def test_each_weight_lies_between_those_there_are_and_raises_the_area(frontier, asked):
    more = between(asked, frontier)
    assert (more < asked[-1]).all()
    assert not np.isin(more, asked).any()
    before = proved(frontier, asked)
    gains = [proved(frontier, np.sort(np.append(asked, weight))) - before for weight in more]
    assert all(gain > 0 for gain in gains)


@given(points, weights)
def test_again_and_again_they_come_to_the_hull_and_to_an_end(frontier, asked):
    asked = np.append(asked, 1e6)  # steeper than any hull of such points
    for _ in range(20):
        more = between(asked, frontier)
        if not len(more):
            break
        asked = np.sort(np.append(asked, more))
    assert not len(more)
    assert proved(frontier, asked) == pytest.approx(hull(frontier), abs=1e-3)


@pytest.mark.whole
def test_with_seconds_to_spare_the_area_comes_nearer_to_the_hull(some_counts, space_of):
    space = space_of(some_counts(12, sizes=(6, 2, 6)))
    frontier = search(space, method="exhaustive").frontier
    plain, more = bound(space, frontier), bound(space, frontier, seconds=60)
    assert more.stopped == "finished"
    assert np.isin(plain.weight, more.weight).all()
    assert (np.diff(more.weight) > 0).all()
    assert more.hull - more.area < 0.7 * (plain.hull - plain.area)
    assert more.area <= frontier.area()
    asked = bound(space, frontier, weights=plain.weight, seconds=60)
    np.testing.assert_array_equal(asked.weight, plain.weight)
    assert asked.area == pytest.approx(plain.area, rel=1e-3)
