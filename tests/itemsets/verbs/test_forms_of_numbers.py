"""Forms in which text writes numbers and dates: those that are read, and those refused."""

from __future__ import annotations

from collections import defaultdict

import pytest
from tests.itemsets.verbs.clinic import DATES, NUMBERS, PEOPLE, ROLES, clinic, fitted, released

from voile.core.errors import RequestError


@pytest.mark.parametrize(
    ("column", "settings", "values", "said"),
    [
        ("age", {}, ["SECRET"], "row 1, column age: 1 cell holds a value that is not a fin"),
        (
            "weight",
            {},
            [float("inf")],
            "row 1, column weight: 1 cell holds a value that is not a fin",
        ),
        (
            "first",
            {},
            ["31.02.2016"],
            "row 1, column first: 1 cell holds a value that is not a fin",
        ),
        ("age", {"step": 0}, [], "roles, column age: step: must be more than 0"),
        ("age", {"step": 2.5}, [], "roles, column age: its step divides whole numbers"),
        ("age", {"form": "SECRET"}, [], "roles, column age: a form writes no number"),
        ("first", {"form": "%Y"}, [], "roles, column first: a form writes no date"),
        ("visits", {"as": "dates"}, [], "column visits: is int64, and cannot be read as dates"),
        ("ward", {"as": "numbers"}, [], "column ward: most of its values are not numbers"),
        ("ward", {"as": "categories", "step": 5}, [], "step go with numbers and dates"),
        ("age", {"cuts": [5]}, [], "has more than one of as, cuts and quantiles"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_sentence(column, settings, values, said):
    table = clinic()
    table[column] = [*values, *table[column][len(values) :]]
    own = DATES if column == "first" else NUMBERS
    with pytest.raises(RequestError) as refused:
        fitted(table, {**ROLES, column: {**own, **settings}}, 5)
    assert said in str(refused.value)
    assert "SECRET" not in str(refused.value)


def test_dates_that_can_be_read_in_two_ways_are_asked_about():
    table = clinic()
    table["first"] = ["01/02/2016", "03/04/2017"] * (PEOPLE // 2)
    with pytest.raises(RequestError, match='say which: form = "%m/%d/%Y" or form = "%d/%m/%Y"'):
        fitted(table, ROLES, 5)
    fitted(table, {**ROLES, "first": {**DATES, "form": "%d/%m/%Y"}}, 5)


@pytest.mark.parametrize(
    "values",
    [
        ["1.234,5 kg", "2.000,5 kg"],
        ["7 kg", "9 kg"],
        [" 7", "1e3"],
        ["-0.0", "0.5"],
        ["k.A.", "12", "13"],
    ],
)
def test_numbers_are_read_in_the_forms_that_tables_read(tmp_path, values):
    table = clinic()
    table["weight"] = (values * PEOPLE)[:PEOPLE]
    last = values[-1]
    table["grade"] = ["much" if one == last else "less" for one in table["weight"]]
    roles = {**ROLES, "weight": {**NUMBERS, "missing": ["k.A."]}}
    _, shown = released(fitted(table, roles, 5), table, tmp_path / "r.csv", risk=0.2)
    pairs = defaultdict(set)
    for was, one in zip(table["weight"], shown["weight"], strict=True):
        pairs[one].add(was)
    assert {last} in pairs.values()
