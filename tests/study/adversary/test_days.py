"""Columns of days: typed ones, and text that is dates."""

from __future__ import annotations

from datetime import date

import pyarrow as pa
import pytest

from voile.data import open_source
from voile.study.adversary.days import as_days, can_be_moved, day_columns


@pytest.mark.parametrize(
    ("cells", "has_days", "moves"),
    [
        ([date(2013, 7, 1), None], True, True),
        (["2013-07-01", "", None, "2013-07-02"], True, True),
        (["2013-07-01", "2013-07-02", "unknown"], True, True),  # the wing sets the last one aside
        (["01.07.2013", "02.07.2013"], True, False),
        (["2013-07-01 10:30:00"], True, False),
        (["2013-07-01", "planned", "planned"], True, False),
        ([None] * 5000 + ["2013-07-01"], True, True),
        (["00243", "00244"], False, False),
        (["20130701", *["99999999"] * 9], False, False),
        (["20", "2013"], False, False),
        (["", None], False, True),
        ([1, 2], False, None),
    ],
)
def test_text_of_dates_is_a_column_of_days(cells, has_days, moves):
    source = open_source(pa.table({"one": cells}))
    assert day_columns(source, ["one", "absent"]) == ["one"] * has_days
    if moves is not None:
        assert can_be_moved(source, "one") is moves


def test_a_text_that_is_no_date_is_no_day():
    assert as_days(pa.chunked_array([["2013-07-01", "unknown", None]])).to_pylist() == [
        date(2013, 7, 1),
        None,
        None,
    ]
