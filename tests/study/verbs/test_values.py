"""Unreleased values in released bytes: apply stops, verify counts again, the report begins so."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from voile.core.errors import InfeasibleError
from voile.study import Study

ACCEPTED = ("max_relative_risk = 0.2", "max_relative_risk = 0.2\nvalues_in_text = 1")


@pytest.fixture
def leaking(folder):
    """Notes with the family name of each person, in a form that no kit finds."""
    visits = pq.read_table(folder / "visits.parquet", columns=["person_id", "family_name"])
    names = dict(zip(*(x.to_pylist() for x in visits.columns), strict=True))
    notes = pq.read_table(folder / "notes.parquet")
    texts = [
        f"{note} ref zq{names[who].lower()}zq"
        for who, note in zip(*(notes[n].to_pylist() for n in ("person_id", "note")), strict=True)
    ]
    at = notes.column_names.index("note")
    pq.write_table(notes.set_column(at, "note", pa.array(texts)), folder / "notes.parquet")
    return set(names.values())


def test_apply_stops_and_names_columns_but_no_value(change, leaking):
    study = change()
    with pytest.raises(InfeasibleError, match=r"family_name \(glued\) in notes\.note") as error:
        study.apply()
    assert not study.plan.release.exists()
    assert not any(name.lower() in str(error.value).lower() for name in leaking)


def test_an_accepted_risk_is_stated_first_and_verified(change, leaking, tmp_path):
    study = change(ACCEPTED)
    release = study.apply()
    own = release.private["values"][0]
    (finding,) = (x for x in release.private["findings"] if x["name"] == own["name"])
    assert finding["value"] > 0.8 * finding["n"]
    assert release.public["figures"]["values_in_text"] == release.public["values"][0]["found"]
    assert "visits.family_name" in release.public["values"][0]["columns"]
    page = study.report(tmp_path / "report.html").read_text()
    assert "have an own unreleased value in the released bytes" in page
    assert not any(f"zq{name.lower()}zq" in page for name in leaking)
    checks = dict(study.verify())
    assert checks[own["sentence"]] is True
    assert checks["people with values in the released bytes are as apply found them"] is True
    stricter = dict(change().verify())
    (limited,) = (holds for says, holds in stricter.items() if "own unreleased value" in says)
    assert limited is False


def test_a_changed_finding_is_noticed(change, leaking):
    study = change(ACCEPTED)
    release = study.apply()
    path = release.folder / "manifest.json"
    data = json.loads(path.read_text())
    data["figures"]["people_with_values"] += 1
    path.write_text(json.dumps(data))
    found = dict(Study.open(study.plan.path).verify())
    assert found["people with values in the released bytes are as apply found them"] is False
