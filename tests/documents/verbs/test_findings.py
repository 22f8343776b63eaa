"""A release is counted as it was written, and one that was touched is told."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.documents.flow import applied, people, read

from voile.core.errors import TamperedError
from voile.data import open_source
from voile.documents.verbs import applying_step as applying
from voile.documents.verbs.verify import verify
from voile.documents.verbs.verify import verify as of_wing
from voile.gate.documents import MARK, measure_documents
from voile.gate.finding import figures_of

TEXT = st.text(st.sampled_from("[]A_9a é😀\n"), max_size=12)


@given(st.lists(st.tuples(st.none() | TEXT, st.none() | TEXT)))
def test_documents_characters_and_marks_are_counted(rows):
    note, letter = zip(*rows, strict=True) if rows else ((), ())
    table = pa.table(
        {"note": pa.array(note, pa.string()), "x": pa.array(letter, pa.string())},
    )
    found = figures_of(measure_documents(open_source(table), ["note", "x"]))
    texts = [text for text in (*note, *letter) if text is not None]
    assert found == {
        "rows": len(rows),
        "documents": len(texts),
        "characters": sum(map(len, texts)),
        "marks": sum(len(re.findall(r"\[[A-Z0-9_]+\]", text)) for text in texts),
    }


def test_a_mark_is_what_stands_for_something():
    assert [mark.group() for mark in re.finditer(MARK, "[NAME] [A_1] [] [name] [É] [[X]]")] == [
        "[NAME]",
        "[A_1]",
        "[X]",
    ]


@pytest.fixture
def release(tmp_path):
    return applied(people(), tmp_path / "r.jsonl")


def failed(release):
    return [name for name, holds in verify(release) if holds is False]


def test_what_was_written_holds(release):
    assert of_wing is verify
    assert failed(release) == []
    checked = [name for name, holds in verify(release) if holds]
    assert len(checked) == 6
    assert "subjects is as certified" in checked
    received = verify(replace(release, private=None))
    assert [name for name, holds in received if holds] == ["the columns are those of the manifest"]


def unmarked(row):
    return {**row, "note": row["note"].replace("[NAME]", "ANARUI")}


@pytest.mark.parametrize(
    ("touch", "said"),
    [
        (lambda rows: rows[1:], ["rows", "documents", "characters", "marks"]),
        (lambda rows: [{**rows[0], "note": None}, *rows[1:]], ["documents", "characters", "marks"]),
        (lambda rows: [{**rows[0], "note": rows[0]["note"] + "x"}, *rows[1:]], ["characters"]),
        (lambda rows: [unmarked(rows[0]), *rows[1:]], ["marks"]),
        (lambda rows: [{**row, "more": 1} for row in rows], ["the columns"]),
        (lambda rows: [{"note": row["note"], "ward": ""} for row in rows], ["the columns"]),
    ],
)
def test_a_touched_release_is_told(release, touch, said):
    rows = touch(read(release.path))
    release.path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert [re.match(r"the columns|\w+", name)[0] for name in failed(release)] == said
    with pytest.raises(TamperedError):
        release.check_hash()


def test_what_is_not_as_it_was_made_is_not_released(tmp_path, monkeypatch):
    real = applying.measure_documents

    def one_short(source, texts, people):
        found = real(source, texts, people)
        return [replace(x, value=x.value - (x.name == "characters")) for x in found]

    monkeypatch.setattr(applying, "measure_documents", one_short)
    with pytest.raises(AssertionError, match="has not the characters"):
        applied(people(), tmp_path / "r.jsonl")
    assert list(tmp_path.iterdir()) == []
