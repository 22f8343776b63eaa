"""Keep the parts of a value that no name and no free text can be in; None for the rest."""

from __future__ import annotations

import re
from typing import Any

from voile.data.fhir.fields import list_codings, read_number, take_object

LOINC = "http://loinc.org"
UCUM = "http://unitsofmeasure.org"
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
    LOINC: re.compile(r"\d{1,7}-\d"),
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
_ATOMS = """
    m g s A K N J W V L l U mol eq osm kat Hz Pa bar Cel Bq Gy Sv cal [IU] [iU] m[Hg] m[H2O]"""
_ALONE = """
    % a mo wk d h min deg [pH] [degF] [lb_av] [oz_av] [in_i] [ft_i] [arb'U] [CFU] [HPF] [LPF]
    [ppth] [ppm] [ppb] [drp]"""
_PREFIXES = ["G", "M", "k", "h", "da", "d", "c", "m", "u", "n", "p", "f", "a"]


def _make_unit_pattern() -> re.Pattern[str]:
    """Return UCUM's grammar over the units of clinical readings, without {}: free text."""
    atoms, alone, prefixes = (
        "|".join(map(re.escape, one)) for one in (_ATOMS.split(), _ALONE.split(), _PREFIXES)
    )
    term = rf"(?:10[*^]-?\d\d?|\d{{1,4}}|(?:(?:{prefixes})?(?:{atoms})|{alone})(?:-?\d)?)"
    return re.compile(rf"/?{term}(?:[./]{term}){{0,3}}")


UNIT = _make_unit_pattern()


LARGEST = 1e9
"""The largest reading: a larger number is not a measurement."""


def keep_code(value: Any) -> str | None:
    """Keep a word of a value set that FHIR fixes: "final", "order"."""
    return value if isinstance(value, str) and value in WORDS else None


def keep_boolean(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def keep_coding(value: Any) -> dict[str, str] | None:
    """Keep system and code of a coding whose system is known, and whose code is of its form.

    >>> keep_coding({"system": "http://loinc.org", "code": "8480-6", "display": "of Anna"})
    {'system': 'http://loinc.org', 'code': '8480-6'}
    >>> print(keep_coding({"system": "http://loinc.org", "code": "Anna"}))
    None
    """
    system, found = take_object(value).get("system"), take_object(value).get("code")
    if not isinstance(system, str) or not isinstance(found, str):
        return None
    form = CODES.get(system)
    return {"system": system, "code": found} if form and form.fullmatch(found) else None


def keep_concept(value: Any) -> dict[str, Any] | None:
    """Keep the known codings of a concept; without one, nothing."""
    kept = [one for one in map(keep_coding, list_codings(value)) if one]
    return {"coding": kept} if kept else None


def keep_quantity(value: Any) -> dict[str, Any] | None:
    """Keep a number and its UCUM unit.

    >>> keep_quantity({"value": 70, "unit": "kg of Anna", "system": UCUM, "code": "kg"})
    {'value': 70, 'unit': 'kg', 'system': 'http://unitsofmeasure.org', 'code': 'kg'}
    """
    number = read_number(value)
    if number is None or abs(number) > LARGEST:
        return None
    unit = value.get("code")
    if value.get("system") != UCUM or not isinstance(unit, str) or not UNIT.fullmatch(unit):
        return {"value": number}
    return {"value": number, "unit": unit, "system": UCUM, "code": unit}
