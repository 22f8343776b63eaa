"""The release rules of each resource type: the released fields; a field without a rule is dropped.

Source: HL7 FHIR R4 (4.0.1), resources Patient, Encounter, Condition, Observation,
MedicationRequest, DocumentReference. Never released, whatever lists them: `id`s and references as
they are, `text`, `meta`, `contained`, `extension`, `display`, texts of concepts, identifiers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import Any, TypeAlias

from voile.data.fhir.fields import Resource, read_day, read_period
from voile.data.fhir.values import keep_boolean, keep_code, keep_coding, keep_concept, keep_quantity

Rule: TypeAlias = Callable[[Any], Any] | str
"""A function that returns the released value of a raw one, None to drop it; or a word below."""
Rules: TypeAlias = Mapping[str, "Rule | Rules"]

DAY, SUBJECT, ENCOUNTER, CONTENT, PERIOD = "day", "subject", "encounter", "content", "period"
"""Rules that need the person: the writer of a release applies them."""

_COMMON: Rules = {"subject": SUBJECT, "encounter": ENCOUNTER}
_VALUES: Rules = {
    "code": keep_concept,
    "valueQuantity": keep_quantity,
    "valueCodeableConcept": keep_concept,
    "valueBoolean": keep_boolean,
    "dataAbsentReason": keep_concept,
    "interpretation": keep_concept,
}

FIELDS: Mapping[str, Rules] = {
    "Patient": {"deceasedDateTime": DAY, "deceasedBoolean": keep_boolean},
    "Encounter": {
        "status": keep_code,
        "class": keep_coding,
        "type": keep_concept,
        "serviceType": keep_concept,
        "subject": SUBJECT,
        "period": PERIOD,
    },
    "Condition": {
        **_COMMON,
        "clinicalStatus": keep_concept,
        "verificationStatus": keep_concept,
        "category": keep_concept,
        "severity": keep_concept,
        "code": keep_concept,
        "bodySite": keep_concept,
        "onsetDateTime": DAY,
        "abatementDateTime": DAY,
        "recordedDate": DAY,
    },
    "Observation": {
        **_COMMON,
        **_VALUES,
        "status": keep_code,
        "category": keep_concept,
        "effectiveDateTime": DAY,
        "effectivePeriod": PERIOD,
        "component": _VALUES,
    },
    "MedicationRequest": {
        **_COMMON,
        "status": keep_code,
        "intent": keep_code,
        "category": keep_concept,
        "medicationCodeableConcept": keep_concept,
        "authoredOn": DAY,
    },
    "DocumentReference": {
        "subject": SUBJECT,
        "status": keep_code,
        "docStatus": keep_code,
        "type": keep_concept,
        "category": keep_concept,
        "content": CONTENT,
        "context": {"encounter": ENCOUNTER, "period": PERIOD},
    },
}
"""The types that are released. A person's own fields come from the released row beside these."""

REQUIRED: Mapping[str, tuple[str, ...]] = {
    "Patient": (),
    "Encounter": ("status", "class", "subject"),
    "Condition": ("subject",),
    "Observation": ("status", "code", "subject"),
    "MedicationRequest": ("status", "intent", "medicationCodeableConcept", "subject"),
    "DocumentReference": ("status", "content", "subject"),
}
"""Without these a resource is not valid, or is nobody's: it is set aside."""
WITHIN = {"component": "code"}
"""Parts that go without this field."""

_DROPPED = """
    active address basedOn birthDate bodySite communication contact contained custodian date
    description device dispenseRequest dosageInstruction evidence extension focus gender
    generalPractitioner hospitalization identifier implicitRules issued language length location
    link managingOrganization maritalStatus meta method modifierExtension multipleBirthInteger name
    note participant partOf performer photo reasonCode reasonReference recorder referenceRange
    related requester securityLabel serviceProvider specimen stage statusHistory telecom text author
    authenticator"""


def _names(rules: Rules) -> set[str]:
    inner = [_names(rule) for rule in rules.values() if isinstance(rule, Mapping)]
    return set(rules).union(*inner)


ELEMENTS = frozenset(_DROPPED.split()).union(*map(_names, FIELDS.values()))
"""Names of fields that may be said when they are dropped."""


def find_days(rules: Rules, resource: Resource) -> Iterator[date]:
    """Yield the days of the released fields of a resource."""
    for name, rule in rules.items():
        raw = resource.get(name)
        for each in raw if isinstance(raw, list) else [raw]:
            if isinstance(rule, Mapping) and isinstance(each, dict):
                yield from find_days(rule, each)
            elif rule == PERIOD:
                yield from read_period(each).values()
            elif rule == DAY and (day := read_day(each)):
                yield day
