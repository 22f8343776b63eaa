"""A release is read until it is accepted, mended on the way, and certified."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from functools import cache
from itertools import count
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.documents.flow import applied, by_cost, kit_of, people, read, removals

from voile import documents
from voile.core.errors import DamagedError, RequestError, TamperedError
from voile.core.evidence import Evidence, Note
from voile.documents.module import DOCUMENTS
from voile.documents.replacements.removal import RemovalReason
from voile.documents.verbs.criteria import CRITERIA
from voile.documents.verbs.report import sections
from voile.documents.verbs.verify import verify
from voile.face.commands import commands
from voile.face.enough import is_it_enough
from voile.release.evidence import AttackResults, find_evidence
from voile.release.manifest import StoredRelease
from voile.release.verify import checks
from voile.report.wording import share

GOAL = {"at_most": 12, "recall": 1.0}
COLUMNS = (("letter", "letter spans"), ("note", "spans"))
"""In the order in which a private manifest has them."""


@cache
def source():
    """Return 288 texts; the policy of a low cost leaves a quarter of the letters' names."""
    return people(each=4, start=3)


@pytest.fixture
def released(tmp_path):
    out = tmp_path / "notes.jsonl"
    applied(source(), out, chosen=by_cost(2), repeats=False)
    return out


@cache
def truth():
    rows = source().to_pylist()
    return [json.loads(row[spans]) for row in rows for _, spans in COLUMNS]


def attentive(line):
    """Mark what the annotation says, and all that is planted."""
    if line.document < 0:
        return [(0, len(line.text), "NAME")]
    return [
        (max(one["start"] - line.start, 0), min(one["end"], line.end) - line.start, one["label"])
        for one in truth()[line.document]
        if one["start"] < line.end and line.start < one["end"]
    ]


def accept(out, **options):
    return documents.accept(kit_of(), out, source(), **{**GOAL, "answers": attentive, **options})


def left_in(out):
    """Return what is left of the source's identifiers, by where the private folder has edits."""
    gone = {}
    for row in removals(StoredRelease.open(out)):
        gone.setdefault((row["row"], row["column"]), []).append((row["start"], row["end"]))
    return [
        one
        for number, spans in enumerate(truth())
        for one in spans
        if not any(
            a <= one["start"] and one["end"] <= b
            for a, b in gone.get((number // 2, COLUMNS[number % 2][0]), ())
        )
    ]


def test_a_release_is_mended_accepted_and_certified(released):
    before = left_in(released)
    assert before
    found = accept(released)
    assert found["decided"] is True
    assert len(left_in(released)) <= 12 * found["tokens"] / 1000
    assert len(left_in(released)) < len(before) / 4
    opened = StoredRelease.open(released)
    assert [c for c in checks(opened, verify, None) if c.holds is False] == []
    assert opened.public["acceptance"]["tokens_read"] == found["read"]
    assert opened.private["acceptance"]["sample"] == found["sample"]
    (evidence,) = find_evidence(opened, None)
    assert evidence.attack == "acceptance"
    shown = sections(opened, [evidence], audience="public")
    assert "Proved: at most 12 identifiers" in found["says"]
    assert "Proved: at most 12" in str(shown)
    lines = [*commands(opened, DOCUMENTS, "public", "notes.jsonl", [evidence])]
    assert not [one for one in lines if one.startswith("voile documents attack")]
    again = "voile documents accept KIT notes.jsonl SOURCE --at-most 12 --per 1000"
    assert [one for one in lines if one.startswith(again)]


def test_what_was_proved_of_subjects_answers_singling_out(released):
    accept(released)
    public = StoredRelease.open(released).public
    assert public["acceptance"]["share_of_subjects_at_most"] == 1  # of so few subjects
    nothing = str(is_it_enough(public, CRITERIA, []))
    assert "singling out" in nothing.partition("Not measured")[2]
    proved = {**public["acceptance"], "share_of_subjects_at_most": 0.04}
    enough = str(is_it_enough({**public, "acceptance": proved}, CRITERIA, []))
    assert f"at most {share(0.04)} (proved, 95% confidence)" in enough
    assert "singling out" not in enough.partition("Not measured")[2]


def test_what_readers_found_is_replaced_and_all_else_stays_as_it_was(released):
    before = read(released)
    was = removals(StoredRelease.open(released))
    accept(released)
    now = removals(StoredRelease.open(released))
    mended = [one for one in now if RemovalReason("reader") in one["by"]]
    assert mended
    assert {(one["row"], one["column"], one["start"]) for one in was} <= {
        (one["row"], one["column"], start)
        for one in now
        for start in range(one["start"], one["end"])
    }
    changed = {(one["row"], one["column"]) for one in mended}
    for row, (old, new) in enumerate(zip(before, read(released), strict=True)):
        for column, _ in COLUMNS:
            assert (old[column] == new[column]) == ((row, column) not in changed)
    for one in mended:
        text = read(released)[one["row"]][one["column"]]
        assert text[one["published_start"] : one["published_end"]] == "[NAME]"


def test_no_planted_identifier_stays_in_a_byte_of_the_release(released):
    planted = []

    def noting(line):
        if line.document < 0:
            planted.append(line.text)
        return attentive(line)

    found = accept(released, answers=noting)
    assert found["planted"] == len(planted) > 0
    now = StoredRelease.open(released)
    gone = {}
    for row in removals(now):
        gone.setdefault((row["row"], row["column"]), []).append(row)
    whole = "".join(row[column] for row in read(released) for column, _ in COLUMNS)
    rows = source().to_pylist()
    kept = "".join(
        _without(row[column], gone.get((number, column), ()))
        for number, row in enumerate(rows)
        for column, _ in COLUMNS
    )
    for value in set(planted):
        assert whole.count(value) == kept.count(value)


def _without(text, edits):
    for one in sorted(edits, key=lambda one: -one["start"]):
        text = text[: one["start"]] + "\0" + text[one["end"] :]
    return text


def test_no_sign_is_shown_to_be_read(released):
    shown = []
    accept(released, answers=lambda line: shown.append(line.text) or attentive(line))
    assert all(any(map(str.isalnum, text)) for text in shown)
    assert any("." in text for text in read(released)[0].values() if isinstance(text, str))


def test_a_reader_who_sees_nothing_proves_nothing_and_a_second_try_may(released):
    blind = accept(released, answers=lambda line: [])
    assert blind["decided"] is False
    assert "Not proved" in blind["says"]
    assert "acceptance" not in StoredRelease.open(released).public
    again = accept(released, again=True)
    assert again["number"] == 2


def test_a_reading_goes_on_where_it_ended(released, tmp_path):
    answers = tmp_path / "answers.jsonl"
    answers.write_text("")
    folder = released.with_name("notes.jsonl.acceptance")
    first = accept(released, answers=str(answers))
    assert first["decided"] is None
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert all(stat.S_IMODE(one.stat().st_mode) & 0o077 == 0 for one in folder.iterdir())
    waiting = [json.loads(one) for one in (folder / "waiting.jsonl").read_text().splitlines()]
    assert len(waiting) == first["waiting"]
    half = [{"line": one["line"], "spans": []} for one in waiting[::2]]
    answers.write_text("".join(f"{json.dumps(one)}\n" for one in half))
    assert accept(released, answers=str(answers))["waiting"] == len(waiting) - len(half)
    assert accept(released)["decided"] in (True, False)


def test_a_decided_reading_is_not_decided_again(released):
    found = accept(released)
    sha256 = StoredRelease.open(released).public["sha256"]
    assert accept(released, answers=lambda line: 1 / 0) == found
    assert StoredRelease.open(released).public["sha256"] == sha256


def test_a_release_that_changed_is_refused(released):
    accept(released, answers=str(empty(released)))
    released.with_name("other.jsonl").write_bytes(released.read_bytes())
    text = released.read_text().replace("May", "Mai")
    released.write_text(text)
    with pytest.raises(TamperedError):
        accept(released)


def test_a_release_applied_anew_is_not_read_on(released):
    accept(released, answers=str(empty(released)))
    applied(source(), released, chosen=by_cost(20), force=True)
    with pytest.raises(TamperedError, match="changed since its reading began"):
        accept(released)


def test_another_goal_source_or_kit_is_refused(released):
    answers = empty(released)
    accept(released, answers=str(answers))
    answers.write_text('{"line": 1, "spans": []}')
    accept(released, answers=str(answers))
    with pytest.raises(RequestError, match="was begun for at most 12"):
        accept(released, at_most=3)
    with pytest.raises(RequestError, match="not the source"):
        documents.accept(kit_of(), released, people(each=1), **GOAL)
    with pytest.raises(RequestError, match="did not make"):
        documents.accept(kit_of(seed=1, max_passes=1), released, source(), **GOAL)


def empty(released):
    answers = released.with_name("answers.jsonl")
    answers.write_text("")
    return answers


def test_a_goal_that_no_reading_can_prove_is_refused_before_a_line_is_read(released):
    with pytest.raises(RequestError, match="no amount of reading"):
        accept(released, at_most=0.01, recall=0.9)


def test_a_goal_may_change_until_an_answer_is_given(released):
    """Who asked for what cannot be proved takes the nearest goal that can, as the refusal says."""
    with pytest.raises(RequestError, match=r"ask for at most 5.9 per 1,000"):
        accept(released, at_most=0.01, recall=0.9)
    folder = released.with_name("notes.jsonl.acceptance")
    assert accept(released, answers=str(empty(released)))["decided"] is None
    seed = json.loads((folder / "acceptance.json").read_text())["seed"]
    assert accept(released, at_most=13)["decided"] is True
    assert json.loads((folder / "acceptance.json").read_text())["seed"] != seed


def test_one_command_at_a_time_goes_on_with_a_reading(released):
    """Two would mend the release from two states of it; answers from a file take no page."""

    lines = count()

    def second(line):
        if next(lines) % 10 == 0:
            with pytest.raises(RequestError, match="another voile reads this"):
                accept(released)
        return attentive(line)

    assert accept(released, answers=second)["decided"] is True


def test_readers_have_names_of_their_own(released):
    with pytest.raises(RequestError, match="give each reviewer a name of their own"):
        accept(released, reviewer=["Eva", "Eva"])


def test_a_plan_reads_nothing(released):
    found = accept(released, plan=True)
    plan = found["plan"]
    assert plan["least"] <= plan["expected"] <= plan["most"] < plan["tokens"]
    assert not released.with_name("notes.jsonl.acceptance").exists()


def test_surrogates_stand_for_what_readers_found(tmp_path, monkeypatch):
    monkeypatch.setenv("VOILE_SECRET", "0" * 64)
    out = tmp_path / "notes.jsonl"
    applied(source(), out, chosen=by_cost(2), repeats=False, replace="surrogate")
    accept(out)
    mended = [
        one for one in removals(StoredRelease.open(out)) if RemovalReason("reader") in one["by"]
    ]
    assert mended
    for one in mended:
        text = read(out)[one["row"]][one["column"]]
        assert "[" not in text[one["published_start"] : one["published_end"]]


def test_what_reading_proved_stays_beside_attacks(released):
    accept(released)
    opened = StoredRelease.open(released)
    attacked = AttackResults(opened, [Evidence("guesses", "inference", Note("Story."), (), ())])
    for _ in range(2):
        attacked.save()
        found = find_evidence(opened, None)
        assert [one.attack for one in found] == ["acceptance", "guesses"]
        with pytest.raises(RequestError, match="exists"):
            attacked.save()
        attacked.save(force=True)
        assert [*find_evidence(opened, None)] == [*found]
        os.unlink(opened.folder / "evidence.json")
        documents.accept(kit_of(), released, source(), **GOAL, answers=attentive)


def test_how_a_release_was_attacked_is_known_once_it_is_read(released):
    guesses = Evidence("guesses", "inference", Note("Story."), (), ())
    AttackResults(StoredRelease.open(released), [guesses], [{"budget": 3}]).save()
    accept(released, answers=lambda line: attentive(line) if line.document < 0 else [])
    found = find_evidence(StoredRelease.open(released), None)
    assert sorted(one.attack for one in found) == ["acceptance", "guesses"]
    assert found.given == ({"budget": 3},)


@pytest.mark.parametrize("change", ["text = 'Somebody'", "start = start - 1", "purpose = 'sample'"])
def test_lines_that_are_not_those_of_the_release_are_refused(change, released, tmp_path):
    (tmp_path / "answers").touch()
    assert accept(released, answers=str(tmp_path / "answers"))["decided"] is None
    other = sqlite3.connect(f"{released}.acceptance/reading.sqlite")
    with other:
        other.execute(f"UPDATE lines SET {change} WHERE document >= 0")
    other.close()
    with pytest.raises(DamagedError, match="the lines that were read are not those of this rel"):
        accept(released)


@pytest.mark.parametrize(
    "change",
    [
        {"goal": {"at_most": -1, "per": 1000, "confidence": 0.95}},
        {"goal": {"at_most": 12, "per": 1000, "confidence": "x"}},
        {"goal": {"most": 12}},
        {"seed": [-5, 1]},
        {"seed": [float("inf")]},
        {"recall": 7},
        {"tries": "x"},
        {"more": 1},
    ],
)
def test_a_state_that_voile_never_writes_is_refused(change, released, tmp_path):
    (tmp_path / "answers").touch()
    accept(released, answers=str(tmp_path / "answers"))
    place = Path(f"{released}.acceptance/acceptance.json")
    place.write_text(json.dumps({**json.loads(place.read_text()), **change}))
    with pytest.raises(DamagedError, match="the state of the reading is damaged"):
        accept(released)


@pytest.mark.parametrize("where", ["acceptance", "private"])
def test_a_table_of_removals_that_voile_never_writes_is_refused(where, released, tmp_path):
    (tmp_path / "answers").touch()
    accept(released, answers=str(tmp_path / "answers"))
    place = f"{released}.{where}/removals.parquet"
    pq.write_table(pq.read_table(place).drop_columns(["label"]), place)
    with pytest.raises(
        DamagedError, match=r"the table of removals, removals\.parquet, lacks label"
    ):
        accept(released)
