"""A kit is fitted once, and applied to any source that holds text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from tests.cli.documents.ward import (
    QUICK,
    WORD,
    Notes,
    attack_on,
    refused,
    released,
    roles_of,
    texts_of,
)

import voile.documents as vd
from voile.opening import open_kit
from voile.release.manifest import StoredRelease


@pytest.fixture
def table(notes: Notes, tmp_path: Path) -> Path:
    """Return the ward's notes as CSV, two of each patient, beside who wrote them."""
    texts = texts_of(notes)
    whose = [f"p{n // 2}" for n in range(len(texts))]
    rows = {"patient_id": whose, "note": texts, "doctor": ["Zyxandra"] * len(texts)}
    pyarrow.csv.write_csv(pa.table(rows), tmp_path / "notes.csv")
    return tmp_path / "notes.csv"


def test_a_kit_from_notes_is_applied_to_a_column_of_a_table(
    voile: Any, notes: Notes, table: Path, tmp_path: Path
) -> None:
    folder, out = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    assert voile(*notes.apply(folder), "--keep-order", "--quiet").code == 0
    columns = ["--text", "note", "--subject", "patient_id", "--keep-order", "--quiet"]
    assert voile(*notes.apply(out, table), *columns).code == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [list(row) for row in rows] == [["note"]] * 24
    assert [row["note"] for row in rows] == released(folder)
    private = StoredRelease.open(out).private
    assert private is not None
    assert private["roles"]["subject"] == "patient_id"
    removals = pq.read_table(f"{out}.private/removals.parquet")
    assert set(removals["column"].to_pylist()) == {"note"}
    people = pq.read_table(f"{out}.private/rows.parquet")["person"].to_pylist()
    assert people[::2] == people[1::2]
    assert len(set(people)) == 12
    assert voile("verify", out).code == 0
    assert voile("report", out, "--out", tmp_path / "r.html", "--quiet").code == 0
    assert not WORD.search((tmp_path / "r.html").read_text())


def test_a_kit_from_json_lines_is_applied_to_a_folder(
    voile: Any, notes: Notes, lines: Path, tmp_path: Path
) -> None:
    roles, kit, policy = roles_of(voile, lines, tmp_path / "roles.toml"), tmp_path / "kit", "p.toml"
    fit = ["documents", "fit", lines, "--roles", roles, "--out", kit, *QUICK, "--miss-cost", 5]
    assert voile(*fit, "--quiet").code == 0
    choose = ["documents", "choose", kit, "--least-loss", "--out", tmp_path / policy]
    assert voile(*choose, "--quiet").code == 0
    out = tmp_path / "out.jsonl"
    words = ["documents", "apply", kit, notes.source, "--policy", tmp_path / policy, "--out", out]
    assert voile(*words, "--keep-order", "--quiet").code == 0
    assert len(released(out)) == 24
    assert not any("2019" in text for text in released(out))
    assert voile(*attack_on(notes, out), "--quiet").code == 0
    assert voile("verify", out).code == 0


def test_the_truth_may_be_another_source_than_the_one_applied(
    voile: Any, notes: Notes, table: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    columns = ["--text", "note", "--subject", "patient_id", "--quiet"]
    assert voile(*notes.apply(out, table), *columns).code == 0
    said = refused(voile, *attack_on(notes, out, table))
    assert "no identifier is marked in the truth; name the column of its annotations" in said
    assert voile(*attack_on(notes, out), "--quiet").code == 0
    evidence = json.loads((tmp_path / "out.jsonl.private" / "evidence.json").read_text())
    assert evidence


def test_columns_of_a_roles_file_are_kept(
    voile: Any, notes: Notes, table: Path, tmp_path: Path
) -> None:
    roles = tmp_path / "roles.toml"
    roles.write_text('subject = "patient_id"\n[columns]\nnote = "text"\ndoctor = "keep"\n')
    out = tmp_path / "out.csv"
    assert voile(*notes.apply(out, table), "--roles", roles, "--quiet").code == 0
    assert out.read_text().splitlines()[0] == "note,doctor"
    assert voile("verify", out).code == 0


def test_the_columns_of_text_are_named_where_a_kit_is_fitted(
    voile: Any, notes: Notes, lines: Path, tmp_path: Path
) -> None:
    fit = ["documents", "fit", lines, *QUICK, "--miss-cost", 5, "--quiet"]
    said = ["--text", "note", "--spans", "marks", "--subject", "patient"]
    roles = roles_of(voile, lines, tmp_path / "roles.toml")
    assert voile(*fit, *said, "--out", tmp_path / "a").code == 0
    assert voile(*fit, "--roles", roles, "--out", tmp_path / "b").code == 0
    a, b = (open_kit(tmp_path / name) for name in "ab")
    assert a.tables["frontier"] == b.tables["frontier"]
    brat = ["documents", "fit", notes.source, *QUICK, "--miss-cost", 5, "--quiet"]
    assert voile(*brat, "--text", "text", "--out", tmp_path / "c").code == 0
    page = tmp_path / "page.html"
    assert voile("report", tmp_path / "a", "--out", page, "--internal", "--quiet").code == 0
    assert "--text note" in page.read_text()
    assert "--roles" not in page.read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--text", "nota"], "there is no column nota; did you mean note?"),
        (["--text", "note", "--subject", "patient"], "there is no column patient; did you mean"),
        (["--text", "note", "--spans", "a", "--spans", "b"], "--spans is given 2 times"),
        (["--subject", "patient_id"], "name its column of text with --text, or give --roles"),
        ([], "has none of the 5 columns of the roles that it is read by; name its column of text"),
        (["--text", "note", "--roles", "ROLES"], "--roles and --text both say"),
    ],
)
def test_columns_that_are_not_there_are_refused(
    voile: Any, notes: Notes, table: Path, tmp_path: Path, words: list[str], said: str
) -> None:
    roles = [notes.roles if word == "ROLES" else word for word in words]
    assert said in refused(voile, *notes.apply(tmp_path / "out.csv", table), *roles, "--quiet")


def test_a_fit_is_told_its_columns_once(voile: Any, lines: Path, tmp_path: Path) -> None:
    fit = ["documents", "fit", lines, "--out", tmp_path / "kit", *QUICK, "--quiet"]
    assert "name its column of text with --text, or give --roles" in refused(voile, *fit)


def test_the_same_from_python(notes: Notes, table: Path) -> None:
    kit = open_kit(notes.kit)
    release = kit.apply(notes.policy, table, text="note", subject="patient_id", keep_order=True)
    assert release.frame.column_names == ["note"]
    evidence = release.attack(original=notes.source, learners="svm", jobs=1, seed=1)
    assert len(evidence)
    roles = {"note": "text", "doctor": "keep"}
    kept = kit.apply(notes.policy, table, roles=roles, keep_order=True)
    assert kept.frame.column_names == ["note", "doctor"]
    fitted = vd.fit(notes.source, text="text", learners="svm", cross_fit=4, least_left=50, jobs=1)
    assert fitted.policies
