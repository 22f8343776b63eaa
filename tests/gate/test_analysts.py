"""What analysts still have: groups of each column, rare values, and COUNT queries."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import log
from typing import Any, NamedTuple

import numpy as np
import pytest

from voile.gate.analysts import ReleasedLabels, count_misplaced, count_query_error, measure_utility
from voile.gate.finding import figures_of
from voile.gate.groups import PeopleAtRisk
from voile.gate.losses import PlacedRows

CODES = np.array(list(product(range(4), range(20))), dtype=np.int32)


class Grouping(NamedTuple):
    """The group of each combination, the label numbers and values of groups, and if released."""

    group: Any
    box: Any
    values: Any
    kept: Any


def place(sample, grouping, codes=CODES):
    """Return the people of each combination in their released groups."""
    sample = np.asarray(sample, dtype=float)
    held = sample > 0
    group = np.where(grouping.kept, np.arange(len(grouping.kept)), -1)[grouping.group]
    labels = ReleasedLabels(grouping.box, grouping.values)
    nobody = PeopleAtRisk(*(np.zeros(0),) * 3)
    sizes = (codes.max(axis=0) + 1).tolist()
    rows = PlacedRows(codes[held], sample[held], group[held], labels.widths, sizes, nobody)
    return rows, labels


def query_error(sample, grouping):
    return count_query_error(*place(sample, grouping))


def columns_kept(sample, grouping):
    """Return the labels, the entropy kept and the merged rare values of each column."""
    names = ["first", "second"]
    found = figures_of(measure_utility(*place(sample, grouping), names))
    measures = ("labels", "entropy_kept", "rare_values_merged")
    return [tuple(found[f"{one}({name})"] for one in measures) for name in names]


def grouping_of(first, second, kept=None):
    """Group by an interval of each column, given as the interval of each value."""
    of = [np.asarray(first), np.asarray(second)]
    intervals = np.column_stack([own[codes] for own, codes in zip(of, CODES.T, strict=True)])
    box, group = np.unique(intervals, axis=0, return_inverse=True)
    values = tuple(np.arange(own.max() + 1)[:, None] == own for own in of)
    return Grouping(
        group.ravel(), box, values, np.ones(len(box), bool) if kept is None else kept(box)
    )


APART = grouping_of(range(4), range(20))
MERGED = grouping_of([0, 0, 0, 0], [0] * 20)
ROWS = np.random.default_rng(0).integers(1, 50, 80)


def test_the_source_as_it_is_answers_every_query_and_keeps_every_column():
    assert query_error(ROWS, APART) == 0
    for kept, values in zip(columns_kept(ROWS, APART), (4, 20), strict=True):
        assert kept == (values, pytest.approx(1), 0)


def test_an_even_table_answers_even_when_it_is_one_group():
    assert query_error(np.full(80, 7), MERGED) == pytest.approx(0, abs=1e-12)
    first, second = columns_kept(np.full(80, 7), MERGED)
    assert first[:2] == (1, pytest.approx(0))
    assert second[0] == 1


def test_a_column_of_one_group_keeps_nothing_however_small_the_groups_of_others_make_it():
    """Groups of two people hide at most a bit of the first column, of which nothing is shown."""
    sample = np.zeros(80)
    sample[[0, 20, 41, 61, 2, 42, 23, 63]] = 1.0
    first, second = columns_kept(sample, grouping_of([0] * 4, range(20)))
    assert first[:2] == (1, 0)
    assert second[1] == pytest.approx(1)


def test_suppressed_people_are_missing_from_the_counts():
    nobody = grouping_of(range(4), range(20), kept=lambda box: np.zeros(len(box), bool))
    assert query_error(np.full(80, 7), nobody) == 1
    assert [kept[0] for kept in columns_kept(ROWS, nobody)] == [0, 0]


def test_a_query_by_hand():
    """One column of 20 values, all people at the first: a box of 10 spreads them over ten."""
    sample = np.zeros(20)
    sample[0] = 1000.0
    codes = np.arange(20, dtype=np.int32)[:, None]
    halves = Grouping(
        np.arange(20) // 10,
        np.array([[0], [1]]),
        (np.arange(2)[:, None] == np.arange(20) // 10,),
        np.ones(2, bool),
    )
    # A range of 1 to 6 values that holds the first has between 1 and 6 of the ten.
    assert 0.4 <= count_query_error(*place(sample, halves, codes)) <= 0.9


def test_rare_values_that_are_merged_are_told_by_the_people_who_hold_them():
    sample = np.zeros((4, 20))
    sample[:, 0] = [900, 60, 30, 10]  # an even share is 250 people: fewer than 125 is rare
    kept = columns_kept(sample.ravel(), grouping_of([0, 1, 2, 2], range(20)))[0]
    assert kept[0] == 3
    assert kept[2] == pytest.approx(0.04)
    assert kept[1] > 0.9
    everyone = grouping_of([0, 1, 2, 2], range(20), kept=lambda box: box[:, 0] != 1)
    assert columns_kept(sample.ravel(), everyone)[0][2] == pytest.approx(0.1)


def test_the_detail_of_columns_equals_a_naive_recount():
    for seed in range(100):
        rng = np.random.default_rng(seed)
        values = rng.integers(0, 5, (60, 2))
        kept = rng.random(60) < 0.8
        covered = [np.arange(3)[:, None] == rng.integers(0, 3, 5) for _ in range(2)]
        label = np.array([[i, j] for i in range(3) for j in range(3)])
        own = np.column_stack([c.argmax(axis=0)[v] for c, v in zip(covered, values.T, strict=True)])
        group = np.where(kept, own[:, 0] * 3 + own[:, 1], -1)
        labels = ReleasedLabels(label, covered)
        rows = PlacedRows.of_rows(values, group, labels.widths, (5, 5))
        found = figures_of(measure_utility(rows, labels, ["x", "y"]))
        hidden = []
        for d, name in enumerate("xy"):
            expected = recount(values[:, d].tolist(), own[:, d].tolist(), kept.tolist(), covered[d])
            measures = ("labels", "entropy_kept", "rare_values_merged")
            measured = [found[f"{one}({name})"] for one in measures]
            assert measured == pytest.approx(expected, abs=1e-9)
            hidden.append(1 - expected[1])
        assert found["hidden_by_labels"] == pytest.approx(np.mean(hidden), abs=1e-9)


def test_people_with_a_label_of_another_row_are_counted():
    covered = [np.array([[True, True, False], [False, False, True]])]
    labels = ReleasedLabels(np.array([[0], [1]]), covered)
    values = np.array([[0], [1], [2], [2]])
    for group, misplaced in (([0, 0, 1, -1], 0), ([0, 1, 1, 0], 2), ([-1, -1, -1, 0], 1)):
        rows = PlacedRows.of_rows(values, np.array(group), labels.widths, (3,))
        assert count_misplaced(rows, labels).value == misplaced


def recount(values, labels, kept, covered):
    """Count the labels, the share of entropy kept, and the share of merged rare values."""
    released = [(v, x) for v, x, one in zip(values, labels, kept, strict=True) if one]
    n, entropy = len(values), nats(Counter(values))
    within = sum(
        nats(Counter(v for v, x in released if x == label)) * times / n
        for label, times in Counter(x for _, x in released).items()
    )
    lost = within + (n - len(released)) / n * entropy
    rare = {v for v, times in Counter(values).items() if times < n / len({*values}) / 2}
    merged = sum(
        v in rare and not (one and covered[x].sum() == 1)
        for v, x, one in zip(values, labels, kept, strict=True)
    )
    return [len({x for _, x in released}), max(1 - lost / entropy, 0), merged / n]


def nats(counts):
    n = sum(counts.values())
    return -sum(x / n * log(x / n) for x in counts.values())
