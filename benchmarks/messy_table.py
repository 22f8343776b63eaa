"""A stranger's table of 25 messy columns goes through the whole flow, with at most three edits.

    python -m benchmarks.messy_table

The people are made up from a fixed seed. Five dates in five spellings, a time, an age with its
unit, decimals with commas and units, coordinates, occupation codes (ISCO), four spellings of what
is not known, German headers. The table names each column, what `inspect` proposed and what was
corrected; below it stand the commands' times.
"""

from __future__ import annotations

import csv
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.tables import save

import voile.tables

ROWS = 4_000
MISSING = ("k.A.", "-", "", "unbekannt")
TOWNS = 20
EDITS: dict[str, Any] = {"Einkommen": "drop"}
"""What a person corrects in the proposed roles."""


def write_people(path: Path, rows: int = ROWS, seed: int = 7) -> Path:
    """Write a table of made-up people as CSV, separated by semicolons."""
    draw = np.random.default_rng(seed)
    columns = {name: make(draw, rows) for name, make in COLUMNS.items()}
    town = draw.integers(0, TOWNS, rows)
    columns["PLZ"] = [f"{1067 + 4711 * int(i):05d}" for i in town]
    columns["Breitengrad"] = [f"{47.5 + 0.37 * int(i):.4f}" for i in town]
    columns["Längengrad"] = [f"{13.9 - 0.21 * int(i):.4f}" for i in town]
    columns["Bundesland"] = [f"{LANDS[int(i) % len(LANDS)]}" for i in town]
    for name in ("Raucher", "Kinder", "Gewicht", "Aufnahmezeit"):
        lost = draw.random(rows) < 0.06
        words = draw.choice(MISSING, rows)
        columns[name] = [
            str(word) if gone else cell
            for gone, word, cell in zip(lost, words, columns[name], strict=True)
        ]
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, delimiter=";")
        lines.writerow(columns)
        lines.writerows(zip(*columns.values(), strict=True))
    return path


Draw = np.random.Generator
Make = Callable[[Draw, int], list[str]]
LANDS = ("Bayern", "Hessen", "Sachsen", "Berlin", "Bremen", "Hamburg", "Saarland", "Thüringen")


def _dates(form: str, first: str, days: int) -> Make:
    def make(draw: Draw, rows: int) -> list[str]:
        start = np.datetime64(first)
        return [f"{(start + int(d)).item():{form}}" for d in draw.integers(0, days, rows)]

    return make


def _one_of(*values: str) -> Make:
    return lambda draw, rows: [str(value) for value in draw.choice(values, rows)]


def _german(low: float, high: float, digits: int, unit: str) -> Make:
    def make(draw: Draw, rows: int) -> list[str]:
        numbers = draw.normal((low + high) / 2, (high - low) / 6, rows).clip(low, high)
        return [f"{number:,.{digits}f}".translate(COMMAS) + unit for number in numbers]

    return make


COMMAS = str.maketrans(",.", ".,")


def _names(draw: Draw, rows: int) -> list[str]:
    given = ("Anna", "Peter", "Maria", "Hans", "Laura", "Thomas", "Julia", "Michael")
    last = ("Müller", "Schmidt", "Schneider", "Fischer", "Weber", "Meyer", "Wagner", "Becker")
    return [
        f"{a} {b}" for a, b in zip(draw.choice(given, rows), draw.choice(last, rows), strict=True)
    ]


def _notes(draw: Draw, rows: int) -> list[str]:
    return [
        f"Kam am Tag {int(n)} mit Husten und ging ohne Beschwerden wieder nach Hause."
        for n in draw.integers(1, 400, rows)
    ]


def _codes(*stems: str) -> Make:
    def make(draw: Draw, rows: int) -> list[str]:
        return [
            f"{stem}{int(n)}"
            for stem, n in zip(draw.choice(stems, rows), draw.integers(0, 4, rows), strict=True)
        ]

    return make


COLUMNS: dict[str, Make] = {
    "Patientennummer": lambda draw, rows: [f"P-{i:06d}" for i in draw.permutation(rows)],
    "Name": _names,
    "E-Mail": lambda draw, rows: [f"p{i}@example.org" for i in range(rows)],
    "Telefon": lambda draw, rows: [f"+49 30 {1_000_000 + 37 * i}" for i in range(rows)],
    "Geburtsdatum": _dates("%d.%m.%Y", "1942-01-01", 365 * 60),
    "Aufnahmedatum": _dates("%m/%d/%Y", "2020-01-01", 700),
    "Entlassungsdatum": _dates("%d %b %Y", "2020-01-01", 700),
    "Einwilligung": _dates("%Y-%m-%dT%H:%M:%S", "2020-01-01T09:30:00", 700 * 86_400),
    "Letzter Kontakt": _dates("%d-%m-%y", "2020-01-01", 700),
    "Aufnahmezeit": lambda draw, rows: [
        f"{h:02d}:{m:02d} Uhr" for h, m in zip(*draw.integers(0, 24, (2, rows)), strict=True)
    ],
    "Alter": lambda draw, rows: [f"{n} J." for n in draw.integers(20, 80, rows)],
    "Geschlecht": _one_of("m", "w", "d"),
    "PLZ": _one_of(""),
    "Bundesland": _one_of(""),
    "Breitengrad": _one_of(""),
    "Längengrad": _one_of(""),
    "Gewicht": _german(40, 140, 1, " kg"),
    "Größe": _german(1.5, 2.0, 2, " m"),
    "Kinder": lambda draw, rows: [str(n) for n in draw.poisson(1.4, rows).clip(0, 6)],
    "Raucher": _one_of("ja", "nein", "früher"),
    "Beruf": _codes("221", "411", "522", "711", "911"),
    "Krankenkasse": _one_of("AOK", "TK", "Barmer", "DAK", "privat"),
    "Diagnose": _codes("C50.", "E11.", "I10.", "J45.", "M54."),
    "Einkommen": _german(12_000, 90_000, 2, " €"),
    "Bemerkung": _notes,
}


@dataclass
class Flow:
    """What went through: the proposed roles, the edits made, seconds by step, rows released."""

    proposed: dict[str, str]
    settings: dict[str, str]
    edits: dict[str, Any]
    released: int = 0
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - started


def _written(settings: dict[str, Any]) -> str:
    """Write settings as the roles file does, on one line of a table."""
    written = ((key, json.dumps(value, ensure_ascii=False)) for key, value in settings.items())
    return ", ".join(f"{key} = {value}" for key, value in written)


def run(folder: Path, rows: int = ROWS, **options: Any) -> Flow:
    """Inspect, fit, choose, apply, attack and report a table of so many rows in a folder."""
    source = write_people(folder / "leute.csv", rows)
    started = time.perf_counter()
    roles = voile.inspect(source)
    columns = roles.columns
    edits = {name: role for name, role in EDITS.items() if columns[name].role != role}
    flow = Flow(
        {name: column.role for name, column in columns.items()},
        {name: _written(column.settings) for name, column in columns.items()},
        edits,
    )
    flow.seconds["inspect"] = time.perf_counter() - started
    with flow.step("fit"):
        kit = voile.tables.fit(source, roles=roles.corrected(edits), k=5, suppress=0.5, **options)
    with flow.step("choose"):
        chosen = kit.choose(max_risk=0.2)
    with flow.step("apply"):
        release = kit.apply(chosen, source, no_pseudonyms=True)
    with flow.step("attack"):
        evidence = release.attack(source)
    with flow.step("report"):
        release.report(evidence).save(folder / "report.html")
    flow.released = release.frame.num_rows
    return flow


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        flow = run(Path(folder), seconds=60)
    rows = [
        (name, role, flow.settings[name] or "–", flow.edits.get(name, "–"))
        for name, role in flow.proposed.items()
    ]
    times = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in flow.seconds.items())
    save(
        "messy_table",
        f"{ROWS:,} made-up people in {len(COLUMNS)} columns as strangers have them, through "
        "inspect, fit (k = 5), choose, apply, attack and report; edits of the proposed roles: "
        f"{len(flow.edits)}.",
        ("column", "proposed role", "settings", "corrected to"),
        rows,
        f"{flow.released:,} of {ROWS:,} rows were released. {times}.",
    )


if __name__ == "__main__":
    main()
