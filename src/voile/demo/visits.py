"""The county hospital's year: patients, visits and diagnoses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.demo.people import REFERENCE_YEAR, draw
from voile.keys.random import RandomState, streams

SHARE_OF_PEOPLE = 0.08
SHARE_COMING_AGAIN = 0.2


@dataclass(frozen=True)
class DemoDiagnosis:
    """A diagnosis: its frequency, its patients' ages (mean, spread) and sex, ward and stay."""

    name: str
    weight: float
    age: float
    spread: float
    ward: str
    days: float
    only: Literal["", "F", "M"] = ""


DIAGNOSES = (
    DemoDiagnosis("hypertension", 14, 66, 20, "internal medicine", 2),
    DemoDiagnosis("type 2 diabetes", 9, 62, 18, "internal medicine", 4),
    DemoDiagnosis("pneumonia", 7, 55, 40, "internal medicine", 6),
    DemoDiagnosis("fracture", 9, 45, 45, "surgery", 4),
    DemoDiagnosis("heart failure", 8, 80, 12, "cardiology", 7),
    DemoDiagnosis("atrial fibrillation", 6, 76, 13, "cardiology", 3),
    DemoDiagnosis("asthma", 6, 18, 20, "internal medicine", 2),
    DemoDiagnosis("childbirth", 60, 29, 6, "maternity", 2, "F"),
    DemoDiagnosis("appendicitis", 4, 22, 16, "surgery", 3),
    DemoDiagnosis("gallstones", 4, 52, 18, "surgery", 3),
    DemoDiagnosis("stroke", 5, 77, 13, "neurology", 9),
    DemoDiagnosis("COPD", 5, 69, 11, "internal medicine", 6),
    DemoDiagnosis("depression", 5, 40, 20, "psychiatry", 12),
    DemoDiagnosis("gastroenteritis", 6, 8, 14, "internal medicine", 2),
    DemoDiagnosis("breast cancer", 2.5, 61, 13, "oncology", 4, "F"),
    DemoDiagnosis("prostate cancer", 2.5, 71, 9, "oncology", 4, "M"),
    DemoDiagnosis("epilepsy", 1.5, 30, 28, "neurology", 4),
    DemoDiagnosis("alcohol dependence", 2, 46, 13, "psychiatry", 8),
    DemoDiagnosis("opioid dependence", 1, 34, 10, "psychiatry", 7),
    DemoDiagnosis("schizophrenia", 0.8, 35, 13, "psychiatry", 20),
    DemoDiagnosis("hepatitis C", 0.8, 50, 11, "internal medicine", 4),
    DemoDiagnosis("HIV", 0.4, 40, 12, "internal medicine", 6),
)


def make_patients(seed: RandomState, register: pa.Table) -> pa.Table:
    """Make up a year of visits of 8% of the register's people, with one row per visit, by date.

    Every patient keeps the register's values on all visits, including the age in completed years on
    the reference date. So a population counted on that date contains every patient. One in five
    comes twice or more, mostly with the same diagnosis.

    The columns are visit_id, the register's columns, visit_date, ward, diagnosis and length_of_stay
    (in days).
    """
    admission, illness = streams(seed, "admission", "illness")
    age = register["age"].to_numpy()
    who = _patients(admission, age)
    visits = _visits(admission, len(who))
    rows = np.repeat(who, visits)
    first = np.repeat(np.cumsum(visits) - visits, visits)
    diagnosis = _diagnoses(illness, age[rows], register["sex"].take(rows).to_numpy() == "F", first)
    days = np.array([d.days for d in DIAGNOSES])[diagnosis]

    table = register.take(rows)
    columns = {name: table[name] for name in table.column_names}
    columns["visit_date"] = pa.array(_dates(admission, len(rows)))
    columns["ward"] = _wards(diagnosis, age[rows])
    columns["diagnosis"] = pa.array([d.name for d in DIAGNOSES]).take(diagnosis)
    columns["length_of_stay"] = pa.array(illness.geometric(1 / (days + 1)) - 1)
    by_date = pa.table(columns).sort_by([("visit_date", "ascending"), ("person_id", "ascending")])
    ids = pa.array([f"V{i + 1:06d}" for i in range(len(rows))])
    return by_date.add_column(0, "visit_id", ids)


def _wards(diagnosis: NDArray[np.int64], age: NDArray[np.int64]) -> pa.Array:
    """Return the ward of each diagnosis. Children have their own ward."""
    names = [*(d.ward for d in DIAGNOSES), "paediatrics"]
    return pa.array(names).take(pa.array(np.where(age < 16, len(DIAGNOSES), diagnosis)))


def _patients(rng: np.random.Generator, age: NDArray[np.int64]) -> NDArray[np.int64]:
    """Draw the people who come, without replacement. Old people and newborns come more often."""
    need = 0.6 + age / 50 + 1.2 * (age < 2)
    waits = rng.exponential(size=len(age)) / need
    return np.argsort(waits, kind="stable")[: max(1, round(SHARE_OF_PEOPLE * len(age)))]


def _visits(rng: np.random.Generator, n: int) -> NDArray[np.int64]:
    """Return the number of visits of each patient, 1 to 6."""
    visits = np.ones(n, dtype=np.int64)
    again = rng.permutation(n)[: round(SHARE_COMING_AGAIN * n)]
    visits[again] = np.minimum(1 + rng.geometric(0.6, size=len(again)), 6)
    return visits


def _dates(rng: np.random.Generator, n: int) -> NDArray[np.datetime64]:
    """Return days of the year that begins on the reference date."""
    return np.datetime64(f"{REFERENCE_YEAR}-07-01", "D") + rng.integers(0, 365, size=n)


def _diagnoses(
    rng: np.random.Generator,
    age: NDArray[np.int64],
    female: NDArray[np.bool_],
    first: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Draw each visit's diagnosis. Three in five visits have the diagnosis of the first visit."""
    weight, centre, spread = (
        np.array([getattr(d, part) for d in DIAGNOSES]) for part in ("weight", "age", "spread")
    )
    weights = weight * np.exp(-(((age[:, None] - centre) / spread) ** 2) / 2)
    weights[:, [d.only == "F" for d in DIAGNOSES]] *= (female & (age >= 15))[:, None]
    weights[:, [d.only == "M" for d in DIAGNOSES]] *= (~female & (age >= 40))[:, None]
    drawn = draw(rng, weights)
    return np.where(rng.random(len(age)) < 0.6, drawn[first], drawn)
