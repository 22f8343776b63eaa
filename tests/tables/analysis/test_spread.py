"""Intervals and released rows of both families against a walk over the rows themselves."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from tests.tables.analysis.patients import read, table

import voile.tables as vt
from voile.tables.analysis.spread import MOST, bounds_of, pick_spread, released_by
from voile.tables.verbs.content import TablesContent

COLUMNS = {"pid": "identifier", "age": "quasi", "sex": "quasi", "dose": "keep", "sick": "sensitive"}


@pytest.fixture(scope="module")
def content():
    roles = {"subject": "pid", "columns": COLUMNS}
    kit = vt.fit(table(), roles=roles, k=12, suppress=0.05, family="both", seed=1)
    return TablesContent.of(kit)


@pytest.mark.parametrize("family", ["global", "tree"])
def test_each_row_has_the_ends_of_its_own_group(content, family):
    _, rows = read(table())
    numbers = [n for n, name in enumerate(content.family.names) if name == family]
    for number in numbers[:: max(len(numbers) // 5, 1)]:
        policy = content.family.policy(number)
        first, last = bounds_of(policy, rows.codes)
        assert ((first <= rows.codes) & (rows.codes <= last)).all()
        ends = [tuple(row) for row in np.hstack([first, last]).tolist()]
        groups = policy.keys_of(policy.numbers_of(rows.codes)).tolist()
        assert len(set(zip(ends, groups, strict=True))) == len(set(ends)) == len(set(groups))


def test_rows_of_groups_that_are_too_small_are_not_released(content):
    _, rows = read(table())
    bottom = content.space.policy(content.space.bottom)
    alike = Counter(map(tuple, rows.codes.tolist()))  # two rows a person, of half a person each
    expected = [alike[tuple(row)] / 2 >= 12 for row in rows.codes.tolist()]
    assert released_by(content.space, bottom, rows).tolist() == expected
    assert 0 < sum(expected) < len(expected)


def test_a_spread_has_both_ends(content):
    numbers = pick_spread(content.frontier)
    assert (numbers[0], numbers[-1]) == (0, len(content.frontier) - 1)
    assert len(numbers) <= MOST
    assert (np.diff(numbers) > 0).all()
