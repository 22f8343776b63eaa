"""A folder as people keep it: files of many kinds, patients in their names, and things to avoid."""

from __future__ import annotations

import csv
import json
import os
import shutil
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import docx
import pyarrow.parquet as pq
import pytest
from tests.cli.documents.ward import WORD, Notes, refused, released, texts_of

from voile.documents.text.source import open_source


def put_mail(path: Path, body: str) -> Path:
    message = EmailMessage()
    message["From"] = "Zyxandra Frobisher <z@ward.example>"
    message["Subject"] = "Qwertin Snarkov"
    message.set_content(body)
    message.add_attachment(b"x", maintype="image", subtype="png", filename="Zyxandra.png")
    path.write_bytes(message.as_bytes())
    return path


@pytest.fixture
def folder(notes: Notes, tmp_path: Path) -> Path:
    """Return a folder of notes as text, mail, HTML and Word, and of what is not a note."""
    folder = tmp_path / "in"
    (folder / "ward").mkdir(parents=True)
    texts = texts_of(notes)
    (folder / "Zyxandra_1.txt").write_bytes(texts[0].encode())
    (folder / "Zyxandra_2.html").write_text(f"<p>{texts[1]}</p>")
    put_mail(folder / "Qwertin_1.eml", texts[2])
    word = docx.Document()
    word.add_paragraph(texts[3].replace("\r\n", " "))
    word.save(folder / "ward" / "Qwertin_2.docx")
    (folder / "Zyxandra.jpg").write_bytes(b"x")
    (folder / "Zyxandra.frobisher").write_bytes(b"x")
    (folder / "patients.csv").write_text("name\nZyxandra\n")
    (folder / "outside.txt").symlink_to("/etc/hostname")
    (folder / "nowhere.txt").symlink_to(folder / "nobody")
    (folder / "again").symlink_to(folder, target_is_directory=True)
    os.mkfifo(folder / "pipe.txt")
    (folder / ".hidden").write_text("x")
    return folder


def test_each_file_is_read_by_its_own_reader_and_the_others_are_named(
    voile: Any, notes: Notes, folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    ran = voile(*notes.apply(out, folder), "--keep-order")
    assert ran.code == 1
    assert not WORD.search(ran.err + ran.out)
    private = json.loads((tmp_path / "out.jsonl.private" / "manifest.json").read_text())
    counts = private["counts"]
    assert (counts["released"], counts["set_aside"]) == (4, 8)
    assert {one["reason"]: one["rows"] for one in counts["set_aside_by"]} == {
        ".jpg files: not read": 1,
        "files of an unknown kind: not read": 1,
        ".csv files: tables are not documents": 1,
        "links that lead out of the folder are not read": 1,
        "cannot be read (No such file or directory)": 1,
        "is not a file": 2,
        "attachments are not read: image/png": 1,
    }
    with (tmp_path / "out.jsonl.private" / "set-aside.csv").open() as lines:
        named = {row["id"] for row in csv.DictReader(lines)}
    assert "Qwertin_1.eml, attachment 1: Zyxandra.png" in named
    assert {"Zyxandra.jpg", "patients.csv", "outside.txt", "again", "pipe.txt"} < named
    assert released(out)[0].endswith("[NAME] will come again.")
    assert not WORD.search("".join(released(out)).replace("florbnix", ""))


def test_a_mixed_folder_is_inspected_without_a_name(voile: Any, folder: Path) -> None:
    ran = voile("inspect", folder)
    assert ran.code == 0
    assert "8 could not be read" in ran.out
    assert not WORD.search(ran.out + ran.err)


def test_subjects_are_in_the_names_of_files(
    voile: Any, notes: Notes, folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    words = [*notes.apply(out, folder), "--allow-set-aside", "--keep-order"]
    ran = voile(*words, "--subject-pattern", "{subject}_*")
    assert ran.code == 0
    assert "the pattern of subjects does not fit 7 of 11 files: each is a person's own" in ran.err
    people = pq.read_table(f"{out}.private/rows.parquet").to_pylist()
    whose = [row["person"] for row in people]
    assert whose[1] == whose[2] != whose[0] == whose[3]  # html and text; mail and, below, Word
    assert "{subject}_*" in (tmp_path / "out.jsonl.private" / "manifest.json").read_text()
    assert "{subject}" not in (tmp_path / "out.jsonl.manifest.json").read_text()


def test_a_pattern_that_fits_no_file_is_refused(
    voile: Any, notes: Notes, folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    said = refused(voile, *notes.apply(out, folder), "--subject-pattern", "p{subject}.md")
    assert "the pattern of subjects fits none of 11 files; write their names with {subject}" in said
    said = refused(voile, *notes.apply(out, folder), "--subject-pattern", "*.txt")
    assert "a pattern of subjects has {subject} once" in said
    table = folder / "patients.csv"
    words = ["--text", "name", "--subject-pattern", "{subject}"]
    said = refused(voile, *notes.apply(out, table), *words)
    assert "name the column of subjects with --subject" in said


def test_an_attack_knows_the_pattern_that_was_applied(
    voile: Any, notes: Notes, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    pattern = ["--subject-pattern", "note {subject}?.txt", "--quiet"]
    assert voile(*notes.apply(out), *pattern).code == 0
    attack = ["documents", "attack", out, "--original", notes.source, "--learners", "svm"]
    assert voile(*attack, "--jobs", 1, "--seed", 1, "--quiet").code == 0
    kit = ["documents", "fit", notes.source, "--text", "text", *pattern, "--learners", "svm"]
    quick = ["--cross-fit", 3, "--least-left", 50, "--jobs", 1, "--miss-cost", 5]
    assert voile(*kit, *quick, "--out", tmp_path / "kit").code == 0
    facts = json.loads((tmp_path / "kit" / "kit.json").read_text())
    assert facts["facts"]["subjects"] == 3


def test_a_folder_of_annotated_formats_still_asks_which(
    voile: Any, notes: Notes, folder: Path, tmp_path: Path
) -> None:
    for path in notes.source.iterdir():
        shutil.copy(path, folder)
    said = refused(voile, *notes.apply(tmp_path / "out.jsonl", folder))
    assert "several formats: brat, docx, eml, html, table, txt; say which to read" in said
    rows = [row for batch in open_source(f"files:{folder}").batches() for row in batch.to_pylist()]
    assert {row["id"] for row in rows} > {"note 00.txt", "ward/Qwertin_2.docx"}
    assert sum(row["spans"] is not None for row in rows) == 24
