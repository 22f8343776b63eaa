"""Domains order what a column holds; what they cannot read is outside, never guessed."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.tables.domains.domain import OUTSIDE, ValueDomain, build_domain, infer_parser
from voile.tables.domains.parser import CellParser, NotInKind


def built(values, kind, **more):
    return build_domain("x", values, CellParser(kind), **more).values


def test_zip_00501_stays_text():
    parser = infer_parser(pa.string(), ["00501", "37010", None])
    assert parser == CellParser("text")
    domain = build_domain("zip", ["37010", "00501", None], parser)
    assert domain.values == ("00501", "37010", None)
    assert domain.code("501") == domain.code(501) == OUTSIDE
    assert domain.code("00501") == 0


@pytest.mark.parametrize(
    ("type_", "values", "kind"),
    [
        (pa.int8(), [], "integer"),
        (pa.dictionary(pa.int8(), pa.int64()), [], "integer"),
        (pa.decimal128(5, 2), [], "decimal"),
        (pa.date32(), [], "date"),
        (pa.timestamp("ns"), [], "date"),
        (pa.string(), ["9", "10"], "integer"),
        (pa.string(), ["-1", "0"], "integer"),
        (pa.string(), ["101", "102"], "integer"),
        (pa.string(), ["1001", "1002"], "text"),
        (pa.string(), ["09", "10"], "text"),
        (pa.string(), ["9", "ten"], "text"),
        (pa.string(), ["1990-03-31", "2000-02-29"], "date"),
        (pa.string(), ["1990-03-31", "unknown"], "text"),
        (pa.string(), [None, None], "text"),
        (pa.bool_(), [True, False], "text"),
    ],
)
def test_the_kind_follows_type_and_values(type_, values, kind):
    assert infer_parser(type_, values).kind == kind


@pytest.mark.parametrize(
    "type_", [pa.float32(), pa.float64(), pa.dictionary(pa.int8(), pa.float64())]
)
def test_floats_are_decimals(type_):
    assert infer_parser(type_, []).kind == "decimal"


def test_a_float_is_what_it_is_written_as():
    weights = build_domain("x", ["0.1", "70.5", None], CellParser("decimal"))
    for type_ in (pa.float32(), pa.float64()):
        cells = pa.array([0.1, 70.5, float("nan"), None, -0.0, float("inf")], type_)
        assert weights.codes(cells).tolist() == [0, 1, 2, 2, OUTSIDE, OUTSIDE]


def test_a_domain_of_one_value_is_refused():
    with pytest.raises(RequestError, match="column x: there is no value: the source has no rows"):
        build_domain("x", [], CellParser("integer"))
    for values in ([None], [7, 7]):
        with pytest.raises(RequestError, match=r"column x: .* at least two values.* keep or drop"):
            build_domain("x", values, CellParser("integer"))
    assert len(build_domain("x", [7, None], CellParser("integer"))) == 2


def test_null_is_a_value_of_its_own_and_last():
    domain = build_domain("x", [None, "b", "a"], CellParser("text"))
    assert domain.values == ("a", "b", None)
    assert domain.nullable
    assert domain.code(None) == 2
    assert not build_domain("x", ["a", "b"], CellParser("text")).nullable
    assert build_domain("x", ["a", "b"], CellParser("text")).code(None) == OUTSIDE


def test_numbers_are_ordered_by_size_and_text_by_letters():
    assert built(["10", "9", "-1"], "integer", fill=False) == (-1, 9, 10)
    assert built(["10", "9"], "text") == ("10", "9")
    assert built(["1.50", "1.5", "-0.0", "0", "100"], "decimal") == (
        Decimal(0),
        Decimal("1.5"),
        Decimal(100),
    )


def test_decimals_are_written_out_and_lose_no_digit():
    digits = "12345678901234567890123456789012345678"
    one, other = (Decimal(f"{digits}.{last}") for last in "12")
    assert len(built([one, other], "decimal")) == 2
    assert str(CellParser("decimal")("1E+2")) == "100"
    for wrong in ("1E+1000000", "1E-1000000", "NaN", "inf", "one"):
        with pytest.raises(NotInKind):
            CellParser("decimal")(wrong)


def test_dates_are_days_months_or_years():
    days = [dt.date(2020, 1, 31), dt.date(2020, 2, 2), None]
    assert built(days, "date", fill=False) == ("2020-01-31", "2020-02-02", None)
    assert built(days, "date") == ("2020-01-31", "2020-02-01", "2020-02-02", None)
    month, year = CellParser("date", "month"), CellParser("date", "year")
    assert build_domain("x", ["2019-11", "2020-02-01", "2020-03-31"], month).values == (
        "2019-11", "2019-12", "2020-01", "2020-02", "2020-03",
    )  # fmt: skip
    assert build_domain("x", ["1989", dt.datetime(1991, 5, 1, 23)], year).values == (
        1989, 1990, 1991,
    )  # fmt: skip


def test_dates_are_read_by_their_form_or_by_iso_8601_and_never_in_part():
    form = CellParser("date", forms=("%d/%m/%Y",))
    assert form("31/03/1990") == "1990-03-31"
    assert CellParser("date")("1990-03-31T10:00:00") == "1990-03-31"
    for wrong in ("03/31/1990", "1990-03-31"):
        with pytest.raises(NotInKind):
            form(wrong)
    for wrong in ("1990-03-310", "1990-03-31 or so", "1990-02-30", "90"):
        with pytest.raises(NotInKind):
            CellParser("date")(wrong)


def test_gaps_are_filled_where_that_no_more_than_doubles():
    assert built([1, 2, 4], "integer") == (1, 2, 3, 4)
    assert built([1, 2, 40], "integer") == (1, 2, 40)
    assert len(built([1, 2, 40], "integer", fill=True)) == 40
    assert built([1, 2, 4], "integer", fill=False) == (1, 2, 4)


def test_values_of_another_kind_are_counted_and_never_shown():
    with pytest.raises(RequestError) as caught:
        build_domain("age", ["7", "hush-hush", "8", "n/a"], CellParser("integer"))
    assert "2 distinct values cannot be read as integer" in str(caught.value)
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize("raw", [True, 7.0, "7.0", "", "x", "1e2", Decimal("7.5")])
def test_what_is_no_whole_number_is_refused(raw):
    with pytest.raises(NotInKind):
        CellParser("integer")(raw)


def test_whole_numbers_have_one_form():
    assert {CellParser("integer")(raw) for raw in (7, "7", " 007", "+7", Decimal("7.0"))} == {7}


CELLS = st.none() | st.sampled_from(["00501", "501", "90", "-3", "é", "é", "", "unseen"])


@given(st.lists(CELLS, max_size=40), st.sampled_from(["plain", "dictionary", "chunks"]))
def test_codes_are_those_of_each_cell(cells, layout):
    domain = build_domain("x", ["00501", "90", "-3", "é", "", None], CellParser("text"))
    array = pa.array(cells, pa.string())
    if layout == "dictionary":
        array = array.dictionary_encode()
    elif layout == "chunks":
        half = len(cells) // 2
        array = pa.chunked_array([cells[:half], cells[half:]], pa.string())
    codes = domain.codes(array)
    assert codes.dtype == np.int32
    assert codes.tolist() == [domain.code(cell) for cell in cells]


def test_codes_read_every_type_of_column():
    years = build_domain("x", ["1989", "1991"], CellParser("date", "year"))
    array = pa.array([dt.date(1990, 5, 1), None], pa.date32())
    assert years.codes(array).tolist() == [1, OUTSIDE]
    ages = build_domain("x", [1, 3], CellParser("integer"))
    assert ages.codes(pa.array([3, 4, 1], pa.uint8())).tolist() == [2, OUTSIDE, 0]
    assert ages.codes(pa.array([2.0])).tolist() == [OUTSIDE]
    assert len(ages.codes(pa.array([], pa.int64()))) == 0


def test_a_listed_order_is_kept():
    size = ValueDomain("size", ("small", "medium", "large"), CellParser("listed"))
    assert size.codes(pa.array(["large", "small", "huge"])).tolist() == [2, 0, OUTSIDE]
