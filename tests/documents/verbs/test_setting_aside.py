"""What cannot be worked on is set aside, what is held out stays; everything is accounted for."""

from __future__ import annotations

import csv
import io
import json

import pyarrow as pa
import pytest
from tests.documents.flow import (
    PHONE,
    ROLES,
    applied,
    by_cost,
    fitted,
    numbers,
    people,
    read,
    removals,
    table,
)

from voile.core.errors import VoileError
from voile.core.progress import silent
from voile.data.roles import Roles
from voile.documents.fitting.loop.corpus import read_learning_corpus
from voile.documents.model.committee import worker as working
from voile.documents.module import DOCUMENTS
from voile.documents.options import ApplyOptions
from voile.documents.replacements.published_document import publish
from voile.documents.text.document import UnannotatedWarning
from voile.documents.text.reader import LOST_CHARACTERS, DocumentReader
from voile.documents.text.source import UnreadWarning, open_source
from voile.documents.verbs.applying_step import ROWS_AT_A_TIME
from voile.documents.verbs.choose import choose
from voile.documents.verbs.removals import REMOVALS
from voile.documents.verbs.verify import verify
from voile.release.choice import Choice
from voile.release.manifest import manifest_path

PLAIN = pytest.mark.filterwarnings("ignore:the policy has no pass")


@pytest.mark.parametrize("name", ["r.csv", "r.tsv", "r.jsonl", "r.parquet", "r.arrow"])
@PLAIN
def test_nulls_stay_nulls_and_empty_texts_empty(tmp_path, name):
    notes = [None, "", f"Call {PHONE} .", ' "\t,\r\n ', "\n", "NULL", "nan"]
    rows, nothing = table(notes, [None] * 7), by_cost(2.0, 0)
    release = applied(rows, tmp_path / name, chosen=nothing, patterns=["phone"])
    shown = [row["note"] for row in read(release.path)]
    assert shown == [None, "", "Call [PHONE] .", ' "\t,\r\n ', "\n", "NULL", "nan"]
    assert [row["letter"] for row in read(release.path)] == [None] * 7
    assert release.private["figures"] == {
        "rows": 7,
        "documents": 6,
        "characters": 29,
        "marks": 1,
        "published_tokens": 0.5,  # Call, NULL and nan of six words
        "subjects": 7,
        "people_with_values": 0,
        "people_with_rare_values_elsewhere": 0,
        "values_found": 0,
    }
    assert all(holds is not False for _, holds in verify(release))


@PLAIN
def test_what_cannot_be_worked_on_is_set_aside_whole(tmp_path):
    notes = ["Fine .", "SECRET \ufffd", "Fine too .", "SECRET \x00 \ufffd"]
    letters = ["Well .", "Well .", "SECRET \ufffd", "SECRET \ufffd"]
    release = applied(table(notes, letters), tmp_path / "r.csv", chosen=by_cost(2.0, 0))
    counts = release.private["counts"]
    why = LOST_CHARACTERS
    assert counts["set_aside_by"] == [
        {"column": "letter", "reason": why, "rows": 2},
        {"column": "note", "reason": why, "rows": 2},
    ]
    assert (counts["read"], counts["released"], counts["set_aside"]) == (4, 1, 3)
    assert [row["note"] for row in read(release.path)] == ["Fine ."]
    with (release.folder / "set-aside.csv").open() as file:
        aside = [(row["row"], row["column"]) for row in csv.DictReader(file)]
    assert sorted(aside) == [("1", "note"), ("2", "letter"), ("3", "letter"), ("3", "note")]
    assert numbers(release) == [0]
    for path in [release.path, manifest_path(release.path), *release.folder.iterdir()]:
        assert b"SECRET" not in path.read_bytes()


CORPUS = Roles.model_validate(
    {
        "columns": {
            "id": "identifier",
            "subject": "drop",
            "text": {"role": "text", "spans": "spans"},
            "spans": "label",
            "pos": "drop",
        }
    }
)


@pytest.fixture(scope="module")
def corpus_kit():
    notes = people()
    nothing = pa.nulls(len(notes), pa.string())
    columns = [notes["person"], nothing, notes["note"], notes["spans"], nothing]
    rows = pa.table(dict(zip(CORPUS.columns, columns, strict=True)))
    return fitted(rows, CORPUS, miss_cost=[2])


@pytest.mark.parametrize("jobs", [1, 2])
def test_why_a_file_could_not_be_read_is_told(tmp_path, corpus_kit, jobs):
    fine = {f"a{n:03}": b"Fine ." for n in range(ROWS_AT_A_TIME + 2)}
    files = {"b": b"Jos\xe9", "c": b" " * (1 + (64 << 20)), "d": "\ufffd".encode(), "e": b"Jos\0"}
    (tmp_path / "notes").mkdir()
    for name, content in {**fine, **files}.items():
        (tmp_path / "notes" / f"{name}.txt").write_bytes(content)
    with pytest.warns(UnreadWarning):
        release = DOCUMENTS.apply(
            corpus_kit,
            choose(corpus_kit, Choice(policy=0)),
            open_source(tmp_path / "notes"),
            tmp_path / "r.jsonl",
            ApplyOptions(jobs=jobs),
            force=False,
            progress=silent,
        )
    with (release.folder / "set-aside.csv").open() as file:
        aside = [(row["id"], row["reason"]) for row in csv.DictReader(file)]
    assert sorted(aside) == [
        ("b", "byte 3 is not valid utf-8 text"),
        ("c", "is longer than 64 MiB"),
        ("d", LOST_CHARACTERS),
        ("e", "byte 3 is NUL (a zero byte), which text does not hold"),
    ]
    assert [row["text"] for row in read(release.path)] == ["Fine ."] * len(fine)


def _lines(rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows.to_pylist())


def _commas(rows):
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, rows.column_names)
    writer.writeheader()
    writer.writerows(rows.to_pylist())
    return file.getvalue()


@pytest.mark.parametrize(("name", "written"), [("n.jsonl", _lines), ("n.csv", _commas)])
@pytest.mark.parametrize("encoding", [None, "utf-8"])
def test_a_row_that_is_no_text_is_set_aside_and_the_others_go_on(tmp_path, name, written, encoding):
    notes = ["We saw José Ruiz again .", "We saw Jos§ Ruiz again .", "No fever , no cough ."]
    rows = table(notes)
    content = written(rows).encode()
    (tmp_path / name).write_bytes(content.replace("§".encode(), b"\xe9"))
    place = content.index("§".encode())
    with pytest.warns(
        UnreadWarning, match=f"{name}: byte {place} is not valid utf-8 text; "
    ) as warned:
        source = open_source(tmp_path / name, encoding=encoding)
    assert not [one for one in warned if "Ruiz" in str(one.message)]
    release = applied(source, tmp_path / "r.jsonl")
    whole = applied(rows.take([0, 2]), tmp_path / "whole.jsonl")
    assert read(release.path) == read(whole.path)
    assert numbers(release) == [0, 2]
    assert release.private["counts"]["set_aside_by"] == [
        {"column": "note", "reason": LOST_CHARACTERS, "rows": 1}
    ]


@PLAIN
def test_a_row_of_which_any_cell_was_lost_is_set_aside(tmp_path):
    """Two people's names may become one; a person held out, another."""
    rows = table(["Fine ."] * 4, None, ["a", "b\ufffd", "c", None])
    rows = rows.set_column(rows.column_names.index("ward"), "ward", [["x", "y", "z\ufffd", None]])
    release = applied(rows, tmp_path / "r.csv", chosen=by_cost(2.0, 0))
    assert numbers(release) == [0, 3]
    why = LOST_CHARACTERS
    assert release.private["counts"]["set_aside_by"] == [
        {"column": "person", "reason": why, "rows": 1},
        {"column": "ward", "reason": why, "rows": 1},
    ]
    categories = rows.set_column(
        rows.column_names.index("ward"), "ward", rows["ward"].dictionary_encode()
    )
    assert numbers(applied(categories, tmp_path / "s.csv", chosen=by_cost(2.0, 0))) == [0, 3]


def test_who_is_held_out_stays_where_the_name_was_lost(tmp_path):
    kit = fitted(people(), hold_out=0.4)
    rows, place = people(), people().column_names.index("person")
    names = [f"{name}\ufffd" for name in rows["person"].to_pylist()]
    release = applied(rows.set_column(place, "person", [names]), tmp_path / "r.csv", kit=kit)
    assert numbers(release) == []


def test_a_cell_that_those_held_out_lost_is_no_reason_to_list(tmp_path):
    kit, rows = fitted(people(), hold_out=0.4), people()
    whole = applied(rows, tmp_path / "whole.csv", kit=kit)
    held = {row["row"] for row in read(whole.folder / "control.parquet")}
    assert held
    ward = [["w\ufffd" if row in held else "w" for row in range(len(rows))]]
    lost = rows.set_column(rows.column_names.index("ward"), "ward", ward)
    counts = applied(lost, tmp_path / "lost.csv", kit=kit).private["counts"]
    assert (counts["set_aside"], counts["set_aside_by"]) == (0, [])


def test_nothing_is_learnt_from_a_row_of_which_a_cell_was_lost(tmp_path):
    """Its spans may be of other characters, its label another, its person somebody else."""
    rows = table(
        ["Ana came .", "Eva came .", "L\ufffd .", "Leo came ."],
        [f"Letter {n} ." for n in range(4)],
        ["a", "b\ufffd", "c", "d"],
    )
    spans = [
        '[{"start": 0, "end": 3, "label": "N\ufffdME"}]',
        '[{"start": 0, "end": 3, "label": "NAME"}]',
        '[{"start": 40, "end": 44, "label": "NAME"}]',
        '[{"start": 0, "end": 3, "label": "NAME"}]',
    ]
    rows = rows.set_column(rows.column_names.index("spans"), "spans", [spans])
    reading = DocumentReader.all_of(ROLES)
    with pytest.warns(UnannotatedWarning):
        learnt = read_learning_corpus(reading, open_source(rows))
    assert {one.text for one in learnt} == {"Letter 0 .", "Letter 2 .", "Leo came .", "Letter 3 ."}
    assert learnt.labels == ("NAME",)
    assert len(list(reading.read_documents(open_source(rows)))) == 8


@PLAIN
def test_a_row_with_half_of_a_character_is_set_aside(tmp_path):
    good, bad = (json.dumps(row) for row in table(["Call \U0001f600 .", "Call § ."]).to_pylist())
    path = tmp_path / "n.jsonl"
    path.write_text(f"{good}\n{bad.replace('u00a7', 'ud83d')}\n{good}\n")
    with pytest.warns(UnreadWarning, match="row 2 holds half of a character"):
        source = open_source(path)
    release = applied(source, tmp_path / "r.jsonl", chosen=by_cost(2.0, 0))
    assert numbers(release) == [0, 2]
    assert [row["note"] for row in read(release.path)] == ["Call \U0001f600 ."] * 2


def test_a_document_that_fails_is_set_aside(tmp_path, secret):
    rows = table(["We saw {Ana Ruiz|NAME} again ."] * 3, None, ["a", " ", "c"])  # no blank subject
    release = applied(rows, tmp_path / "r.csv", replace="surrogate", key_file=secret)
    assert numbers(release) == [0, 2]
    assert release.private["counts"]["set_aside_by"] == [
        {"column": "letter", "reason": "could not be worked on", "rows": 1},
        {"column": "note", "reason": "could not be worked on", "rows": 1},
    ]
    assert {row["row"] for row in removals(release)} == {0, 2}
    assert release.private["surrogates"]["names"] == "built in"


def test_a_row_is_set_aside_whole_where_one_of_its_texts_fails(tmp_path, monkeypatch):
    def publish_or_fail(document, *more):
        if document.text.startswith("We"):
            raise ValueError
        return publish(document, *more)

    monkeypatch.setattr(working, "publish", publish_or_fail)
    rows = table(["We saw {Ana Ruiz|NAME} again ."], ["The file of Dr. {Eva Mora|NAME} ."])
    release = applied(rows, tmp_path / "r.jsonl")
    assert release.private["counts"]["set_aside_by"] == [
        {"column": "note", "reason": "could not be worked on", "rows": 1},
    ]
    assert release.private["figures"] == {"rows": 0, "documents": 0, "characters": 0, "marks": 0}
    assert (read(release.folder / REMOVALS), release.private["removed_by"]) == ([], {})


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_defect_that_meets_every_text_stops_the_release(tmp_path, monkeypatch, jobs):
    def fail(document, *more):
        raise KeyError(document.text)

    monkeypatch.setattr(working, "publish", fail)
    rows = table(["We saw {Ana Ruiz|NAME} again .", " "] * ROWS_AT_A_TIME)
    with pytest.raises(VoileError) as stopped:
        applied(rows, tmp_path / "r.jsonl", jobs=jobs)
    said = (
        "every text fails alike: unexpected KeyError in voile/documents/model/committee/worker.py"
    )
    assert (said in str(stopped.value), stopped.value.exit_code) == (True, 1)
    assert "Ruiz" not in str(stopped.value)
    assert not list(tmp_path.iterdir())


def test_defects_that_differ_set_their_texts_aside(tmp_path, monkeypatch):
    def fail(document, *more):
        raise (KeyError if document.text.startswith("We") else IndexError)

    monkeypatch.setattr(working, "publish", fail)
    release = applied(table(["We saw {Ana Ruiz|NAME} again ."]), tmp_path / "r.jsonl")
    assert release.private["counts"]["set_aside"] == 1


def test_a_row_is_set_aside_once_for_a_reason_and_not_where_it_is_held_out(tmp_path, secret):
    kit = fitted(people(), hold_out=0.4)
    blank = [" " * n for n in range(1, 31)]  # subjects that no surrogate is made for
    notes = ["Fine ." if n % 2 else "Lost \ufffd ." for n in range(30)]
    rows = table(notes, None, blank)
    more = {"kit": kit, "replace": "surrogate", "key_file": secret}
    release = applied(rows, tmp_path / "r.csv", **more)
    held = {row["row"] for row in read(release.folder / "control.parquet")}
    lost, failed = (len([n for n in range(odd, 30, 2) if n not in held]) for odd in (0, 1))
    assert 0 < lost < 15
    assert release.private["counts"]["set_aside_by"] == [
        {"column": "letter", "reason": "could not be worked on", "rows": failed},
        {"column": "note", "reason": "could not be worked on", "rows": failed},
        {"column": "note", "reason": LOST_CHARACTERS, "rows": lost},
    ]
    assert release.private["counts"]["set_aside"] == lost + failed


def test_those_held_out_never_leave(tmp_path):
    kit = fitted(people(), hold_out=0.4)
    rows = people()
    broken = rows["letter"].to_pylist()
    broken[0] = "\ufffd"
    rows = rows.set_column(rows.column_names.index("letter"), "letter", [broken])
    release = applied(rows, tmp_path / "r.jsonl", kit=kit)
    held = read(release.folder / "control.parquet")
    gone = {row["row"] for row in held}
    counts = release.private["counts"]
    assert counts["held_out"] == len(gone) > 10
    assert gone.isdisjoint(numbers(release))
    assert gone.isdisjoint(row["row"] for row in removals(release))
    assert counts["released"] + counts["set_aside"] + counts["held_out"] == len(rows)
    assert counts["set_aside"] == (0 not in gone)
