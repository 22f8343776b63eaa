"""Columns as people have them become domains, or an error that names rows and no value."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.tables.domains.domain import ValueDomain, build_domain
from voile.tables.domains.parser import BELOW_ALL, CellParser
from voile.tables.domains.reading import choose_edges
from voile.tables.fitting.space import PolicySpace

SECRET = "hush-hush"


def domain(values, type_=None, population=None, **settings):
    """Build the one domain of a column x."""
    table = pa.table({"x": pa.array(values, type_)})
    people = population and pa.table({"x": population, "people": [9] * len(population)})
    return PolicySpace.of(table, people, ["x"], settings={"x": settings}).domains[0]


def message(values, **settings):
    with pytest.raises(RequestError) as caught:
        domain(values, **settings)
    assert SECRET not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        (["34y", " 36 Y", "34y", None], "integer", (34, 35, 36, None)),
        (["1.250,50 €", "80 €"], "decimal", (80, Decimal("1250.5"))),
        (["31.12.1999", "02.01.2000"], "date", ("1999-12-31", "2000-01-01", "2000-01-02")),
        (["07:30", "09:10"], "time", (7, 8, 9)),
        ([True, False, False, None], "listed", ("false", "true", None)),
        ([0.1, 2.5, float("nan")], "decimal", (Decimal("0.1"), Decimal("2.5"), None)),
        ([dt.time(7, 30), dt.time(9)], "time", (7, 8, 9)),
        (["5a", "5b", "6c", "red"], "listed", None),
    ],
)
def test_values_say_how_they_are_read(cells, kind, values):
    made = domain(cells)
    assert made.parser.kind == kind
    assert values is None or made.values == values


def test_forms_and_what_is_missing_are_declared():
    cells = ["31.12.1999", "1999-12-30", "k.A.", "-", " "]
    forms = ["%d.%m.%Y", "%Y-%m-%d"]
    made = domain(cells, form=forms, missing=["k.A.", "-", ""])
    assert made.values == ("1999-12-30", "1999-12-31", None)
    assert [made.code(cell) for cell in cells] == [1, 0, 2, 2, 2]
    minutes = domain(["7.30 Uhr", "7.32 Uhr"], form="%H.%M Uhr", by="minute")
    assert minutes.values == ("07:30", "07:31", "07:32")
    assert minutes.labels([(0, 1), (2, 2)]) == ("07:30-07:31", "07:32")


def test_dates_of_several_spellings_are_named_with_their_rows():
    said = message(["31.12.1999", "01.02.2000", "2000-02-01", None, "3.4.2001", SECRET])
    assert "kind date, written %d.%m.%Y, and others are not, as in rows 3 and 6" in said
    assert 'form = ["...", "..."]' in said


def test_numbers_and_dates_are_never_taken_for_names():
    assert "kind integer, written 1234, and others are not, as in row 4" in message(
        ["12", "13", "14", SECRET]
    )
    assert domain(["12", "13", "14", SECRET], kind="text").parser.kind == "listed"
    said = message(["01/02/1999", "03/04/1999"])
    assert 'form = "%m/%d/%Y" or form = "%d/%m/%Y"' in said


def test_a_mixture_of_numbers_and_dates_is_none_of_them():
    said = message(["12", "1.2.2000", SECRET, "13", "2.2.2000", "14", "3.2.2000"])
    assert "neither all numbers, nor all dates, nor names, as in rows 1, 2 and 3" in said
    assert 'kind = "text"' in said
    names = ["5a", "7", "red", "9.1.2000", "blue"]
    assert domain(names).parser.kind == "listed"


def test_a_form_that_fits_no_row_is_refused():
    said = message(["31.12.1999", SECRET, "x"], form="%Y/%m/%d")
    assert "3 distinct values cannot be read as date written %Y/%m/%d (none can)" in said
    assert "as in rows 1, 2 and 3" in said
    assert "a form of numbers writes 1234.5" in message(["1", "2"], kind="integer", form="9 kg")
    assert 'by = "hour" is of times' in message(["1", "2"], by="hour", kind="integer")


def test_infinite_numbers_are_refused_with_their_rows():
    said = message([1.5, float("nan"), float("inf")])
    assert said == (
        "column x: 1 distinct value is infinite, as in row 3; write a number there, or nothing"
    )
    assert "2 distinct values are infinite, as in rows 1 and 2" in message(
        [float("-inf"), float("inf"), 1.5]
    )
    assert "infinite, as in a population table" in message([1.5, 2.5], population=[float("inf")])


def test_a_population_of_another_kind_is_refused():
    assert "of one kind in the source" in message([30, 31], population=["young", "old"])
    assert "in a population table" in message([30, 31], population=["30", "x"], kind="integer")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"edges": [3, 3]}, "edges do not rise"),
        ({"edges": [3, 1]}, "edges do not rise"),
        ({"edges": [3], "bins": 4}, "leave out bins, bottom and top"),
        ({"bottom": 9, "top": 9}, "bottom is not below top"),
        ({"bins": 1}, "bins: must be 2 or more"),
        ({"bins": 4, "order": "common"}, "leave the order out"),
        ({"top": 4, "by": "day"}, "are of numbers, and this is date"),
        (
            {"top": 2001, "by": "month"},
            'and this is date; code the ends of dates as years, by = "year"',
        ),
        ({"top": "2001-06", "by": "month"}, "top: give a number, of dates by year a year"),
        ({"bottom": [2001]}, "bottom: give a number, of dates by year a year"),
    ],
)
def test_settings_that_contradict_each_other(settings, said):
    assert said in message(["2001-01-01", "2002-02-02"], **settings)


def test_bins_cut_at_edges_and_cover_every_number():
    cells = ["21,5 kg", "60 kg", "k.A."]
    made = domain(cells, form="1234,5 kg", edges=[18.5, 25], missing=["k.A."])
    assert made.values == (BELOW_ALL, Decimal("18.5"), Decimal(25), None)
    labels = ("under 18.5", "18.5 to below 25", "25 and over|missing")
    assert made.labels([(0, 0), (1, 1), (2, 3)]) == labels
    others = [f"{x} kg" for x in ("-1000", "18,4", "18,5", "25", "99999")]
    assert [made.code(cell) for cell in others] == [0, 0, 1, 2, 2]
    whole = domain([3, 17, 40], edges=[10, 20])
    assert whole.values == (BELOW_ALL, 10, 20)
    assert domain([3, 17, 40], edges=[10.5, 20]).parser.kind == "decimal"


def test_ends_are_coded_and_reach_beyond_what_was_seen():
    made = domain([10, 17, 18, 19, 20, 95, 101], bottom=18, top=21)
    assert made.values == (18, 19, 20, 21)
    assert [made.code(x) for x in (0, 18, 21, 130)] == [0, 0, 3, 3]
    born = domain(["1920-05-01", "1931-01-01", "1932-07-01"], by="year", bottom=1930)
    assert born.values == (1930, 1931, 1932)


@given(
    numbers=st.lists(st.decimals(-1000, 1000, places=2), min_size=2, max_size=60, unique=True),
    bins=st.integers(2, 12),
    data=st.data(),
)
def test_edges_part_neighbours_into_bins_of_like_size(numbers, bins, data):
    ordered = sorted(numbers)
    subjects = np.array(
        data.draw(st.lists(st.integers(1, 9), min_size=len(ordered), max_size=len(ordered))), float
    )
    edges = choose_edges(ordered, subjects, bins, CellParser("decimal"))
    assert list(edges) == sorted(set(edges))
    assert ordered[0] < edges[0]
    assert edges[-1] <= ordered[-1]
    places = np.searchsorted(edges, ordered, side="right")
    assert len(set(places.tolist())) == len(edges) + 1 <= bins
    assert np.bincount(places, weights=subjects).max() <= subjects.sum() / bins + subjects.max()


@given(st.lists(st.floats(width=64) | st.none(), min_size=1, max_size=30))
def test_floats_are_put_into_bins_as_each_of_them_is(numbers):
    made = build_domain(
        "x", [None], CellParser("decimal", edges=(Decimal("-0.1"), Decimal(0), Decimal("2.5")))
    )
    array = pa.array(numbers, pa.float64())
    cleared = [None if x is None or x != x else x for x in numbers]
    assert made.codes(array).tolist() == [made.code(x) for x in cleared]


def test_decimals_of_many_values_are_put_into_bins():
    rng = np.random.default_rng(5)
    made = domain(rng.normal(70, 9, 3_000), pa.float64())
    assert len(made) == len(made.parser.edges) + 1 == 256
    assert len(domain(np.arange(200) / 8, pa.float64())) == 200
    assert len(domain(rng.normal(70, 9, 3_000).round(1), pa.float32(), bins=20)) == 20


def test_codes_are_a_tree_of_what_they_begin_with():
    codes = ["C50.9", "C50.1", "C34", "A09", "A08.3", None]
    made = domain(codes, order="prefix", missing=["-"])
    assert made.values == ("A08.3", "A09", "C34", "C50.1", "C50.9", None)
    assert made.parser == CellParser("listed", missing=("-",))
    letters = made.levels[-2]
    assert letters == (False, True, False, False, True)
    assert domain(["0110", "0210", "1111"], order="prefix").levels[1] == (True, True)


@pytest.mark.parametrize(
    ("codes", "groups"),
    [
        (["B1 1AB", "B12 1AB", "B1 2AB", "B11 4AB"], ["B1 1AB", "B1 2AB"]),
        (["K1A 0B1", "K2A 0B1", "K1B 0B1", "H1A 0B1"], ["K1A 0B1", "K1B 0B1"]),
        (["1011 AB", "2011 AB", "1012 XK"], ["1011 AB", "1012 XK"]),
        (["01067", "10115", "01069"], ["01067", "01069"]),
        (["2211", "3112", "22", "2212"], ["22", "2211", "2212"]),
    ],
)
def test_codes_that_begin_alike_stand_side_by_side(codes, groups):
    """The district B1 is not part of B11 and B12: a space ends it."""
    made = domain(codes, order="prefix")
    first = made.position[groups[0]]
    assert list(made.values[first : first + len(groups)]) == groups
    ends = {first - 1, first + len(groups) - 1} & set(range(len(made) - 1))
    own = [level for level in made.levels if all(level[end] for end in ends)]
    assert any(not any(level[first : first + len(groups) - 1]) for level in own)


def test_a_column_of_one_value_is_still_refused():
    assert "at least two values" in message([2.5, 2.5])
    assert isinstance(domain([2.5, None]), ValueDomain)
