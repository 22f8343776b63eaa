"""The carrier of FHIR exports alone, without a kit or a table."""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import repeat

import pytest
from fhir.resources.R4B import get_fhir_model_class
from tests.study.carriers.exported import resources, shift
from tests.study.made import SECRET

from voile.core.errors import RequestError, SourceError
from voile.demo.clinic import AS_OF, make_clinic
from voile.demo.fhir import person_id, write_fhir
from voile.keys.pseudonyms import pseudonym
from voile.study.carriers import FhirCarrier
from voile.study.carriers.carrier import ABOVE_MOST, ReleasedStudy
from voile.tables.recoding.codebook import CodebookEntry

SHOWN = {
    "age": CodebookEntry("40-49", "40", "49"),
    "sex": CodebookEntry("F", "F", "F"),
    "race": CodebookEntry("Black|White", None, None, values=("Black", "White")),
    "zip": CodebookEntry("00201-00299", "00201", "00299"),
}


def carried(folder, tmp_path, shown=lambda _: SHOWN, notes=None, **asked):
    carrier = FhirCarrier(folder, AS_OF, **asked)
    (tmp_path / "in").mkdir(exist_ok=True)
    carrier.unpack(tmp_path / "in")
    n = len(list(tmp_path.glob("out*")))
    for name in (f"out{n}", f"scratch{n}"):
        (tmp_path / name).mkdir()
    released = ReleasedStudy(SECRET, shift, AS_OF, shown, notes or repeat("a text"))
    return carrier.pack(
        released, tmp_path / f"out{n}", tmp_path / f"scratch{n}"
    ), tmp_path / f"out{n}"


@pytest.fixture(scope="module")
def small():
    return make_clinic(3, 8)


FIRST = person_id(make_clinic(3, 8).people[0].number)


@pytest.fixture
def export(small, tmp_path):
    folder = tmp_path / "export"
    folder.mkdir()
    write_fhir(small, folder)
    return folder


def change(path, number, new):
    """Write a line of a file anew: with a function of its resource, or as text."""
    lines = path.read_text().splitlines()
    if callable(new):
        one = json.loads(lines[number])
        new(one)
        lines[number] = json.dumps(one)
    else:
        lines[number] = new
    path.write_text("\n".join(lines) + "\n")


def plant(found, canary):
    """Put a canary into every object as unlisted members, and each string that has a use."""
    if isinstance(found, list):
        for one in found:
            plant(one, canary)
        return
    if not isinstance(found, dict):
        return
    for one in found.values():
        plant(one, canary)
    found |= {
        "display": canary, "text": canary, "id2": canary, canary: canary, "comment": [canary],
        "extension": [*found.get("extension", ()), {"url": canary, "valueString": canary}],
        "identifier": {"system": canary, "value": canary}, "modifierExtension": [{"url": canary}],
        "contained": [{"resourceType": "Patient", "id": canary}], "meta": {"tag": [canary]},
    }  # fmt: skip


def test_a_canary_in_every_unlisted_place_reaches_nothing(export, tmp_path):
    for path in export.iterdir():
        every = [json.loads(line) for line in path.read_text().splitlines()]
        for one in every:
            plant(one, "cAnArY")
        path.write_text("".join(f"{json.dumps(one)}\n" for one in every))
    packed, out = carried(export, tmp_path)
    assert not any("canary" in path.read_text().lower() for path in out.iterdir())
    assert "canary" not in json.dumps([x.to_data() for x in packed.tallies.values()]).lower()
    for kind, tally in packed.tallies.items():
        assert tally.released == tally.read, kind


def test_contained_resources_and_entries_without_one_are_listed(export):
    inner = [{"resourceType": kind} for kind in ("Patient", "Device", "Device")]
    change(export / "Observation.ndjson", 0, lambda one: one.update(contained=inner))
    gone = [{"request": {"method": "DELETE", "url": f"Patient/{n}"}} for n in range(3)]
    bundle = {"resourceType": "Bundle", "type": "transaction", "entry": [*gone, {"request": {}}]}
    (export / "deleted.json").write_text(json.dumps(bundle))
    own = {"resourceType": "List", "status": "current", "mode": "working", "entry": [{"item": {}}]}
    (export / "list.json").write_text(json.dumps(own))
    found = {one.name: one.rows for one in FhirCarrier(export, AS_OF).list_uncovered()}
    assert found["Observation.contained: Patient"] == 1
    assert found["Observation.contained: Device"] == 2
    assert found["Bundle.entry: DELETE"] == 3
    assert found["Bundle.entry: no method"] == 1
    assert "Observation.contained" not in found


@pytest.mark.parametrize(
    ("kind", "spoil", "why"),
    [
        ("Observation", lambda x: x["code"]["coding"][0].update(code="Anna"), "code"),
        ("Observation", lambda x: x["code"]["coding"][0].update(system="urn:own"), "code"),
        ("Encounter", lambda x: x.update(status="Anna is in"), "status"),
        ("MedicationRequest", lambda x: x.update(intent="Anna"), "intent"),
        ("DocumentReference", lambda x: x.update(status="Anna"), "status"),
    ],
)
def test_what_cannot_be_released_and_is_needed_sets_its_resource_aside(
    export, tmp_path, kind, spoil, why
):
    change(export / f"{kind}.ndjson", 0, spoil)
    packed, out = carried(export, tmp_path)
    reason = f"nothing of {why} can be released, which it needs"
    assert packed.tallies[kind].set_aside == {reason: 1}
    assert "Anna" not in (out / f"{kind}.ndjson").read_text()
    for one in resources(out):
        get_fhir_model_class(one["resourceType"]).model_validate(one)


def test_codes_readings_and_days_of_wrong_form_are_dropped(export, tmp_path):
    def spoil(one):
        one["valueQuantity"] = {"value": 1, "unit": "kg", "system": "urn:x", "code": "{Anna}"}
        one["effectiveDateTime"] = "2013"
        one["interpretation"] = [{"text": "Anna"}]

    change(export / "Observation.ndjson", 0, spoil)
    packed, out = carried(export, tmp_path)
    [one] = [x for x in resources(out, "Observation") if "effectiveDateTime" not in x]
    assert one["valueQuantity"] == {"value": 1}
    assert "interpretation" not in one
    assert packed.tallies["Observation"].dropped["Observation.effectiveDateTime"] == 1


def test_a_person_without_a_released_row_is_in_no_file(small, export, tmp_path):
    absent = person_id(small.people[0].number)
    packed, out = carried(export, tmp_path, shown=lambda one: None if one == absent else SHOWN)
    name = pseudonym(SECRET, absent)
    assert not any(name in path.read_text() for path in out.iterdir())
    assert packed.tallies["Patient"].released == len(small.people) - 1


def test_merged_values_are_written_as_unknown_or_by_what_all_share(export, tmp_path):
    merged = {**SHOWN, "sex": CodebookEntry("any", "F", "M")}
    _, out = carried(export, tmp_path, shown=lambda _: merged)
    for one in resources(out, "Patient"):
        assert one["gender"] == "unknown"
        assert one["address"] == [{"postalCode": "002"}]
        assert not any("us-core" in x["url"] for x in one["extension"])


def test_ids_and_the_order_of_lines_are_drawn_anew_each_time(export, tmp_path):
    every = []
    for _ in range(2):
        _, out = carried(export, tmp_path)
        every.append({p.stem: [x["id"] for x in resources(out, p.stem)] for p in out.iterdir()})
    assert {*every[0]["Patient"]} == {*every[1]["Patient"]}  # the study's pseudonyms
    for kind in every[0].keys() - {"Patient"}:
        assert not {*every[0][kind]} & {*every[1][kind]}


@pytest.mark.parametrize(
    ("spoil", "error", "said"),
    [
        (
            lambda f: (f / "Practitioner.ndjson").write_text('{"resourceType": "Practitioner"}\n'),
            RequestError,
            "Practitioner.ndjson, line 1: there is no rule for resources of type Practitioner; "
            'leave them out of the release: drop = ["Practitioner"] in [export]',
        ),
        (
            lambda f: change(f / "Condition.ndjson", 1, '{"secret": '),
            SourceError,
            "Condition.ndjson, line 2: the line is not valid JSON",
        ),
        (
            lambda f: change(f / "Condition.ndjson", 1, '{"id": 1, "id": 2}'),
            SourceError,
            "Condition.ndjson, line 2: the line is not valid JSON",
        ),
        (
            lambda f: change(
                f / "Condition.ndjson", 0, lambda x: x.update(subject={"reference": "Patient/X"})
            ),
            RequestError,
            "Condition.ndjson, line 1: refers to a patient that the export does not have",
        ),
        (
            lambda f: change(f / "DocumentReference.ndjson", 0, lambda x: x.pop("subject")),
            RequestError,
            "DocumentReference.ndjson, line 1: a note without a subject",
        ),
        (
            lambda f: change(f / "Patient.ndjson", 0, lambda x: x.update(birthDate="long ago")),
            SourceError,
            "Patient.ndjson, line 1: has a birthDate that is not a date",
        ),
        (
            lambda f: change(f / "Patient.ndjson", 1, lambda x: x.update(id=FIRST)),
            SourceError,
            "Patient.ndjson, line 2: another Patient has its id",
        ),
        (
            lambda f: change(
                f / "Encounter.ndjson", 1, (f / "Encounter.ndjson").read_text().split("\n")[0]
            ),
            SourceError,
            "Encounter.ndjson, line 2: another Encounter has its id",
        ),
        (
            lambda f: change(f / "Observation.ndjson", 0, lambda x: x.update(resourceType="Group")),
            SourceError,
            "Observation.ndjson, line 1: the resource is not of type Observation",
        ),
        (
            lambda f: (f / "Patient.ndjson").unlink(),
            RequestError,
            "the export has no Patient",
        ),
    ],
)
def test_a_bad_export_is_refused_in_one_sentence(export, tmp_path, spoil, error, said):
    spoil(export)
    with pytest.raises(error) as caught:
        carried(export, tmp_path)
    assert str(caught.value).startswith(said)


def test_no_element_of_the_release_is_listed_as_unreleased(export, tmp_path):
    _, out = carried(export, tmp_path)
    released = {f"{one['resourceType']}.{name}" for one in resources(out) for name in one}
    listed = {one.name for one in FhirCarrier(export, AS_OF).list_uncovered()}
    assert {"Patient.gender", "Patient.address"} <= released
    assert {"Patient.name", "Patient.telecom"} <= listed
    twice = {one for one in released & listed if not one.endswith(".meta")}  # meta is voile's own
    assert twice == set()


def test_the_order_of_lines_does_not_choose_the_resources_of_a_person(export, tmp_path):
    def pack():
        packed, out = carried(export, tmp_path, most_rows={"Observation": 2})
        drop = ("id", "encounter", "meta")
        found = [{n: x for n, x in one.items() if n not in drop}
                 for one in resources(out, "Observation")]  # fmt: skip
        assert packed.tallies["Observation"].set_aside[ABOVE_MOST] > 0
        return sorted(json.dumps(one, sort_keys=True) for one in found)

    path = export / "Observation.ndjson"
    lines, first = path.read_text().splitlines(), pack()
    people = Counter(json.loads(one)["subject"]["reference"] for one in first)
    assert set(people.values()) == {2}
    for seed in range(3):
        path.write_text("\n".join(random.Random(seed).sample(lines, len(lines))) + "\n")
        assert pack() == first


def test_without_stays_a_resource_has_one_day_and_is_valid(export, tmp_path):
    before, _ = carried(export, tmp_path)
    packed, out = carried(export, tmp_path, drops_stays=True)
    assert packed.rows == before.rows
    source = FhirCarrier(export, AS_OF)
    assert any(len({*one.days}) > 1 for one in source.events(written=False))
    days = [one.days for one in FhirCarrier(out, AS_OF).events(written=True)]
    assert any(days)
    assert all(len(one) <= 1 for one in days)
    for one in resources(out):
        get_fhir_model_class(one["resourceType"]).model_validate(one)
