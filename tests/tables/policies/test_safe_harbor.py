"""Safe Harbor's golden cases: ages over 89, ZIP3 areas of 20,000, years, and both dated lists."""

from __future__ import annotations

import datetime as dt
import warnings

import pyarrow as pa
import pytest

from voile.core.errors import RequestError
from voile.tables.domains.zip_areas import SMALL_AREAS
from voile.tables.fitting.space import PolicySpace
from voile.tables.policies.safe_harbor import SafeHarborWarning, safe_harbor


def intervals(policy, column):
    domain = next(d for d in policy.domains if d.column == column)
    return [
        [domain.values[i] for i in range(interval.first, interval.last + 1)]
        for interval in policy.intervals[column]
    ]


def zips(people, *, vintage="population", settings=None):
    """Return the groups of ZIP codes, of which each has so many people."""
    codes = [code for code in people if code is not None]
    sample = pa.table({"zip": [*people]})
    population = pa.table({"zip": [*people], "people": [*people.values()]})
    space = PolicySpace.of(sample, population, ["zip"], settings={"zip": settings or {}})
    assert len(codes) > 1
    return safe_harbor(space, vintage=vintage)


def quiet(*args, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SafeHarborWarning)
        return intervals(zips(*args, **more), "zip")


def test_89_stays_and_90_groups():
    space = PolicySpace.of(pa.table({"age": [87, 88, 89, 90, 91, 105, None]}), quasi=["age"])
    groups = intervals(safe_harbor(space), "age")
    assert groups[:4] == [[87], [88], [89], [90, 91, 105]]
    assert groups[4:] == [[None]]


def test_ages_are_found_by_their_name_and_are_whole_years():
    sample = pa.table({"wage": [1, 95, 96], "patient_age": [1, 95, 96]})
    space = PolicySpace.of(sample, quasi=["wage", "patient_age"])
    policy = safe_harbor(space)
    assert len(policy.intervals["wage"]) == 3
    assert [len(g) for g in intervals(policy, "patient_age")] == [1, 2]
    assert len(safe_harbor(space, age_column="wage").intervals["patient_age"]) == 3
    words = PolicySpace.of(pa.table({"age": ["young", "old"]}), quasi=["age"])
    assert "no column of ages was found" in safe_harbor(words).notes
    with pytest.raises(RequestError, match="column age: ages must be whole years"):
        safe_harbor(words, age_column="age")


def test_an_area_of_20_000_groups_and_one_of_20_001_stays():
    people = {"03601": 20_000, "05901": 1, "37010": 10_000, "37011": 10_001, "38001": 99_999}
    policy = zips(people)
    assert intervals(policy, "zip") == [["03601", "05901"], ["37010", "37011"], ["38001"]]
    assert "2 areas of 20,000 people or fewer" in policy.notes[0]


def test_missing_zip_codes_stay_apart():
    groups = quiet({"03601": 5, "05901": 1, "37010": 30_000, None: 9})
    assert groups == [["03601", "05901"], ["37010"], [None]]


def test_an_area_that_crosses_the_edge_of_the_table_warns():
    with pytest.warns(SafeHarborWarning, match=r"1 three-digit areas .* \(372\).* cross its edge"):
        policy = zips({"37201": 500, "37010": 30_000, "03601": 7})
    assert any("cross its edge" in note for note in policy.notes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        zips({"37201": 20_001, "37010": 30_000, "03601": 7})


def test_both_dated_lists_are_there():
    assert {vintage: len(areas) for vintage, areas in SMALL_AREAS.items()} == {
        "2000": 17,
        "2010": 18,
    }
    assert all(len(area) == 3 for areas in SMALL_AREAS.values() for area in areas)
    assert "203" in SMALL_AREAS["2000"] & SMALL_AREAS["2010"]
    assert "369" in SMALL_AREAS["2010"] - SMALL_AREAS["2000"]


def test_a_dated_list_says_what_is_small_whatever_the_table_counts():
    people = {"36901": 90_000, "37010": 5, "38001": 5, "83001": 90_000}
    order = {"order": ["37010", "38001", "36901", "83001"]}
    assert quiet(people, settings=order, vintage="2000") == [
        ["37010"], ["38001"], ["36901"], ["83001"],
    ]  # fmt: skip
    order = {"order": ["37010", "38001", "83001", "36901"]}
    policy = zips(people, settings=order, vintage="2010")
    assert intervals(policy, "zip") == [["37010"], ["38001"], ["83001"], ["36901"]]
    assert "list of the 2010 census" in policy.notes[0]
    both = {"03601": 90_000, "05901": 90_000, "37010": 5}
    assert quiet(both, vintage="2000") == [["03601", "05901"], ["37010"]]


SCATTERED = {"03601": 5, "37010": 30_000, "38001": 30_000, "05901": 5, "87801": 7}


def test_order_zip3_keeps_the_rule_on_the_lattice():
    expected = [["37010"], ["38001"], ["03601", "05901", "87801"]]
    assert quiet(SCATTERED, settings={"order": "zip3"}) == expected
    assert quiet(SCATTERED) == expected


def test_an_order_that_scatters_areas_is_refused():
    numeric = r'column zip: .* numeric order of ZIP codes does not put the 3 small .* "zip3"'
    with pytest.raises(RequestError, match=numeric):
        zips(SCATTERED, settings={"order": "natural"})
    with pytest.raises(RequestError, match="a list that has the small areas of the 2010 census"):
        zips(SCATTERED, settings={"order": "natural"}, vintage="2010")
    torn = {"37010": 30_000, "38001": 30_000, "37011": 5}
    with pytest.raises(RequestError, match=r"this order of ZIP codes tears 1 of 2 .* areas apart"):
        zips(torn, settings={"order": list(torn)})
    both = {"03601": 5, "37010": 30_000, "05901": 5, "37011": 5}
    with pytest.raises(RequestError, match=r"tears 1 of 3 .* and does not put the 2 small"):
        zips(both, settings={"order": list(both)})


def test_small_areas_may_mingle_in_their_group():
    mingled = {"37010": 30_000, "03601": 5, "05901": 5, "03602": 5}
    groups = quiet(mingled, settings={"order": list(mingled)})
    assert groups == [["37010"], ["03601", "05901", "03602"]]


def test_areas_are_not_read_off_numbers():
    space = PolicySpace.of(pa.table({"code": [501, 37010]}), quasi=["code"])
    with pytest.raises(RequestError, match=r"column code: .* the values are not text; .* as text"):
        safe_harbor(space, zip_column="code")


def test_a_column_called_zip_goes_before_other_five_digit_codes():
    sample = pa.table({"site": ["10001", "10002"], "zip": ["37010", "37011"]})
    people = pa.table({**{n: sample.column(n) for n in ("site", "zip")}, "people": [30_000] * 2})
    policy = safe_harbor(PolicySpace.of(sample, people, ["site", "zip"]))
    assert len(policy.intervals["zip"]) == 1
    assert len(policy.intervals["site"]) == 2
    assert "no column of ages was found" in policy.notes


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("PLZ", ["10115", "10117", "80331"]),
        ("Postleitzahl", ["10115", "10117", "80331"]),
        ("code_postal", ["75001", "75002", "13001"]),
        ("postcode", ["SW1A 1AA", "M1 1AE", "EH1 1YZ"]),
        ("homeCity", ["Ash", "Birch", "Cedar"]),
        ("county", ["Cook", "Lake", "Will"]),
        ("home_lat", [36.16, 35.15, 36.17]),
        ("Längengrad", ["13,4", "11,6", "13,5"]),
        ("census tract", [4001, 4002, 4003]),
        ("street", ["Ash", "Birch", "Cedar"]),
    ],
)
def test_what_is_smaller_than_a_state_is_one_group(column, values):
    sample = pa.table({"age": [40, 95, 40, 41], column: [*values, None]})
    policy = safe_harbor(PolicySpace.of(sample, quasi=["age", column]))
    known, missing = intervals(policy, column)
    assert len(known) >= 3
    assert missing == [None]
    assert f"{column}: one group, since it is of places within a state" in policy.notes


@pytest.mark.parametrize("column", ["state", "Bundesland", "country", "native-country", "region"])
def test_states_and_countries_stay(column):
    space = PolicySpace.of(pa.table({"age": [40, 95], column: ["A", "B"]}), quasi=["age", column])
    assert len(safe_harbor(space).intervals[column]) == 2


@pytest.mark.parametrize("column", ["zip", "ZIP code", "zcta5", "postcode", "postal_code", "site"])
def test_five_digits_that_may_be_zip_codes_are_cut_to_three(column):
    sample = pa.table({column: ["37010", "37011", "38001"]})
    people = sample.append_column("people", [[30_000] * 3])
    policy = safe_harbor(PolicySpace.of(sample, people, [column]))
    assert intervals(policy, column) == [["37010", "37011"], ["38001"]]


def test_dates_become_years():
    days = ["1999-12-31", "2000-01-01", "2000-12-31", None]
    policy = safe_harbor(PolicySpace.of(pa.table({"seen": days}), quasi=["seen"]))
    groups = intervals(policy, "seen")
    assert [{str(v)[:4] for v in group} for group in groups] == [{"1999"}, {"2000"}, {"None"}]
    assert "seen: dates become years" in policy.notes


def test_years_of_birth_over_89_are_grouped_on_a_day():
    births = [dt.date(year, 6, 1) for year in (1910, 1922, 1923, 1924, 1950)]
    space = PolicySpace.of(pa.table({"birth_date": births}), quasi=["birth_date"])
    groups = intervals(safe_harbor(space, on=dt.date(2013, 7, 1)), "birth_date")
    assert [group[-1] for group in groups] == ["1923-06-01", "1924-06-01", "1950-06-01"]
    unsaid = safe_harbor(space)
    assert len(unsaid.intervals["birth_date"]) == 5
    assert any("day at which ages are counted was not given" in note for note in unsaid.notes)


def test_other_columns_stay_and_unknown_ones_are_refused():
    space = PolicySpace.of(pa.table({"sex": ["f", "m"], "race": ["a", "b"]}), quasi=["sex", "race"])
    assert safe_harbor(space).bits.all()
    with pytest.raises(RequestError, match="zipcode is not a quasi-identifier"):
        safe_harbor(space, zip_column="zipcode")


def test_without_a_population_a_dated_list_says_which_areas_are_small():
    sample = pa.table({"zip": ["03601", "37010", "37301"], "age": [1, 2, 3]})
    policy = safe_harbor(PolicySpace.of(sample, quasi=["zip", "age"]))
    assert len(policy.intervals["zip"]) == 3
    assert any("list of the 2010 census" in note for note in policy.notes)
