"""Moments in units of time: the same for what is fitted and what is sent."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow as pa
import pytest

from voile.core.errors import RequestError
from voile.signals.model.readings.moments import (
    DAY,
    ReadingTicks,
    TimeUnit,
    count_ticks,
    rank_moments,
    unit_of,
)

WEEKS = ["2026-03-02", "2026-03-09", "2026-03-16", "2026-03-30"]


@pytest.mark.parametrize(
    ("times", "unit"),
    [
        (WEEKS, 7 * DAY),
        (["2026-03-02T08:00", "2026-03-03T08:00", "2026-03-05T08:00"], DAY),
        (["2026-03-02T08:00:07", "2026-03-03T08:11:00", "2026-03-04T07:59:31"], 3600),
        ([0, 4, 8, 20], 4000),
        ([0.5, 1.0, 2.5], 500),
        ([datetime.time(8), datetime.time(8, 30), datetime.time(10)], 1800),
        ([7, 7], 1),
    ],
)
def test_readings_follow_each_other_in_whole_units_or_fine_ones(times, unit):
    ticks = count_ticks([pa.array(times)], "day")
    assert unit_of(ticks, np.zeros(len(times), dtype=np.intp)) == TimeUnit(unit, ticks.per)


def test_gaps_are_those_of_a_subject():
    ticks = ReadingTicks(np.array([0, 86_400, 100, 86_500]), DAY)
    assert unit_of(ticks, np.array([0, 0, 1, 1])) == TimeUnit(DAY, DAY)


@pytest.mark.parametrize(
    "times", [WEEKS[::-1], [3, 1.5, -2], ["10", "9", "9.5"], ["2026-03-01T23:59:59Z"] * 2]
)
def test_ticks_go_as_ranks_do(times):
    column = [pa.array(times)]
    ranks = np.unique(count_ticks(column, "day").values, return_inverse=True)[1]
    assert (ranks + 1).tolist() == rank_moments(column, "day").tolist()


def test_dates_are_not_taken_for_numbers():
    weeks, numbers = TimeUnit(7 * DAY, DAY), TimeUnit(1000, 1000)
    assert np.diff(weeks.count([pa.array(WEEKS)], "day")).tolist() == [1, 1, 2]
    with pytest.raises(RequestError, match="times are numbers, but the map was fitted to dates"):
        weeks.count([pa.array([1, 2])], "day")
    with pytest.raises(
        RequestError, match="column day: times are dates, but the map was fitted to numbers"
    ):
        numbers.count([pa.array(WEEKS)], "day")


def test_a_time_beyond_every_count_is_refused():
    with pytest.raises(RequestError, match="column day: a time is out of range"):
        count_ticks([pa.array([1e300])], "day")
