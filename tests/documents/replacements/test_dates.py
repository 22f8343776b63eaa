"""Dates move by one offset and keep their form."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from voile.documents.replacements.date_ranges import move_dates


def moved(text: str, offset: int = 31, order: str | None = "dmy", language: str = "english"):
    return move_dates(text, offset, order=order, language=language)


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("12/03/1999", "12/04/1999"),
        ("1/3/1999", "1/4/1999"),
        ("04/7/1952", "4/8/1952"),
        ("12-03-99", "12-04-99"),
        ("12.03.1999", "12.04.1999"),
        ("25/08 /1965", "25/09 /1965"),
        ("1999-03-12", "1999-04-12"),
        ("1999/3/12", "1999/4/12"),
        ("1999-03-12 10:20:30", "1999-04-12 10:20:30"),
        ("1999-03-12T10:20Z", "1999-04-12T10:20Z"),
        ("12/03/1999, 9:15 pm", "12/04/1999, 9:15 pm"),
        ("12 March 1999", "12 April 1999"),
        ("12th of March, 1999", "12th of April, 1999"),
        ("1st March 1999", "1st April 1999"),
        ("March 2nd, 1999", "April 2nd, 1999"),
        ("March 12, 1999", "April 12, 1999"),
        ("MARCH 12, 1999", "APRIL 12, 1999"),
        ("Mar. 02 1999", "Apr. 02 1999"),
        ("12-Mar-99", "12-Apr-99"),
        ("Friday, 12 March 1999", "Monday, 12 April 1999"),
        ("fri 12/03/1999", "mon 12/04/1999"),
        ("12 de marzo de 1999", "12 de abril de 1999"),
        ("12 de Marzo del 1999", "12 de Abril del 1999"),
        ("1º de marzo de 1999", "1º de abril de 1999"),
        ("viernes, 12 de marzo de 1999", "lunes, 12 de abril de 1999"),
        ("el 12 de marzo de 1999", "el 12 de abril de 1999"),
        ("12-mar-1999", "12-apr-1999"),
        ("12-ago-1999", "12-sep-1999"),
        ("12 sept 1999", "13 oct 1999"),
        ("(12/03/1999).", "(12/04/1999)."),
        ("June 2006", "July 2006"),
        ("December 2006", "January 2007"),
        ("marzo de 2007", "abril de 2007"),
        ("Septiembre del año 2000", "Octubre del año 2000"),
        ("marzo-09", "abril-09"),
        ("Mar '09", "Apr '09"),
        ("06/2006", "07/2006"),
        ("6/2006", "7/2006"),
        ("2006-06", "2006-07"),
        ("1999", "2000"),
        ("año 1999", "año 2000"),
        ("12-15 March 1999", "12-15 April 1999"),
        ("from 12 to 15 March 1999", "from 12 to 15 April 1999"),
        ("March 12-15, 1999", "April 12-15, 1999"),
        ("Friday 12-15 March 1999", "Monday 12 April 1999 - Thursday 15 April 1999"),
        ("del 12 al 15 de marzo de 1999", "del 12 al 15 de abril de 1999"),
        ("12-15/03/1999", "12-15/04/1999"),
        ("27-29 January 1999", "27 February 1999 - 1 March 1999"),
        ("28 February to 3 March 1999", "31 March to 3 April 1999"),
        ("28 November to 3 December 1999", "29 December 1999 to 3 January 2000"),
        ("30 December to 2 January 2000", "30 January to 2 February 2000"),
        ("12/03/1999 - 15/03/1999", "12/04/1999 - 15/04/1999"),
        ("12/03/1999-15/03/1999", "12/04/1999-15/04/1999"),
        ("1999-2003", "2000-2004"),
        ("marzo y abril de 2000", "abril y mayo de 2000"),
        ("June 2006 to July 2007", "July 2006 to August 2007"),
    ],
)
def test_a_month_later(text, new):
    assert moved(text) == new


NO_DATES = """
31/02/1999|12/25/1999|29/02/2001|0/10/2017|23/010/1990|12/03|12 March|March 12|Mar 99|yesterday
Monday|marzo|10710/2015|12/03/1799|31/12/9999|01/01/1900|1 January 1970|.|12/03-1999|1990s|12 - 99
12 March 1999 Anna|12 Anna 1999|Hospital 12 de Octubre|39 años|963 862 700|31-31 March 1999 2000
١٢/٠٣/١٩٩٩|12/03/1999 10:20 Anna|Anna to 12 March 1999|1 March 99 to 3 December 68"""


@pytest.mark.parametrize("text", ["", *NO_DATES.strip().replace("\n", "|").split("|")])
def test_what_is_no_date_to_the_last_character_is_not_moved(text):
    assert moved(text) is None


def test_without_an_order_numbers_are_not_read_and_the_rest_is():
    assert moved("12/03/1999", order=None) is None
    assert moved("12/03/1999", order="mdy") == "01/03/2000"
    assert moved("1999-03-12", order=None) == "1999-04-12"
    assert moved("12 March 1999", order=None) == "12 April 1999"


def test_words_that_are_both_are_of_the_language_asked():
    assert moved("12-mar-1999", language="spanish") == "12-abr-1999"
    assert moved("oct-04", language="spanish") == "nov-04"
    assert moved("Oct 04") is None


def test_short_years_stay_within_their_century():
    assert moved("15/12/68") is None
    assert moved("15/11/68") == "16/12/68"
    assert moved("15/12/99") == "15/01/00"
    assert moved("05/01/69", -31) is None


def test_years_out_of_range_are_refused():
    assert moved("15/12/2199") is None
    assert moved("05/01/1801", -31) is None


MONTHS = [f"{date(2000, month, 1):%B}" for month in range(1, 13)]
FORMS = [
    lambda d: f"{d.day:02}/{d.month:02}/{d.year}",
    lambda d: f"{d.day}/{d.month}/{d.year}",
    lambda d: d.isoformat(),
    lambda d: f"{d.day} {MONTHS[d.month - 1]} {d.year}",
    lambda d: f"{MONTHS[d.month - 1]} {d.day}, {d.year}",
    lambda d: f"{d.day}-{MONTHS[d.month - 1][:3].lower()}-{d.year}",
    lambda d: f"{d:%A}, {d.day} {MONTHS[d.month - 1].upper()} {d.year}",
]
DATES = st.dates(date(1802, 1, 1), date(2198, 12, 31))
OFFSETS = st.integers(-365, 365).filter(bool)


@given(DATES, OFFSETS, st.sampled_from(FORMS))
def test_every_form_tells_the_moved_date(day, offset, form):
    assume(day not in (date(1900, 1, 1), date(1970, 1, 1)))
    # May is whole and short at once, and taken for whole.
    assume(day.month != 5 or "may" not in form(day))
    text, wanted = form(day), day + timedelta(offset)
    new = moved(text, offset)
    # A day and a month of two digits do not tell whether zeros are written.
    assert new in {form(wanted), f"{wanted.day:02}/{wanted.month:02}/{wanted.year}"}
    assert new != text


@given(DATES, DATES, OFFSETS)
def test_intervals_are_kept_to_the_day(one, two, offset):
    known = {date(1900, 1, 1), date(1970, 1, 1)}
    assume(not known & {one, two})
    first, second = (date.fromisoformat(moved(day.isoformat(), offset)) for day in (one, two))
    assert second - first == two - one


@given(st.integers(1810, 2190), st.integers(1, 12), OFFSETS)
def test_months_and_years_move_alike_and_never_stay(year, month, offset):
    def month_of(text):
        first, second = text.split("/")
        return 12 * int(second) + int(first)

    text, january = f"{month:02}/{year}", f"01/{year}"
    by = month_of(moved(text, offset)) - month_of(text)
    assert by == month_of(moved(january, offset)) - month_of(january) != 0
    assert abs(by - offset / 30.44) <= 1
    assert moved(str(year), offset) == str(year + (1 if offset > 0 else -1))


@given(DATES, st.integers(1, 60), OFFSETS)
def test_a_range_keeps_its_length_however_it_is_told(first, length, offset):
    last = first + timedelta(length)
    assume(first.year == last.year)
    text = (
        f"{first.day} {MONTHS[first.month - 1]} to {last.day} {MONTHS[last.month - 1]} {last.year}"
    )
    ends = moved(text, offset).split(" to ")
    end = read(ends[1])
    begun = ends[0] if ends[0][-4:].isdigit() else f"{ends[0]} {end.year}"
    assert end - read(begun) == timedelta(length)
    assert end == last + timedelta(offset)


def read(text: str) -> date:
    day, month, year = text.split()
    return date(int(year), MONTHS.index(month) + 1, int(day))
