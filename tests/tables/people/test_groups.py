"""Groups and sums by tables of keys, next to the same by sorting."""

from __future__ import annotations

import numpy as np
import pytest

from voile.tables.domains.domain import ValueDomain
from voile.tables.domains.parser import CellParser
from voile.tables.people.counts import DENSE, add_by_key, is_dense, number_groups
from voile.tables.policies.policy import Policy

KEYS = {
    "dense": np.random.default_rng(1).integers(0, 40, 500),
    "sparse": np.random.default_rng(2).integers(0, 500 * DENSE * 9, 500),
    "negative": np.random.default_rng(3).integers(-5, 5, 500),
    "text": np.random.default_rng(4).integers(0, 9, 500).astype("S4"),
    "none": np.zeros(0, np.int64),
}


@pytest.mark.parametrize("keys", KEYS.values(), ids=KEYS)
def test_groups_are_those_of_a_sort(keys: np.ndarray) -> None:
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    found = number_groups(keys)
    assert [x.tolist() for x in found] == [first.tolist(), group.tolist()]
    values = np.random.default_rng(5).random(len(keys)) + 0.1
    assert add_by_key(keys, values).tolist() == np.bincount(group, values).tolist()


def test_only_small_numbers_get_a_table() -> None:
    assert [name for name, keys in KEYS.items() if is_dense(keys)] == ["dense"]


def test_keys_from_columns_are_those_from_rows() -> None:
    rng = np.random.default_rng(6)
    parser = CellParser("integer")
    domains = tuple(ValueDomain(x, tuple(range(n)), parser) for x, n in (("a", 9), ("b", 30)))
    codes = np.column_stack([rng.integers(0, len(x), 200) for x in domains]).astype(np.int32)
    policy = Policy(domains, rng.random(37) < 0.4)
    keys = policy.group_places(tuple(codes.T.astype(np.intp)))
    assert keys is not None
    assert keys.tolist() == policy.keys_of(policy.numbers_of(codes)).tolist()
    assert policy.numbers_of(np.array([[-1, 3]], np.int32))[0, 0] == -1
