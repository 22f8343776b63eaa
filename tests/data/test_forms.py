"""Forms of numbers, dates and times read what they write, and are found where all values agree."""

import datetime as dt
from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from voile.data.forms import (
    NumberForm,
    find_forms,
    find_usual_form,
    read_date,
    read_forms,
)

GROUPS = ["", ",", ".", " ", "'", "\u202f"]
UNITS = ["", "kg", " kg", "y", " %", " Jahre", " J.", "°C"]


def write(number, group, point, unit):
    """Write a number of two decimals the long way."""
    sign, digits = "-" * (number < 0), f"{abs(number):.2f}"
    whole, part = digits.split(".")
    whole = f"{int(whole):,}".replace(",", group)
    return f"{sign}{whole}{point}{part}{unit}"


@given(
    number=st.decimals(-(10**9), 10**9, places=2),
    group=st.sampled_from(GROUPS),
    point=st.sampled_from([".", ","]),
    unit=st.sampled_from(UNITS),
)
def test_a_form_reads_what_is_written_in_it(number, group, point, unit):
    assume(group != point)
    form = NumberForm.of(f"1{group}234{point}5{unit}")
    assert form.read_number(write(number, group, point, unit)) == number
    assert form.read_number(write(number, "", point, unit.upper()) + " ") == number
    assert form.unit == unit.strip()


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("1.234,5", "1.5"), ("1234,5", "1.234,5"), ("1234 kg", "70"), ("1234 kg", "70 lb"),
        ("1234", "7.0"), ("1.2345e3", "1e"), ("1.2345e3", "e5"), ("1.2345e3", "1e12345"),
        ("1234.5", "1e3"), ("1234", "--5"), ("$1234", "-$-5"),
        ("1,234.5", "1,23.5"), ("$1234", "€5"), ("1234", ""), ("1234.5", "5."),
    ],
)  # fmt: skip
def test_what_is_written_otherwise_is_not_read(form, text):
    assert NumberForm.of(form).read_number(text) is None


@pytest.mark.parametrize("form", ["", "kg", "999", "1,234,5", "%d.%m.%Y", "1234x5", "1,2345"])
def test_what_does_not_write_the_number_is_no_form(form):
    assert NumberForm.of(form) is None


@pytest.mark.parametrize(
    ("texts", "forms"),
    [
        (["34y", " 7Y", "101 y"], [("integer", "1234y")]),
        (["1,234.5 kg", "70.25 kg"], [("decimal", "1,234.5 kg")]),
        (["1.234.567", "8"], [("integer", "1.234")]),
        (["12,5", "7,25"], [("decimal", "1234,5")]),
        (["1.5", "-2"], [("decimal", "1234.5")]),
        (["1,200 kg", "85 kg"], [("decimal", "1234,5 kg"), ("integer", "1,234 kg")]),
        (["$1,200", "$85"], [("integer", "$1,234")]),
        (["$ 1.200", "$ 85"], [("integer", "$ 1.234")]),
        (["1,296 US$", "85 US$"], [("integer", "1,234 US$")]),
        (["EUR 12.30", "eur 7"], [("decimal", "EUR 1234.5")]),
        (["-€5", "€ 1.200,50"], [("decimal", "€1.234,5")]),
        (["1 200,50", "85,00"], [("decimal", "1 234,5")]),
        (["1.017e+03", "2e-5", "0.5"], [("decimal", "1.2345e3")]),
        (["-1,5E+02 mg/l", "7 mg/l"], [("decimal", "1,2345e3 mg/l")]),
        (["ICU 12", "ICU 7"], []),
        (["13:05", "7:30"], [("time", "%H:%M")]),
        (["3 Mar 1990", "12 Dec 2001"], [("date", "%d %b %Y")]),
        (["31.12.99", "1.2.00"], [("date", "%d.%m.%y")]),
        (["1990-03-31", "31.12.1999"], []),
        (["70 kg", "154 lb"], []),
        (["<18", ">65"], []),
        (["A12", "B7"], []),
        ([], []),
    ],
)
def test_forms_are_found_where_all_values_agree(texts, forms):
    assert find_forms(texts) == forms


def test_the_usual_form_is_the_one_that_reads_most():
    assert find_usual_form(["31.12.1999", "1.2.2000", "1999-12-31"]) == (
        ("date", "%d.%m.%Y"),
        2 / 3,
    )
    assert find_usual_form(["red", "blue"]) is None


def test_a_text_that_two_forms_read_differently_is_not_read():
    both = ("%d/%m/%Y", "%m/%d/%Y")
    assert read_forms("03/04/1999", both, read_date) is None
    assert read_forms("04/04/1999", both, read_date) == dt.datetime(1999, 4, 4)
    assert read_forms("13/04/1999", both, read_date) == dt.datetime(1999, 4, 13)
    assert NumberForm.of("1234.5").read_number("0.10") == Decimal("0.1")


@given(number=st.floats(allow_nan=False, allow_infinity=False), point=st.sampled_from(".,"))
def test_scientific_notation_is_read_as_the_number_it_writes(number, point):
    form = NumberForm.of(f"1{point}2345e3 mg")
    for text in (f"{number!r} mg", f"{number:.20E}mg"):
        assert float(form.read_number(text.replace(".", point))) == number
