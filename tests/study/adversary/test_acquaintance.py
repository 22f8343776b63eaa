"""What an acquaintance knows of people, in words and in counts."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta
from itertools import combinations, pairwise

import numpy as np
import pyarrow as pa
import pytest

from voile.data import open_source
from voile.gate.people import ALONE, MATCHES, ReleasedPart
from voile.study.adversary.acquaintance import (
    ALL,
    FEW_FACTS,
    GAPS,
    NUMBERS,
    by_knowledge,
    known_facts,
    reaches,
)


def part_of(rows, *facts, dates=()):
    return ReleasedPart(
        rows=open_source(pa.Table.from_pylist(rows)), person="who", facts=facts, dates=dates
    )


def test_each_way_counts_the_number_of_rows():
    """Nobody is alone by labels; b is, by the number of rows, and c and d are, by their gaps."""
    people = part_of([{"who": one, "sex": "F"} for one in "abcd"], "sex")
    many = {"a": [0, 2], "b": [0], "c": [0, 2], "d": [0, 9]}
    rows = [
        {"who": one, "day": f"2020-01-{day + 1:02}"} for one, own in many.items() for day in own
    ]
    given = {"people": people, "visits": part_of(rows, dates=("day",))}
    found = {
        knows: (own[ALONE].value, own[MATCHES].value)
        for knows, own in by_knowledge(reaches(given, are_months=False)).items()
    }
    assert found["people"] == (0, 1.0)
    assert found["visits"] == found[NUMBERS] == found[ALL] == (1, pytest.approx(2.0))
    assert found[GAPS] == (2, pytest.approx(3.0))


def naive(group, part, facts):
    """Return the expected matches and people alone by loops, from every set of some facts."""
    people = sorted(group)
    rows = {one: part.get(one, []) for one in people}

    def facts_of(one):
        days = sorted({day for _, *days in rows[one] for day in days})
        found = Counter(("label", label) for label, *_ in rows[one])
        found.update(("stay", end - start) for _, start, end in rows[one])
        found.update(("gap", b - a) for a, b in pairwise(days))
        return {**found, ("number", len(rows[one])): 1}

    def record_of(one):
        first = min((day for _, *days in rows[one] for day in days), default=0)
        return Counter((label, start - first, end - first) for label, start, end in rows[one])

    left = []
    for one in people:
        same = [x for x in people if Counter(group[x]) == Counter(group[one])]
        own = facts_of(one)
        if facts is None:
            left.append(sum(record_of(x) == record_of(one) for x in same))
            continue
        left.append(
            min(
                sum(all(facts_of(x).get(fact, 0) >= own[fact] for fact in some) for x in same)
                for some in combinations(own, min(facts, len(own)))
            )
        )
    return sum(1 / n for n in left), left.count(1)


@pytest.mark.parametrize("seed", range(25))
def test_no_figure_is_below_a_naive_adversarys_count(seed):
    """Random worlds: labels of one table known, and rows with stays in another."""
    rng = np.random.default_rng(seed)
    people = [f"P{n}" for n in range(rng.integers(2, 12))]
    group = {one: [str(rng.choice(["a", "b"]))] for one in people}
    part = {
        one: [
            (str(rng.choice(["x", "y"])), start := int(rng.integers(0, 6)),
             start + int(rng.integers(0, 3)))
            for _ in range(rng.integers(0, 4))
        ]
        for one in people
    }  # fmt: skip
    table = part_of([{"who": one, "sex": x} for one in people for x in group[one]], "sex")
    schema = pa.schema([("who", pa.string()), ("kind", pa.string()),
                        ("start", pa.date32()), ("end", pa.date32())])  # fmt: skip
    first = date(2020, 1, 1)
    rows = [
        {"who": one, "kind": kind, "start": first + timedelta(start), "end": first + timedelta(end)}
        for one, own in part.items()
        for kind, start, end in own
    ]
    stays = ReleasedPart(
        rows=open_source(pa.Table.from_pylist(rows, schema)),
        person="who",
        facts=("kind",),
        dates=("start", "end"),
    )
    stated = reaches({"stays": stays}, are_months=False, group=table)
    found = {(x.part, x.facts): x for x in known_facts(stated)}
    for facts in (*FEW_FACTS, None):
        matches, alone = naive(group, part, facts)
        one = found["stays", facts]
        assert one.people == len(people)
        assert one.matches >= matches - 1e-9, facts
        assert one.alone >= alone, facts
    assert found[ALL, 0].matches == pytest.approx(len({*map(tuple, group.values())}))
