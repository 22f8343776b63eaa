"""The codes of a person's sex and race in FHIR (US Core) and OMOP, by the words of a census."""

from __future__ import annotations

from typing import Final, NamedTuple


class PersonCode(NamedTuple):
    """A word with its FHIR code and OMOP concept. A code is None if the standard has none."""

    word: str
    fhir: str | None
    omop: int | None


SEXES: Final = (
    PersonCode("F", "female", 8532),
    PersonCode("M", "male", 8507),
    PersonCode("O", "other", 8521),
)
RACES: Final = (
    PersonCode("White", "2106-3", 8527),
    PersonCode("Black", "2054-5", 8516),
    PersonCode("Asian", "2028-9", 8515),
    PersonCode("Native", "1002-5", 8657),
    PersonCode("Pacific", "2076-8", 8557),
    PersonCode("Other", "2131-1", 8522),
    PersonCode("Two or more", None, 44814659),
)
HISPANIC: Final = PersonCode("Hispanic", "2135-2", 38003563)
"""The code of an ethnicity, which both formats contain in addition to the race."""
NOT_HISPANIC: Final = 38003564

US_CORE: Final = "http://hl7.org/fhir/us/core/StructureDefinition/us-core-"
OMB: Final = "urn:oid:2.16.840.1.113883.6.238"
"""The code system of races and ethnicities."""


def fhir_codes(codes: tuple[PersonCode, ...]) -> dict[str, str]:
    """Return the FHIR codes by word."""
    return {one.word: one.fhir for one in codes if one.fhir is not None}


def omop_concepts(codes: tuple[PersonCode, ...]) -> dict[str, int]:
    """Return the OMOP concepts by word."""
    return {one.word: one.omop for one in codes if one.omop is not None}
