"""From notes that nobody marked to a release, by whole commands."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pyarrow.csv
import pytest
from tests.cli.conftest import Voile
from tests.documents.model.start.made import STAFF, hospital, patients

QUICK = [
    "--learners",
    "svm",
    "--cross-fit",
    "3",
    "--jobs",
    "1",
    "--seed",
    "1",
    "--least-left",
    "50",
]


@pytest.fixture
def made(voile: Voile, tmp_path: Path) -> Path:
    rows, people, staff = hospital(tmp_path)
    own = ["--known", people, "--by", "patient_id", "--known-people", staff]
    voile("documents", "init", rows, *own, *QUICK, "--out", tmp_path / "work")
    return tmp_path


def test_the_way_from_notes_to_a_release(voile: Voile, made: Path) -> None:
    work, release = made / "work", made / "release.csv"
    asked = voile("documents", "apply", work, made / "notes.csv", "--out", release)
    assert "policy" in asked.err
    assert "as none was chosen: a missed identifier weighs as much as 1 harmless word " in asked.err
    assert "against proposals that nobody checked" in asked.err
    assert "identifiers left" not in asked.err
    texts = " ".join(pyarrow.csv.read_csv(release)["note"].to_pylist())
    words = {word for one in patients() for word in one["name"].split()}
    assert not words & set(texts.split())
    assert not {name.split()[1] for name in STAFF} & set(texts.split())
    voile("report", release, "--out", made / "report.html")
    page = (made / "report.html").read_text()
    assert "unknown here" in page
    public = page + (made / "release.csv.manifest.json").read_text()
    values = {value for one in patients() for value in one.values() if len(value) > 3}
    assert not [one for one in words | values | {"staff.csv", "patients.csv"} if one in public]
    voile("verify", release)


def test_columns_that_are_not_looked_for_are_named(voile: Voile, tmp_path: Path) -> None:
    rows, people, _ = hospital(tmp_path)
    table = pyarrow.csv.read_csv(people)
    table = table.slice(len(table) // 3)
    for name in ("sex", "remarks"):
        table = table.append_column(name, [["f"] * len(table)])
    pyarrow.csv.write_csv(table, people)
    known = ["--known", people, "--by", "patient_id", "--known-kind", "remarks=none"]
    said = voile("documents", "init", rows, *known, *QUICK, "--out", tmp_path / "work").err
    assert "patients.csv: not looked for in the notes: sex; take a column with --known-kind" in said
    ids = pyarrow.csv.read_csv(rows)["patient_id"].to_pylist()
    linked = sum(one in set(table["patient_id"].to_pylist()) for one in ids)
    links = f"known column patient_id: links {linked} of 120 notes to rows, met in 0 of 120 notes"
    assert links in said
    assert 0 < linked < 120


def test_the_commands_that_init_ends_with_can_be_pasted(voile: Voile, tmp_path: Path) -> None:
    folder = tmp_path / "ward's notes"
    folder.mkdir()
    rows, people, _ = hospital(folder)
    own = ["--known", people, "--by", "patient_id"]
    said = voile("documents", "init", rows, *own, *QUICK, "--out", folder / "work").err
    assert "tokens, in English" in said
    found = re.search(r"with voile (.*), or release with voile (.*)\n", said)
    assert found is not None
    assert shlex.split(found[1]) == ["documents", "review", str(folder / "work")]
    assert shlex.split(found[2]) == [
        *("documents", "apply", str(folder / "work"), str(rows)),
        *("--out", "RELEASE"),
    ]


def test_every_verb_that_takes_a_kit_takes_the_work_folder(voile: Voile, made: Path) -> None:
    work = made / "work"
    shown = voile("documents", "frontier", work, "--json")
    assert "nobody checked" in json.loads(shown.out)["caveat"]
    assert "nobody checked" in voile("documents", "frontier", work).err
    chosen = voile("documents", "choose", work, "--knee", "--out", made / "policy.toml")
    assert "nobody checked" in chosen.err
    voile("report", work, "--out", made / "kit.html")
    out = ["--policy", made / "policy.toml", "--out", made / "r.csv"]
    voile("documents", "apply", work, made / "notes.csv", *out)


def test_no_word_of_the_notes_is_printed(voile: Voile, made: Path, tmp_path: Path) -> None:
    rows, people, staff = (made / name for name in ("notes.csv", "patients.csv", "staff.csv"))
    own = ["--known", people, "--by", "patient_id", "--known-people", staff]
    said = voile("documents", "init", rows, *own, *QUICK, "--out", tmp_path / "again", "--json")
    words = {word for one in patients() for word in one["name"].split()}
    words |= {word for name in STAFF for word in name.split()}
    assert not [word for word in words if word in said.out + said.err]
    assert json.loads(said.out)["documents"] == 120


def test_a_work_folder_is_replaced_by_force_until_somebody_reviewed(
    voile: Voile, made: Path
) -> None:
    again = ["documents", "init", made / "notes.csv", *QUICK, "--out", made / "work"]
    assert "replace it with --force" in voile(*again).err
    voile(*again, "--force")
    (made / "work" / "review.sqlite").write_bytes(b"")
    assert "review.sqlite, which voile did not write" in voile(*again, "--force").err


def test_fit_points_to_init_where_nothing_is_marked(voile: Voile, made: Path) -> None:
    refused = voile("documents", "fit", made / "notes.csv", "--text", "note", "--out", made / "kit")
    assert "voile documents init" in refused.err


def test_apply_without_a_policy_needs_a_kit_that_names_one(voile: Voile, made: Path) -> None:
    from voile.release.kit import StoredKit

    kit = StoredKit.load(made / "work")
    plain = {name: x for name, x in kit.facts.items() if name != "default_policy"}
    StoredKit(kit.kind, kit.visibility, plain, kit.tables).save(made / "plain")
    refused = voile(
        "documents", "apply", made / "plain", made / "notes.csv", "--out", made / "r.csv"
    )
    assert "the command needs a policy; choose one with voile documents choose" in refused.err
