"""Unreleased values in released bytes: apply stops, verify counts again, the report begins so."""

from __future__ import annotations

import base64
import json
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from voile.core.errors import InfeasibleError
from voile.data import open_source
from voile.gate.values.search import search_values
from voile.keys.pseudonyms import pseudonym
from voile.release.values import inputs_of
from voile.study import Study
from voile.study.text.exported_texts import SearchedExport
from voile.study.verbs.export import unpack_export

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


@pytest.mark.parametrize("form", ["fhir", "omop"])
def test_a_value_in_a_file_of_the_export_is_found(form, request, tmp_path):
    """In FHIR it stands in an attachment in base64, in OMOP in a column of text."""
    release = request.getfixturevalue(f"{form}_release")
    study = Study.open(request.getfixturevalue(form) / "study.toml")
    folder = tmp_path / "export"
    shutil.copytree(release.path / "export", folder)
    with unpack_export(study.plan) as plan:
        known = plan.open_known()
        rows_of = known.read(["person_id", "record_number"]).to_pylist()
        numbers = {
            pseudonym(plan.secret, row["person_id"]): row["record_number"]
            for row in rows_of
            if row["record_number"]
        }
        whose = {pseudonym(plan.secret, row["person_id"]): row["person_id"] for row in rows_of}
        searched = SearchedExport(folder, known, "person_id", whose)
        before, _ = search_values(inputs_of([searched]))
        leak = {"fhir": leak_in_attachment, "omop": leak_in_note}[form]
        leak(folder, numbers)
        after, _ = search_values(inputs_of([searched]))
    assert before.certain == 0
    assert after.certain == 1
    assert {one.in_part for one in after.forms} == {"export"}


def leak_in_attachment(folder, numbers):
    path = folder / "DocumentReference.ndjson"
    lines = path.read_text().splitlines()
    one = json.loads(lines[0])
    own = numbers[one["subject"]["reference"].removeprefix("Patient/")]
    attachment = one["content"][0]["attachment"]
    text = base64.b64decode(attachment["data"]).decode() + f"\nSigned {own}."
    attachment["data"] = base64.b64encode(text.encode()).decode()
    path.write_text("\n".join([json.dumps(one), *lines[1:]]))


def leak_in_note(folder, numbers):
    (path,) = folder.glob("note.*")
    (people,) = folder.glob("person.*")
    own = open_source(people).read(["person_id", "person_source_value"]).to_pylist()
    named = {str(row["person_id"]): row["person_source_value"] for row in own}
    rows = open_source(path).read().to_pylist()
    rows[0]["note_text"] += f"\nSigned {numbers[named[str(rows[0]['person_id'])]]}."
    path.unlink()
    pq.write_table(pa.Table.from_pylist(rows), folder / "note.parquet")
