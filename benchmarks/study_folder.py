"""`voile study` on a folder of six tables without notes: CPU time and memory of its plan."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.study_fhir import run
from benchmarks.tables import save

PEOPLE = (10_000, 30_000, 100_000)
VERBS = ("init", "fit", "apply")
EVENTS = 3
"""Mean rows of a person in each table of events."""
FIRST = np.datetime64("2012-01-01")


def main(sizes: tuple[int, ...]) -> None:
    rows = []
    for people in sizes:
        with tempfile.TemporaryDirectory() as place:
            rows.append(measured(Path(place), people))
    save(
        "study_folder",
        "The plan that `voile study init` writes for a folder of six tables, unedited.",
        ("people", "rows", *(f"{verb}, CPU s (peak MiB)" for verb in VERBS)),
        rows,
        "One table of people and five of events, as Parquet, with three rows a person on average. "
        "Target for 100,000 people: 900 CPU seconds in total, and no growth of `apply`'s memory. "
        "The peak is the value search's, and is the same for 30,000 and 100,000 people.",
    )


def measured(place: Path, people: int) -> tuple[str, ...]:
    (place / "export").mkdir()
    rows = write_tables(place / "export", people)
    plan = str(place / "plan" / "study.toml")
    took = [
        run("study", "init", str(place / "export"), "--out", plan),
        run("study", "fit", plan),
        run("study", "apply", plan, "--allow-set-aside"),
    ]
    return f"{people:,}", f"{rows:,}", *(f"{one.cpu:.0f} ({one.peak:,.0f})" for one in took)


def write_tables(folder: Path, people: int) -> int:
    """Write six tables of random people, and return their rows."""
    rng = np.random.default_rng(1)
    who = np.array([f"P{n:07}" for n in rng.permutation(10 * people)[:people]])
    table = {
        "patient_id": who,
        "age": rng.integers(0, 95, people),
        "sex": rng.choice(["F", "M"], people),
        "zip": [f"{n:05}" for n in rng.choice(rng.integers(10_000, 20_000, 200), people)],
        "race": rng.choice(["White", "Black", "Asian", "Other"], people, p=[0.7, 0.15, 0.1, 0.05]),
    }
    pq.write_table(pa.table(table), folder / "patients.parquet")
    events = {
        "visits": {"visit_date": _days, "ward": _some("ward", 12)},
        "diagnoses": {"diagnosis_date": _days, "icd10": _some("I", 90)},
        "labs": {"lab_date": _days, "test": _some("test", 20), "value": _values},
        "drugs": {"drug_date": _days, "drug": _some("drug", 60)},
        "procedures": {"procedure_date": _days, "procedure": _some("proc", 40)},
    }
    for name, columns in events.items():
        whose = np.repeat(who, rng.poisson(EVENTS, people))
        cells = {one: make(rng, len(whose)) for one, make in columns.items()}
        pq.write_table(pa.table({"patient_id": whose, **cells}), folder / f"{name}.parquet")
    return sum(pq.read_metadata(one).num_rows for one in folder.iterdir())


def _days(rng: np.random.Generator, rows: int) -> pa.Array:
    return pa.array(FIRST + rng.integers(0, 700, rows))


def _values(rng: np.random.Generator, rows: int) -> pa.Array:
    return pa.array(rng.normal(100, 20, rows).round(1))


def _some(word: str, values: int):
    def make(rng: np.random.Generator, rows: int) -> pa.Array:
        names = np.array([f"{word}{n:02}" for n in range(values)])
        return pa.array(names[np.minimum(rng.geometric(3 / values, rows) - 1, values - 1)])

    return make


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or PEOPLE)
