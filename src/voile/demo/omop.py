"""Write a clinic in the OMOP common data model 5.4, as CSV or Parquet tables.

Diagnoses have concept ids above 2,000,000,000, the range that the model reserves for each site.
Sexes, races and visits have ids of the standard vocabulary. As in real databases, rows contain
source values.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, time
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from voile.data import open_writer
from voile.data.person_codes import HISPANIC, NOT_HISPANIC, RACES, SEXES, omop_concepts
from voile.demo.clinic import SNOMED, ClinicPatient, ClinicVisit, DemoClinic

LOCAL = 2_000_000_000
SEX_CONCEPTS, RACE_CONCEPTS = omop_concepts(SEXES), omop_concepts(RACES)
INPATIENT, FROM_RECORDS = 9201, 32817
MMHG, KG, EQUALS = 8876, 9529, 4172703
ENGLISH, UTF_8, DISCHARGE = 4180186, 32678, 706531
DIAGNOSES = {name: LOCAL + 1 + n for n, name in enumerate(SNOMED)}
Row = dict[str, Any]


def write_omop(
    clinic: DemoClinic, folder: Path, form: Literal["csv", "parquet"] = "parquet"
) -> None:
    """Write the tables of the model into an existing folder."""
    for name, table in omop_tables(clinic).items():
        with open_writer(folder / f"{name}.{form}", table.schema) as writer:
            for batch in table.to_batches():
                writer.write(batch)


def omop_tables(clinic: DemoClinic) -> Mapping[str, pa.Table]:
    """Return the tables of the model by name, without empty tables."""
    homes = {code: n for n, code in enumerate(sorted({one.zip for one in clinic.people}), 1)}
    rows = {
        "location": [_location(n, code) for code, n in homes.items()],
        "person": [_person(one, homes) for one in clinic.people],
        "observation_period": _periods(clinic),
        "visit_occurrence": [_visit(one) for one in clinic.visits],
        "condition_occurrence": [_condition(one) for one in clinic.visits],
        "measurement": [x for one in clinic.visits for x in _measurements(one)],
        "note": [_note(one) for one in clinic.visits],
        "death": [_death(one) for one in clinic.people if one.death],
    }
    return {name: pa.Table.from_pylist(found) for name, found in rows.items() if found}


def _location(number: int, code: str) -> Row:
    source = f"home {code}"
    return {"location_id": number, "zip": code, "location_source_value": source}


def _person(one: ClinicPatient, homes: Mapping[str, int]) -> Row:
    hispanic = one.race == HISPANIC.word
    return {
        "person_id": one.number,
        "gender_concept_id": SEX_CONCEPTS[one.sex],
        "year_of_birth": one.birth.year,
        "month_of_birth": one.birth.month,
        "day_of_birth": one.birth.day,
        "birth_datetime": _moment(one.birth),
        "race_concept_id": RACE_CONCEPTS.get(one.race, 0),
        "ethnicity_concept_id": HISPANIC.omop if hispanic else NOT_HISPANIC,
        "location_id": homes[one.zip],
        "person_source_value": f"MRN-{one.number:08d}",
        "gender_source_value": f"{one.given} {one.family}, {one.sex}",
    }


def _periods(clinic: DemoClinic) -> list[Row]:
    first: dict[int, date] = {}
    last: dict[int, date] = {}
    for one in clinic.visits:
        first[one.person] = min(one.start, first.get(one.person, one.start))
        last[one.person] = max(one.end, last.get(one.person, one.end))
    return [
        {
            "observation_period_id": n,
            "person_id": person,
            "observation_period_start_date": first[person],
            "observation_period_end_date": last[person],
            "period_type_concept_id": FROM_RECORDS,
        }
        for n, person in enumerate(sorted(first), 1)
    ]


def _visit(one: ClinicVisit) -> Row:
    return {
        "visit_occurrence_id": one.number,
        "person_id": one.person,
        "visit_concept_id": INPATIENT,
        "visit_start_date": one.start,
        "visit_start_datetime": _moment(one.start),
        "visit_end_date": one.end,
        "visit_end_datetime": _moment(one.end),
        "visit_type_concept_id": FROM_RECORDS,
        "visit_source_value": f"V{one.number:06d}",
    }


def _condition(one: ClinicVisit) -> Row:
    return {
        "condition_occurrence_id": one.number,
        "person_id": one.person,
        "condition_concept_id": DIAGNOSES[one.diagnosis],
        "condition_start_date": one.start,
        "condition_type_concept_id": FROM_RECORDS,
        "visit_occurrence_id": one.number,
        "condition_source_value": SNOMED[one.diagnosis],
    }


def _measurements(one: ClinicVisit) -> list[Row]:
    readings = ((3004249, one.systolic, MMHG), (3025315, one.weight, KG))
    return [
        {
            "measurement_id": 2 * one.number - 1 + n,
            "person_id": one.person,
            "measurement_concept_id": concept,
            "measurement_date": one.start,
            "measurement_type_concept_id": FROM_RECORDS,
            "operator_concept_id": EQUALS,
            "value_as_number": float(value),
            "unit_concept_id": unit,
            "visit_occurrence_id": one.number,
            "value_source_value": f"{value} of person {one.person}",
        }
        for n, (concept, value, unit) in enumerate(readings)
    ]


def _note(one: ClinicVisit) -> Row:
    return {
        "note_id": one.number,
        "person_id": one.person,
        "note_date": one.end,
        "note_datetime": _moment(one.end),
        "note_type_concept_id": FROM_RECORDS,
        "note_class_concept_id": DISCHARGE,
        "note_title": f"visit of person {one.person}",
        "note_text": one.note,
        "encoding_concept_id": UTF_8,
        "language_concept_id": ENGLISH,
        "visit_occurrence_id": one.number,
        "note_source_value": f"V{one.number:06d}",
    }


def _death(one: ClinicPatient) -> Row:
    return {
        "person_id": one.number,
        "death_date": one.death,
        "death_type_concept_id": FROM_RECORDS,
        "cause_source_value": f"{one.given} {one.family}",
    }


def _moment(day: date) -> datetime:
    return datetime.combine(day, time())
