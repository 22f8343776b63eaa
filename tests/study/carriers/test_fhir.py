"""A FHIR export there and back: valid, consistent, and with nothing in it that is not listed."""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from datetime import date, timedelta

import pyarrow.parquet as pq
import pytest
from fhir.resources.R4B import get_fhir_model_class
from tests.study.carriers.exported import resources, shift
from tests.study.made import SECRET

from voile.core.errors import RequestError, SourceError
from voile.data.fhir.fields import find_references
from voile.demo.clinic import RXNORM
from voile.demo.fhir import person_id
from voile.keys.pseudonyms import date_shift, pseudonym
from voile.study import Study
from voile.study.plan.plan import StudyPlan
from voile.study.verbs.export import mover, unpack_export


def moved(person: int, day: date) -> str:
    days = date_shift(SECRET, person_id(person), days=30)
    return (day + timedelta(days=days)).isoformat()


def name_of(person: int) -> str:
    return pseudonym(SECRET, person_id(person))


@pytest.fixture(scope="module")
def out(fhir_release):
    return fhir_release.path / "export"


@pytest.fixture(scope="module")
def there(clinic, out):
    """The people who were released."""
    names = {one["id"] for one in resources(out, "Patient")}
    return {one.number for one in clinic.people if name_of(one.number) in names}


def test_every_resource_of_six_types_is_valid(out, fhir_release):
    found = Counter()
    for one in resources(out):
        get_fhir_model_class(one["resourceType"]).model_validate(one)
        found[one["resourceType"]] += 1
    files = fhir_release.public["export"]["files"]
    assert len(found) == 6
    assert {f"{kind}.ndjson": n for kind, n in found.items()} == {
        name: one["rows"] for name, one in files.items()
    }


def test_one_pseudonym_and_one_offset_of_each_person_in_every_resource(clinic, out, there):
    visits = [one for one in clinic.visits if one.person in there]
    assert len(there) > 100

    def written(kind, day):
        return Counter((x["subject"]["reference"], day(x)) for x in resources(out, kind))

    def expected(own, of=visits, times=1):
        pairs = [(f"Patient/{name_of(v.person)}", moved(v.person, own(v))) for v in of]
        return Counter(pairs * times)

    start, end = (lambda v: v.start), (lambda v: v.end)
    assert written("Encounter", lambda x: x["period"]["start"]) == expected(start)
    assert written("Encounter", lambda x: x["period"]["end"]) == expected(end)
    assert written("Condition", lambda x: x["onsetDateTime"]) == expected(start)
    assert written("Observation", lambda x: x["effectiveDateTime"]) == expected(start, times=2)
    drugs = [one for one in visits if one.diagnosis in RXNORM]
    assert written("MedicationRequest", lambda x: x["authoredOn"]) == expected(start, drugs)
    died = {name_of(x.number): moved(x.number, x.death) for x in clinic.people if x.death}
    for one in resources(out, "Patient"):
        assert one.get("deceasedDateTime") == died.get(one["id"])


def test_every_reference_resolves_and_links_one_persons_resources(out):
    whose = {f"Encounter/{x['id']}": x["subject"]["reference"] for x in resources(out, "Encounter")}
    people = {f"Patient/{x['id']}" for x in resources(out, "Patient")}
    linked = 0
    for one in resources(out):
        assert {*find_references(one)} <= {*whose, *people}
        for encounter in {*find_references(one)} & {*whose}:
            linked += whose[encounter] == one["subject"]["reference"]
    counts = Counter(x["resourceType"] for x in resources(out))
    assert linked == counts.total() - counts["Patient"] - counts["Encounter"]


def test_notes_are_the_released_texts_with_their_own_hash_and_size(out, fhir_release):
    released = pq.read_table(fhir_release.path / "notes.parquet")
    found = Counter()
    for one in resources(out, "DocumentReference"):
        [content] = one["content"]
        data = base64.b64decode(content["attachment"]["data"])
        assert content["attachment"]["size"] == len(data)
        sha1 = hashlib.sha1(data, usedforsecurity=False).digest()
        assert base64.b64decode(content["attachment"]["hash"]) == sha1
        found[one["subject"]["reference"].removeprefix("Patient/"), data.decode()] += 1
    assert found == Counter(
        zip(*(released[n].to_pylist() for n in ("person_id", "note")), strict=True)
    )


def test_a_patient_shows_what_the_released_row_shows(out, fhir_release):
    people = pq.read_table(fhir_release.path / "people.parquet")
    rows = {one["person_id"]: one for one in people.to_pylist()}
    assert {one["id"] for one in resources(out, "Patient")} == rows.keys()
    for one in resources(out, "Patient"):
        shown = {x["url"].rpartition(":")[2]: x.get("valueString") for x in one["extension"]}
        row = rows[one["id"]]
        assert {name: shown[name] for name in ("age", "sex", "race", "zip")} == {
            name: row[name] for name in ("age", "sex", "race", "zip")
        }
        assert one["gender"] == {"F": "female", "M": "male"}[row["sex"]]  # the text keeps it
        assert "birthDate" not in one


def test_nothing_that_identified_is_left_outside_the_notes(clinic, out, there):
    for one in resources(out):
        for content in one.get("content", ()):
            del content["attachment"]["data"]
        text = json.dumps(one)
        assert one.pop("meta").keys() == {"security"}
        assert not {"contained", "text", "identifier", "name", "note"} & one.keys()
        for word in (
            "MRN-",
            "555-",
            "Main Street",
            "Balen",
            "visit of",
            "display",
            "P0000",
            "V0000",
        ):
            assert word not in text
        assert not any(f'"{x.family}' in text or f" {x.family}" in text for x in clinic.people)


def test_a_bad_export_leaves_the_old_release_and_no_table_of_it(fhir, fhir_release, tmp_path):
    study = Study.open(fhir / "study.toml")
    path = fhir / "export" / "Condition.ndjson"
    whole, before = path.read_bytes(), (fhir_release.path / "manifest.json").read_bytes()
    try:
        path.write_bytes(whole + b"{\n")
        with pytest.raises(SourceError):
            study.apply(force=True)
    finally:
        path.write_bytes(whole)
    assert (fhir_release.path / "manifest.json").read_bytes() == before
    assert not (fhir / ".study.kit.export").exists()


def test_what_a_killed_run_left_of_the_raw_tables_goes_with_the_next(fhir):
    left = fhir / ".study.kit.export" / "tables"
    left.parent.mkdir(mode=0o700)
    left.mkdir(mode=0o700)
    (left / "notes.parquet").write_bytes(b"raw")
    plan = Study.open(fhir / "study.toml").plan
    with unpack_export(plan):
        assert pq.read_table(left / "notes.parquet").num_rows > 0
        assert left.stat().st_mode & 0o777 == 0o700
        with (
            pytest.raises(RequestError, match="another run has these sources open"),
            unpack_export(plan),
        ):
            pass
    assert not left.parent.exists()


def test_verify_holds_the_export_to_its_manifest(fhir, fhir_release):
    study = Study.open(fhir / "study.toml")
    assert not [one for one in study.verify() if one.holds is False]
    path = fhir_release.path / "export" / "Patient.ndjson"
    whole = path.read_bytes()
    try:
        path.write_bytes(whole.replace(b"female", b"male"))
        failed = [one.says for one in study.verify() if one.holds is False]
    finally:
        path.write_bytes(whole)
    assert failed == [
        "study.release/export/Patient.ndjson is as the seal has it",
        "export/Patient.ndjson: the bytes are those that the manifest names",
    ]


@pytest.mark.parametrize("dates", ["days", "weeks", "months"])
def test_days_of_an_export_move_as_those_of_all_parts(fhir, tmp_path, dates):
    text = (fhir / "study.toml").read_text().replace("seed = 1", f'seed = 1\ndates = "{dates}"')
    for name in ("study.toml", "study.key"):
        (tmp_path / name).write_text(text if name == "study.toml" else "k" * 64)
    (tmp_path / "study.key").chmod(0o600)
    move, day = mover(StudyPlan.read_file(tmp_path / "study.toml")), date(2013, 5, 14)
    found = [move(person_id(n), day) for n in range(60)]
    assert dates != "weeks" or {one.weekday() for one in found} == {day.weekday()}
    assert dates != "months" or {one.day for one in found} == {1}
    assert dates != "days" or found == [shift(person_id(n), day) for n in range(60)]


def test_ages_of_another_day_than_the_populations_are_said(fhir, clinic):
    text = (fhir / "study.toml").read_text()
    plan = fhir / "late.toml"
    plan.write_text(text.replace("as_of = 2013-07-01", "as_of = 2093-07-01"))
    with pytest.raises(RequestError, match="have no people in the population") as caught:
        Study.open(plan).fit()
    last = max(one.start for one in clinic.visits)
    said = f"ages are counted on as_of, 2093-07-01, and the last visit began on {last}"
    assert said in str(caught.value)
    assert 'population_gap = "sample"' in str(caught.value)


def test_a_patient_and_the_notes_have_one_made_up_name(fhir, clinic):
    text = (fhir / "study.toml").read_text()
    plan = fhir / "named.toml"
    plan.write_text(text.replace("[mentions]", "[names]\n\n[mentions]"))
    study = Study.open(plan)
    study.fit()
    release = study.apply()
    out = release.path / "export"
    names = {x["id"]: x["name"][0] for x in resources(out, "Patient")}
    for one in resources(out, "Patient"):
        get_fhir_model_class("Patient").model_validate(one)
    true = {x["family"] for x in (p["name"][0] for p in resources(fhir / "export", "Patient"))}
    assert len({str(one) for one in names.values()}) == len(names) == len(clinic.people)
    found = []
    for one in resources(out, "DocumentReference"):
        own = names[one["subject"]["reference"].removeprefix("Patient/")]
        note = base64.b64decode(one["content"][0]["attachment"]["data"]).decode()
        found.append(own["family"] in note)
    assert sum(found) >= 0.95 * len(found)
    assert not true & {one["family"] for one in names.values()}
