"""Words in a column's name that say what the column may be.

Words for identifiers follow the list of 45 CFR 164.514(b)(2).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from voile.roles import Role


class Words(NamedTuple):
    """Words that speak for a role, and what they speak of."""

    role: Role
    about: str
    words: frozenset[str]


def _words(role: Role, about: str, *words: str) -> Words:
    return Words(role, about, frozenset(word for line in words for word in line.split()))


IDS = _words(
    "identifier",
    "a number or code of one person",
    "id ids uid uuid guid mrn ssn sin nhs nino passport",
)
# In order: the first that a name has decides.
NAMES = (
    IDS,
    _words(
        "identifier",
        "a way to reach a person",
        "email mail phone telephone mobile fax address street url ip username login",
    ),
    _words(
        "identifier",
        "a person's name",
        "name names surname forename firstname lastname fullname initials",
    ),
    _words(
        "identifier",
        "a thing of one person",
        "account iban license licence plate vin serial imei photo fingerprint",
    ),
    _words("quasi", "age or birth", "age ages birth born dob birthdate birthday yob birthyear"),
    _words("quasi", "sex or gender", "sex gender"),
    _words(
        "quasi",
        "race or origin",
        "race ethnicity ethnic nationality citizenship native origin birthplace language",
    ),
    _words(
        "quasi",
        "a place",
        "zip zipcode postcode postal plz zcta city town municipality county state region",
        "district tract country latitude longitude lat lon lng",
    ),
    _words("quasi", "household or marriage", "marital relationship household"),
    _words("quasi", "education or work", "education occupation profession job employer"),
    _words("quasi", "death", "death died deceased"),
    _words(
        "sensitive",
        "health",
        "diagnosis diagnoses dx icd disease condition hiv aids drug medication procedure",
        "symptom pregnancy disability",
    ),
    _words("sensitive", "money", "income salary wage wages earnings debt credit"),
    _words(
        "sensitive",
        "belief or private life",
        "religion political party orientation union conviction offence offense",
    ),
    _words("label", "what is to be predicted", "label target outcome class"),
)
PEOPLE = _words(
    "identifier", "people", "patient person subject member participant client citizen mrn ssn nhs"
).words
THINGS = _words(
    "keep",
    "what has a name and is no person",
    "hospital drug ward product file column test brand company clinic",
).words


RECORDS = _words(
    "identifier",
    "what tells the records of a long table apart",
    "row record basket cart transaction order invoice receipt visit encounter session user",
    "customer",
).words
ITEMS = _words(
    "items",
    "one of the things that a record has",
    "item product article sku code term word token tag query diagnosis dx icd drug medication",
    "procedure symptom",
).words


def find_words(name: str) -> tuple[Words, str] | None:
    """Find the first entry of `NAMES` that speaks of a column, and the word that says so.

    >>> entry, word = find_words("ZIP_code")
    >>> entry.role, word
    ('quasi', 'zip')
    >>> find_words("drug_name")[1], find_words("wardName")
    ('drug', None)
    """
    words = split_name(name)
    for entry in NAMES:
        found = next((word for word in words if word in entry.words), None)
        if found and not (found == "name" and THINGS.intersection(words)):
            return entry, found
    return None


def names_people(name: str) -> bool:
    """Whether a column's name speaks of people, as in ``patient_id``."""
    return bool(PEOPLE.intersection(split_name(name)))


def is_id(name: str) -> bool:
    """Whether a column's name speaks of a number or code."""
    return bool(IDS.words.intersection(split_name(name)))


def names_records(name: str) -> bool:
    """Whether a column may tell the records of a long table apart, as ``basket`` does."""
    return bool((RECORDS | IDS.words).intersection(split_name(name)))


def names_items(name: str) -> bool:
    """Whether a column's name speaks of things that a record may have many of."""
    return bool(ITEMS.intersection(split_name(name)))


def split_name(name: str) -> list[str]:
    """Split a column's name into lower-case words, digits left out.

    >>> split_name("PatientID"), split_name("date_of-birth"), split_name("icd10 code")
    (['patient', 'id'], ['date', 'of', 'birth'], ['icd', 'code'])
    """
    parts: Iterable[str] = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+", name)
    return [part.lower() for part in parts]
