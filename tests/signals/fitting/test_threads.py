"""A fit has the same kit, byte by byte, on one thread and on two."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from tests.signals.clinic import fitted, people, roles
from threadpoolctl import threadpool_limits


@pytest.fixture
def aged():
    """People whose weight and pulse follow a known age."""
    table, rng = people(), np.random.default_rng(3)
    age = rng.integers(5, 80, len(table))
    weight = np.round(table["weight"].to_numpy() + 0.2 * age, 1)
    table = table.append_column("age", pa.array(age))
    return table.set_column(table.column_names.index("weight"), "weight", pa.array(weight))


def test_a_kit_has_the_same_bytes_on_one_thread_and_on_two(aged, tmp_path):
    for threads in (1, 2):
        with threadpool_limits(threads):
            kit = fitted(aged, roles(age="known"), method=["transport"], strength=[1.0])
            kit.save(tmp_path / str(threads))
    one, two = (sorted((tmp_path / name).iterdir()) for name in "12")
    assert [file.name for file in one] == [file.name for file in two]
    assert [file.read_bytes() for file in one] == [file.read_bytes() for file in two]
