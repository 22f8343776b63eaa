"""A release as a folder of files: text, brat's annotations, Word."""

from __future__ import annotations

import io
import json
import re
import shutil
import stat
import zipfile
from pathlib import Path
from typing import Any

import docx
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from tests.cli.documents.ward import HARMLESS, WORD, Notes, attack_on, refused, released, texts_of

from voile.documents import Corpus
from voile.documents.text.source import open_source
from voile.opening import open_kit
from voile.release.manifest import StoredRelease

HIDDEN = re.compile(WORD.pattern.replace(f"|{HARMLESS}", ""), re.IGNORECASE)


def texts_in(folder: Path) -> list[str]:
    return [path.read_bytes().decode() for path in sorted(folder.glob("*.txt"))]


def check_no_canary(out: Path) -> None:
    """Hold what a recipient gets to have no name in it: not in a part of a Word file either."""
    for path in (*out.iterdir(), out.with_name(f"{out.name}.manifest.json")):
        assert not HIDDEN.search(path.name)
        raw = path.read_bytes()
        parts = [raw]
        if path.suffix == ".docx":
            with zipfile.ZipFile(io.BytesIO(raw)) as archive:
                parts += [archive.read(name) for name in archive.namelist()]
        for part in parts:
            assert not HIDDEN.search(part.decode(errors="replace")), path


def test_a_text_file_for_each_document(voile: Any, notes: Notes, tmp_path: Path) -> None:
    out, table = tmp_path / "out", tmp_path / "out.jsonl"
    assert voile(*notes.apply(out), "--files", "txt", "--keep-order", "--quiet").code == 0
    assert voile(*notes.apply(table), "--keep-order", "--quiet").code == 0
    assert sorted(path.name for path in out.iterdir()) == [f"{n:06}.txt" for n in range(1, 25)]
    assert texts_in(out) == released(table)
    check_no_canary(out)
    public = json.loads((tmp_path / "out.manifest.json").read_text())
    assert [one["column"] for one in public["columns"]] == ["file", "text"]
    assert stat.S_IMODE((tmp_path / "out.private").stat().st_mode) == 0o700
    assert voile("verify", out).code == 0
    page = tmp_path / "r.html"
    assert voile(*attack_on(notes, out), "--quiet").code == 0
    assert voile(*attack_on(notes, table), "--quiet").code == 0
    of_files, of_table = (
        json.loads((tmp_path / f"{name}.private" / "evidence.json").read_text())
        for name in ("out", "out.jsonl")
    )
    assert of_files["evidence"] == of_table["evidence"]
    assert voile("report", out, "--out", page, "--quiet").code == 0
    assert not HIDDEN.search(page.read_text())


def test_a_changed_folder_is_no_release_any_more(voile: Any, notes: Notes, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = [*notes.apply(out), "--files", "txt", "--quiet"]
    assert voile(*words).code == 0
    assert "replace it with --force" in refused(voile, *words)
    assert voile(*words, "--force").code == 0
    (out / "mine.txt").write_text("mine")
    assert voile("verify", out).code == 1
    assert "not a release that voile wrote" in refused(voile, *words, "--force")
    assert (out / "mine.txt").exists()
    (out / "mine.txt").unlink()
    assert voile("verify", out).code == 0
    (out / "000001.txt").write_text("other")
    assert voile("verify", out).code == 1
    (out / "000001.txt").unlink()
    (out / "000001.txt").symlink_to(notes.roles)
    assert voile("verify", out).code == 1


def test_marks_are_annotations_of_brat(voile: Any, notes: Notes, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = [*notes.apply(out), "--files", "brat", "--keep-order", "--quiet"]
    assert voile(*words, "--replace", "category").code == 0
    corpus = Corpus.read(f"{out}", "brat")
    assert len(corpus) == 24
    assert set(corpus.labels) <= {"NAME", "DATE"}
    for document in corpus:
        marks = [found.span() for found in re.finditer(r"\[[A-Z]+\]", document.text)]
        assert [(one.start, one.end) for one in document.spans] == marks
        assert {document.text[a + 1 : b - 1] for a, b in marks} == {s.label for s in document.spans}
    check_no_canary(out)
    assert voile("verify", out).code == 0
    assert voile(*attack_on(notes, out), "--quiet").code == 0
    shown = StoredRelease.open(out).rows().columns
    assert list(shown) == ["file", "text", "spans"]


def letters(notes: Notes, folder: Path) -> Path:
    """Write the notes as Word files with a style, and the patient as their author and title."""
    folder.mkdir()
    for number, text in enumerate(texts_of(notes)[:8]):
        word = docx.Document()
        word.core_properties.author = word.core_properties.title = text.split()[1]
        for line in text.split("\r\n"):
            word.add_paragraph(line, style="Quote")
        word.sections[0].header.paragraphs[0].text = text.split("\r\n")[0]
        word.save(folder / f"{text.split()[1]} {number}.docx")
    return folder


def test_word_files_are_written_again_in_their_styles(
    voile: Any, notes: Notes, tmp_path: Path
) -> None:
    folder, out, table = letters(notes, tmp_path / "in"), tmp_path / "out", tmp_path / "o.jsonl"
    words = ["--keep-order", "--quiet"]
    assert voile(*notes.apply(out, folder), "--files", "docx", *words).code == 0
    assert voile(*notes.apply(table, folder), *words).code == 0
    assert sorted(path.name for path in out.iterdir()) == [f"{n:06}.docx" for n in range(1, 9)]
    check_no_canary(out)
    texts = [row["text"] for b in open_source(out).batches() for row in b.to_pylist()]
    assert texts == released(table)
    first = docx.Document(out / "000001.docx")
    assert {one.style.name for one in first.paragraphs} == {"Quote"}
    assert "[NAME]" in first.sections[0].header.paragraphs[0].text
    assert voile("verify", out).code == 0
    again = tmp_path / "surrogates"
    surrogates = ["--replace", "surrogate", "--key-file", tmp_path / "key", "--date-order", "dmy"]
    (tmp_path / "key").write_text("0123456789abcdef0123456789abcdef")
    (tmp_path / "key").chmod(0o600)
    assert voile(*notes.apply(again, folder), "--files", "docx", *surrogates, *words).code == 0
    assert not any("[NAME]" in p.text for p in docx.Document(again / "000001.docx").paragraphs)


def test_what_is_no_word_file_is_set_aside(voile: Any, notes: Notes, tmp_path: Path) -> None:
    folder = letters(notes, tmp_path / "in")
    (folder / "a.txt").write_text("Nothing new .")
    first = min(folder.glob("*.docx"))
    with zipfile.ZipFile(first, "a") as archive:
        archive.writestr("word/vbaProject.bin", b"x")
    (folder / "encrypted.docx").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(999))
    with zipfile.ZipFile(folder / "bomb.docx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", bytes(300 << 20))
    out = tmp_path / "out"
    ran = voile(*notes.apply(out, folder), "--files", "docx", "--jobs", 2)
    assert ran.code == 1
    assert not HIDDEN.search(ran.err)
    counts = json.loads((tmp_path / "out.private" / "manifest.json").read_text())["counts"]
    found = {one["reason"]: one["rows"] for one in counts["set_aside_by"]}
    assert found == {
        "the document contains macros": 1,
        "the document is encrypted, or in a format older than Word 2007": 1,
        "the document's compressed parts are larger than 256 MiB in total": 1,
        "is not a Word file, to be written again": 1,
    }
    assert len(list(out.iterdir())) == 7


@pytest.fixture
def table(notes: Notes, tmp_path: Path) -> Path:
    texts = texts_of(notes)[:6]
    names = ["visit 3", "visit 1", "../etc", "Zyxandra 1", "visit 2", "nul"]
    texts[3] = texts[3].replace("Patient:", "Zyxandra Frobisher\r\nPatient:")
    rows = {"visit": names, "mrn": list("abcdef"), "note": texts}
    pyarrow.csv.write_csv(pa.table(rows), tmp_path / "notes.csv")
    return tmp_path / "notes.csv"


def test_files_are_called_by_a_column_that_tells_nothing(
    voile: Any, notes: Notes, table: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    words = [*notes.apply(out, table), "--text", "note", "--files", "txt"]
    ran = voile(*words, "--file-names", "visit", "--quiet")
    assert ran.code == 1
    assert sorted(path.name for path in out.iterdir()) == [f"visit {n}.txt" for n in (1, 2, 3)]
    counts = json.loads((tmp_path / "out.private" / "manifest.json").read_text())["counts"]
    assert {one["reason"]: one["rows"] for one in counts["set_aside_by"]} == {
        "no file can be called so": 2,
        "removed text is in the name of its file": 1,
    }
    named = pq.read_table(tmp_path / "out.private" / "files.parquet").to_pylist()
    assert {(one["row"], one["file"]) for one in named} == {
        (0, "visit 3"), (1, "visit 1"), (4, "visit 2"),
    }  # fmt: skip
    assert voile("verify", out).code == 0
    truth = tmp_path / "truth"
    truth.mkdir()
    for path in sorted(notes.source.iterdir())[:12]:
        shutil.copy(path, truth)
    for path in truth.glob("note 03.*"):  # the text that was changed above
        path.write_bytes(b"" if path.suffix == ".ann" else texts_of(notes)[3].encode())
    assert voile(*attack_on(notes, out, truth), "--quiet").code == 0


def test_two_files_of_one_name_leave_nothing(voile: Any, notes: Notes, tmp_path: Path) -> None:
    rows = {"visit": ["Visit", "visit"], "note": ["Nothing new .", "Nothing else ."]}
    pyarrow.csv.write_csv(pa.table(rows), tmp_path / "notes.csv")
    words = ["--text", "note", "--files", "txt", "--file-names", "visit"]
    said = refused(voile, *notes.apply(tmp_path / "out", tmp_path / "notes.csv"), *words)
    assert "row 2 has the same file name as another row" in said
    assert [path.name for path in tmp_path.iterdir()] == ["notes.csv"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--files", "docx"], "Word files are written from Word files alone"),
        (["--files", "brat", "--replace", "surrogate"], "would say which names are made up"),
        (["--file-names", "visit"], "file_names is for files: add --files"),
        (["--files", "txt", "--file-names", "vista"], "there is no column vista"),
        (["--files", "txt", "--formulas", "escape"], "files are written into a folder"),
    ],
)
def test_what_no_file_can_be_is_refused(
    voile: Any, notes: Notes, table: Path, tmp_path: Path, words: list[str], said: str
) -> None:
    apply = [*notes.apply(tmp_path / "out", table), "--text", "note", *words, "--quiet"]
    assert said in refused(voile, *apply)
    assert not (tmp_path / "out").exists()


def test_files_hold_one_text_and_no_other_column(
    voile: Any, notes: Notes, table: Path, tmp_path: Path
) -> None:
    apply = [*notes.apply(tmp_path / "out", table), "--files", "txt", "--quiet"]
    roles = tmp_path / "roles.toml"
    roles.write_text('[columns]\nnote = "text"\nvisit = "keep"\nmrn = "identifier"\n')
    assert "and visit is kept" in refused(voile, *apply, "--roles", roles)
    roles.write_text('[columns]\nnote = "text"\nvisit = "text"\n')
    assert "there are columns note, visit" in refused(voile, *apply, "--roles", roles)
    roles.write_text('[columns]\nnote = "text"\nmrn = "identifier"\n')
    said = refused(voile, *apply, "--roles", roles, "--file-names", "mrn")
    assert "column mrn: is an identifier, which never leaves" in said
    named = [*notes.apply(tmp_path / "out.csv", table), "--text", "note", "--files", "txt"]
    assert "is called as a table" in refused(voile, *named)
    kit = open_kit(notes.kit)
    with pytest.raises(ValueError, match="files are written into a folder"):
        kit.apply(notes.policy, table, text="note", files="txt")


def test_files_from_python(notes: Notes, table: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    release = open_kit(notes.kit).apply(
        notes.policy, table, out, text="note", files="txt", keep_order=True
    )
    assert release.frame.column("text").to_pylist() == texts_in(out)
    assert all(check.holds is not False for check in release.verify())
