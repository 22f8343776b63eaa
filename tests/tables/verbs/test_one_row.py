"""One row of each person: random, and in favour of groups that reach k."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest

from voile.tables.verbs.one_row import choose_rows


def groups_of(person, group, chosen):
    assert sorted(person[chosen].tolist()) == sorted({*person.tolist()})
    return Counter(g for g in group[chosen].tolist() if g >= 0)


def draw(seed, people=40, rows=80, groups=6):
    rng = np.random.default_rng(seed)
    person = np.concatenate([np.arange(people), rng.integers(0, people, rows - people)])
    group = rng.integers(-1, groups, rows)
    return person, group, rng.permutation(rows)


def test_one_row_of_each_person_and_fewer_short_groups_than_at_random():
    short = {True: 0, False: 0}
    for seed in range(200):
        person, group, order = draw(seed)
        for k in (1, 5):
            found = groups_of(person, group, choose_rows(person, group, k, order))
            short[k == 5] += sum(n < 5 for n in found.values())
    assert short[True] < short[False] / 4


def test_no_short_group_is_left_where_few_people_allow_none():
    """Every choice of up to 2^7 is tried: greedy moves find one that keeps k in most tables."""
    possible = kept = 0
    for seed in range(150):
        person, group, order = draw(seed, people=7, rows=11, groups=3)
        rows = [np.flatnonzero((person == one) & (group >= 0)).tolist() for one in range(7)]
        options = [own or [int(np.flatnonzero(person == i)[0])] for i, own in enumerate(rows)]
        choices = (groups_of(person, group, np.array(one)) for one in product(*options))
        if not any(all(n >= 3 for n in found.values()) for found in choices):
            continue
        possible += 1
        found = groups_of(person, group, choose_rows(person, group, 3, order))
        kept += all(n >= 3 for n in found.values())
    assert possible > 20
    assert kept >= 0.9 * possible


def test_groups_that_reach_k_keep_the_drawn_rows():
    person = np.repeat(np.arange(20), 2)
    group = np.tile([0, 1], 20)
    order = np.random.default_rng(1).permutation(40)
    first = np.array([next(row for row in order if person[row] == one) for one in range(20)])
    assert choose_rows(person, group, 5, order).tolist() == sorted(first.tolist())


def test_a_row_that_cannot_be_released_is_no_choice():
    person, group = np.array([0, 0, 1]), np.array([-1, 4, -1])
    for order in ([0, 1, 2], [1, 0, 2]):
        assert choose_rows(person, group, 1, np.array(order)).tolist() == [1, 2]


@pytest.mark.parametrize("k", [1, 3])
def test_no_rows_are_no_choice(k):
    nothing = np.zeros(0, np.int64)
    assert choose_rows(nothing, nothing, k, nothing).tolist() == []
