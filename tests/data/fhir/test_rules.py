"""The rules of each type name elements of that type in R4, and give its days."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from fhir.resources.R4B import get_fhir_model_class

from voile.core.errors import RequestError
from voile.data.fhir.definitions import list_types, read_elements
from voile.data.fhir.rules import parse_rule, read_rules, read_rules_with


@pytest.mark.parametrize("kind", ["Claim", "Encounter", "Observation", "Procedure", "Specimen"])
def test_the_list_of_elements_is_that_of_a_validating_package(kind):
    names = set(get_fhir_model_class(kind).elements_sequence())
    common = {"id", "meta", "implicitRules", "language", "text", "contained", "extension"}
    assert read_elements()[kind].keys() == names - common - {"modifierExtension"}


def test_every_rule_has_a_type_of_r4_and_a_person_or_is_shared():
    shared = {kind for kind, rule in read_rules().items() if rule.is_shared}
    assert shared == {"Medication", "Substance"}
    assert read_rules().keys() <= list_types()


# R4's compartment of Patient, HL7 FHIR R4 (4.0.1): CompartmentDefinition/patient.
COMPARTMENT = """
Account AdverseEvent AllergyIntolerance Appointment AppointmentResponse AuditEvent Basic
BodyStructure CarePlan CareTeam ChargeItem Claim ClaimResponse ClinicalImpression Communication
CommunicationRequest Composition Condition Consent Coverage CoverageEligibilityRequest
CoverageEligibilityResponse DetectedIssue DeviceRequest DeviceUseStatement DiagnosticReport
DocumentManifest DocumentReference Encounter EnrollmentRequest EpisodeOfCare ExplanationOfBenefit
FamilyMemberHistory Flag Goal Group ImagingStudy Immunization ImmunizationEvaluation
ImmunizationRecommendation Invoice List MeasureReport Media MedicationAdministration
MedicationDispense MedicationRequest MedicationStatement MolecularSequence NutritionOrder
Observation Person Procedure Provenance QuestionnaireResponse RelatedPerson RequestGroup
ResearchSubject RiskAssessment Schedule ServiceRequest Specimen SupplyDelivery SupplyRequest
VisionPrescription
"""
WITHOUT_RULE = {"AuditEvent", "Group", "MolecularSequence", "Person", "Schedule"}


def test_every_type_about_a_patient_has_a_rule_or_is_named_in_the_guide():
    assert {*COMPARTMENT.split()} - read_rules().keys() == WITHOUT_RULE
    guide = (Path(__file__).parents[3] / "docs/release-a-cohort.md").read_text("utf-8")
    assert all(kind in guide for kind in WITHOUT_RULE)


@pytest.mark.parametrize(
    ("kind", "data", "said"),
    [
        ("Procedure", {"keep": ["statsu"]}, "R4 has no element Procedure.statsu; did you mean "),
        ("Procedure", {"keep": ["performer.role"]}, "R4 has no element Procedure.performer.role"),
        (
            "Procedure",
            {"keep": ["note"]},
            "the operation keep does not apply to Procedure.note, which has the type ",
        ),
        (
            "Procedure",
            {"keep": ["code[x]"]},
            "R4 has no element Procedure.code[x]; did you mean code",
        ),
        (
            "Procedure",
            {"shift": ["code"]},
            "the operation shift does not apply to Procedure.code, which has the type ",
        ),
        ("Procedure", {"person": "patient"}, "R4 has no element Procedure.patient"),
        (
            "Procedure",
            {"keep": ["code"], "generalise": ["code"]},
            "the element code has two operations",
        ),
        ("Procedure", {"shift": ["performedDateTime"]}, "the operations shift and notes need"),
        ("Procedure", {"retain": ["code"]}, "retain: is not known here"),
        ("Procedur", {}, "R4 has no resource type Procedur; did you mean Procedure"),
        (
            "Observation",
            {"keep": ["valueString"]},
            "the operation keep does not apply to Observation.valueString",
        ),
        (
            "Patient",
            {"pseudonymise": ["birthDate"]},
            "the operation pseudonymise does not apply to Patient.birthDate",
        ),
    ],
)
def test_a_rule_that_does_not_fit_r4_is_refused_in_one_sentence(kind, data, said):
    with pytest.raises(RequestError) as caught:
        parse_rule(kind, data, "X.toml")
    assert str(caught.value).startswith(f"X.toml: {said}")


def test_a_folder_adds_types_and_replaces_rules(tmp_path):
    (tmp_path / "Basic.toml").write_text('person = "subject"\nkeep = ["code"]\n')
    (tmp_path / "Procedure.toml").write_text('person = "subject"\nkeep = ["status"]\n')
    rules = read_rules_with(tmp_path)
    assert [*rules["Procedure"].elements] == ["status"]
    assert [*rules["Basic"].elements] == ["code"]
    assert rules["Condition"] is read_rules()["Condition"]
    with pytest.raises(RequestError, match="the folder of FHIR rules does not exist"):
        read_rules_with(tmp_path / "absent")


def test_a_choice_takes_the_types_that_an_operation_fits():
    elements = read_rules()["Observation"].elements
    values = {name for name in elements if name.startswith("value")}
    assert {"valueQuantity", "valueBoolean", "valueRange"} <= values
    assert not {"valueString", "valueTime", "valueDateTime"} & values


def test_days_are_those_of_released_elements():
    one = {
        "date": "2010-01-01",
        "context": {"period": {"start": "2013-05-14", "end": "2013-05-20T10:00:00Z"}, "x": 7},
    }
    rules = read_rules()
    assert list(rules["DocumentReference"].find_days(one)) == [
        date(2013, 5, 14),
        date(2013, 5, 20),
    ]
    assert list(rules["Patient"].find_days({"deceasedDateTime": "2014"})) == []
    assert list(rules["Encounter"].find_days({"period": [None, 7]})) == []
