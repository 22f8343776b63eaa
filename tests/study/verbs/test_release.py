"""A release of a study: one secret, one offset and one pseudonym for each person, in every part."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyarrow import csv
from tests.study.made import SECRET, rows

from voile.core.errors import RequestError
from voile.gate.people import ALONE
from voile.keys.pseudonyms import date_shift, pseudonym
from voile.study import Study
from voile.study.adversary import people
from voile.study.text.mentions import NO_ROW
from voile.study.verbs import apply as applying
from voile.study.verbs import measuring

DAY = re.compile(r"\d{1,2} [A-Z][a-z]+ \d{4}")


@pytest.mark.parametrize("part", ["visits", "notes"])
def test_every_row_has_the_pseudonym_of_its_person(cohort, release, part):
    table, numbers = rows(release, part)
    people = pq.read_table(cohort / f"{part}.parquet")["person_id"].take(numbers).to_pylist()
    assert table["person_id"].to_pylist() == [pseudonym(SECRET, one) for one in people]


def test_every_date_of_a_person_moves_by_one_offset_in_rows_and_in_text(cohort, release):
    visits, numbers = rows(release, "visits")
    source = pq.read_table(cohort / "visits.parquet").take(numbers)
    for old, new, who in zip(
        *(c.to_pylist() for c in (source["visit_date"], visits["visit_date"], source["person_id"])),
        strict=True,
    ):
        assert (new - old).days == date_shift(SECRET, who, days=30)
    notes, numbers = rows(release, "notes")
    source = pq.read_table(cohort / "notes.parquet").take(numbers)
    moved = 0
    for old, new, spans, who in zip(
        source["note"].to_pylist(),
        notes["note"].to_pylist(),
        source["spans"].to_pylist(),
        source["person_id"].to_pylist(),
        strict=True,
    ):
        [at] = [s for s in json.loads(spans) if s["label"] == "DATE"]
        said = datetime.strptime(old[at["start"] : at["end"]], "%d %B %Y")
        days = {(datetime.strptime(d, "%d %B %Y") - said).days for d in DAY.findall(new)}
        moved += days == {date_shift(SECRET, who, days=30)}
    assert moved == notes.num_rows


def test_dates_that_csv_holds_as_text_move_and_are_attacked(change, folder):
    visits = pq.read_table(folder / "visits.parquet")
    csv.write_csv(visits, folder / "visits.csv")
    study = change(('"visits.parquet"', '"visits.csv"'))
    study.fit(force=True)
    made = study.apply()
    numbers = pq.read_table(made.folder / "visits" / "rows.parquet")["row"]
    moved = csv.read_csv(made.path / "visits.csv")["visit_date"].cast(pa.date32())
    source = visits.take(numbers)
    for old, new, who in zip(
        *(c.to_pylist() for c in (source["visit_date"].cast(pa.date32()), moved)),
        source["person_id"].to_pylist(),
        strict=True,
    ):
        assert (new - old).days == date_shift(SECRET, who, days=30)
    guessed = next(one for one in made.findings if one.name == "offset_guessed")
    assert guessed.n == len({*source["person_id"].to_pylist()})


def test_dates_of_another_form_are_refused(change, folder):
    visits = pq.read_table(folder / "visits.parquet")
    at = visits.column_names.index("visit_date")
    said = pc.strftime(visits["visit_date"], "%d.%m.%Y")
    pq.write_table(visits.set_column(at, "visit_date", said), folder / "visits.parquet")
    with pytest.raises(RequestError, match="visit_date has dates that cannot be moved"):
        change().fit(force=True)


def test_one_manifest_counts_what_says_more_and_states_the_joint_risk(release):
    figures = release.public["figures"]
    assert figures["table_mean_risk"] <= figures["joint_mean_risk"]
    assert figures["joint_mean_risk"] <= figures["joint_at_recall_mean_risk"] <= 1
    unsaid = "no word for a value of race was found in the texts that fits"
    assert release.public["assumptions"][0] == unsaid
    assert {path.name for path in release.path.iterdir()} == {
        "manifest.json",
        "visits.parquet",
        "notes.parquet",
    }


def test_without_join_facts_are_of_one_row_and_candidates_people(folder, change):
    study = change(("seed = 1", "seed = 1\njoin = false"))
    study.fit(force=True)
    release = study.apply()
    assert all("person_id" not in rows(release, part)[0].column_names for part in release.counts)
    table, numbers = rows(release, "visits")
    known = [one["column"] for one in release.public["columns"] if one["role"] in ("quasi", "keep")]
    known = [x.partition(".")[2] for x in known if x != "visits.visit_date"]
    whose = pq.read_table(folder / "visits.parquet")["person_id"].take(numbers).to_pylist()
    holders = {}
    for who, row in zip(whose, table.select(known).to_pylist(), strict=True):
        holders.setdefault(tuple(row.values()), set()).add(who)
    alone = {one for own in holders.values() if len(own) == 1 for one in own}
    [found] = [x for x in release.findings if (x.name, x.of) == (ALONE, "one row of visits")]
    assert (found.value, found.n) == (len(alone), len({*whose}))
    assert "all_parts_alone" not in release.public["figures"]
    assert release.public["figures"]["one_row_alone"] >= len(alone) / len({*whose})


def test_notes_of_people_outside_the_table_are_set_aside_and_counted(folder, change):
    notes = pq.read_table(folder / "notes.parquet")
    more = pa.table(
        {
            "visit_id": ["X1"],
            "person_id": ["P999999"],
            "note": ["Nothing new ."],
            "spans": ["[]"],
        }
    )
    pq.write_table(pa.concat_tables([notes, more]), folder / "notes.parquet")
    release = change().apply()
    set_aside = {x["reason"]: x["rows"] for x in release.counts["notes"]["set_aside_by"]}
    assert set_aside == {NO_ROW: 1}
    assert release.counts["notes"]["released"] == notes.num_rows
    assert release.private["people"]["notes"]["set_aside"] == 1
    counted = pq.read_table(release.folder / "people.parquet").to_pylist()
    assert [(x["person"], x["set_aside"]) for x in counted if x["set_aside"]] == [
        (pseudonym(SECRET, "P999999"), 1)
    ]


def test_a_plan_in_a_folder_below_is_applied(change, folder, monkeypatch):
    change()
    monkeypatch.chdir(folder.parent)
    release = Study.open(f"{folder.name}/study.toml").apply()
    assert release.counts["notes"]["released"] > 0


def test_a_part_that_fails_leaves_no_part(folder, change):
    study = change()
    (folder / "notes.parquet").unlink()
    with pytest.raises(RequestError, match="the file does not exist"):
        study.apply()
    assert not list(folder.glob("*.release*"))
    assert not list(folder.glob(".*voile"))


def test_the_same_plan_replaces_its_release_with_force_alone(cohort, release):
    study = Study.open(cohort / "study.toml")
    with pytest.raises(RequestError, match="exists"):
        study.apply()
    assert study.apply(force=True).public["figures"] == release.public["figures"]


def test_texts_of_nobody_in_the_table_are_refused(change, folder):
    notes = pq.read_table(folder / "notes.parquet")
    others = pa.array([f"other-{one}" for one in notes["person_id"].to_pylist()])
    at = notes.schema.get_field_index("person_id")
    pq.write_table(notes.set_column(at, "person_id", others), folder / "notes.parquet")
    with pytest.raises(RequestError, match=r"parts\.notes: no text is of a person with a released"):
        change().apply()
    assert not (folder / "study.release").exists()


@pytest.mark.parametrize(
    ("module", "point"),
    [(measuring, "certify"), (people, "read_dates"), (measuring, "reaches"), (applying, "_seal")],
)
def test_a_run_that_fails_at_any_point_leaves_the_old_release(
    cohort, release, monkeypatch, module, point
):
    def broken(*_, **__):
        raise KeyboardInterrupt

    folders = (release.path, release.folder)
    before = {p: p.read_bytes() for one in folders for p in one.rglob("*") if p.is_file()}
    monkeypatch.setattr(module, point, broken)
    with pytest.raises(KeyboardInterrupt):
        Study.open(cohort / "study.toml").apply(force=True)
    after = {p: p.read_bytes() for one in folders for p in one.rglob("*") if p.is_file()}
    assert after == before
    assert not list(cohort.glob(".*voile*"))


def test_people_are_counted_beside_rows(cohort, release):
    people = len(set(pq.read_table(cohort / "visits.parquet")["person_id"].to_pylist()))
    assert release.private["people"] == {
        name: {"read": people, "released": people, "set_aside": 0} for name in ("visits", "notes")
    }
    counted = pq.read_table(release.folder / "people.parquet").to_pylist()
    visits = pq.read_table(cohort / "visits.parquet")["person_id"].to_pylist()
    for part in ("visits", "notes"):
        own = {x["person"]: (x["read"], x["released"], x["set_aside"]) for x in counted
               if x["part"] == part}  # fmt: skip
        assert own == {pseudonym(SECRET, w): (n, n, 0) for w, n in Counter(visits).items()}
