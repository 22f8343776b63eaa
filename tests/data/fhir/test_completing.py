"""A completed resource is valid: required elements are there or masked, and references resolve."""

from __future__ import annotations

import pytest
from fhir.resources.R4B import get_fhir_model_class

from voile.data.fhir.completing import MASKED, IncompleteError, complete

PERSON = {"reference": "Patient/1"}
CONCEPT = {"coding": [{"system": "http://loinc.org", "code": "8480-6"}]}


def is_person(reference):
    return reference == "Patient/1"


def test_required_references_and_dates_are_masked():
    claim = {"status": "active", "type": CONCEPT, "use": "claim", "patient": PERSON}
    made = complete("Claim", claim, is_person)
    assert made["provider"] == MASKED
    assert made["_created"] == MASKED
    assert made["priority"] == MASKED
    made |= {"resourceType": "Claim"}
    get_fhir_model_class("Claim").model_validate(made)


def test_a_required_part_is_completed_and_an_empty_one_goes():
    gone = {"reference": "Coverage/9"}
    eob = {
        "resourceType": "ExplanationOfBenefit",
        "status": "active",
        "type": CONCEPT,
        "use": "claim",
        "outcome": "complete",
        "patient": PERSON,
        "insurance": [{"focal": True, "coverage": gone}],
        "diagnosis": [{"sequence": 1, "diagnosisReference": gone}],
        "procedure": [{"sequence": 1, "procedureCodeableConcept": CONCEPT}],
    }
    made = complete("ExplanationOfBenefit", eob, is_person)
    assert made["insurance"] == [{"focal": True, "coverage": MASKED}]
    assert "diagnosis" not in made
    assert made["procedure"] == eob["procedure"]
    get_fhir_model_class("ExplanationOfBenefit").model_validate(made)


def test_references_that_lead_nowhere_go_with_the_parts_that_have_nothing_else():
    gone = {"reference": "Condition/9"}
    visit = {
        "status": "finished",
        "class": {"system": "s", "code": "IMP"},
        "subject": PERSON,
        "diagnosis": [{"condition": gone}, {"condition": gone, "rank": 1}],
        "reasonReference": [gone],
        "partOf": gone,
    }
    made = complete("Encounter", visit, is_person)
    assert made["diagnosis"] == [{"rank": 1, "condition": MASKED}]
    assert not {"reasonReference", "partOf"} & made.keys()


@pytest.mark.parametrize(
    ("kind", "resource", "needed", "missing"),
    [
        ("Observation", {"code": CONCEPT}, (), "status"),
        ("Observation", {"status": "final"}, ("code",), "code"),
        ("MedicationRequest", {"status": "active", "intent": "order"}, (), "medication"),
    ],
)
def test_what_no_mark_can_replace_is_named(kind, resource, needed, missing):
    with pytest.raises(IncompleteError) as caught:
        complete(kind, {"subject": PERSON, **resource}, is_person, needed)
    assert str(caught.value) == missing


def test_a_concept_that_no_rule_needs_is_masked():
    made = complete("Goal", {"lifecycleStatus": "active", "subject": PERSON}, is_person)
    assert made["description"] == MASKED
