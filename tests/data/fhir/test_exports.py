"""Every form of file has its resources read, and other versions of FHIR are refused by name."""

from __future__ import annotations

import gzip
import json

import pytest

from voile.core.errors import SourceError
from voile.data.fhir.exports import count_other_files, is_fhir_folder, read_export

PATIENT = {"resourceType": "Patient", "id": "p"}
CONDITION = {"resourceType": "Condition", "id": "c", "subject": {"reference": "urn:uuid:p"}}


def bundle(*resources, kind="transaction", **more):
    entries = [{"fullUrl": f"urn:uuid:{x.get('id', 'u')}", "resource": x} for x in resources]
    return {"resourceType": "Bundle", "type": kind, "entry": entries, **more}


def write(path, text):
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


LINES = f"{json.dumps(PATIENT)}\n{json.dumps(CONDITION)}\n"


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("all.ndjson", LINES),
        ("all.json", json.dumps(bundle(PATIENT, CONDITION))),
        ("all.json", json.dumps(bundle(PATIENT, CONDITION, kind="searchset"), indent=2)),
        ("all.json", json.dumps(bundle(bundle(PATIENT), CONDITION, kind="batch"))),
        ("all.ndjson", f"{json.dumps(bundle(PATIENT))}\n{json.dumps(CONDITION)}\n"),
        ("Patient.json", json.dumps(bundle(PATIENT, CONDITION, kind="collection"))),
    ],
)
def test_every_form_of_file_has_the_same_resources(tmp_path, name, text, packed):
    write(tmp_path / f"{name}{packed}", text)
    found = [(one.kind, one.resource["id"]) for one in read_export(tmp_path)]
    assert found == [("Patient", "p"), ("Condition", "c")]
    assert is_fhir_folder(tmp_path)


def test_a_resource_without_an_id_has_that_of_its_entry(tmp_path):
    write(tmp_path / "b.json", json.dumps(bundle({"resourceType": "Patient"})))
    [one] = read_export(tmp_path)
    assert (one.resource["id"], one.full_url) == ("u", "urn:uuid:u")


def test_files_without_resources_are_passed_over_and_counted(tmp_path):
    write(tmp_path / "Patient.ndjson", f"{json.dumps(PATIENT)}\n")
    write(tmp_path / "log.ndjson.gz", '{"exportId": 1}\n{"exportId": 2}\n')
    write(tmp_path / "README.md", "x")
    assert len(list(read_export(tmp_path))) == 1
    assert count_other_files(tmp_path) == {"README.md": 0, "log.ndjson.gz": 2}


def test_a_truncated_file_is_refused_by_its_name(tmp_path):
    whole = gzip.compress(f"{json.dumps(PATIENT)}\n".encode() * 1000)
    for name, size in (("Patient.ndjson.gz", len(whole) // 2), ("a.json.GZ", 30), ("b.json.gz", 0)):
        (tmp_path / name).write_bytes(whole[:size])
        with pytest.raises(SourceError) as caught:
            list(read_export(tmp_path))
        said = f"{name}: the .gz file is truncated or damaged; copy the file again"
        assert str(caught.value) == said
        (tmp_path / name).unlink()
    (tmp_path / "Patient.ndjson.gz").write_bytes(b"no gzip")
    for read in (is_fhir_folder, lambda folder: list(read_export(folder))):
        with pytest.raises(SourceError, match=r"the \.gz file is truncated or damaged"):
            read(tmp_path)


R5, STU3 = (
    "the export is FHIR R5, and voile reads only R4",
    "the export is FHIR STU3, and voile reads only R4",
)


@pytest.mark.parametrize(
    ("resource", "said"),
    [
        ({"resourceType": "Encounter", "actualPeriod": {}}, R5),
        ({"resourceType": "Encounter", "class": [{"coding": []}]}, R5),
        ({"resourceType": "MedicationRequest", "medication": {"concept": {}}}, R5),
        ({"resourceType": "Procedure", "occurrenceDateTime": "2020"}, R5),
        ({"resourceType": "NutritionIntake"}, R5),
        ({"resourceType": "Patient", "meta": {"profile": ["http://x/y|5.0.0"]}}, R5),
        ({"resourceType": "Patient", "fhirVersion": "5.0.0"}, R5),
        ({"resourceType": "Condition", "context": {"reference": "Encounter/1"}}, STU3),
        ({"resourceType": "Condition", "assertedDate": "2010"}, STU3),
        (
            {
                "resourceType": "Patient",
                "meta": {"profile": ["http://hl7.org/fhir/3.0/StructureDefinition/Patient"]},
            },
            STU3,
        ),
    ],
)
def test_another_version_is_refused_by_its_name(tmp_path, resource, said):
    write(tmp_path / "b.json", json.dumps(bundle(PATIENT, resource)))
    with pytest.raises(SourceError) as caught:
        list(read_export(tmp_path))
    assert str(caught.value) == f"b.json, line 1, entry 2: {said}; export the data as R4"


def test_a_bundle_of_another_version_is_refused(tmp_path):
    write(tmp_path / "b.json", json.dumps(bundle(PATIENT, issues={"resourceType": "X"})))
    with pytest.raises(SourceError, match=r"^b\.json, line 1: the export is FHIR R5"):
        list(read_export(tmp_path))


def test_an_entry_that_is_no_resource_is_refused_without_its_text(tmp_path):
    for odd in ("Anna", {"Anna": 1}, {"resourceType": "An na"}):
        write(tmp_path / "b.json", json.dumps(bundle(PATIENT) | {"entry": [{"resource": odd}]}))
        with pytest.raises(SourceError) as caught:
            list(read_export(tmp_path))
        assert (
            str(caught.value)
            == "b.json, line 1, entry 1: the file does not begin with a FHIR resource"
        )
