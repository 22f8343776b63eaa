"""What an acquaintance knows of people, in words and in counts."""

from __future__ import annotations

import pyarrow as pa
import pytest

from voile.data import open_source
from voile.gate.people import ALONE, MATCHES, ReleasedPart
from voile.study.adversary.acquaintance import ALL, GAPS, NUMBERS, by_knowledge, reaches


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
    assert found["the worst 1 of these facts"] == found[GAPS]
