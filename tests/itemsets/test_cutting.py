"""Cuts are those of a naive search, and no group by numbers is smaller than k."""

from __future__ import annotations

from collections import Counter, defaultdict
from math import log2

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.itemsets.cutting import CellRange, choose_cuts
from voile.itemsets.rows.incidence import Incidence
from voile.itemsets.rows.labels import RowLabels

CELLS = 4


@st.composite
def tables(draw, *, labelled=True):
    """Rows of cells of two columns (0 stands for not known), an item, labels, subjects."""
    rows = draw(
        st.lists(
            st.tuples(
                *[st.integers(0, CELLS)] * 2,
                st.integers(0, 1),
                st.integers(0, 2),
                st.integers(0, 9),
            ),
            min_size=6,
            max_size=40,
        )
    )
    rows = rows * draw(st.integers(1, 4)) if draw(st.booleans()) else rows
    return rows, draw(st.booleans())


def matrix(rows):
    width = 2 * (CELLS + 1) + 1
    X = np.zeros((len(rows), width), dtype=np.int8)
    for x, (a, b, item, *_) in enumerate(rows):
        X[x, [a, CELLS + 1 + b]] = 1
        X[x, -1] = item
    return X


def asked(rows, with_subjects, labels=True):
    subjects = [row[4] for row in rows] if with_subjects else None
    incidence = Incidence.of(matrix(rows), subjects=subjects)
    y = [row[3] for row in rows]
    read = RowLabels.of(y, len(y)) if labels and len(set(y)) > 1 else None
    return incidence, read, [CellRange(0, CELLS + 1), CellRange(CELLS + 1, CELLS + 1)]


def chosen_at(k, incidence, labels, columns):
    (cuts,) = choose_cuts(incidence, labels, columns, [k])
    return cuts


def seen_by(rows, cuts):
    """Return what each row shows of its numbers: the interval of each column that is cut."""
    return [
        tuple(sum(row[x] >= cut for cut in own) if own else None for x, own in enumerate(cuts))
        for row in rows
    ]


def smallest(rows, keys, with_subjects):
    people = defaultdict(set)
    for number, (row, key) in enumerate(zip(rows, keys, strict=True)):
        people[key].add(row[4] if with_subjects else number)
    return min(map(len, people.values()))


@settings(deadline=None, max_examples=150)
@given(tables(), st.integers(2, 5), st.booleans())
def test_every_group_by_the_intervals_has_k_people_and_so_by_any_of_them(table, k, labelled):
    rows, with_subjects = table
    cuts = chosen_at(k, *asked(rows, with_subjects, labelled))
    keys = seen_by(rows, cuts)
    if any(cuts):
        assert smallest(rows, keys, with_subjects) >= k
        for hidden in ({0}, {1}, {0, 1}):  # a part of the intervals, shown as others are not
            partly = [tuple(None if one in hidden else one for one in key) for key in keys]
            assert smallest(rows, partly, with_subjects) >= k


def bits(rows, keys):
    """Return rows times the entropy of labels given keys."""
    groups = defaultdict(Counter)
    for row, key in zip(rows, keys, strict=True):
        groups[key][row[3]] += 1
    return sum(
        -n * log2(n / sum(count.values())) for count in groups.values() for n in count.values()
    )


def naive(rows, with_subjects, k):
    """Do what `choose_cuts` says, counting every group anew."""

    def keys(chosen):
        return [
            tuple(row[x] if kind == "item" else row[x] >= at for kind, x, at in chosen)
            for row in rows
        ]

    def fits(chosen):
        return smallest(rows, keys(chosen), with_subjects) >= k

    chosen = []
    left = [("cut", x, at) for x in range(2) for at in range(1, CELLS + 1)] + [("item", 2, 1)]
    people = len({row[4] for row in rows}) if with_subjects else len(rows)
    least = log2(max(people, 2)) * len(rows) / people
    while True:
        now = bits(rows, keys(chosen))
        gains = [(round(now - bits(rows, keys([*chosen, one])), 9), one) for one in left]
        order = sorted((g for g in gains if g[0] > least), key=lambda g: -g[0])
        tried = []
        for _, one in order:
            tried.append(one)
            if fits([*chosen, one]):
                chosen.append(one)
                break
        if not order:
            return [tuple(sorted(a for c, x, a in chosen if c == "cut" and x == y)) for y in (0, 1)]
        left = [one for one in left if one not in tried]


@settings(deadline=None, max_examples=150)
@given(tables(), st.integers(2, 4))
def test_the_cuts_are_those_of_a_search_that_counts_every_group(table, k):
    rows, with_subjects = table
    incidence, labels, columns = asked(rows, with_subjects)
    if labels is not None and k <= incidence.n_subjects:
        assert chosen_at(k, incidence, labels, columns) == naive(rows, with_subjects, k)


def test_without_labels_a_column_is_cut_in_quarters_where_k_allows():
    rows = [(1 + cell, 0, 0, 0, 0) for cell in range(CELLS) for _ in range(10)]
    incidence, none, columns = asked(rows, False, labels=False)
    assert chosen_at(5, incidence, none, columns[:1]) == [(2, 3, 4)]
    assert chosen_at(15, incidence, none, columns[:1]) == [(3,)]


def test_rows_without_a_number_are_with_the_lowest_unless_they_are_of_their_own():
    rows = [(1 + cell, 1, 0, cell // 2, 0) for cell in range(CELLS) for _ in range(30)]
    alike, unlike = [(0, 1, 0, 0, 0)] * 9, [(0, 1, 0, 2, 0)] * 9
    assert chosen_at(5, *asked(rows + alike, False))[0] == (3,)
    assert chosen_at(5, *asked(rows + unlike, False))[0] == (1, 3)
    assert chosen_at(10, *asked(rows + unlike, False))[0] == (2, 3)
