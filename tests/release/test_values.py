"""A release by itself is searched for the unreleased values of its people."""

from __future__ import annotations

import warnings

import pyarrow as pa
import pytest

import voile.tables as vt
from voile.release import found_values, values
from voile.release.found_values import VALUES, ValuesWarning

PEOPLE, SAID = 400, 20
ROLES = {
    "columns": {"name": "identifier", "ward": "drop", "age": "quasi", "remark": "keep"},
}
LABELS = {"columns": {"name": "identifier", "ward": "drop", "age": "quasi", "remark": "drop"}}


def make_table() -> pa.Table:
    """Return people of whom the first have their names in the remark."""
    names = [f"Zora{n:03}" for n in range(PEOPLE)]
    remarks = [f"seen with {names[n]}" if n < SAID else "seen" for n in range(PEOPLE)]
    age = [20 + n % 4 for n in range(PEOPLE)]
    ward = [("north", "south")[n % 2] for n in range(PEOPLE)]
    return pa.table({"name": names, "ward": ward, "age": age, "remark": remarks})


def release_of(roles, tmp_path):
    table = make_table()
    kit = vt.fit(table, roles, k=5, seed=1, method="steepest", family="global")
    return kit.apply(kit.choose(max_relative_risk=1.0), table, tmp_path / "release.csv")


def test_names_in_a_kept_column_are_found_and_shown(tmp_path):
    with pytest.warns(ValuesWarning, match="20 of 400 people have an own unreleased value"):
        release = release_of(ROLES, tmp_path)
    [own] = [x for x in release.private["findings"] if x["name"] == "people_with_values"]
    assert (own["value"], own["n"], own["unit"]) == (SAID, PEOPLE, "people")
    assert own["expected"] < 1
    [form] = release.private[VALUES][0]["forms"]
    assert (form["column"], form["in_column"], form["people"]) == ("name", "remark", SAID)
    pages = {
        who: release.report(internal=who == "internal")._repr_html_()
        for who in ("internal", "public")
    }
    assert "20 of 400 people have an own unreleased value" in pages["internal"]
    assert "own unreleased value" not in pages["public"]
    said = [check.says for check in release.verify() if check.holds is None]
    assert any("people_with_values" in one and "not counted again" in one for one in said)


def test_labels_alone_need_no_search(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ValuesWarning)
        release = release_of(LABELS, tmp_path)
    assert VALUES not in release.private
    searched = ("people_with_", "values_", "columns_")
    assert not [x for x in release.private["figures"] if x.startswith(searched)]


def test_a_column_that_is_too_large_is_stated_and_not_cut(tmp_path, monkeypatch):
    monkeypatch.setattr(found_values, "LARGEST", 1_000)  # the remarks have more bytes
    with warnings.catch_warnings():
        warnings.simplefilter("error", ValuesWarning)
        release = release_of(ROLES, tmp_path)
    assert release.private["figures"]["columns_not_searched"] >= 1
    assert VALUES not in release.private
    page = release.report(internal=True)._repr_html_()
    assert "Not searched" in page


def test_of_many_rows_the_first_are_searched_and_their_people_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(values, "MOST_ROWS", 150)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ValuesWarning)
        release = release_of(ROLES, tmp_path)
    [own] = [x for x in release.private["findings"] if x["name"] == "people_with_values"]
    first = release.rows().read(["remark"]).column(0).to_pylist()[:150]
    assert own["n"] == 150
    assert own["value"] == sum(remark != "seen" for remark in first)
