"""Which columns of the OMOP tables are released, and how; every other one is null.

Source: OMOP Common Data Model 5.4. All columns of each table are written, in its order, so that
the tables load where the model's own are. Released are concepts, numbers, days moved by the
person's offset, ids drawn anew; never a source value, a text but the sanitised note, a time of day,
or a link to a provider or a care site.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from voile.study.carriers.carrier import DEATHS, DIAGNOSES, READINGS, VISITS

ID, PERSON, VISIT, LOCATION = "id", "person", "visit", "location"
CONCEPT, NEEDED, DAY, FIRST_DAY, NUMBER, TEXT, SHOWN = (
    "concept", "needed concept", "day", "needed day", "number", "text", "shown",
)  # fmt: skip
"""What becomes of a column. A needed concept is 0 where it is null; a row without a needed day is
set aside; `shown` comes from the released row of the table of people, and `read` is null in it."""
Columns = Mapping[str, tuple[pa.DataType, str | None]]

_INT, _TEXT, _DAY, _MOMENT = pa.int64(), pa.string(), pa.date32(), pa.timestamp("us")
_REAL = pa.float64()


def _columns(listed: str) -> Columns:
    """Read `name type rule` a line; types i, t, d, m, r, and no rule for what is null."""
    kinds = {"i": _INT, "t": _TEXT, "d": _DAY, "m": _MOMENT, "r": _REAL}
    rows = [line.split(maxsplit=2) for line in listed.strip().splitlines()]
    return {name: (kinds[kind], rule[0] if rule else None) for name, kind, *rule in rows}


TABLES: Mapping[str, Columns] = {
    "location": _columns("""
        location_id i id
        address_1 t
        address_2 t
        city t
        state t
        zip t shown
        county t
        location_source_value t
        country_concept_id i
        country_source_value t
        latitude r
        longitude r
    """),
    "person": _columns("""
        person_id i person
        gender_concept_id i shown
        year_of_birth i shown
        month_of_birth i read
        day_of_birth i read
        birth_datetime m
        race_concept_id i shown
        ethnicity_concept_id i shown
        location_id i location
        provider_id i
        care_site_id i
        person_source_value t shown
        gender_source_value t
        gender_source_concept_id i
        race_source_value t
        race_source_concept_id i
        ethnicity_source_value t
        ethnicity_source_concept_id i
    """),
    "observation_period": _columns("""
        observation_period_id i id
        person_id i person
        observation_period_start_date d
        observation_period_end_date d
        period_type_concept_id i needed concept
    """),
    "visit_occurrence": _columns("""
        visit_occurrence_id i visit
        person_id i person
        visit_concept_id i needed concept
        visit_start_date d needed day
        visit_start_datetime m
        visit_end_date d needed day
        visit_end_datetime m
        visit_type_concept_id i needed concept
        provider_id i
        care_site_id i
        visit_source_value t
        visit_source_concept_id i
        admitted_from_concept_id i concept
        admitted_from_source_value t
        discharged_to_concept_id i concept
        discharged_to_source_value t
        preceding_visit_occurrence_id i
    """),
    "condition_occurrence": _columns("""
        condition_occurrence_id i id
        person_id i person
        condition_concept_id i needed concept
        condition_start_date d needed day
        condition_start_datetime m
        condition_end_date d day
        condition_end_datetime m
        condition_type_concept_id i needed concept
        condition_status_concept_id i concept
        stop_reason t
        provider_id i
        visit_occurrence_id i visit
        visit_detail_id i
        condition_source_value t
        condition_source_concept_id i
        condition_status_source_value t
    """),
    "measurement": _columns("""
        measurement_id i id
        person_id i person
        measurement_concept_id i needed concept
        measurement_date d needed day
        measurement_datetime m
        measurement_time t
        measurement_type_concept_id i needed concept
        operator_concept_id i concept
        value_as_number r number
        value_as_concept_id i concept
        unit_concept_id i concept
        range_low r number
        range_high r number
        provider_id i
        visit_occurrence_id i visit
        visit_detail_id i
        measurement_source_value t
        measurement_source_concept_id i
        unit_source_value t
        unit_source_concept_id i
        value_source_value t
        measurement_event_id i
        meas_event_field_concept_id i
    """),
    "note": _columns("""
        note_id i id
        person_id i person
        note_date d needed day
        note_datetime m
        note_type_concept_id i needed concept
        note_class_concept_id i needed concept
        note_title t
        note_text t text
        encoding_concept_id i needed concept
        language_concept_id i needed concept
        provider_id i
        visit_occurrence_id i visit
        visit_detail_id i
        note_source_value t
        note_event_id i
        note_event_field_concept_id i
    """),
    "death": _columns("""
        person_id i person
        death_date d needed day
        death_datetime m
        death_type_concept_id i concept
        cause_concept_id i concept
        cause_source_value t
        cause_source_concept_id i
    """),
}
"""The tables that are released, the ones that others refer to first."""

EVENTS = ("visit_occurrence", "condition_occurrence", "measurement", "note", "death")
"""The tables whose days an observation period spans."""


def schema_of(table: str) -> pa.schema:
    return pa.schema([(name, kind) for name, (kind, _) in TABLES[table].items()])


def days_in(table: str) -> list[str]:
    """Return the columns of days that move."""
    return [name for name, rule in rules_of(table).items() if rule in (DAY, FIRST_DAY)]


def rules_of(table: str) -> Mapping[str, str]:
    """Return the columns that come from the source, and their rules."""
    return {name: rule for name, (_, rule) in TABLES[table].items() if rule}


_SAYS = {
    "condition_occurrence": (DIAGNOSES, ("condition_concept_id",)),
    "measurement": (
        READINGS,
        ("measurement_concept_id", "value_as_number", "value_as_concept_id", "unit_concept_id"),
    ),
    "visit_occurrence": (VISITS, ("visit_concept_id",)),
}
_VALUES = ("value_as_number", "value_as_concept_id")


def event_of(table: str, row: Mapping[str, Any]) -> tuple[str, tuple[Any, ...] | None]:
    """Return of what kind a row is, and what it says; a concept of 0 says nothing."""
    if table == "death":
        return DEATHS, ("died",)
    kind, columns = _SAYS.get(table, (table, ()))
    said = tuple(row[name] or None for name in columns if name not in _VALUES)
    values = tuple(row[name] for name in columns if name in _VALUES)
    enough = any(x is not None for x in values) if values else any(said)
    return kind, (*said, *values) if enough else None
