"""Expected values of intervals against the mean over their values."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.tables.analysis.features import ModelPredictor, design
from voile.tables.domains.domain import ValueDomain
from voile.tables.domains.parser import BELOW_ALL, CellParser


@given(st.data())
def test_a_number_is_the_mean_of_its_interval(data):
    values = tuple(sorted(data.draw(st.sets(st.integers(-99, 99), min_size=2))))
    age = ModelPredictor.of(
        ValueDomain("age", values, CellParser("integer")), np.zeros(1, np.int32)
    )
    first = data.draw(st.integers(0, len(values) - 1))
    last = data.draw(st.integers(first, len(values) - 1))
    (mean,) = age.expect_terms(np.array([first]), np.array([last]))[0]
    assert mean == pytest.approx(np.mean(values[first : last + 1]))


def test_a_name_is_a_share_of_each_name_of_its_group():
    domain = ValueDomain("job", ("clerk", "cook", "nurse", None), CellParser("text"))
    job = ModelPredictor.of(domain, np.array([0, 1, 1, 3], np.int32))
    assert job.terms == ("job clerk", "job missing")  # cook is the commonest, nurse is nobody
    found = job.expect_terms(np.array([0, 1, 0]), np.array([0, 1, 3]))
    assert found.tolist() == [[1, 0], [0, 0], [0.25, 0.25]]


def test_a_missing_number_is_the_mean_and_says_so():
    domain = ValueDomain("age", (20, 40, None), CellParser("integer"))
    age = ModelPredictor.of(domain, np.zeros(1, np.int32))
    assert age.terms == ("age", "age missing")
    assert age.expect_terms(np.array([2]), np.array([2])).tolist() == [[30, 1]]


def test_a_bin_is_its_middle_and_the_outermost_are_their_edge():
    parser = CellParser("decimal", edges=(Decimal(10), Decimal(30)))
    domain = ValueDomain("dose", (BELOW_ALL, Decimal(10), Decimal(30)), parser)
    assert ModelPredictor.of(domain, np.zeros(1, np.int32)).lookup[:, 0].tolist() == [10, 20, 30]


def test_dates_count_in_days_or_years():
    born = ModelPredictor.of(
        ValueDomain("born", (1990, 1992), CellParser("date", by="year")), np.zeros(1, np.int32)
    )
    day = ModelPredictor.of(
        ValueDomain("seen", ("2020-01-01", "2020-01-03"), CellParser("date")), np.zeros(1, np.int32)
    )
    both = design([born, day], np.zeros((1, 2), np.int32), np.ones((1, 2), np.int32))
    assert both[0, 0] == 1991
    assert np.diff(day.lookup[:, 0]) == 2
