"""Ids that do not name people one by one are noticed, without a value of theirs."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import voile
from voile.proposals.people import PeopleWarning


def warned(columns: dict[str, Any], kind: str = "tables") -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        voile.inspect(columns, kind=kind)
    return [str(one.message) for one in caught if one.category is PeopleWarning]


@pytest.mark.parametrize("name", ["patient_id", "x"])
def test_ids_that_a_spreadsheet_cut_are_noticed(name: str) -> None:
    ids = [f"{2.987 + i // 10 / 1000:.3f}E+13" for i in range(60)]
    (said,) = warned({name: ids, "age": list(range(60))})
    assert said == (
        f"dictionary of columns: column {name} has 6 distinct values in 60 rows that a spreadsheet "
        "cut short, as 1.23457E+13. Several ids are now equal: export the column again as text"
    )


def test_measurements_and_whole_ids_are_not() -> None:
    loads = [f"{1 + i / 100:.2f}E+05" for i in range(60)]
    assert warned({"load": loads, "patient_id": [f"P{i}E" for i in range(60)]}) == []


@pytest.mark.parametrize("kind", ["tables", "signals"])
def test_a_subject_of_very_many_rows_is_noticed(kind: str) -> None:
    people = [f"p{i}" for i in range(100) for _ in range(2)]
    some = {"patient_id": people + ["CANARY"] * 101, "pulse": [60 + i % 40 for i in range(301)]}
    (said,) = warned(some, kind)
    assert "column patient_id has 101 rows of one subject, and the median is 2;" in said
    assert "CANARY" not in said
    few = {name: cells[:-1] for name, cells in some.items()}
    assert warned(few, kind) == []


def test_many_rows_of_everyone_are_plausible() -> None:
    people = [f"p{i}" for i in range(20) for _ in range(150)]
    assert warned({"patient_id": people, "pulse": [60 + i % 40 for i in range(3000)]}) == []
