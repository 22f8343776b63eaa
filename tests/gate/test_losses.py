"""The losses of a release equal a count with dictionaries."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import numpy as np
import pytest

from voile.gate.finding import figures_of
from voile.gate.losses import PlacedRows, measure_losses
from voile.gate.source_risks import measure_source


def nats(counts):
    return sum(n * math.log(n) for n in counts.values())


def make_rows(seed):
    """Values, people, groups with wide labels and some rows not released, over two columns."""
    rng = np.random.default_rng(seed)
    n, people = int(rng.integers(2, 40)), int(rng.integers(1, 20))
    values = np.column_stack([rng.integers(0, 4, n), rng.integers(0, 3, n)])
    group = np.where(rng.random(n) < 0.2, -1, values[:, 0] // 2)
    widths = np.column_stack([[2.0, 2.0], rng.integers(2, 4, 2)])
    return values, group, widths, (4, 3), rng.integers(0, people, n)


def recount(values, group, widths, sizes, person):
    cells = [tuple(x) for x in values.tolist()]
    who, group = person.tolist(), group.tolist()
    own, times = defaultdict(set), Counter(zip(who, cells, strict=True))
    for person, cell in zip(who, cells, strict=True):
        own[person].add(cell)
    w = [1 / len(own[p]) / times[p, c] for p, c in zip(who, cells, strict=True)]
    whole, joint, groups, columns = Counter(), Counter(), Counter(), [Counter(), Counter()]
    within, lost, wide, penalty = [Counter(), Counter()], 0.0, 0.0, 0.0
    for x, cell, g in zip(w, cells, group, strict=True):
        whole[cell] += x
        for d in (0, 1):
            columns[d][cell[d]] += x
        if g < 0:
            lost += x
            continue
        groups[g] += x
        joint[g, cell] += x
        wide += x * sum(math.log(width) for width in widths[g])
        penalty += x * sum((a - 1) / (b - 1) for a, b in zip(widths[g], sizes, strict=True)) / 2
        for d in (0, 1):
            within[d][g, cell[d]] += x
    people = len(own)
    most = nats(whole) + people * (math.log(12) - math.log(people))
    shares = []
    for held, inside in zip(columns, within, strict=True):
        entropy = math.log(people) - nats(held) / people
        if len(held) > 1:
            left = nats(groups) - nats(inside) + lost * entropy
            shares.append(left / people / entropy)
    return {
        "distribution": lost / people
        + ((nats(joint) - nats(groups) + wide) / most if most > 1e-9 else 0.0),
        "resolution": sum(shares) / len(shares) if shares else 0.0,
        "ncp": (penalty + lost) / people,
    }


def test_losses_equal_a_naive_recount():
    for seed in range(300):
        rows = make_rows(seed)
        expected = {name: min(max(x, 0), 1) for name, x in recount(*rows).items()}
        expected["information_loss"] = 0.3 * expected["distribution"] + 0.7 * expected["resolution"]
        found = measure_losses(PlacedRows.of_rows(*rows), weight=0.3)
        assert figures_of(found) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("others", [0, 3])
def test_relative_risk_equals_a_naive_recount(others):
    """`others` : the people of the population with each combination, for each unit of its sum."""
    for seed in range(100):
        values, group, widths, sizes, person = make_rows(seed)
        members = defaultdict(set)
        for who, cell in zip(person.tolist(), map(tuple, values.tolist()), strict=True):
            members[cell].add(who)
        size = {cell: max(len(own), others * sum(cell)) for cell, own in members.items()}
        least = {
            who: min(size[cell] for cell, own in members.items() if who in own)
            for who in set(person.tolist())
        }
        expected = sum(1 / n for n in least.values())
        rows = PlacedRows.of_rows(
            values, group, widths, sizes, person, people_of=lambda x: others * x.sum(axis=1)
        )
        found = figures_of(measure_source(rows, expected / 4))
        people = len(least)
        alone = [min(len(own) for own in members.values() if who in own) for who in least]
        assert found == pytest.approx(
            {
                "source_k": min(alone),
                "source_sample_uniques": sum(n == 1 for n in alone),
                "source_prosecutor_max": 1 / min(alone),
                "source_prosecutor_mean": sum(1 / n for n in alone) / people,
                "source_k_map": min(least.values()),
                "source_population_uniques": sum(n == 1 for n in least.values()),
                "source_share_under_11": sum(n < 11 for n in least.values()) / people,
                "source_max_risk": 1 / min(least.values()),
                "source_mean_risk": expected / people,
                "source_matches": expected,
                "source_subjects": people,
                "relative_risk": 0.25,
            }
        )


def test_the_source_itself_loses_nothing_and_one_group_loses_all():
    values = np.array([[0], [1], [1], [1]])
    alone = np.arange(4)
    whole = PlacedRows.of_rows(values, values[:, 0], np.ones((2, 1)), (2,), alone)
    assert set(figures_of(measure_losses(whole)).values()) == {0.0}
    one = PlacedRows.of_rows(values, np.zeros(4, int), np.full((1, 1), 2.0), (2,))
    assert figures_of(measure_losses(one)) == pytest.approx(dict.fromkeys(
        ("distribution", "resolution", "ncp", "information_loss"), 1.0
    ))  # fmt: skip
