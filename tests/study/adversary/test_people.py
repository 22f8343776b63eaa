"""What parts show of each person together, and the dates of all parts, against naive twins."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pyarrow as pa
import pytest

from voile.study.adversary.people import DATES, join_dates, number_people


@pytest.mark.parametrize("seed", range(20))
def test_people_of_whom_parts_show_the_same_have_one_number(seed):
    rng = np.random.default_rng(seed)
    people = [f"p{n}" for n in range(12)]
    parts = [
        {who: tuple(rng.integers(0, 2, rng.integers(0, 3)).tolist())
         for who in people if rng.random() < 0.7}
        for _ in range(3)
    ]  # fmt: skip
    numbers = number_people(iter(parts))
    shown = {who: tuple(part.get(who) for part in parts) for who in [*people, "nobody"]}
    for one in shown:
        for other in shown:
            assert (numbers[one] == numbers[other]) == (shown[one] == shown[other])
    assert max(numbers.values()) < len({*shown.values()})


def test_the_distinct_dates_of_a_person_are_sorted_whatever_part_they_are_of():
    rng = np.random.default_rng(1)
    rows = [
        [(f"p{rng.integers(0, 5)}", int(rng.integers(-3, 3)), int(rng.integers(0, 2)))
         for _ in range(size)]
        for size in (30, 0, 17)
    ]  # fmt: skip
    tables = [
        pa.table([pa.array(x, y.type) for x, y in zip(zip(*own, strict=True), DATES, strict=True)],
                 schema=DATES) if own else DATES.empty_table()
        for own in rows
    ]  # fmt: skip
    expected = defaultdict(set)
    for who, *days in (row for own in rows for row in own):
        expected[who].add(tuple(days))
    found = {who: [tuple(day) for day in own.tolist()] for who, own in join_dates(tables).items()}
    assert found == {who: sorted(own) for who, own in expected.items()}
    assert join_dates([]) == join_dates([DATES.empty_table()]) == {}
