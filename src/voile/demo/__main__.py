"""Write made-up data into a new folder: `python -m voile.demo county`.

The folder has the name of the data. The command never replaces a folder.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from voile.demo.county import ROLES, make_county, write_county
from voile.demo.samples import make_annotated_notes, make_baskets, make_readings

PEOPLE = {"county": 20_000, "notes": 80, "baskets": 1_500, "readings": 600}
CHECKED, RELEASED = 0.4, 0.8
SEED = 1
READING_ROLES = """\
subject = "patient"

[columns]
patient = "identifier"
condition = "private"
weight = { role = "reading", resolution = 0.1 }
pulse = "reading"
"""


def write_people(folder: Path, people: int) -> None:
    """Write a county: patients.csv, population.parquet, register.csv and others."""
    write_county(make_county(people=people), folder)


def write_release(folder: Path) -> None:
    """Release the patients with a tree policy: roles.toml, release.csv and its manifest."""
    import voile.tables as vt

    (folder / "roles.toml").write_text(ROLES, encoding="utf-8")
    patients, population = folder / "patients.csv", folder / "population.parquet"
    kit = vt.fit(
        patients, folder / "roles.toml", population=population, k=5, family="tree", seed=SEED
    )
    policy = kit.choose(least_loss=True)
    kit.apply(policy, patients, folder / "release.csv", no_pseudonyms=True)


def write_notes(folder: Path, people: int) -> None:
    """Write notes.csv, the patients and staff in them, and annotated notes of other people."""
    folder.mkdir()
    notes = make_annotated_notes(people, seed=1)
    pa.csv.write_csv(notes.select(["patient", "note", "ward"]), folder / "notes.csv")
    names = notes.select(["patient", "given_name", "family_name"])
    pa.csv.write_csv(names, folder / "patients.csv")
    pa.csv.write_csv(pa.table({"name": notes["doctor"].unique()}), folder / "staff.csv")
    for name, seed, number in (("annotated", 2, people), ("checked", 3, round(CHECKED * people))):
        marked = make_annotated_notes(number, seed=seed).select(
            ["patient", "note", "spans", "ward"]
        )
        pa.parquet.write_table(marked, folder / f"{name}.parquet")


def write_baskets(folder: Path, people: int) -> None:
    """Write baskets.parquet, and others.parquet with the people who are not released."""
    folder.mkdir()
    baskets = make_baskets(people)
    customers = pa.array([f"C{number:05d}" for number in range(people)])
    baskets = baskets.add_column(0, "customer", customers)
    released = round(RELEASED * people)
    pa.parquet.write_table(baskets.slice(0, released), folder / "baskets.parquet")
    pa.parquet.write_table(baskets.slice(released), folder / "others.parquet")


def write_readings(folder: Path, people: int) -> None:
    """Write readings.csv, days.csv with five days of each person, and their roles."""
    folder.mkdir()
    readings = make_readings(people)
    pa.csv.write_csv(readings, folder / "readings.csv")
    (folder / "roles.toml").write_text(READING_ROLES, encoding="utf-8")
    day = 'day = "keep"\n'
    (folder / "days-roles.toml").write_text(READING_ROLES + day, encoding="utf-8")
    rng, days = np.random.default_rng(2), 5
    rows = readings.take(np.repeat(np.arange(people), days))
    weight = np.round(rows["weight"].to_numpy() + rng.normal(0, 0.4, len(rows)), 1)
    pulse = np.round(rows["pulse"].to_numpy() + rng.normal(0, 4, len(rows)))
    daily = rows.set_column(2, "weight", pa.array(weight)).set_column(3, "pulse", pa.array(pulse))
    daily = daily.append_column("day", pa.array(np.tile(np.arange(days), people)))
    pa.csv.write_csv(daily, folder / "days.csv")


WRITERS: dict[str, Callable[[Path, int], None]] = {
    "county": write_people,
    "notes": write_notes,
    "baskets": write_baskets,
    "readings": write_readings,
}


def main(arguments: list[str] | None = None) -> None:
    """Write the folder, and list its files."""
    parser = argparse.ArgumentParser(prog="python -m voile.demo", description=__doc__)
    parser.add_argument("data", choices=sorted(WRITERS))
    parser.add_argument("--people", type=int, help="number of people")
    parser.add_argument("--release", action="store_true", help="also release the county's patients")
    options = parser.parse_args(arguments)
    folder = Path(options.data)
    if folder.exists():
        parser.error(f"{folder} exists; move it or work in another folder")
    WRITERS[options.data](folder, options.people or PEOPLE[options.data])
    if options.release and options.data == "county":
        write_release(folder)
    print("\n".join(str(path) for path in sorted(folder.iterdir())))


if __name__ == "__main__":
    main()
