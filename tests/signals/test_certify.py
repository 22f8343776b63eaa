"""The sum by which a release is held to its readings."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from voile.signals.certify import fingerprint


@given(st.lists(st.floats(0, 100), min_size=4, max_size=12), st.data())
def test_a_fingerprint_knows_every_reading_and_its_row(values, data):
    table = np.array(values[: len(values) // 2 * 2]).reshape(-1, 2)
    numbers = np.arange(len(table))
    mark = fingerprint(numbers, table)
    order = np.array(data.draw(st.permutations(range(len(table)))))
    assert fingerprint(numbers[order], table[order]) == mark
    moved = table.copy()
    at = data.draw(st.integers(0, table.size - 1))
    moved.ravel()[at] = np.nextafter(moved.ravel()[at], np.inf)
    assert fingerprint(numbers, moved) != mark
    if (table[order] != table).any():
        assert fingerprint(numbers, table[order]) != mark
