"""Memory of `voile study apply` as rows grow: of the same people, and with people."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from benchmarks.study_fhir import run
from benchmarks.study_joint import LEARN, NOTE_ROLES, PLAN, RULED
from benchmarks.tables import save

import voile.documents
from voile.demo.county import ROLES, make_county
from voile.demo.notes import make_notes

COUNTY, LEARNT = 40_000, 500
TIMES = 4


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        rows = measured(Path(place))
    save(
        "study_memory",
        "`voile study apply` on a table and notes of made-up patients, a note for each row.",
        ("rows", "people", "seconds", "peak, MiB"),
        rows,
        "Four times the rows: of the same people, each visit four times with another text; and of "
        "four times as many people. The peak is that of the command's process.",
    )


def measured(place: Path) -> list[tuple[str, ...]]:
    county = make_county(people=COUNTY)
    people = sorted(county.patients["person_id"].unique().to_pylist())
    training = county.patients.filter(
        pc.is_in(county.patients["person_id"], pa.array(people[:LEARNT]))
    )
    kit = voile.documents.fit(make_notes(2, training), NOTE_ROLES, **LEARN)
    kit.save(place / "notes.kit")
    more = make_county(people=TIMES * COUNTY)
    again = pa.concat_tables([county.patients] * TIMES)
    return [
        applied(place, county.patients, county.population),
        applied(place, again, county.population),
        applied(place, more.patients, more.population),
    ]


def applied(place: Path, visits: pa.Table, population: pa.Table) -> tuple[str, ...]:
    numbered = pa.array([f"V{n}" for n in range(len(visits))])
    visits = visits.set_column(visits.schema.get_field_index("visit_id"), "visit_id", numbered)
    pq.write_table(visits, place / "visits.parquet")
    pq.write_table(make_notes(3, visits), place / "notes.parquet")
    pq.write_table(population, place / "population.parquet")
    (place / "visits.toml").write_text(ROLES)
    (place / "study.key").write_text("k" * 64)
    (place / "study.key").chmod(0o600)
    text = PLAN.replace("KIT", "notes.kit").replace("APPLY", "").replace("MENTIONS", RULED)
    plan = place / "study.toml"
    plan.write_text(text)
    run("study", "fit", str(plan), "--force")
    took = run("study", "apply", str(plan), "--force")
    people = len(visits["person_id"].unique())
    return f"{len(visits):,}", f"{people:,}", f"{took.seconds:.0f}", f"{took.peak:.0f}"


if __name__ == "__main__":
    main()
