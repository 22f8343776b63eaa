"""Random exports: folders, OMOP tables and FHIR lines with odd headers, gaps and constants."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from voile.demo.clinic import make_clinic
from voile.demo.fhir import write_fhir
from voile.demo.omop import omop_tables

Rows = list[dict[str, Any]]
PEOPLE = (1, 2, 3, 4, 6, 9, 13, 25, 60)
ODD = ("a b", "größe", "select", "x.y", "[q]", 'q"t', "1st", "Ünï", "a/b", "tab\tin", "#no", "=f")
SUBJECTS = ("patient_id", "MRN", "Patient ID", "pat_nr", "person_id", "subject")


def make_world(seed: int, folder: Path) -> str:
    """Write a random export into a folder, and return its form."""
    rng = Random(seed)
    form = rng.choice(("folder", "folder", "folder", "omop", "fhir"))
    {"folder": _folder, "omop": _omop, "fhir": _fhir}[form](rng, folder)
    return form


def _folder(rng: Random, folder: Path) -> None:
    people, used = rng.choice(PEOPLE), set[str]()
    subject = _header(rng, rng.choice(SUBJECTS), used)
    ids = [f"{rng.choice('PQ')}{n:05}" for n in rng.sample(range(99_999), people)]
    columns = rng.sample([*_COLUMNS], rng.randint(0, 6))
    tables = {"patients": _rows(rng, ids, subject, columns, used, several=False)}
    for n in range(rng.randint(0, 3)):
        seen = [one for one in ids for _ in range(rng.choice((0, 1, 1, 3)))] or ids
        events = rng.sample([*_COLUMNS], rng.randint(1, 4))
        tables[f"events {n}"] = _rows(rng, seen, subject, events, used, several=True)
    if rng.random() < 0.3:
        tables["codes"] = [{"code": "a", "meaning": "x"}, {"code": "b", "meaning": "y"}]
    if rng.random() < 0.1:
        tables["events 0"] = [{**one, subject: rng.choice(["", one.get(subject)])}
                              for one in tables.get("events 0", [])]  # fmt: skip
    for name, rows in tables.items():
        write_rows(rng, folder / name, rows, [] if name == "codes" else [subject])
    if rng.random() < 0.2:
        (folder / "nothing.csv").write_text(rng.choice(["", f"{subject},x\n"]))
    if rng.random() < 0.2:
        (folder / "README.txt").write_text("of the export")


def _rows(
    rng: Random,
    ids: Sequence[str],
    subject: str,
    columns: Sequence[str],
    used: set[str],
    *,
    several: bool,
) -> Rows:
    named = {_header(rng, one, used): _COLUMNS[one] for one in columns}
    gaps = {one: rng.choice((0, 0, 0.2, 1)) for one in named}
    fixed = {one: make(rng, 0) for one, make in named.items() if rng.random() < 0.15}
    return [
        {
            subject: who,
            **{
                one: None if rng.random() < gaps[one] else fixed.get(one) or make(rng, n)
                for one, make in named.items()
            },
        }
        for n, who in enumerate(ids)
    ]


def _header(rng: Random, name: str, used: set[str]) -> str:
    kind = rng.random()
    if kind < 0.25:
        name = "".join(rng.choices("abcdefgh0123456789", k=6))
    elif kind < 0.35:
        name = rng.choice(ODD)
    while name in used:
        name = f"{name}_{rng.randint(2, 99)}"
    used.add(name)
    return name


def _day(rng: Random, _: int) -> str:
    return str(date(2012, 1, 1) + timedelta(days=rng.randint(0, 700)))


_COLUMNS: Mapping[str, Callable[[Random, int], Any]] = {
    "age": lambda rng, _: rng.randint(0, 95),
    "sex": lambda rng, _: rng.choice("FM"),
    "zip": lambda rng, _: f"{rng.choice((10, 11, 60)):02}{rng.randint(0, 99):03}",
    "birth_date": lambda rng, _: str(date(1920, 1, 1) + timedelta(days=rng.randint(0, 33_000))),
    "race": lambda rng, _: rng.choice(("white", "black", "asian")),
    "first_name": lambda rng, _: rng.choice(("Ada", "Ben", "Cora", "Dan", "Eve")),
    "surname": lambda rng, n: f"Quill{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}",
    "phone": lambda rng, n: f"212-555-{1000 + n}",
    "visit_date": _day,
    "seen": lambda rng, _: f"{rng.randint(1, 28):02}.{rng.randint(1, 12):02}.2012",
    "diagnosis": lambda rng, _: rng.choice(("I10", "E11.9", "J45", "C50.1")),
    "value": lambda rng, _: round(rng.gauss(50, 9), 2),
    "ward": lambda rng, _: rng.choice(("north", "south")),
    "flag": lambda rng, _: rng.choice((0, 1)),
    "comment": lambda rng, _: rng.choice(("ok", "", "see file", "repeat")),
    "income": lambda rng, _: f"{rng.randint(10, 90)},{rng.randint(100, 999)}",
}


def write_rows(rng: Random, path: Path, rows: Rows, columns: Sequence[str]) -> None:
    """Write rows as CSV of a random dialect, or as Parquet."""
    names = [*dict.fromkeys((*columns, *(name for row in rows for name in row)))]
    if rng.random() < 0.25:
        cells = {n: [row.get(n) for row in rows] for n in names}
        pq.write_table(pa.table(cells), f"{path}.parquet")
        return
    ends, mark = rng.choice(("\n", "\r\n")), rng.choice(("", "\ufeff"))
    with Path(f"{path}.csv").open("w", newline="", encoding="utf-8") as file:
        file.write(mark)
        writer = csv.writer(file, delimiter=rng.choice(",,;"), lineterminator=ends)
        writer.writerow(names)
        writer.writerows([row.get(name) for name in names] for row in rows)


def _omop(rng: Random, folder: Path) -> None:
    clinic = make_clinic(rng.randint(1, 999), rng.choice((10, 13, 25, 40)))
    absent = rng.sample(["location", "observation_period", "death", "measurement"], 2)
    suffix, upper = rng.choice((".csv", ".parquet")), rng.random() < 0.5
    for name, table in omop_tables(clinic).items():
        if name in absent or name == "note":
            continue
        rows = table.to_pylist()
        if name == "person":
            _spoil(rng, rows, ("race_concept_id", "gender_concept_id", "year_of_birth"))
        _write_omop(folder, name, rows, suffix, upper=upper)
    people = [one.number for one in clinic.people]
    drugs = [{"drug_exposure_id": n, "person_id": rng.choice(people), "drug_concept_id": n % 3,
              "drug_exposure_start_date": _day(rng, n), "sig": "daily", "visit_occurrence_id": 1}
             for n in range(rng.randint(0, 30))]  # fmt: skip
    if drugs:
        _write_omop(folder, "drug_exposure", drugs, suffix, upper=upper)
    _write_omop(folder, "site_table", [{"a": 1}], suffix, upper=upper)


def _spoil(rng: Random, rows: Rows, names: Sequence[str]) -> None:
    """Make some columns constant, or empty."""
    for name in names:
        if (kind := rng.random()) < 0.3:
            value = rows[0].get(name) if kind < 0.2 else None
            for row in rows:
                row[name] = value


def _write_omop(folder: Path, name: str, rows: Rows, suffix: str, *, upper: bool) -> None:
    columns = [*dict.fromkeys(one for row in rows for one in row)]
    cells = {one.upper() if upper else one: [row.get(one) for row in rows] for one in columns}
    path = folder / f"{name.upper() if upper else name}{suffix}"
    if suffix == ".parquet":
        pq.write_table(pa.table(cells), path)
        return
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(cells)
        writer.writerows(zip(*cells.values(), strict=True))


def _fhir(rng: Random, folder: Path) -> None:
    clinic = make_clinic(rng.randint(1, 999), rng.choice((10, 13, 25, 40)))
    write_fhir(clinic, folder)
    (folder / "DocumentReference.ndjson").unlink()
    gone = rng.choice((None, "gender", "birthDate", "address"))
    path = folder / "Patient.ndjson"
    people = [json.loads(line) for line in path.read_text().splitlines()]
    for one in people:
        one.pop(str(gone), None)
    path.write_text("".join(json.dumps(one) + "\n" for one in people))
