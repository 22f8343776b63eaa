"""Resources of any type are released by their rules: references, shared resources, marks, rows."""

from __future__ import annotations

import json
import re
from datetime import date
from itertools import repeat

import pytest
from fhir.resources.R4B import get_fhir_model_class
from tests.study.carriers.exported import resources, shift
from tests.study.carriers.test_fhir_carrier import SHOWN
from tests.study.made import SECRET

from voile.core.errors import RequestError
from voile.data.fhir.definitions import read_codes, read_elements
from voile.data.fhir.fields import find_references
from voile.data.fhir.rules import KEEP, PSEUDONYMISE, SHIFT, read_rules
from voile.study.carriers import FhirCarrier
from voile.study.carriers.carrier import NO_RULE, UNUSED, ReleasedStudy
from voile.study.carriers.fhir_packing import NO_PERSON, TWICE

LOINC, SNOMED = "http://loinc.org", "http://snomed.info/sct"
DAY = "2013-05-14"


def concept(code="22298006", system=SNOMED):
    return {"coding": [{"system": system, "code": code, "display": "of Anna"}], "text": "Anna"}


def at(kind, id="1"):
    return {"reference": f"{kind}/{id}"}


def made(kind, id="1", person="1", **more):
    name = (read_rules()[kind].person or (("",),))[0][0]
    own = {name: at("Patient", person)} if name and person else {}
    return {"resourceType": kind, "id": f"{id}", **own, **more}


PATIENTS = [{"resourceType": "Patient", "id": n} for n in "12"]


def carry(tmp_path, every, shown=lambda _: SHOWN, **asked):
    """Release resources; return them by type, and the tallies."""
    for name in ("export", "in", "out", "scratch"):
        (tmp_path / name).mkdir()
    lines = "".join(f"{json.dumps(one)}\n" for one in every)
    (tmp_path / "export" / "all.ndjson").write_text(lines)
    carrier = FhirCarrier(tmp_path / "export", date(2013, 7, 1), **asked)
    carrier.unpack(tmp_path / "in")
    released = ReleasedStudy(SECRET, shift, date(2013, 7, 1), shown, repeat("a text"))
    packed = carrier.pack(released, tmp_path / "out", tmp_path / "scratch")
    found = {}
    for one in resources(tmp_path / "out"):
        get_fhir_model_class(one["resourceType"]).model_validate(one)
        found.setdefault(one["resourceType"], []).append(one)
    for name, tally in packed.tallies.items():
        tally.check(name)
    return found, packed.tallies


def fill(element):
    """Return a value of an element, with a name wherever text can be."""
    simple = {
        "boolean": True, "decimal": 1.5, "integer": 7, "positiveInt": 7, "unsignedInt": 7,
        "date": DAY, "dateTime": DAY, "instant": f"{DAY}T08:00:00Z", "time": "08:00:00",
        "Reference": at("Patient"), "CodeableConcept": concept(), "Coding": concept()["coding"][0],
        "Period": {"start": DAY, "end": DAY}, "base64Binary": "QW5uYQ==",
    }  # fmt: skip
    if element.type in simple:
        return simple[element.type]
    if element.type == "code":
        return min(read_codes().get(element.codes or "", ["en"]))
    if element.is_primitive:
        return "Anna"
    if element.type in ("Quantity", "Age", "Duration", "Count", "Distance"):
        return {"value": 3, "unit": "Anna", "system": "http://unitsofmeasure.org", "code": "a"}
    return fill_part(element.parent)


def fill_part(parent, depth=[0]):  # noqa: B006
    if depth[0] > 4:
        return {}
    depth[0] += 1
    found, choices = {}, set()
    for one in read_elements()[parent].values():
        if one.choice in choices or one.type in ("Extension", "Resource", "Meta", "Narrative"):
            continue
        if (value := fill(one)) != {}:
            choices |= {one.choice} if one.choice else set()
            found[one.name] = [value] if one.is_list else value
    depth[0] -= 1
    return found


@pytest.mark.parametrize("kind", sorted(read_rules().keys() - {"Patient", "Medication"}))
def test_a_resource_with_every_element_is_valid_and_has_no_text(tmp_path, kind):
    rule = read_rules()[kind]
    whole = {"resourceType": kind, "id": "raw-1", **fill_part(kind)}
    other = made("Medication", code=concept(), ingredient=[{"itemReference": at(kind, "raw-1")}])
    uses = made("MedicationRequest", status="active", intent="order",
                medicationReference=at("Medication"))  # fmt: skip
    found, tallies = carry(tmp_path, [*PATIENTS, whole, other, uses])
    text = json.dumps(found)
    assert not re.search("Anna|raw-1|QW5uYQ|of Anna|2013-05-14|08:00:00", text)
    if kind != "DocumentReference":  # its attachment is no text
        assert not tallies[kind].set_aside
        top = {name for name, one in rule.elements.items() if one.operation in (KEEP, SHIFT)}
        assert top & found[kind][0].keys() or kind == "Provenance"


def test_references_lead_to_released_resources_of_the_same_person(tmp_path):
    every = [
        *PATIENTS,
        made("Encounter", status="finished", **{"class": {"system": HL7_ACT, "code": "AMB"}}),
        made("Condition", code=concept(), encounter=at("Encounter")),
        made("Condition", 2, "2", code=concept(), encounter=at("Encounter")),  # another's visit
        made("Condition", 3, code=concept(), encounter=at("Encounter", "absent")),
        made("Observation", status="final", code=concept("8480-6", LOINC)),
        made("Observation", 2, status="Anna", code=concept("8480-6", LOINC)),  # set aside
        made("DiagnosticReport", status="final", code=concept("8480-6", LOINC),
             result=[at("Observation"), at("Observation", "2")]),
        made("Procedure", status="completed", reasonReference=[at("Condition", "2")],
             report=[at("DiagnosticReport")], partOf=[at("Procedure")]),
    ]  # fmt: skip
    found, tallies = carry(tmp_path, every)
    assert [len(one.get("encounter", ())) for one in found["Condition"]].count(1) == 1
    [report], [observation] = found["DiagnosticReport"], found["Observation"]
    assert report["result"] == [{"reference": f"Observation/{observation['id']}"}]
    [procedure] = found["Procedure"]
    assert procedure["report"] == [{"reference": f"DiagnosticReport/{report['id']}"}]
    assert procedure["partOf"] == [{"reference": f"Procedure/{procedure['id']}"}]
    assert "reasonReference" not in procedure
    assert tallies["Condition"].dropped["Condition.encounter"] == 2


HL7_ACT = "http://terminology.hl7.org/CodeSystem/v3-ActCode"


def test_shared_resources_are_released_where_a_released_resource_uses_them(tmp_path):
    every = [
        *PATIENTS,
        made("Medication", "a", code=concept(),
             ingredient=[{"itemReference": at("Medication", "b")}]),
        made("Medication", "b", code=concept(), batch={"lotNumber": "Anna"}),
        made("Medication", "unused", code=concept()),
        made("MedicationStatement", status="active", medicationReference=at("Medication", "a")),
        made("MedicationStatement", 2, "2", status="active",
             medicationReference=at("Medication", "unused")),
    ]  # fmt: skip
    found, tallies = carry(tmp_path, every, shown=lambda who: SHOWN if who == "1" else None)
    assert len(found["Medication"]) == 2
    assert tallies["Medication"].set_aside == {UNUSED: 1}
    there = {f"{x['resourceType']}/{x['id']}" for own in found.values() for x in own}
    assert there.issuperset(find_references(found))


def test_a_resource_that_needs_a_rejected_one_is_rejected_too(tmp_path):
    """The rejected ones come later in the file."""
    order = {"status": "active", "intent": "order"}
    local = {"coding": [{"system": "urn:local", "code": "Anna"}]}
    every = [
        *PATIENTS,
        made("MedicationRequest", **order, medicationReference=at("Medication")),
        made("MedicationStatement", status="active", basedOn=[at("MedicationRequest")],
             medicationCodeableConcept=concept()),
        made("DeviceRequest", **order, codeReference=at("Device")),
        {"resourceType": "Medication", "id": "1", "code": local},
        made("Device", status="active"),
    ]  # fmt: skip
    found, tallies = carry(tmp_path, every)
    assert {"Patient", "MedicationStatement", "DeviceRequest", "Device"} == found.keys()
    for kind in ("MedicationRequest", "Medication"):
        assert (tallies[kind].read, tallies[kind].rejected_rows) == (1, 1)
    [statement] = found["MedicationStatement"]
    assert "basedOn" not in statement


def test_urns_of_bundles_lead_to_their_entries(tmp_path):
    condition = made("Condition", code=concept(), subject={"reference": "urn:uuid:p"})
    entries = [
        {"fullUrl": "urn:uuid:p", "resource": PATIENTS[0]},
        {"fullUrl": "urn:uuid:q", "resource": condition},
        {
            "fullUrl": "urn:uuid:r",
            "resource": made("Procedure", person="1", status="completed",
                             reasonReference=[{"reference": "urn:uuid:q"}]),
        },
    ]  # fmt: skip
    bundle = {"resourceType": "Bundle", "type": "transaction", "entry": entries}
    found, _ = carry(tmp_path, [bundle])
    [condition], [procedure] = found["Condition"], found["Procedure"]
    assert procedure["reasonReference"] == [{"reference": f"Condition/{condition['id']}"}]


def test_rows_are_accounted_for_by_type(tmp_path):
    status = {"status": "active"}
    every = [
        *PATIENTS,
        {"resourceType": "Organization", "id": "o"},
        made("Device", **status),
        made("Device", 2, None, **status),
        made("Device", 1, **status),
        made("Device", 3, "2", **status),
    ]
    shown = {"1": SHOWN}.get
    _, tallies = carry(tmp_path, every, shown=shown, drop=frozenset(["Organization"]))
    device = tallies["Device"]
    assert (device.read, device.released) == (4, 1)
    assert device.set_aside[NO_PERSON] == device.set_aside[TWICE] == 1
    assert tallies["Organization"].set_aside == {NO_RULE: 1}


def test_an_observation_that_states_age_or_race_is_set_aside(tmp_path):
    age = {"value": 47, "system": "http://unitsofmeasure.org", "code": "a"}
    panel = [{"code": concept(code, LOINC), "valueQuantity": age} for code in ("30525-0", "8480-6")]
    every = [
        *PATIENTS,
        made("Observation", status="final", code=concept("30525-0", LOINC), valueQuantity=age),
        made("Observation", 2, status="final", code=concept("8480-6", LOINC), component=panel),
    ]
    found, tallies = carry(tmp_path, every)
    assert tallies["Observation"].released == 1
    assert len(found["Observation"][0]["component"]) == 1


def test_elements_show_the_operation_that_changed_them(tmp_path):
    total = {"value": 1234.5, "currency": "USD"}
    period = {"start": DAY}
    claim = made(
        "Claim", status="active", use="claim", created=DAY, billablePeriod=period, total=total
    )
    found, _ = carry(tmp_path, [*PATIENTS, claim], marks="elements")
    [one] = found["Claim"]

    def operation(name):
        return one[name]["extension"][0]["valueCode"]

    assert operation("_created") == operation("billablePeriod") == SHIFT
    assert (operation("patient"), operation("total")) == (PSEUDONYMISE, "generalise")
    assert one["total"]["value"] == 1200.0
    assert {x["code"] for x in one["meta"]["security"]} == {"PSEUDED", "REDACTED", "ABSTRED"}


def test_no_marks_are_written_where_none_are_asked_for(tmp_path):
    found, _ = carry(tmp_path, [*PATIENTS, made("Flag", status="active", code=concept())],
                     marks="none")  # fmt: skip
    assert not any("meta" in x for own in found.values() for x in own)


def test_a_hospital_adds_a_type_and_changes_a_rule(tmp_path):
    rules = tmp_path / "rules"
    rules.mkdir()
    (rules / "Basic.toml").write_text('person = "subject"\nkeep = ["code"]\nshift = ["created"]\n')
    (rules / "Condition.toml").write_text(
        'person = "subject"\ngeneralise = ["code", "recordedDate"]\npseudonymise = ["subject"]\n'
    )
    icd = "http://hl7.org/fhir/sid/icd-10-cm"
    basic = {"resourceType": "Basic", "id": "1", "code": concept(), "subject": at("Patient")}
    condition = made("Condition", code=concept("E11.65", icd), recordedDate=DAY)
    found, _ = carry(tmp_path, [*PATIENTS, basic, condition], rules=rules)
    assert found["Basic"][0]["code"] == {"coding": [{"system": SNOMED, "code": "22298006"}]}
    [one] = found["Condition"]
    assert one["code"] == {"coding": [{"system": icd, "code": "E11"}]}
    assert one["recordedDate"] == shift("1", date.fromisoformat(DAY)).isoformat()[:4]


NAMELESS = made("Condition", code=concept(), subject={})


@pytest.mark.parametrize(
    ("every", "said"),
    [
        ([PATIENTS[0], PATIENTS[0]], "all.ndjson, line 2: another Patient has its id"),
        (
            [*PATIENTS, made("Procedure", person="3", status="completed")],
            "all.ndjson, line 3: refers to a patient that the export does not have",
        ),
        ([*PATIENTS, NAMELESS], "all.ndjson, line 3: a Condition without a subject"),
        (PATIENTS, "no type of the export refers to a patient"),
        ([*PATIENTS, made("Substance")], "no type of the export refers to a patient"),
        ([made("Condition", code=concept())], "the export has no Patient"),
        ([{"resourceType": "Patient"}], "all.ndjson, line 1: the resource has no valid id"),
        (
            [*PATIENTS, {"resourceType": "Encounter", "id": "1", "actualPeriod": {}}],
            "all.ndjson, line 3: the export is FHIR R5, and voile reads only R4",
        ),
    ],
)
def test_a_bad_export_is_refused_in_one_sentence(tmp_path, every, said):
    with pytest.raises(RequestError) as caught:
        carry(tmp_path, every)
    assert str(caught.value).startswith(said)
    assert not list((tmp_path / "out").iterdir())
