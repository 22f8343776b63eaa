"""A table and notes of the same 500 people: what each reveals, and what both reveal together."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from benchmarks.tables import save

import voile.documents
from voile.demo.county import ROLES, DemoCounty, make_county
from voile.demo.notes import make_notes
from voile.study import Study

PEOPLE, REGISTER, OTHERS = 500, 100_000, 700
LEARN = {"learners": ["svm"], "miss_cost": [5.0, 50.0], "jobs": 1, "seed": 1}
NOTE_ROLES = {
    "subject": "person_id",
    "columns": {
        "visit_id": "drop",
        "person_id": "identifier",
        "note": {"role": "text", "spans": "spans"},
        "spans": "label",
    },
}
PLAN = """\
[study]
subject = "person_id"
key_file = "study.key"
seed = 1

[promise]
beats = "safe-harbor"

[parts.visits]
kind = "tables"
source = "visits.parquet"
roles = "visits.toml"
fit = { population = "population.parquet", method = "quick" }

[parts.notes]
kind = "documents"
source = "notes.parquet"
kit = "KIT"
choose = { max_relative_risk = 0.02 }
APPLY
MENTIONS
"""
RULED = """\
[mentions]
AGE = "age"
ZIP = "zip"
DATE = "shift"
DOB = "drop"
SEX = { column = "sex", keep = true }
"""
NEUTRAL = RULED.replace('{ column = "sex", keep = true }', '"sex"')
SAFE_HARBOR, LEAST = 'beats = "safe-harbor"', "policy = 0"
"""Promises: as little risk as Safe Harbor, which keeps the sexes apart here, and the least."""
ALONE = 'apply = { replace = "surrogate" }'
"""What the wing of notes writes by itself: ages up to 89 as they are, and pronouns."""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        rows = list(measured(Path(folder)))
    save(
        "study_joint",
        f"{PEOPLE} people of the demo county, a row and a note for each visit, linked to a "
        f"register of {REGISTER:,}: expected matches.",
        (
            "the notes are written",
            "mentions left",
            "table",
            "notes",
            "both",
            "both / table",
            "both, stated at recall",
            "sex guessed",
        ),
        rows,
        "*Mentions left*: the share of marked mentions that are unchanged in the written\n"
        "notes. The adversary reads ages and words for a sex. *Sex guessed*: balanced\n"
        "accuracy of the classifier on the written texts, of people whose row does not show\n"
        "it, chance 50%. A dash means nobody. *Stated at recall*: the figure of the private\n"
        f"manifest. The kit of other notes learnt from {OTHERS} people outside the study.\n"
        "The kit of these notes learnt from the same notes, instead of perfect detection.",
    )


def measured(folder: Path) -> list[tuple[str, ...]]:
    county = make_county(people=REGISTER)
    notes, others = written(county, folder)
    for name, text in (("own", notes), ("others", others)):
        voile.documents.fit(text, NOTE_ROLES, **LEARN).save(folder / f"{name}.kit")
    return [
        released(folder, "by themselves", "own", ALONE, ""),
        released(folder, "by the study, kit of these notes", "own", "", RULED),
        released(folder, "by the study, kit of other notes", "others", "", RULED),
        released(folder, "by themselves, sexes merged", "others", ALONE, "", LEAST),
        released(folder, "by the study, sexes merged, neutral", "others", "", NEUTRAL, LEAST),
    ]


def written(county: DemoCounty, folder: Path) -> tuple[pa.Table, pa.Table]:
    """Write what a study needs but for its kits; return its notes, and notes of others."""
    people = sorted(county.patients["person_id"].unique().to_pylist())
    visits, rest = (
        county.patients.filter(pc.is_in(county.patients["person_id"], pa.array(own)))
        for own in (people[:PEOPLE], people[PEOPLE : PEOPLE + OTHERS])
    )
    notes = make_notes(1, visits)
    pq.write_table(visits, folder / "visits.parquet")
    pq.write_table(notes, folder / "notes.parquet")
    pq.write_table(county.population, folder / "population.parquet")
    pq.write_table(county.register, folder / "register.parquet")
    (folder / "visits.toml").write_text(ROLES)
    (folder / "study.key").write_text("k" * 64)
    (folder / "study.key").chmod(0o600)
    return notes, make_notes(2, rest)


def released(
    folder: Path, name: str, kit: str, options: str, mentions: str, promise: str = SAFE_HARBOR
) -> tuple[str, ...]:
    plan = folder / "study.toml"
    text = PLAN.replace(SAFE_HARBOR, promise).replace("KIT", f"{kit}.kit")
    plan.write_text(text.replace("APPLY", options).replace("MENTIONS", mentions))
    study = Study.open(plan)
    study.fit(force=True)
    release = study.apply(force=True)
    found = study.attack(folder / "register.parquet").linked
    figures = (release.private or {})["figures"]
    left, of = mentions_left(folder, release)
    shares = [(x["accuracy"], x["low"], x["high"]) for x in release.public["guesses"]]
    guessed = "; ".join(f"{x:.0%} ({low:.0%} to {high:.0%})" for x, low, high in shares)
    return (
        name,
        f"{left:,} of {of:,}",
        *(f"{x:.1f}" for x in (found.table, found.texts, found.joint)),
        f"{found.joint / found.table:.2f}",
        f"{figures['joint_at_recall']:.1f}",
        guessed or "-",
    )


def mentions_left(folder: Path, release) -> tuple[int, int]:
    """Count marked mentions, but for the sex, that no part of a removal covers."""
    numbers = pq.read_table(release.folder / "notes" / "rows.parquet")["row"]
    removed = pq.read_table(release.folder / "notes" / "removals.parquet").to_pylist()
    places: dict[int, list[tuple[int, int]]] = {}
    for one in removed:
        places.setdefault(one["row"], []).append((one["start"], one["end"]))
    spans = pq.read_table(folder / "notes.parquet")["spans"]
    left = of = 0
    for number in numbers.to_pylist():
        for span in json.loads(spans[number].as_py()):
            if span["label"] == "SEX":
                continue
            of += 1
            left += not any(
                a < span["end"] and span["start"] < b for a, b in places.get(number, ())
            )
    return left, of


if __name__ == "__main__":
    main()
