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
        ("Condition", {"code": concept("2", "1")}, [(("1",), ("2",))]),
        ("Condition", {"onsetDateTime": "2013-01-01"}, [None]),
        ("Condition", {"id": "x", "subject": {"reference": "Patient/1"}, "meta": {"a": 1}}, [None]),
        ("Encounter", {"class": {"system": "s", "code": "IMP"}}, [(("IMP",),)]),
        ("Patient", {"deceasedBoolean": False}, [None]),
        ("Patient", {"deceasedDateTime": "2013-01-01"}, [("died",)]),
        ("Observation", reading("8-1"), [(("8-1",),)]),
        ("Observation", {"subject": {"reference": "Patient/1"}}, [None]),
        ("Observation", reading("8-1", valueBoolean=False), [(("8-1",), False)]),
    ],
)
def test_a_resource_says_its_codes_in_order(kind, resource, said):
    found = [fact for _, fact in events_of(kind, resource)]
    plain = [fact and tuple(_plain(one) for one in fact) for fact in found]
    assert plain == said


def _plain(one):
    """Return a value without its path, and a code without its system."""
    value = one[1] if isinstance(one, tuple) else one
    return (value[1],) if isinstance(value, tuple) else value


def test_any_type_says_every_value_that_is_no_id_reference_or_day():
    one = {
        "resourceType": "Procedure",
        "id": "x",
        "status": "completed",
        "code": {**concept("7"), "extension": [{"url": "u", "valueCode": "v"}]},
        "performedPeriod": {"start": "2013-01-01"},
        "encounter": {"reference": "Encounter/1"},
        "_created": {"extension": []},
        "focalDevice": [{"action": concept("9")}],
    }
    assert list(events_of("Procedure", one)) == [
        (
            "Procedure",
            (
                (".code.coding", (SNOMED, "7")),
                (".focalDevice.action.coding", (SNOMED, "9")),
                (".status", "completed"),
            ),
        )
    ]


def test_components_are_readings_of_their_own():
    pressure = {"value": 120, "code": "mm[Hg]"}
    parts = [reading("8480-6", valueQuantity=pressure), reading("8462-4")]
    [whole, systolic, diastolic] = events_of("Observation", {**reading("1-1"), "component": parts})
    assert whole == ("readings", ((".code.coding", (LOINC, "1-1")),))
    assert diastolic == ("readings", ((".code.coding", (LOINC, "8462-4")),))
    assert systolic == (
        "readings",
        (
            (".code.coding", (LOINC, "8480-6")),
            (".valueQuantity.code", "mm[Hg]"),
            (".valueQuantity.value", 120),
        ),
    )


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
