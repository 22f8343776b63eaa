"""How many more released people are alike where small groups were suppressed."""

from __future__ import annotations

import numpy as np
import pytest

from voile.tables.attack.crowd import density, surplus

PEOPLE = 20_000


def groups(fewest):
    """Draw groups of released people, ten times, from rare and from common combinations."""
    rng = np.random.default_rng(0)
    chance = np.tile(rng.dirichlet(rng.gamma(0.5, 1, 8_000)), 10)
    alike = rng.poisson(PEOPLE * chance)
    shown = alike >= fewest
    return alike[shown], chance[shown]


@pytest.mark.parametrize("fewest", [1, 2, 3, 5, 11])
def test_how_densely_people_lie_is_seen_through_suppression(fewest):
    assert density(*groups(fewest), fewest) == pytest.approx(PEOPLE, rel=0.05)


@pytest.mark.parametrize("fewest", [2, 3, 5, 11])
def test_so_many_more_are_alike_as_suppression_left_over(fewest):
    alike, chance = groups(fewest)
    more = np.average(alike - 1 - PEOPLE * chance, weights=alike)
    assert np.average(surplus(alike, chance), weights=alike) == pytest.approx(more, abs=0.15)


def test_without_suppression_there_are_no_more():
    assert not surplus(*groups(1)).any()


@pytest.mark.parametrize("alike", [[], [1], [1] * 9, [5_000], [7, 7], [3_000, 3_100, 3_400]])
def test_a_few_groups_say_nothing_of_suppression(alike):
    chance = np.array(alike, dtype=float) / max(sum(alike), 1)
    assert not surplus(np.array(alike, dtype=np.int64), chance).any()


def test_equal_groups_are_all_others_more():
    alike = np.full(1_000, 7)
    assert surplus(alike, np.full(1_000, 1e-3)) == pytest.approx(np.full(1_000, 6.0))
