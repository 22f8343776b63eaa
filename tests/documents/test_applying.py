"""What is written: nothing that was to go, everything accounted for, and who removed what."""

from __future__ import annotations

import csv
import json
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.documents.flow import (
    COLUMNS,
    NAMELESS,
    PEOPLE,
    applied,
    by_cost,
    fitted,
    kit_of,
    numbers,
    people,
    read,
    removals,
    table,
)

from voile.documents.applying import _recipe
from voile.documents.content import Content
from voile.documents.options import ApplyOptions
from voile.documents.wing import choose, verify
from voile.errors import RequestError
from voile.kit import Choice
from voile.release import manifest_path
from voile.roles import Roles

PHONE = "555-123-4567"


def test_only_texts_and_kept_columns_leave(tmp_path):
    release = applied(people(), tmp_path / "r.jsonl")
    assert list(read(release.path)[0]) == ["note", "letter", "ward"]
    assert [one["column"] for one in release.public["columns"]] == ["note", "letter", "ward"]
    whole = release.path.read_text() + manifest_path(release.path).read_text()
    assert "person " not in whole
    assert "spans" not in whole
    note = {"role": "text", "spans": "spans", "pos": "ward"}
    columns = {**COLUMNS, "person": "keep", "note": note}
    own = Roles.model_validate({"subject": "person", "columns": columns})
    rows = people()
    rows = rows.set_column(rows.column_names.index("ward"), "ward", [["[]"] * len(rows)])
    kit = fitted(rows, own)
    chosen = choose(kit, Choice(policy=0))
    kept = applied(rows, tmp_path / "kept.jsonl", kit=kit, chosen=chosen)
    assert list(read(kept.path)[0]) == ["note", "letter"]


def test_no_annotation_is_needed(tmp_path):
    plain = people().drop_columns(["spans", "letter spans"])
    a = applied(plain, tmp_path / "a.csv")
    b = applied(people(), tmp_path / "b.csv")
    assert a.path.read_bytes() == b.path.read_bytes()
    assert removals(a) == removals(b)


def test_nobody_whose_name_was_marked_is_there(tmp_path):
    text = applied(people(), tmp_path / "r.csv").path.read_text()
    assert not [name for name in PEOPLE if name in text]


@pytest.mark.parametrize("name", ["r.csv", "r.tsv", "r.jsonl", "r.parquet", "r.arrow"])
def test_nulls_stay_nulls_and_empty_texts_empty(tmp_path, name):
    notes = [None, "", f"Call {PHONE} .", ' "\t,\r\n ', "\n", "NULL", "nan"]
    rows, nothing = table(notes, [None] * 7), by_cost(2.0, 0)
    release = applied(rows, tmp_path / name, chosen=nothing, patterns=["phone"])
    shown = [row["note"] for row in read(release.path)]
    assert shown == [None, "", "Call [PHONE] .", ' "\t,\r\n ', "\n", "NULL", "nan"]
    assert [row["letter"] for row in read(release.path)] == [None] * 7
    assert release.private["figures"] == {"rows": 7, "documents": 6, "characters": 29, "marks": 1}
    assert all(holds for _, holds in verify(release))


def test_what_cannot_be_worked_on_is_set_aside_whole(tmp_path):
    notes = ["Fine .", "SECRET \ufffd", "Fine too .", "SECRET \x00 \ufffd"]
    letters = ["Well .", "Well .", "SECRET \x1b", "SECRET \x07"]
    release = applied(table(notes, letters), tmp_path / "r.csv", chosen=by_cost(2.0, 0))
    counts = release.private["counts"]
    why = "characters that were lost in decoding"
    assert counts["set_aside_by"] == [
        {"column": "letter", "reason": why, "rows": 2},
        {"column": "note", "reason": why, "rows": 2},
    ]
    assert (counts["read"], counts["released"], counts["set_aside"]) == (4, 1, 3)
    assert [row["note"] for row in read(release.path)] == ["Fine ."]
    with (release.folder / "set-aside.csv").open() as file:
        aside = [(row["row"], row["column"]) for row in csv.DictReader(file)]
    assert sorted(aside) == [("2", "note"), ("3", "letter"), ("4", "letter"), ("4", "note")]
    for path in [release.path, manifest_path(release.path), *release.folder.iterdir()]:
        assert b"SECRET" not in path.read_bytes()


def test_a_document_that_fails_is_set_aside(tmp_path, secret):
    rows = table(["We saw {Ana Ruiz|NAME} again ."] * 3, None, ["a", " ", "c"])  # no blank subject
    release = applied(rows, tmp_path / "r.csv", replace="surrogate", secret=secret)
    assert numbers(release) == [0, 2]
    assert release.private["counts"]["set_aside_by"] == [
        {"column": "letter", "reason": "could not be worked on", "rows": 1},
        {"column": "note", "reason": "could not be worked on", "rows": 1},
    ]
    assert {row["row"] for row in removals(release)} == {0, 2}


def test_a_row_is_set_aside_once_for_a_reason_and_not_where_it_is_held_out(tmp_path, secret):
    kit = fitted(people(), hold_out=0.4)
    blank = [" " * n for n in range(1, 31)]  # subjects that no surrogate is made for
    notes = ["Fine ." if n % 2 else "Lost \ufffd ." for n in range(30)]
    rows = table(notes, None, blank)
    more = {"kit": kit, "replace": "surrogate", "secret": secret}
    release = applied(rows, tmp_path / "r.csv", **more)
    held = {row["row"] for row in read(release.folder / "control.parquet")}
    lost, failed = (len([n for n in range(odd, 30, 2) if n not in held]) for odd in (0, 1))
    assert 0 < lost < 15
    assert release.private["counts"]["set_aside_by"] == [
        {"column": "letter", "reason": "could not be worked on", "rows": failed},
        {"column": "note", "reason": "characters that were lost in decoding", "rows": lost},
        {"column": "note", "reason": "could not be worked on", "rows": failed},
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


def test_the_order_is_drawn_and_who_is_where_is_known(tmp_path):
    release = applied(people(), tmp_path / "r.jsonl", keep_order=False)
    kept = applied(people(), tmp_path / "kept.jsonl")
    rows, places = read(kept.path), numbers(release)
    assert places != sorted(places)
    assert sorted(places) == numbers(kept) == list(range(72))
    assert read(release.path) == [rows[place] for place in places]


NOTES = (
    f"Patient {{Ana Ruiz|NAME}} came on foot with May , and was well . ANA called {PHONE} .",
    "The file of Dr. {Eva Mora|NAME} says no fever , no cough . Room 12 , MRN-123456 .",
    "We saw {Ana Vega|NAME} again , and the chest was clear in May . Ward Vega , tea room .",
    "Nothing new since then .",
    "",
    None,
)
BOTH = {"patterns": ["all"], "record": ["MRN-######"]}


@pytest.fixture(scope="module")
def deny(tmp_path_factory):
    path = tmp_path_factory.mktemp("deny") / "deny.txt"
    path.write_text("tea room\non foot\n")
    return str(path)


@pytest.mark.parametrize("how", ["mark", "category", "surrogate"])
def test_every_removal_says_what_stands_where_for_what(tmp_path, how, secret, deny):
    rows = pa.concat_tables([table(NOTES, list(NOTES[::-1])), people()])
    more = {"secret": secret} if how == "surrogate" else {}
    release = applied(
        rows, tmp_path / "r.jsonl", chosen=by_cost(2.0), replace=how, deny=deny, **BOTH, **more
    )
    source, shown = rows.to_pylist(), read(release.path)
    found = removals(release)
    for number, (before, after) in enumerate(zip(source, shown, strict=True)):
        for column in ("note", "letter"):
            own = [r for r in found if (r["row"], r["column"]) == (number, column)]
            text, place = "", 0
            for one in own:  # in their order and apart: the release is the source but for them
                new = (after[column] or "")[one["published_start"] : one["published_end"]]
                assert place <= one["start"] < one["end"]
                text += before[column][place : one["start"]]
                assert len(text) == one["published_start"]
                text += new
                place = one["end"]
                assert new
                assert new != before[column][one["start"] : one["end"]]
                if how != "surrogate":
                    assert new == f"[{one['label']}]"
            assert text + (before[column] or "")[place:] == (after[column] or "")
    told = {(source[r["row"]][r["column"]][r["start"] : r["end"]], r["by"]) for r in found[:30]}
    assert told >= {
        ("Ana Ruiz", "pass 1, svm"),
        ("ANA", "repeat"),
        (PHONE, "pattern phone"),
        ("tea room", "deny-list"),
        ("on foot", "deny-list"),
        ("MRN-123456", "pattern record MRN-######"),
    }
    counted = Counter(by for r in found for by in r["by"].split("; "))
    if how != "category":  # there neighbours of several types share a mark
        assert release.private["removed_by"] == dict(counted)
    assert set(release.public["constraints"]["patterns"]) >= {"pattern phone", "record numbers"}
    assert "MRN" not in manifest_path(release.path).read_text()


def test_neighbours_of_one_category_are_one_edit_of_both_removers(tmp_path, deny):
    rows = table(["We saw {Ana Ruiz|NAME} on foot , again ."])
    release = applied(
        rows, tmp_path / "r.jsonl", chosen=by_cost(2.0), deny=deny, replace="category",
        kind=["LISTED=name"],
    )  # fmt: skip
    (one,) = removals(release)
    assert one["by"] == "pass 1, svm; deny-list"
    assert read(release.path)[0]["note"] == "We saw [NAME] , again ."
    assert release.private["removed_by"] == {"deny-list": 1, "pass 1, svm": 1}


def test_words_that_point_to_removed_values_go_if_asked(tmp_path):
    """Who has a dog is called Ana, and nobody else is."""
    notes = [
        f"We saw {{{name if n % 3 else 'Ana Ruiz'}|NAME}} with {'cat' if n % 3 else 'dog'} ."
        for n, name in enumerate(PEOPLE)
    ]
    rows = table(notes, [f"Seen in week {n} ." for n in range(36)])
    kit = fitted(rows, miss_cost=[20])
    words = Content.of(kit).context(Content.of(kit).policy(0))
    assert words == ["dog"]
    plain = applied(rows, tmp_path / "a.jsonl", kit=kit)
    without = applied(rows, tmp_path / "b.jsonl", kit=kit, context=True)
    assert "dog" in plain.path.read_text()
    assert "dog" not in without.path.read_text()
    assert without.path.read_text().count("[CONTEXT]") == 12
    assert without.private["removed_by"]["context"] == 12
    assert "dog" not in manifest_path(without.path).read_text()


@pytest.mark.parametrize(
    ("options", "repeated"),
    [
        ({}, {"DOCTOR"}),
        ({"kind": ("CITY=name",)}, {"CITY", "DOCTOR"}),
        ({"kind": ("DOCTOR=place",)}, set()),
        ({"repeats": False}, set()),
    ],
)
def test_only_what_is_a_name_is_repeated(options, repeated):
    notes = [f"{{{name}|DOCTOR}} came from {{Lugo|CITY}} on foot ." for name in PEOPLE]
    content = Content.of(fitted(table(notes), miss_cost=[2]))
    recipe = _recipe(content, content.policy(0), ApplyOptions(**options))
    assert recipe.committee.labels == ("CITY", "DOCTOR")
    assert recipe.names == repeated


def test_an_allow_list_keeps_what_it_names(tmp_path):
    allow = tmp_path / "allow.txt"
    allow.write_text("Ana Ruiz\n")
    rows = table(["We saw {Ana Ruiz|NAME} again .", "We saw {Eva Mora|NAME} again ."])
    release = applied(rows, tmp_path / "r.jsonl", chosen=by_cost(2.0), allow=str(allow))
    assert [row["note"] for row in read(release.path)] == [
        "We saw Ana Ruiz again .",
        "We saw [NAME] again .",
    ]


@pytest.mark.parametrize("how", ["mark", "surrogate"])
def test_the_same_bytes_from_any_number_of_processes(tmp_path, how, secret):
    rows = pa.concat_tables([people(), table(NOTES), table(["\ufffd", "Ana ."])])
    more = {
        "replace": how,
        "patterns": ["all"],
        **({"secret": secret} if how == "surrogate" else {}),
    }
    one, two = (applied(rows, tmp_path / f"{jobs}.jsonl", jobs=jobs, **more) for jobs in (1, 2))
    assert one.path.read_bytes() == two.path.read_bytes()
    assert removals(one) == removals(two)
    assert one.private["removed_by"] == two.private["removed_by"]
    assert one.private["counts"] == two.private["counts"]


def names_in(release, column="note"):
    pattern = re.compile(r"We saw (.+?) again")
    return [pattern.search(row[column])[1] for row in read(release.path)]


def test_one_person_is_one_surrogate_across_rows_columns_and_files(tmp_path, secret):
    saw = ["We saw {Ana Ruiz|NAME} again ."] * 3
    more = {"replace": "surrogate", "secret": secret, "chosen": by_cost(2.0)}
    a = applied(table(saw, saw, ["p", "q", "p"]), tmp_path / "a.jsonl", **more)
    b = applied(table(saw[:1], saw[:1], ["p"]), tmp_path / "b.jsonl", **more)
    p, q, again = names_in(a)
    assert p == again != q
    assert names_in(a, "letter") == names_in(a)
    assert names_in(b) == [p]
    assert "Ana Ruiz" not in a.path.read_text()


def test_a_row_that_is_nobodys_is_one_person(tmp_path, secret):
    saw = ["We saw {Ana Ruiz|NAME} again .", "We saw {Ana Ruiz|NAME} again . Well ."]
    kit = fitted(people(), NAMELESS, miss_cost=[2])
    more = {"replace": "surrogate", "secret": secret, "kit": kit}
    a = applied(table(saw, saw), tmp_path / "a.jsonl", **more)
    first, second = names_in(a)
    assert names_in(a, "letter") == [first, second]
    assert first != second
    b = applied(table(saw[::-1], saw[::-1]), tmp_path / "b.jsonl", **more)
    assert names_in(b) == [second, first]  # by what it says, not by where it stands


def test_an_edited_policy_has_no_figures_of_the_kits(tmp_path):
    kit, chosen = kit_of(), by_cost(20.0, 2)
    shorter = replace(chosen, policy={**chosen.policy, "passes": 0})
    release = applied(people(), tmp_path / "r.jsonl", chosen=shorter)
    assert release.private["chosen"] == {
        "number": None,
        "how": f"{chosen.how}, then edited",
        "figures": {},
    }
    assert release.public["figures"] == {}
    assert removals(release) == []
    assert release.public["policy"]["passes"] == 0
    told = applied(people(), tmp_path / "s.jsonl", chosen=replace(chosen, figures={"risk": 0.0}))
    assert told.private["chosen"]["figures"] == Content.of(kit).figures_of(chosen.number)
    far = replace(chosen, number=99)
    assert applied(people(), tmp_path / "t.jsonl", chosen=far).private["chosen"]["number"] is None


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ({"miss_cost": 3, "passes": 1}, "no committee was trained for a miss_cost of 3"),
        ({"miss_cost": 2, "passes": 99}, "the committee has no 99 passes"),
        ({"passes": 1}, "the policy says no miss_cost or passes"),
        ({"miss_cost": 2, "passes": 1.5}, "the policy's passes are no whole number"),
    ],
)
def test_a_policy_that_there_is_not_writes_nothing(tmp_path, policy, said):
    with pytest.raises(RequestError, match=said):
        applied(people(), tmp_path / "r.csv", chosen=replace(by_cost(2.0), policy=policy))
    assert list(tmp_path.iterdir()) == []


def test_documents_that_were_learnt_from_are_counted(tmp_path):
    rows = pa.concat_tables([people(), table(["Never seen .", None], ["Never .", ""])])
    release = applied(rows, tmp_path / "r.csv")
    assert release.private["learnt_from"] == 2 * 72
    half = rows.slice(0, 10)
    assert applied(half, tmp_path / "h.csv").private["learnt_from"] == 20


def with_tags(rows):
    """Return the rows with a column of parts of speech for each text: first letters."""
    for name in ("note", "letter"):
        words = [list(re.finditer(r"\S+", text)) for text in rows[name].to_pylist()]
        tags = [
            json.dumps([{"start": w.start(), "end": w.end(), "tag": w[0][0]} for w in line])
            for line in words
        ]
        rows = rows.append_column(f"{name} pos", pa.array(tags))
    return rows


def test_parts_of_speech_are_asked_for_where_they_were_learnt(tmp_path):
    columns = {
        **COLUMNS,
        "note": {**COLUMNS["note"], "pos": "note pos"},
        "letter": {**COLUMNS["letter"], "pos": "letter pos"},
        "note pos": "drop",
        "letter pos": "keep",
    }
    roles = Roles.model_validate({"subject": "person", "columns": columns})
    rows = with_tags(people())
    kit = fitted(rows, roles, miss_cost=[2])
    release = applied(rows, tmp_path / "r.csv", kit=kit)
    assert list(read(release.path)[0]) == ["note", "letter", "ward"]
    assert len(removals(release)) >= 72
    some = rows["letter pos"].to_pylist()
    some[:5] = [None] * 5
    less = rows.set_column(rows.column_names.index("letter pos"), "letter pos", [some])
    aside = applied(less, tmp_path / "less.csv", kit=kit)
    assert numbers(aside) == list(range(5, 72))
    assert min(row["row"] for row in removals(aside)) == 5
    assert aside.private["counts"]["set_aside_by"] == [
        {"column": "letter", "reason": "could not be worked on", "rows": 5}
    ]
    with pytest.raises(RequestError, match="no column note pos"):
        applied(people(), tmp_path / "s.csv", kit=kit)


def test_secrets_and_lists_that_are_not_there_are_refused(tmp_path, monkeypatch):
    monkeypatch.delenv("VOILE_SECRET", raising=False)
    short = tmp_path / "short"
    short.write_bytes(b"abc")
    short.chmod(0o600)
    for options in (
        {"replace": "surrogate"},
        {"replace": "surrogate", "secret": str(short)},
        {"replace": "surrogate", "secret": str(tmp_path / "none")},
        {"deny": str(tmp_path / "none")},
        {"allow": str(tmp_path / "none")},
        {"patterns": ["tea"]},
        {"record": [""]},
        {"kind": ["NAME=tea"]},
    ):
        with pytest.raises(RequestError):
            applied(people(), tmp_path / "r.csv", **options)
    assert [path.name for path in tmp_path.iterdir()] == ["short"]


KILLED = """
import sys
from pathlib import Path
from voile.documents.wing import ApplyOptions, apply, choose
from voile.io import open_source
from voile.kit import Choice, Kit
from voile.progress import silent
kit = Kit.load(Path(sys.argv[1]))
chosen = choose(kit, Choice(policy=0))
options = ApplyOptions(keep_order=True, jobs=int(sys.argv[4]))
def progress(what, done, total=None):
    print(what, flush=True)
apply(kit, chosen, open_source(sys.argv[2]), Path(sys.argv[3]), options, force=True,
      progress=progress)
"""


@pytest.mark.parametrize("jobs", [1, 2])
def test_killed_at_a_random_moment_and_run_again(tmp_path, jobs):
    """Nothing is seen until all is; the run after it writes what an unkilled one does."""
    kit_of().save(tmp_path / "kit")
    source, out = tmp_path / "notes.parquet", tmp_path / "r.jsonl"
    rows = pa.concat_tables([people()] * 60)
    pq.write_table(rows, source)
    command = [sys.executable, "-c", KILLED, *map(str, (tmp_path / "kit", source, out, jobs))]
    chance = random.Random(jobs)
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert child.stdout.readline() == b"applying\n"
    time.sleep(chance.uniform(0, 0.3))
    children = _children(child.pid)
    child.send_signal(signal.SIGKILL)
    child.wait()
    seen = {path.name for path in tmp_path.iterdir() if not path.name.startswith(".")}
    assert seen in ({"kit", source.name}, {"kit", source.name, *_names(out)})
    assert len(children) >= jobs - 1
    _wait_until(lambda: not any(map(_lives, children)))
    unkilled = applied(rows, tmp_path / "unkilled.jsonl", patterns=["all"])
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    assert out.read_bytes() == unkilled.path.read_bytes()
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"kit", source.name, *_names(out), *_names(unkilled.path)}


def _names(out):
    return {out.name, f"{out.name}.manifest.json", f"{out.name}.private"}


def _children(process):
    path = f"/proc/{process}/task/{process}/children"
    with open(path) as file:
        return [int(child) for child in file.read().split()]


def _lives(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def _wait_until(holds, seconds=10):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)
