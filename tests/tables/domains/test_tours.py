"""Tours: every place once, never longer than the nearest-neighbour path, short on small sets."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.tables.domains.tours import (
    EARTH_KM,
    find_path_through,
    find_short_path,
    measure_path,
    place_on_globe,
)

degrees = st.tuples(st.floats(-90, 90), st.floats(-180, 180))


def globe(places):
    return place_on_globe(*np.array(places, dtype=float).reshape(-1, 2).T)


def around(rng, n):
    return place_on_globe(rng.uniform(30, 40, n), rng.uniform(-100, -85, n))


def nearest_neighbour(points):
    """Take the farthest from the middle, then always the nearest left; the first at ties."""
    middle = points.mean(axis=0)
    path = [max(range(len(points)), key=lambda i: np.linalg.norm(points[i] - middle))]
    while len(path) < len(points):
        left = [i for i in range(len(points)) if i not in path]
        path.append(min(left, key=lambda i: np.linalg.norm(points[i] - points[path[-1]])))
    return np.array(path)


def neighbours_of(path):
    """Every path with one run turned, or one run of up to three places put elsewhere."""
    n = len(path)
    for a, b in combinations(range(n + 1), 2):
        run, rest = path[a:b], path[:a] + path[b:]
        yield path[:a] + run[::-1] + path[b:]
        if b - a <= 3:
            for k in range(len(rest) + 1):
                yield rest[:k] + run + rest[k:]
                yield rest[:k] + run[::-1] + rest[k:]


@given(st.lists(degrees, min_size=1, max_size=40))
def test_every_place_is_visited_once_and_no_longer_than_by_nearest_neighbours(places):
    points = globe(places)
    path = find_short_path(points)
    assert sorted(path) == list(range(len(places)))
    assert measure_path(points, path) <= measure_path(points, nearest_neighbour(points)) + 1e-6
    assert find_short_path(points).tolist() == path.tolist()


@pytest.mark.parametrize("seed", range(12))
def test_no_turned_and_no_moved_run_makes_it_shorter(seed):
    points = around(np.random.default_rng(seed), 11)
    path = find_short_path(points).tolist()
    best = min(measure_path(points, np.array(other)) for other in neighbours_of(path))
    assert measure_path(points, np.array(path)) <= best + 1e-5


def test_it_is_close_to_the_shortest_of_all_paths_through_seven_places():
    every = np.array(list(permutations(range(7))))
    rng, ratios = np.random.default_rng(7), []
    for _ in range(200):
        points = around(rng, 7)
        shortest = np.linalg.norm(np.diff(points[every], axis=1), axis=2).sum(axis=1).min()
        ratios.append(measure_path(points, find_short_path(points)) / shortest)
    assert min(ratios) >= 1 - 1e-12
    assert max(ratios) < 1.15
    assert np.mean(ratios) < 1.01
    assert np.mean(np.array(ratios) < 1 + 1e-9) > 0.9


def test_it_is_far_shorter_than_nearest_neighbours_on_many_places():
    rng = np.random.default_rng(1)
    points = around(rng, 300)
    assert measure_path(points, find_short_path(points)) < 0.92 * measure_path(
        points, nearest_neighbour(points)
    )


@given(st.permutations(range(12)))
def test_places_on_a_line_come_in_its_order(where):
    path = find_short_path(place_on_globe([0.0] * 12, np.array(where) * 2.5))
    assert [where[i] for i in path] in (list(range(12)), list(range(11, -1, -1)))


def test_the_date_line_and_the_poles_are_no_borders():
    islands = globe([(0, 179), (0, -178), (0, 177), (0, -179)])
    assert find_short_path(islands).tolist() in ([2, 0, 3, 1], [1, 3, 0, 2])
    assert measure_path(globe([(90, 0), (90, 120)]), np.arange(2)) == pytest.approx(0, abs=1e-9)
    assert measure_path(globe([(90, 0), (-90, 0)]), np.arange(2)) == pytest.approx(2 * EARTH_KM)


@given(st.lists(st.tuples(degrees, st.integers(0, 3)), min_size=1, max_size=25))
def test_blocks_stay_whole_and_in_order(drawn):
    points = globe([place for place, _ in drawn])
    block = np.array([number for _, number in drawn])
    path = find_path_through(points, [np.flatnonzero(block == b) for b in sorted(set(block))])
    assert sorted(path) == list(range(len(drawn)))
    assert block[path].tolist() == sorted(block)


def test_a_block_is_walked_from_the_end_nearer_to_the_last():
    points = place_on_globe([0.0] * 6, [0, 1, 2, 5, 4, 3])
    path = find_path_through(points, [np.array([0, 1, 2]), np.array([3, 4, 5])]).tolist()
    assert path in ([0, 1, 2, 5, 4, 3], [2, 1, 0, 5, 4, 3])
    assert find_path_through(points, [np.array([3])]).tolist() == [3]


def test_places_that_coincide_all_stay():
    assert sorted(find_short_path(globe([(36, -86)] * 5))) == [0, 1, 2, 3, 4]
