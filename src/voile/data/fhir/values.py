"""Keep the parts of a value that cannot contain names or free text, or return None."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from voile.data.fhir.definitions import TypeElement, read_codes, read_elements
from voile.data.fhir.fields import list_codings, read_number, take_object

LOINC = "http://loinc.org"
UCUM = "http://unitsofmeasure.org"
_MODALITIES = """
    AR BMD CR CT DG DX ECG ENDO EPS ES GM HC HD IO IVUS KO LS MG MR NM OAM OCT OP OPM OPT OPV OT PR
    PT PX REG RF RG RTDOSE RTIMAGE RTPLAN RTRECORD RTSTRUCT SC SEG SM SR TG US VA XA XC"""
CODES = {
    LOINC: r"\d{1,7}-\d|L[AP]\d{1,6}-\d",
    "http://snomed.info/sct": r"\d{6,18}",
    "http://www.nlm.nih.gov/research/umls/rxnorm": r"\d{1,8}",
    "http://hl7.org/fhir/sid/icd-10": r"[A-Z]\d{2}(\.[0-9A-Z]{1,4})?",
    "http://hl7.org/fhir/sid/icd-10-cm": r"[A-Z]\d[0-9A-Z](\.[0-9A-Z]{1,4})?",
    "http://fhir.de/CodeSystem/bfarm/icd-10-gm": r"[A-Z]\d{2}(\.[0-9-]{1,3})?",
    "http://hl7.org/fhir/sid/icd-9-cm": r"[EV]?\d{2,3}(\.\d{1,2})?",
    "http://hl7.org/fhir/sid/icd-10-pcs": r"(?=.*\d)[0-9A-HJ-NP-Z]{7}",
    "http://www.cms.gov/Medicare/Coding/ICD10": r"(?=.*\d)[0-9A-HJ-NP-Z]{7}",
    "http://fhir.de/CodeSystem/bfarm/ops": r"\d-\d{2}[0-9a-z](\.[0-9a-z]{1,3})?",
    "http://www.ama-assn.org/go/cpt": r"\d{4}[0-9FTU]",
    "https://www.cms.gov/Medicare/Coding/HCPCSReleaseCodeSets": r"[A-V]\d{4}",
    "http://www.ada.org/cdt": r"D\d{4}",
    "http://hl7.org/fhir/sid/ndc": r"\d{4,5}-\d{3,4}-\d{1,2}|\d{11}",
    "http://hl7.org/fhir/sid/cvx": r"\d{1,3}",
    "http://www.whocc.no/atc": r"[A-Z](\d{2}([A-Z]([A-Z](\d{2})?)?)?)?",
    "http://fdasis.nlm.nih.gov": r"(?=.*\d)[0-9A-Z]{10}",
    "http://hl7.org/fhir/ndfrt": r"N\d{10}",
    "http://nucc.org/provider-taxonomy": r"\d{3}[0-9A-Z]{6}X",
    "http://dicom.nema.org/resources/ontology/DCM": rf"\d{{5,6}}|{'|'.join(_MODALITIES.split())}",
    "urn:ietf:rfc:3986": r"urn:oid:1\.2\.840\.10008(\.\d{1,4}){1,9}",
}
"""The pattern of each system's codes, which no name matches."""
_FORMS = {system: re.compile(form) for system, form in CODES.items()}
_ATOMS = """
    m g s A K N J W V L l U mol eq osm kat Hz Pa bar Cel Bq Gy Sv cal [IU] [iU] m[Hg] m[H2O]"""
_ALONE = """
    % a mo wk d h min deg [pH] [degF] [lb_av] [oz_av] [in_i] [ft_i] [arb'U] [CFU] [HPF] [LPF]
    [ppth] [ppm] [ppb] [drp]"""
_PREFIXES = ["G", "M", "k", "h", "da", "d", "c", "m", "u", "n", "p", "f", "a"]


def _make_unit_pattern() -> re.Pattern[str]:
    """Return a pattern of UCUM for the units of clinical readings.

    It excludes {}, which is free text.
    """
    atoms, alone, prefixes = (
        "|".join(map(re.escape, one)) for one in (_ATOMS.split(), _ALONE.split(), _PREFIXES)
    )
    term = rf"(?:10[*^]-?\d\d?|\d{{1,4}}|(?:(?:{prefixes})?(?:{atoms})|{alone})(?:-?\d)?)"
    return re.compile(rf"/?{term}(?:[./]{term}){{0,3}}")


UNIT = _make_unit_pattern()


_COMPARATORS = ("<", "<=", ">=", ">")
_CATEGORY = re.compile(r"([A-Z]\d[0-9A-Z]|[EV]?\d{2,3})(\.\w+)?")
LARGEST = 1e9
"""The largest reading. A larger number is not a measurement."""


def keep_code(value: Any, codes: str) -> str | None:
    """Return a code if it is in a value set that R4 requires, otherwise None."""
    return value if isinstance(value, str) and value in read_codes()[codes] else None


def keep_boolean(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def keep_number(value: Any) -> int | float | None:
    return read_number({"value": value}) if is_small(read_number({"value": value})) else None


def is_small(number: float | None) -> bool:
    return number is not None and abs(number) <= LARGEST


def keep_coding(value: Any) -> dict[str, str] | None:
    """Return the system and code of a coding, or None.

    The code must be in a list of HL7, or have the form of the codes of its system.

    >>> keep_coding({"system": "http://loinc.org", "code": "8480-6", "display": "of Anna"})
    {'system': 'http://loinc.org', 'code': '8480-6'}
    >>> print(keep_coding({"system": "http://loinc.org", "code": "Anna"}))
    None
    """
    system, found = take_object(value).get("system"), take_object(value).get("code")
    if not isinstance(system, str) or not isinstance(found, str):
        return None
    form = _FORMS.get(system)
    is_known = form.fullmatch(found) if form else ":" in system and found in _list_codes(system)
    return {"system": system, "code": found} if is_known else None


def _list_codes(system: str) -> frozenset[str]:
    return read_codes().get(system, frozenset())


def keep_concept(value: Any) -> dict[str, Any] | None:
    """Return the known codings of a concept, or None if it has none."""
    kept = [one for one in map(keep_coding, list_codings(value)) if one]
    return {"coding": kept} if kept else None


def keep_quantity(value: Any) -> dict[str, Any] | None:
    """Return the number, comparator and UCUM unit of a Quantity, or None without a number.

    >>> keep_quantity({"value": 70, "unit": "kg of Anna", "system": UCUM, "code": "kg"})
    {'value': 70, 'unit': 'kg', 'system': 'http://unitsofmeasure.org', 'code': 'kg'}
    """
    number = read_number(value)
    if number is None or not is_small(number):
        return None
    unit, sign = value.get("code"), value.get("comparator")
    kept = {"value": number, **({"comparator": sign} if sign in _COMPARATORS else {})}
    if value.get("system") != UCUM or not isinstance(unit, str) or not UNIT.fullmatch(unit):
        return kept
    return {**kept, "unit": unit, "system": UCUM, "code": unit}


def keep_measure(value: Any) -> dict[str, Any] | None:
    """Return an Age, Count, Distance or Duration with a unit, or None without a unit."""
    kept = keep_quantity(value)
    return kept if kept and "code" in kept else None


def keep_money(value: Any) -> dict[str, Any] | None:
    number, currency = read_number(value), take_object(value).get("currency")
    if number is None or not is_small(number):
        return None
    is_code = isinstance(currency, str) and re.fullmatch("[A-Z]{3}", currency)
    return {"value": number, **({"currency": currency} if is_code else {})}


_KEEPERS: Mapping[str, Callable[[Any], Any]] = {
    "boolean": keep_boolean,
    **dict.fromkeys(("decimal", "integer", "positiveInt", "unsignedInt"), keep_number),
    "Coding": keep_coding,
    "CodeableConcept": keep_concept,
    "Quantity": keep_quantity,
    **dict.fromkeys(("Age", "Count", "Distance", "Duration"), keep_measure),
    "Money": keep_money,
}
_COMPOSED = ("Dosage", "Range", "Ratio", "Timing")


def can_keep(element: TypeElement) -> bool:
    """Return whether the kept part of an element can contain neither names nor free text."""
    if element.type == "code":
        return element.codes in read_codes()
    return element.type in _KEEPERS or element.type in _COMPOSED


def keep_value(element: TypeElement, value: Any) -> Any:
    """Return the safe parts of a value of an element, or None if it has none."""
    if element.type == "code":
        return keep_code(value, element.codes or "")
    if keeper := _KEEPERS.get(element.type):
        return keeper(value)
    found = {}
    for name, one in read_elements()[element.parent].items():
        raw = take_object(value).get(name)
        if raw is not None and (one.is_part or can_keep(one)):
            found[name] = map_values(one, raw, keep_value)
    return {name: one for name, one in found.items() if one is not None} or None


def map_values(element: TypeElement, raw: Any, change: Callable[[TypeElement, Any], Any]) -> Any:
    """Change a value, or each item of a list. None if nothing remains or R4 has no such list."""
    if isinstance(raw, list) != element.is_list:
        return None
    if not isinstance(raw, list):
        return change(element, raw)
    return [one for one in (change(element, each) for each in raw) if one is not None] or None


def can_generalise(element: TypeElement) -> bool:
    return element.type in ("Coding", "CodeableConcept", "Quantity", "decimal", "Money")


def generalise_value(element: TypeElement, value: Any) -> Any:
    """Round a number to two significant digits, and reduce an ICD code to its category.

    >>> quantity = read_elements()["Observation"]["valueQuantity"]
    >>> generalise_value(quantity, {"value": 128.6}), generalise_value(quantity, {"value": -0.0})
    ({'value': 130.0}, {'value': 0.0})
    """
    kept = keep_value(element, value)
    if kept is None or isinstance(kept, int | float):
        return kept if kept is None else round_number(kept)
    if "value" in kept:
        return {**kept, "value": round_number(kept["value"])}
    categories = [_generalise_coding(one) for one in kept.get("coding", [kept])]
    several = [one for n, one in enumerate(categories) if one and one not in categories[:n]]
    if element.type == "Coding":
        return several[0] if several else None
    return {"coding": several} if several else None


def round_number(number: float) -> float:
    return float(f"{number:.1e}") + 0.0


def _generalise_coding(coding: dict[str, str]) -> dict[str, str] | None:
    found = _CATEGORY.fullmatch(coding["code"]) if "/icd-" in coding["system"] else None
    return {**coding, "code": found[1]} if found else None
