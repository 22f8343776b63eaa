"""Days are read from whole dates alone; moments and parts from every precision of FHIR."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from voile.core.errors import RequestError
from voile.data.fhir.fields import read_day, read_moment, read_parts, read_period

DAY = date(2013, 5, 14)


@pytest.mark.parametrize("text", ["2013-05-14", "2013-05-14T08:15:00Z", "2013-05-14T24:00"])
def test_a_whole_day_or_moment_is_a_day(text):
    assert read_day(text) == DAY
    assert read_period({"start": text, "end": "2013"}) == {"start": DAY}


@pytest.mark.parametrize(
    "odd",
    [
        "2013",
        "2013-05",
        "2013-02-30",
        "2013-00-01",
        "0000-01-01",
        "20130514",
        "2013-05-14 8:15",
        "",
        None,
        7,
        True,
        [],
        {},
    ],
)
def test_anything_else_is_no_day(odd):
    assert read_day(odd) is None
    assert read_period(odd) == read_period({"start": odd}) == {}


def test_parts_are_those_that_a_date_has():
    assert read_parts("1966") == (1966, None, None)
    assert read_parts("1966-12") == (1966, 12, None)
    assert read_parts("1966-12-08") == (1966, 12, 8)
    for odd in ("1966-12-08T00:00", "12/08/1966", "", 1966, None):
        assert read_parts(odd) is None


def test_moments_are_seconds_and_of_utc_where_no_zone_is_given():
    start = datetime(2024, 1, 1, tzinfo=UTC).timestamp()
    for text in ("2024", "2024-01", "2024-01-01", "2024-01-01T09:00:00+09:00"):
        assert read_moment(text, "") == start
    for odd in ("yesterday", "2024-13", "2024-02-30T08:00"):
        with pytest.raises(RequestError, match=r"^here: the time is not a FHIR dateTime$"):
            read_moment(odd, "here")
