"""Remedies of a plan do what they say: measured on a release, then written into the plan."""

from __future__ import annotations

import shutil
from collections import Counter
from datetime import date, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest
from tests.study.carriers.exported import resources
from tests.study.made import roles_of, write_key

from voile.core.errors import RequestError
from voile.data import open_source
from voile.data.fhir.fields import find_references
from voile.gate.people import ReleasedPart
from voile.study import Study
from voile.study.risk.remedies import MOST_TYPES, ExportOptions, _try_export
from voile.study.study_release import StudyRelease

STAYS = """\
[study]
subject = "person_id"
key_file = "study.key"
date_shift_days = 30
seed = 1

[promise]
k = 5
max_relative_risk = 1.0

[parts.people]
kind = "tables"
source = "people.csv"
roles = "people.toml"

[parts.stays]
kind = "tables"
source = "stays.csv"
roles = "stays.toml"
"""


def days_of(person: int, visit: int) -> int:
    return 0 if person < 36 else 40 * visit


@pytest.fixture
def stays(tmp_path) -> Path:
    """Forty people: ten have a stay of their own length, and ten a number of stays of their own.

    Of these ten, six have all stays on one day.
    """
    ids = [f"P{n:02}" for n in range(40)]
    people = pa.table({"person_id": ids, "sex": ["F", "M"] * 20})
    pa.csv.write_csv(people, tmp_path / "people.csv")
    first = date(2020, 1, 6)
    rows = [
        {
            "person_id": one,
            "unit": "a",
            "start": first + timedelta(days_of(n, visit)),
            "end": first + timedelta(days_of(n, visit) + (n if 20 <= n < 30 else 0)),
        }
        for n, one in enumerate(ids)
        for visit in range(n - 28 if n >= 30 else 1)
    ]
    pa.csv.write_csv(pa.Table.from_pylist(rows), tmp_path / "stays.csv")
    (tmp_path / "people.toml").write_text(roles_of({"sex": "quasi"}))
    own = {"unit": "keep", "start": "keep", "end": "keep"}
    (tmp_path / "stays.toml").write_text(roles_of(own))
    write_key(tmp_path)
    (tmp_path / "study.toml").write_text(STAYS)
    return tmp_path / "study.toml"


def applied(plan: Path) -> StudyRelease:
    study = Study.open(plan)
    study.fit(force=True)
    release = study.apply(force=True)
    assert [one.says for one in study.verify() if one.holds is False] == []
    return release


def people_alone(release: StudyRelease) -> int:
    """Return the people whom all facts of the table and all parts single out."""
    [found] = [
        x for x in release.private["informed"] if (x["part"], x["facts"]) == ("all parts", None)
    ]
    return int(found["alone"])


def test_each_remedy_of_a_part_helps_as_many_people_as_it_says(stays):
    release = applied(stays)
    before = people_alone(release)
    remedies = {one["option"]: one for one in release.private["remedies"]}
    families = {one.partition(" =")[0] for one in remedies}
    assert families >= {"links", "stays", "row_bins", "most_rows"}
    for option, one in remedies.items():
        text = STAYS.replace("seed = 1", f"seed = 1\n{option}") if one["place"] == "[study]" else ""
        stays.write_text(text or f"{STAYS}{option}\n")
        after = applied(stays)
        assert one["alone"] == before
        helped = before - people_alone(after)
        assert helped == one["helped"] if option != 'dates = "months"' else helped > 0, option
        if "left out" in one["loss"]:
            lost = after.private["left_out"]["stays"]
            assert f"{-(-100 * lost['left_out'] // lost['rows'])}%" in one["loss"]


def test_bins_of_the_first_table_leave_nobody_out(stays):
    first = '[parts.people]\nkind = "tables"\nrow_bins = [2, 4]'
    stays.write_text(STAYS.replace('[parts.people]\nkind = "tables"', first))
    with pytest.raises(RequestError, match="nobody may be without a row of it: add 1"):
        Study.open(stays)


def test_remedies_of_an_export_cap_and_drop_its_types(fhir, fhir_release, tmp_path):
    remedies = [one for one in fhir_release.private["remedies"] if one["place"] == "[export]"]
    assert all(not one["option"].startswith('drop = ["Patient"]') for one in remedies)
    assert any(one["option"].startswith("drop = ") for one in remedies)
    home = tmp_path / "study"
    shutil.copytree(fhir, home, ignore=shutil.ignore_patterns("*.release*"))
    plan = home / "study.toml"
    text = plan.read_text().replace("[export]\n", "[export]\nmost_rows = { Observation = 1 }\n")
    plan.write_text(text)
    release = applied(plan)
    counted = Counter(
        one["subject"]["reference"] for one in resources(release.path / "export", "Observation")
    )
    assert set(counted.values()) == {1}
    tally = release.private["export"]["counts"]["Observation"]
    assert tally["set_aside_by"]["beyond the most rows of a person"] > 0
    assert tally["read"] == tally["released"] + tally["suppressed"] + tally["rejected"]
    there = {f"{x['resourceType']}/{x['id']}" for x in resources(release.path / "export")}
    assert there.issuperset(
        x for one in resources(release.path / "export") for x in find_references(one)
    )
    plan.write_text(text.replace("Observation = 1", "Observatoin = 1"))
    with pytest.raises(RequestError, match="names Observatoin; did you mean Observation"):
        Study.open(plan).check()


def test_a_dropped_type_helps_as_many_people_as_its_remedy_says(fhir, fhir_release, tmp_path):
    remedies = [x for x in fhir_release.private["remedies"] if x["option"].startswith("drop = ")]
    best = max(remedies, key=lambda one: one["helped"])
    home = tmp_path / "study"
    shutil.copytree(fhir, home, ignore=shutil.ignore_patterns("*.release*"))
    plan = home / "study.toml"
    plan.write_text(plan.read_text().replace("[export]\n", f"[export]\n{best['option']}\n"))
    after = applied(plan)
    assert people_alone(fhir_release) - people_alone(after) >= best["helped"] > 0


def test_of_many_types_those_of_the_most_rows_are_tried():
    rows = [
        {"person": f"p{n}", "fact": f"{kind} {n}", "type": f"T{kind:02}", "rank": rank}
        for kind in range(15)
        for n in range(4)
        for rank in range(1, kind + 2)
    ]
    events = open_source(pa.Table.from_pylist(rows))
    parts = {"events": ReleasedPart(rows=events, person="person", facts=("fact",), dates=())}
    tried = {one.option for one in _try_export(ExportOptions([], {}, frozenset()), parts)}
    assert tried == {f'drop = ["T{n:02}"]' for n in range(15 - MOST_TYPES, 15)}
