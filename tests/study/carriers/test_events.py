"""What resources and rows say of a person that an acquaintance may know."""

from __future__ import annotations

import pytest

from voile.study.carriers.fhir_known import events_of
from voile.study.carriers.omop_rules import event_of

CONDITION = {"condition_concept_id": 7}
SNOMED, LOINC = "http://snomed.info/sct", "http://loinc.org"


def concept(*codes, system=SNOMED):
    return {"coding": [{"system": system, "code": one} for one in codes]}


def reading(code, **value):
    return {"code": concept(code, system=LOINC), **value}


@pytest.mark.parametrize(
    ("kind", "resource", "said"),
    [
        ("Condition", {"code": concept("2", "1")}, [(("1", "2"),)]),
        ("Condition", {"onsetDateTime": "2013-01-01"}, [None]),
        ("Encounter", {"class": {"system": "s", "code": "IMP"}}, [(("IMP",), (), ())]),
        ("Patient", {"deceasedBoolean": False}, [None]),
        ("Patient", {"deceasedDateTime": "2013-01-01"}, [("died",)]),
        ("DocumentReference", {"type": concept("1")}, [None]),
        ("Observation", reading("8-1"), [None]),
        ("Observation", reading("8-1", valueBoolean=False), [(("8-1",), None, None, False)]),
    ],
)
def test_a_resource_says_its_codes_in_order(kind, resource, said):
    found = [fact for _, fact in events_of(kind, resource)]
    plain = [fact and tuple(_plain(one) for one in fact) for fact in found]
    assert plain == said


def _plain(one):
    return tuple(code for _, code in one) if isinstance(one, tuple) else one


def test_components_are_readings_of_their_own():
    pressure = {"value": 120, "code": "mm[Hg]"}
    parts = [reading("8480-6", valueQuantity=pressure), reading("8462-4")]
    [whole, systolic, diastolic] = events_of("Observation", {**reading("1-1"), "component": parts})
    assert (whole[1], diastolic[1]) == (None, None)
    assert systolic == ("readings", (((LOINC, "8480-6"),), (120, "mm[Hg]"), None, None))


@pytest.mark.parametrize(
    ("table", "row", "said"),
    [
        (
            "condition_occurrence",
            {"condition_concept_id": 7},
            ("diagnoses", (("condition_concept_id", 7),)),
        ),
        ("condition_occurrence", {"condition_concept_id": 0}, ("diagnoses", None)),
        ("visit_occurrence", {"visit_concept_id": 9201}, ("visits", (("visit_concept_id", 9201),))),
        ("death", {"cause_concept_id": None}, ("deaths", (("died", True),))),
        ("note", {"note_class_concept_id": 3}, ("note", None)),
    ],
)
def test_a_row_says_its_concepts(table, row, said):
    assert event_of(table, row) == said


def test_a_measurement_says_its_value_with_its_unit():
    row = {"measurement_concept_id": 3, "value_as_number": 0.0, "unit_concept_id": 9}
    said = (("measurement_concept_id", 3), ("value_as_number", 0.0), ("unit_concept_id", 9))
    assert event_of("measurement", {**row, "value_as_concept_id": None}) == ("readings", said)
