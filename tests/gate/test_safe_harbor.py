"""Cells with values of Safe Harbor's categories are counted, and generalised ones are not."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest

from voile.data import open_source
from voile.gate.finding import figures_of
from voile.gate.safe_harbor import SAFE_HARBOR_FOUND as FOUND
from voile.gate.safe_harbor import count_safe_harbor

SMALL = ("036", "893")


def count(cells, *, codes=()):
    rows = open_source(pa.table(cells))
    return figures_of(count_safe_harbor(rows, codes, SMALL))


@pytest.mark.parametrize(
    ("column", "value", "category"),
    [
        ("visit", "2020-05-01", "dates"),
        ("visit", "1987-10-01 and later", "dates"),
        ("visit", "1.5.2020", "dates"),
        ("visit", "seen on May 3, in bed", "dates"),
        ("visit", dt.date(2020, 5, 1), "dates"),
        ("age", "90", "ages over 89"),
        ("age", 97, "ages over 89"),
        ("age", "90 to 93", "ages over 89"),
        ("age", "[90, 95)", "ages over 89"),
        ("age", "<90, 91", "ages over 89"),
        ("age", "95 and over", "ages over 89"),
        ("zip", "37203", "ZIP codes"),
        ("zip", "37204-37399", "ZIP codes"),
        ("zip", "036", "ZIP codes"),
        ("zip", "03600-03699", "ZIP codes"),
        ("note", "call 615-555-0134 soon", "telephone and fax numbers"),
        ("note", "(615) 555-0134", "telephone and fax numbers"),
        ("note", "by ann@example.org", "e-mail addresses"),
        ("note", "see www.example.org", "web addresses"),
        ("note", "from 192.168.250.30", "IP addresses"),
        ("note", "123-45-6789", "social security numbers"),
        ("surname", "Ann", "names"),
        ("city", "Nashville", "geographic subdivisions"),
    ],
)
def test_a_value_of_a_category_is_counted(column, value, category):
    found = count({column: [value, None, value]})
    assert found == {FOUND: 2, f"{FOUND}({category})": 2}


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("visit", "1990"),
        ("visit", "1990-01-01 to 1999-12-31"),
        ("visit", "1990-01-01 and later"),
        ("visit", "before 1990-01-01"),
        ("age", "90 and over"),
        ("age", ">= 90"),
        ("age", "≥90"),
        ("age", "90+"),
        ("age", "85 and over"),
        ("age", "69-84"),
        ("zip", "37000-37399"),
        ("zip", "372"),
        ("zip", "any"),
        ("city", "*"),
        ("state", "TN"),
        ("drug_name", "aspirin"),
        ("ill", "I25.1"),
        ("cost", 1234567),
        ("tags", ["2020-05-01"]),
    ],
)
def test_a_generalised_value_is_not_counted(column, value):
    assert count({column: [value]}) == {FOUND: 0}


@pytest.mark.parametrize(
    ("column", "low", "high", "cells"),
    [
        ("zip", "37000", "37399", 0),
        ("zip", "37203", "37399", 1),
        ("zip", "03600", "03699", 1),
        ("age", 90, None, 0),
        ("age", 85, 95, 1),
        ("visit", dt.date(1990, 1, 1), dt.date(1999, 12, 31), 0),
        ("visit", None, dt.date(1999, 12, 31), 0),
        ("visit", dt.date(1990, 5, 1), dt.date(1990, 5, 1), 1),
        ("zip", None, None, 0),
    ],
)
def test_two_bounds_are_one_interval(column, low, high, cells):
    found = count({f"{column}_low": [low, None], f"{column}_high": [high, None]})
    assert found[FOUND] == cells


def test_a_pseudonym_is_a_code_of_a_person_and_a_cell_counts_once():
    found = count(
        {"person": ["P1", "P2"], "note": ["ann@x.org on 2020-05-01", ""]}, codes=["person"]
    )
    assert found[FOUND] == 3
    assert found[f"{FOUND}(numbers and codes of a person)"] == 2
    assert (found[f"{FOUND}(dates)"], found[f"{FOUND}(e-mail addresses)"]) == (1, 1)
