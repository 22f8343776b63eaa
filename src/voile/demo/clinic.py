"""A year of the county hospital, as in a clinic's system.

It consists of people, visits, readings, notes and deaths. `voile.demo.fhir` and `voile.demo.omop`
write the same content in different formats.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import numpy as np
import pyarrow as pa

from voile.demo.county import make_county
from voile.demo.notes import make_notes
from voile.demo.visits import SHARE_OF_PEOPLE
from voile.keys.random import RandomState, streams

SHARE_DYING = 0.02
AS_OF = date(2013, 7, 1)
"""The reference day of ages."""
SNOMED = {
    "hypertension": "38341003",
    "type 2 diabetes": "44054006",
    "pneumonia": "233604007",
    "fracture": "125605004",
    "heart failure": "84114007",
    "atrial fibrillation": "49436004",
    "asthma": "195967001",
    "childbirth": "48782003",
    "appendicitis": "74400008",
    "gallstones": "235919008",
    "stroke": "230690007",
    "COPD": "13645005",
    "depression": "35489007",
    "gastroenteritis": "25374005",
    "breast cancer": "254837009",
    "prostate cancer": "399068003",
    "epilepsy": "84757009",
    "alcohol dependence": "66590003",
    "opioid dependence": "75544000",
    "schizophrenia": "58214004",
    "hepatitis C": "50711007",
    "HIV": "86406008",
}
RXNORM = {
    "hypertension": "29046",
    "type 2 diabetes": "6809",
    "pneumonia": "723",
    "fracture": "5640",
    "heart failure": "4603",
    "atrial fibrillation": "11289",
    "asthma": "435",
}
"""The ingredient that is prescribed for a diagnosis, if any."""


@dataclass(frozen=True)
class ClinicPatient:
    """A patient. `number` is the county's id without its letter."""

    number: int
    given: str
    family: str
    birth: date
    age: int
    sex: str
    race: str
    zip: str
    death: date | None


@dataclass(frozen=True)
class ClinicVisit:
    """A visit with its diagnosis, two readings and the note. `number` counts visits."""

    number: int
    person: int
    start: date
    end: date
    diagnosis: str
    systolic: int
    weight: float
    note: str


@dataclass(frozen=True)
class DemoClinic:
    """Patients, their visits in the order of days, and the tables that score a release of them.

    Parameters
    ----------
    register : all people of the county.
    population : the number of people of each kind.
    spans : the mentions in each visit's note.
    """

    people: tuple[ClinicPatient, ...]
    visits: tuple[ClinicVisit, ...]
    register: pa.Table
    population: pa.Table
    spans: pa.Table


def make_clinic(seed: RandomState, patients: int) -> DemoClinic:
    """Make up a clinic with `patients` patients, in a county of 12.5 times as many people.

    >>> clinic = make_clinic(1, 16)
    >>> len(clinic.people), len(clinic.visits) >= 16
    (16, True)
    """
    county = make_county(seed, people=round(patients / SHARE_OF_PEOPLE))
    notes = make_notes(seed, county.patients)
    readings, deaths = streams(seed, "readings", "deaths")
    rows = county.patients.to_pylist()
    pressure = readings.normal(128, 16, len(rows)).round().astype(int)
    weight = readings.normal(74, 13, len(rows)).clip(3, 160).round(1)
    visits = tuple(
        ClinicVisit(
            number,
            _number(row["person_id"]),
            row["visit_date"],
            row["visit_date"] + timedelta(days=row["length_of_stay"]),
            row["diagnosis"],
            int(mmhg),
            float(kg),
            note,
        )
        for number, (row, mmhg, kg, note) in enumerate(
            zip(rows, pressure, weight, notes["note"].to_pylist(), strict=True), 1
        )
    )
    people = _people(rows, visits, deaths)
    return DemoClinic(people, visits, county.register, county.population, notes)


def _people(
    rows: list[dict[str, Any]], visits: tuple[ClinicVisit, ...], rng: np.random.Generator
) -> tuple[ClinicPatient, ...]:
    last: dict[int, date] = {}
    for visit in visits:
        last[visit.person] = max(visit.end, last.get(visit.person, visit.end))
    dying = dict(zip(sorted(last), rng.random(len(last)) < SHARE_DYING, strict=True))
    found: dict[int, ClinicPatient] = {}
    for row in rows:
        n = _number(row["person_id"])
        found[n] = ClinicPatient(
            number=n,
            given=row["given_name"],
            family=row["family_name"],
            birth=row["birth_date"],
            age=row["age"],
            sex=row["sex"],
            race=row["race"],
            zip=row["zip"],
            death=last[n] if dying[n] else None,
        )
    return tuple(found[n] for n in sorted(found))


def _number(person: str) -> int:
    return int(person.removeprefix("P"))


def make_training(seed: RandomState, patients: int = 400) -> pa.Table:
    """Make up annotated notes of other people to train a kit: person_id, note, spans."""
    county = make_county(seed, people=round(patients / SHARE_OF_PEOPLE))
    return make_notes(seed, county.patients).select(["person_id", "note", "spans"])


TRAINING_ROLES = """\
subject = "person_id"

[columns]
person_id = "identifier"
note = { role = "text", spans = "spans" }
spans = "label"
"""


def truth_of(clinic: DemoClinic, ids: list[str], register_ids: list[str]) -> dict[str, pa.Table]:
    """Return the tables that score a release, with people named as in the export.

    Parameters
    ----------
    ids : the person of each visit.
    register_ids : the name of each person of the county.
    """
    register = clinic.register.set_column(0, "person_id", pa.array(register_ids))
    notes = pa.table(
        {
            "person_id": pa.array(ids),
            "visit": pa.array([one.number for one in clinic.visits]),
            "note": clinic.spans["note"],
            "spans": clinic.spans["spans"],
        }
    )
    return {"register": register, "population": clinic.population, "notes": notes}
