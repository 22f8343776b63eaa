"""Labels tell every interval from every other, and no spreadsheet reads one as a date."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.tables.domains.domain import ValueDomain, build_domain
from voile.tables.domains.labels import RangeStyle, label_interval, reads_as_date, style_for
from voile.tables.domains.parser import CellParser

# What one or the other spreadsheet is known to turn into a date.
DATES = (
    "1-12 12-1 1-31 31-1 9-10 5-44 1-99 12-1999 1990-12 1/2 13/1 1/2/2020 2020-01-02 1.2.2020"
    " Jan-5 5-Jan MARCH1 SEPT2 Dec-99 5-jan-2020 March 2020 1-MAY"
)
OTHERS = "0 17 0-17 18-44 13-40 45-105 37010-37215 1990-1995 Black|Other 37.5 Marsh May 1-12 to 13"


@pytest.mark.parametrize("label", [x for x in DATES.split() if x not in ("March", "2020")])
def test_dates_are_seen(label):
    assert reads_as_date(label)


@pytest.mark.parametrize("label", [x for x in OTHERS.split() if x not in ("1-12", "to", "13")])
def test_other_labels_are_not_taken_for_dates(label):
    assert not reads_as_date(label)


def whole(values):
    return ValueDomain("x", values, CellParser("integer"))


def test_one_date_like_range_makes_the_whole_column_say_to():
    ages = whole(tuple(range(106)))
    assert ages.labels([(0, 17), (18, 105)]) == ("0-17", "18-105")
    assert ages.labels([(0, 0), (1, 12), (13, 105)]) == ("0", "1 to 12", "13 to 105")


def test_numbers_below_zero_are_not_read_as_ranges():
    assert whole((-3, -2, 1, None)).labels([(0, 1), (2, 3)]) == ("-3 to -2", "1|missing")


def test_null_is_written_missing_and_the_text_missing_is_quoted():
    domain = ValueDomain("x", ("missing", "a|b", "b", None), CellParser("text"))
    assert domain.labels([(0, 0), (1, 2), (3, 3)]) == ('"missing"', '"a|b"|b', "missing")


def test_a_category_that_looks_like_a_date_is_quoted_and_days_are_not():
    bins = ValueDomain("x", ("0-9", "10-19", "20+"), CellParser("text"))
    assert bins.labels([(1, 1), (2, 2)]) == ('"10-19"', "20+")
    months = ValueDomain("x", ("1990-03", "1990-04"), CellParser("date", "month"))
    assert months.labels([(0, 0), (0, 1)]) == ('"1990-03"', "1990-03 to 1990-04")
    days = ValueDomain("x", ("1990-03-01", "1990-03-02"), CellParser("date"))
    assert days.labels([(0, 0), (0, 1)]) == ("1990-03-01", "1990-03-01 to 1990-03-02")


def test_many_listed_values_are_shortened_and_say_how_many():
    names = tuple("abcdefghij")
    assert label_interval(names, 0, 9, RangeStyle(listed=True)) == "a|...|j (10 values)"
    assert label_interval(names, 0, 7, RangeStyle(listed=True)) == "a|b|c|d|e|f|g|h"


def test_long_lists_that_overlap_are_written_whole_where_they_would_be_called_alike():
    jobs = ValueDomain("x", ("b", "a", *"cdefghi", "z"), CellParser("text"))
    assert jobs.labels([(0, 8), (0, 9)]) == ("a|...|i (9 values)", "a|...|z (10 values)")
    ends = ValueDomain("x", ("b", "a", *"defghi", "z", "c"), CellParser("text"))
    assert ends.labels([(0, 8), (1, 9)]) == ("a|b|d|e|f|g|h|i|z", "a|c|d|e|f|g|h|i|z")


def test_a_style_follows_the_values():
    assert style_for("text", "day", ("a", "b")).listed
    assert style_for("text", "day", ("00501", "37010", None)).between == "-"
    assert style_for("date", "year", (1990, 1991)).between == "-"
    assert style_for("date", "day", ("1990-01-01", "1990-01-02")).between == " to "


def test_a_listed_label_names_a_set_and_tells_no_order():
    jobs = ValueDomain("x", ("nurse", "clerk", "driver", None), CellParser("listed"))
    assert jobs.labels([(0, 1), (2, 3)]) == ("clerk|nurse", "driver|missing")


def test_only_what_is_a_run_of_numbers_is_written_as_a_range():
    small_last = ValueDomain(
        "zip", ("37010", "37011", "42601", "00501", "37001"), CellParser("listed")
    )
    assert small_last.labels([(0, 1), (2, 3), (4, 4)]) == ("37010-37011", "00501|42601", "37001")
    assert small_last.labels([(0, 2), (3, 4)]) == ("37010-42601", "00501-37001")
    assert small_last.labels([(0, 0), (1, 4)]) == ("37010", "00501|37001|37011|42601")
    grades = ValueDomain("x", ("9", "10", "11", None), CellParser("listed"))
    assert grades.labels([(0, 2), (3, 3)]) == ("9 to 11", "missing")


words = st.text(max_size=6) | st.sampled_from(
    ["missing", "", "...", "a|b", "a", "b", '"', '"a"', "1-2", "May 1", "c (9 values)"]
)
ORDERED = st.one_of(
    st.sets(st.integers(-40, 2100), min_size=2, max_size=30).map(sorted).map(whole),
    st.sets(words, min_size=2, max_size=14).map(lambda v: build_domain("x", v, CellParser("text"))),
    st.lists(words, unique=True, min_size=2, max_size=14).map(
        lambda v: ValueDomain("x", (*v, None), CellParser("listed"))
    ),
    st.tuples(
        st.sets(st.dates(dt.date(1, 1, 1)), min_size=2, max_size=9),
        st.sampled_from(["day", "month", "year"]),
    )
    .map(lambda d: [CellParser("date", d[1])(day) for day in d[0]] + [CellParser("date", d[1])])
    .filter(lambda d: len(set(d[:-1])) > 1)
    .map(lambda d: build_domain("x", d[:-1], d[-1], fill=False)),
    st.sets(st.decimals(-99, 99, places=2), min_size=2, max_size=9)
    .filter(lambda v: len(set(v)) > 1)
    .map(lambda v: build_domain("x", v, CellParser("decimal"))),
)


@st.composite
def intervals(draw, domains=ORDERED):
    domain = draw(domains)
    cuts = draw(st.lists(st.booleans(), min_size=len(domain) - 1, max_size=len(domain) - 1))
    ends = [i for i, cut in enumerate(cuts) if cut] + [len(domain) - 1]
    starts = [0, *(end + 1 for end in ends[:-1])]
    return domain, list(zip(starts, ends, strict=True))


@given(intervals())
def test_labels_are_unique_within_a_column(made):
    domain, bounds = made
    labels = domain.labels(bounds)
    assert len(set(labels)) == len(bounds)
    assert "" not in labels


@given(intervals())
def test_labels_are_never_read_as_a_date_unless_they_are_one(made):
    domain, bounds = made
    a_day = domain.parser.kind == "date" and domain.parser.by == "day"
    for (first, last), label in zip(bounds, domain.labels(bounds), strict=True):
        assert not reads_as_date(label) or (a_day and first == last)
