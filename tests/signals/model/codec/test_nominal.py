"""Nominal columns: rank by rank is the best assignment there is, and comes back."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.signals.model.codec.nominal import ValueAssignment
from voile.signals.model.codec.place import ReadingPlace


def bits(joint):
    """Return I(Z; C) of (classes, values) counts, from the definition."""
    p = joint / joint.sum()
    outer = p.sum(axis=1, keepdims=True) * p.sum(axis=0)
    return (p[p > 0] * np.log2(p[p > 0] / outer[p > 0])).sum()


@given(st.lists(st.integers(0, 30), min_size=9, max_size=9).filter(lambda n: sum(n) > 0))
def test_no_assignment_tells_less(numbers):
    counts = np.array(numbers).reshape(3, 3)
    counts[0] += 1  # every value occurs
    rows = np.repeat(np.arange(9), counts.ravel())
    column, classes = np.array(["a", "b", "c"])[rows % 3], rows // 3
    sent = ValueAssignment.of(column, classes, 3).sent
    ours = np.zeros((3, 3))
    for k in range(3):
        ours[k, sent[k]] = counts[k]
    orders = list(permutations(range(3)))
    best = min(
        bits(np.stack([row[list(order)] for row, order in zip(counts, chosen, strict=True)]))
        for chosen in product(orders[:1], orders, orders)
    )
    assert bits(ours) == pytest.approx(best, abs=1e-12)


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 2)), min_size=1))
def test_values_come_back(rows):
    column, classes = np.array([r[0] for r in rows]), np.array([r[1] for r in rows])
    assignment = ValueAssignment.of(column, classes, 3)
    for k in range(3):
        sent = assignment.encode(assignment.values, k, ReadingPlace(0))
        assert sorted(sent) == assignment.values.tolist()
        assert (assignment.decode(sent, k, ReadingPlace(0)) == assignment.values).all()
        assert (assignment.plain().encode(column, k, ReadingPlace(0)) == column).all()


def test_a_value_never_seen_is_refused():
    assignment = ValueAssignment.of(np.array(["a", "b"]), np.array([0, 0]), 1)
    with pytest.raises(RequestError, match=r"row 2: 1 values were not seen"):
        assignment.encode(np.array(["a", "zz"]), 0, ReadingPlace(0))
