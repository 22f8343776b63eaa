"""Which fields of a FHIR resource are released, and how; what is not listed is dropped.

Source: HL7 FHIR R4 (4.0.1), resources Patient, Encounter, Condition, Observation,
MedicationRequest, DocumentReference. Never released, whatever lists them: `id`s and references as
they are, `text`, `meta`, `contained`, `extension`, `display`, texts of concepts, identifiers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

Rule: TypeAlias = Callable[[Any], Any] | str
"""What makes the released value of a raw one, None to drop it; or one of the words below."""
Rules: TypeAlias = Mapping[str, "Rule | Rules"]

DAY, SUBJECT, ENCOUNTER, CONTENT, PERIOD = "day", "subject", "encounter", "content", "period"
"""Rules that need the person: see `voile.study.carriers.fhir`."""

_HL7 = "http://terminology.hl7.org/CodeSystem"
_WORDS = """
    active amended appended arrived cancelled completed corrected current draft ended
    entered-in-error filler-order final finished in-progress instance-order on-hold onleave option
    order original-order plan planned preliminary proposal reflex-order registered stopped
    superseded triaged unknown"""
WORDS = frozenset(_WORDS.split())
"""Of the value sets that FHIR fixes for statuses and intents."""
_SYSTEMS = {
    "condition-category": "problem-list-item encounter-diagnosis",
    "condition-clinical": "active recurrence relapse inactive remission resolved",
    "condition-ver-status": """
        unconfirmed provisional differential confirmed refuted entered-in-error""",
    "data-absent-reason": """
        unknown asked-unknown temp-unknown not-asked asked-declined masked not-applicable
        unsupported as-text error not-a-number negative-infinity positive-infinity not-performed
        not-permitted""",
    "medicationrequest-category": "inpatient outpatient community discharge",
    "observation-category": """
        social-history vital-signs imaging laboratory procedure survey exam therapy activity""",
    "v3-ActCode": "AMB EMER FLD HH IMP ACUTE NONAC OBSENC PRENC SS VR",
    "v3-ObservationInterpretation": """
        < > A AA AC B CAR D DET E EXP H HH HM HU HX I IE IND L LL LU LX N NCL ND NEG NR NS POS R S
        SDD SYN-R SYN-S TOX U UNE W WR""",
}
"""HL7's own systems: codes of the value sets that R4 has for the released fields."""
CODES = {
    "http://loinc.org": re.compile(r"\d{1,7}-\d"),
    "http://snomed.info/sct": re.compile(r"\d{6,18}"),
    "http://www.nlm.nih.gov/research/umls/rxnorm": re.compile(r"\d{1,8}"),
    "http://hl7.org/fhir/sid/icd-10": re.compile(r"[A-Z]\d{2}(\.[0-9A-Z]{1,4})?"),
    "http://hl7.org/fhir/sid/icd-10-cm": re.compile(r"[A-Z]\d[0-9A-Z](\.[0-9A-Z]{1,4})?"),
    "http://hl7.org/fhir/sid/icd-9-cm": re.compile(r"[EV]?\d{2,3}(\.\d{1,2})?"),
    "http://hl7.org/fhir/sid/ndc": re.compile(r"\d{4,5}-\d{3,4}-\d{1,2}|\d{11}"),
    "http://hl7.org/fhir/sid/cvx": re.compile(r"\d{1,3}"),
    **{
        f"{_HL7}/{name}": re.compile("|".join(map(re.escape, codes.split())))
        for name, codes in _SYSTEMS.items()
    },
}
"""The codes of each system, so that no name passes for one."""
UCUM = "http://unitsofmeasure.org"
_ATOMS = """
    m g s A K N J W V L l U mol eq osm kat Hz Pa bar Cel Bq Gy Sv cal [IU] [iU] m[Hg] m[H2O]"""
_ALONE = """
    % a mo wk d h min deg [pH] [degF] [lb_av] [oz_av] [in_i] [ft_i] [arb'U] [CFU] [HPF] [LPF]
    [ppth] [ppm] [ppb] [drp]"""
_PREFIXES = ["G", "M", "k", "h", "da", "d", "c", "m", "u", "n", "p", "f", "a"]


def _units() -> re.Pattern[str]:
    """Return UCUM's grammar over the units of clinical readings, without {}: free text."""
    atoms, alone, prefixes = (
        "|".join(map(re.escape, one)) for one in (_ATOMS.split(), _ALONE.split(), _PREFIXES)
    )
    term = rf"(?:10[*^]-?\d\d?|\d{{1,4}}|(?:(?:{prefixes})?(?:{atoms})|{alone})(?:-?\d)?)"
    return re.compile(rf"/?{term}(?:[./]{term}){{0,3}}")


_UNIT = _units()
MOST = 1e9
"""The largest reading: what is larger is a number of something else."""


def code(value: Any) -> str | None:
    """Keep a word of a value set that FHIR fixes: "final", "order"."""
    return value if isinstance(value, str) and value in WORDS else None


def truth(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def coding(value: Any) -> dict[str, str] | None:
    """Keep system and code of a coding whose system is known, and whose code is of its form.

    >>> coding({"system": "http://loinc.org", "code": "8480-6", "display": "of Anna"})
    {'system': 'http://loinc.org', 'code': '8480-6'}
    >>> print(coding({"system": "http://loinc.org", "code": "Anna"}))
    None
    """
    if not isinstance(value, dict):
        return None
    system, found = value.get("system"), value.get("code")
    if not isinstance(system, str) or not isinstance(found, str):
        return None
    form = CODES.get(system)
    return {"system": system, "code": found} if form and form.fullmatch(found) else None


def concept(value: Any) -> dict[str, Any] | None:
    """Keep the known codings of a concept; without one, nothing."""
    found = value.get("coding") if isinstance(value, dict) else None
    kept = [one for one in map(coding, found if isinstance(found, list) else ()) if one]
    return {"coding": kept} if kept else None


def quantity(value: Any) -> dict[str, Any] | None:
    """Keep a number and its UCUM unit.

    >>> quantity({"value": 70, "unit": "kg of Anna", "system": UCUM, "code": "kg"})
    {'value': 70, 'unit': 'kg', 'system': 'http://unitsofmeasure.org', 'code': 'kg'}
    """
    number = value.get("value") if isinstance(value, dict) else None
    if isinstance(number, bool) or not isinstance(number, int | float) or abs(number) > MOST:
        return None
    unit = value.get("code")
    if value.get("system") != UCUM or not isinstance(unit, str) or not _UNIT.fullmatch(unit):
        return {"value": number}
    return {"value": number, "unit": unit, "system": UCUM, "code": unit}


_COMMON: Rules = {"subject": SUBJECT, "encounter": ENCOUNTER}
_VALUES: Rules = {
    "code": concept,
    "valueQuantity": quantity,
    "valueCodeableConcept": concept,
    "valueBoolean": truth,
    "dataAbsentReason": concept,
    "interpretation": concept,
}

FIELDS: Mapping[str, Rules] = {
    "Patient": {"deceasedDateTime": DAY, "deceasedBoolean": truth},
    "Encounter": {
        "status": code,
        "class": coding,
        "type": concept,
        "serviceType": concept,
        "subject": SUBJECT,
        "period": PERIOD,
    },
    "Condition": {
        **_COMMON,
        "clinicalStatus": concept,
        "verificationStatus": concept,
        "category": concept,
        "severity": concept,
        "code": concept,
        "bodySite": concept,
        "onsetDateTime": DAY,
        "abatementDateTime": DAY,
        "recordedDate": DAY,
    },
    "Observation": {
        **_COMMON,
        **_VALUES,
        "status": code,
        "category": concept,
        "effectiveDateTime": DAY,
        "effectivePeriod": PERIOD,
        "component": _VALUES,
    },
    "MedicationRequest": {
        **_COMMON,
        "status": code,
        "intent": code,
        "category": concept,
        "medicationCodeableConcept": concept,
        "authoredOn": DAY,
    },
    "DocumentReference": {
        "subject": SUBJECT,
        "status": code,
        "docStatus": code,
        "type": concept,
        "category": concept,
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
