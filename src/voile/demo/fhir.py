"""Write a clinic as a FHIR R4 bulk export, with one NDJSON file for each of six resource types.

As in real exports, resources contain data that no release may contain: names, record numbers,
telephone numbers, narrative, displays, extensions, contained resources.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from voile.data.fhir.attachments import PLAIN, make_attachment
from voile.data.fhir.values import LOINC, UCUM
from voile.data.person_codes import HISPANIC, OMB, RACES, SEXES, US_CORE, fhir_codes
from voile.demo.clinic import RXNORM, SNOMED, ClinicPatient, ClinicVisit, DemoClinic

Resource = dict[str, Any]
HL7 = "http://terminology.hl7.org/CodeSystem"
GENDERS, RACE_CODES = fhir_codes(SEXES), fhir_codes(RACES)
SEVERAL = ("White", "Black")
"""The races of a patient with two or more races."""
NARRATIVE = '<div xmlns="http://www.w3.org/1999/xhtml">{} {}</div>'


def person_id(number: int) -> str:
    return f"P{number:06d}"


def write_fhir(clinic: DemoClinic, folder: Path) -> None:
    """Write the export's files into an existing folder."""
    people = {one.number: one for one in clinic.people}
    kinds = {
        "Patient": (_patient(one) for one in clinic.people),
        "Encounter": (_encounter(one, people[one.person]) for one in clinic.visits),
        "Condition": (_condition(one, people[one.person]) for one in clinic.visits),
        "Observation": (x for one in clinic.visits for x in _observations(one)),
        "MedicationRequest": (_request(one) for one in clinic.visits if one.diagnosis in RXNORM),
        "DocumentReference": (_document(one) for one in clinic.visits),
    }
    for kind, resources in kinds.items():
        _write(folder / f"{kind}.ndjson", resources)


def _write(path: Path, resources: Iterator[Resource]) -> None:
    with path.open("x", encoding="utf-8") as file:
        for one in resources:
            file.write(json.dumps(one) + "\n")


def _patient(one: ClinicPatient) -> Resource:
    found: Resource = {
        "resourceType": "Patient",
        "id": person_id(one.number),
        "meta": {"source": f"urn:clinic:{one.family}"},
        "text": {"status": "generated", "div": NARRATIVE.format(one.given, one.family)},
        "extension": _race(one.race),
        "identifier": [{"system": "urn:clinic:mrn", "value": f"MRN-{one.number:08d}"}],
        "name": [{"family": one.family, "given": [one.given]}],
        "telecom": [{"system": "phone", "value": f"555-{one.number:07d}"}],
        "gender": GENDERS[one.sex],
        "birthDate": one.birth.isoformat(),
        "address": [{"line": [f"{one.number} Main Street"], "postalCode": one.zip}],
    }
    if one.death:
        found["deceasedDateTime"] = one.death.isoformat()
    return found


def _race(race: str) -> list[Resource]:
    if race == HISPANIC.word:
        return [_build_extension("ethnicity", [HISPANIC.fhir], race)]
    own = [race] if race in RACE_CODES else SEVERAL
    return [_build_extension("race", [RACE_CODES[one] for one in own], race)]


def _build_extension(name: str, codes: Sequence[str | None], said: str) -> Resource:
    categories: list[Resource] = [
        {"url": "ombCategory", "valueCoding": {"system": OMB, "code": code, "display": said}}
        for code in codes
    ]
    inner = [*categories, {"url": "text", "valueString": said}]
    return {"url": f"{US_CORE}{name}", "extension": inner}


def _of(kind: str, visit: ClinicVisit, part: str = "") -> Resource:
    return {"resourceType": kind, "id": f"{kind}-V{visit.number:06d}{part}"}


def _subject(visit: ClinicVisit, person: ClinicPatient | None = None) -> Resource:
    said = {"display": f"{person.given} {person.family}"} if person else {}
    return {"reference": f"Patient/{person_id(visit.person)}", **said}


def _at(visit: ClinicVisit) -> Resource:
    return {"reference": f"Encounter/Encounter-V{visit.number:06d}"}


def _concept(system: str, code: str, said: str) -> Resource:
    return {"coding": [{"system": system, "code": code, "display": said}], "text": said}


def _encounter(visit: ClinicVisit, person: ClinicPatient) -> Resource:
    return {
        **_of("Encounter", visit),
        "status": "finished",
        "class": {"system": f"{HL7}/v3-ActCode", "code": "IMP", "display": "inpatient"},
        "subject": _subject(visit, person),
        "period": {"start": visit.start.isoformat(), "end": visit.end.isoformat()},
        "reasonCode": [{"text": f"brought by the family {person.family}"}],
    }


def _condition(visit: ClinicVisit, person: ClinicPatient) -> Resource:
    contained = {"resourceType": "Patient", "id": "p", "name": [{"family": person.family}]}
    return {
        **_of("Condition", visit),
        "contained": [contained],
        "clinicalStatus": _concept(f"{HL7}/condition-clinical", "active", "Active"),
        "code": _concept("http://snomed.info/sct", SNOMED[visit.diagnosis], visit.diagnosis),
        "subject": _subject(visit, person),
        "encounter": _at(visit),
        "onsetDateTime": f"{visit.start.isoformat()}T08:15:00Z",
        "note": [{"text": f"{person.given} was well before"}],
    }


def _observations(visit: ClinicVisit) -> Iterator[Resource]:
    readings = (
        ("a", "8480-6", "Systolic blood pressure", visit.systolic, "mm[Hg]"),
        ("b", "29463-7", "Body weight", visit.weight, "kg"),
    )
    for part, code, said, value, unit in readings:
        yield {
            **_of("Observation", visit, part),
            "status": "final",
            "code": _concept(LOINC, code, said),
            "subject": _subject(visit),
            "encounter": _at(visit),
            "effectiveDateTime": visit.start.isoformat(),
            "valueQuantity": {
                "value": value,
                "unit": unit,
                "system": UCUM,
                "code": unit,
            },
        }


def _request(visit: ClinicVisit) -> Resource:
    return {
        **_of("MedicationRequest", visit),
        "status": "active",
        "intent": "order",
        "medicationCodeableConcept": _concept(
            "http://www.nlm.nih.gov/research/umls/rxnorm", RXNORM[visit.diagnosis], "as prescribed"
        ),
        "subject": _subject(visit),
        "encounter": _at(visit),
        "authoredOn": visit.start.isoformat(),
        "requester": {"display": "Dr Petra Balen"},
    }


def _document(visit: ClinicVisit) -> Resource:
    return {
        **_of("DocumentReference", visit),
        "status": "current",
        "type": _concept(LOINC, "18842-5", "Discharge summary"),
        "subject": _subject(visit),
        "date": f"{visit.end.isoformat()}T12:00:00Z",
        "content": [
            {
                "attachment": {
                    **make_attachment(visit.note),
                    "contentType": PLAIN,
                    "title": f"visit of person {visit.person}",
                }
            }
        ],
        "context": {"encounter": [_at(visit)]},
    }
