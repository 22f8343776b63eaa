"""Boxes and runs together imply no small count: every table of people, and programs, agree."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from voile.tables.recoding.runs import choose_cuts, straddling


def people(seed, boxes, values, most):
    """Return boxes of one column, their people, and the values that these have."""
    rng = np.random.default_rng(seed)
    ends = np.sort(rng.integers(0, values, (boxes, 2)), axis=1)
    n = rng.integers(1, most + 1, boxes)
    own = [rng.integers(a, b + 1, many) for (a, b), many in zip(ends, n, strict=True)]
    counts = np.bincount(np.concatenate(own), minlength=values)
    return ends[:, 0], ends[:, 1], n, counts


def spreads(n, places, runs):
    """Return every way to spread n people over some runs, (ways, runs)."""
    found = []
    for bars in combinations(range(n + len(places) - 1), len(places) - 1):
        row = np.zeros(runs, dtype=int)
        row[places] = np.diff([-1, *bars, n + len(places) - 1]) - 1
        found.append(row)
    return np.array(found)


def tables(reach, n, held):
    """Return every table of people that has these boxes and these runs, (tables, boxes, runs)."""
    own = [
        spreads(many, np.flatnonzero(row), len(held)) for many, row in zip(n, reach, strict=True)
    ]
    made = [np.zeros((1, 0, len(held)), dtype=int)]
    for ways in own:
        before = made[-1]
        both = np.concatenate(
            [
                np.repeat(before, len(ways), axis=0),
                np.tile(ways, (len(before), 1))[:, None, :],
            ],
            axis=1,
        )
        made.append(both[(both.sum(axis=1) <= held).all(axis=1)])
    return made[-1][(made[-1].sum(axis=1) == held).all(axis=1)]


def implied(found, reach):
    """Yield the least and the most people of each set of cells that holds no box whole."""
    cells = np.argwhere(reach)
    count = found[:, cells[:, 0], cells[:, 1]]
    for chosen in product((False, True), repeat=len(cells)):
        mask = np.array(chosen)
        whole = [mask[cells[:, 0] == box].all() for box in range(len(reach))]
        if mask.any() and not any(whole):
            held = count[:, mask].sum(axis=1)
            yield int(held.min()), int(held.max())


def reach_of(low, high, cuts):
    return (low[:, None] < cuts[1:]) & (high[:, None] >= cuts[:-1])


def held_by(counts, cuts):
    return np.add.reduceat(counts, cuts[:-1])


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(2, 5), st.integers(2, 4))
def test_no_set_of_cells_surely_holds_a_few_people(seed, boxes, values, least):
    low, high, n, counts = people(seed, boxes, values, 5)
    cuts = choose_cuts(low, high, n, counts, least)
    reach = reach_of(low, high, cuts)
    assume(len(cuts) > 2 and reach.sum() <= 11)
    for fewest, most in implied(tables(reach, n, held_by(counts, cuts)), reach):
        assert fewest == 0 or most >= least


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(2, 5), st.integers(2, 4))
def test_as_many_people_may_be_anywhere_in_their_boxes_at_once(seed, boxes, values, least):
    low, high, n, counts = people(seed, boxes, values, 5)
    cuts = choose_cuts(low, high, n, counts, least)
    reach = reach_of(low, high, cuts)
    assume(len(cuts) > 2 and reach.sum() <= 11)
    found, rng = tables(reach, n, held_by(counts, cuts)), np.random.default_rng(seed)
    for _ in range(20):
        placed = np.zeros(reach.shape, dtype=int)
        for box in rng.permutation(np.repeat(np.arange(boxes), n))[:least]:
            placed[box, rng.choice(np.flatnonzero(reach[box]))] += 1
        assert (found >= placed).all(axis=(1, 2)).any()


def test_a_run_that_few_of_a_box_reach_is_found_by_trying_every_table():
    reach = np.array([[True, True], [True, False]])  # 2 of the first box's 9 are in the first run
    found = tables(reach, np.array([9, 20]), np.array([22, 7]))
    assert (2, 2) in set(implied(found, reach))
    low, high = np.array([0, 0]), np.array([1, 0])
    assert choose_cuts(low, high, np.array([9, 20]), np.array([22, 7]), 11).tolist() == [0, 2]


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(2, 5))
def test_what_lies_between_two_cuts_is_what_every_table_says(seed, boxes, values):
    low, high, n, counts = people(seed, boxes, values, 4)
    cuts = np.arange(values + 1)
    beyond, some = straddling(low, high, n, cuts, counts)
    reach = reach_of(low, high, cuts)
    found = tables(reach, n, counts)
    for i, j in combinations(range(values + 1), 2):
        inside = (low >= i) & (high < j)
        part = (high >= i) & (low < j) & ~inside
        assert some[i, j] == ((low < i) & (high >= i) | (low < j) & (high >= j)).any()
        assert part.any() or beyond[i, j] == 0
        assert set(found[:, part, i:j].sum(axis=(1, 2))) == {beyond[i, j]}


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 40), st.integers(2, 30))
def test_programs_find_no_small_count_in_larger_columns(seed, boxes, values):
    low, high, n, counts = people(seed, boxes, values, 30)
    cuts = choose_cuts(low, high, n, counts, 11)
    assume(len(cuts) > 2)
    reach = reach_of(low, high, cuts)
    cells = np.argwhere(reach)
    sums = np.concatenate(
        [
            cells[:, 0] == np.arange(len(n))[:, None],
            cells[:, 1] == np.arange(len(cuts) - 1)[:, None],
        ]
    )
    equal = np.concatenate([n, held_by(counts, cuts)])
    rng = np.random.default_rng(seed)
    for _ in range(6):
        chosen = rng.random(len(cells)) < rng.uniform(0.05, 0.7)
        left = cells[~chosen]
        chosen &= np.isin(cells[:, 0], left[:, 0])  # no box whole
        if not chosen.any():
            continue
        least, most = (
            sign * linprog(sign * chosen.astype(float), A_eq=sums, b_eq=equal).fun
            for sign in (1, -1)
        )
        assert least < 1e-6 or most > 11 - 1e-6


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_columns_together_imply_no_more_than_each(seed):
    rng = np.random.default_rng(seed)
    n = rng.integers(2, 5, 2)
    own = [rng.integers(0, 2, (many, 2)) for many in n]
    both = np.concatenate(own)
    held = [np.bincount(values, minlength=2) for values in both.T]
    low, high = np.zeros(2, int), np.ones(2, int)
    assume(all(len(choose_cuts(low, high, n, counts, 2)) == 3 for counts in held))
    reach = np.ones((2, 4), dtype=bool)  # cells of both columns, of each box
    joint = [spreads(int(many), np.arange(4), 4) for many in n]
    found = np.array([np.stack(pair) for pair in product(*joint)])
    cells = found.sum(axis=1).reshape(-1, 2, 2)
    fits = (cells.sum(axis=2) == held[0]).all(axis=1) & (cells.sum(axis=1) == held[1]).all(axis=1)
    for fewest, most in implied(found[fits], reach):
        assert fewest == 0 or most >= 2


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(2, 20), st.integers(2, 11))
def test_no_cut_that_was_left_out_could_come_back(seed, boxes, values, least):
    low, high, n, counts = people(seed, boxes, values, 12)
    cuts = choose_cuts(low, high, n, counts, least)
    assert cuts[0] == 0
    assert cuts[-1] == values
    for out in set(range(values)) - set(cuts.tolist()):
        more = np.sort([*cuts, out])
        held = held_by(counts, more)
        beyond, some = straddling(low, high, n, more, held)
        pairs = np.triu(some, 1)
        assert held.min() < least or beyond[pairs].min() < least


@pytest.mark.parametrize("rows", [0, 5])
def test_few_people_are_one_run(rows):
    low, high = np.zeros(1, int), np.full(1, 3)
    counts = np.array([rows, 0, 0, 0])
    assert choose_cuts(low, high, np.array([rows]), counts, 11).tolist() == [0, 4]


def test_a_column_of_very_many_values_is_cut_where_people_are_even():
    rng = np.random.default_rng(1)
    own = np.sort(rng.integers(0, 50_000, 40_000))
    low, high = own[::8], own[7::8]
    counts = np.bincount(own, minlength=50_000)
    cuts = choose_cuts(low, high, np.full(len(low), 8), counts, 11)
    held = held_by(counts, cuts)
    assert 100 < len(held) <= 1_024
    assert held.min() >= 11
