"""What is written: nothing that was to go, and figures that are the kit's."""

from __future__ import annotations

import json
import re
import warnings
from dataclasses import replace

import pyarrow as pa
import pytest
from tests.documents.flow import (
    COLUMNS,
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

from voile.core.errors import RequestError
from voile.data import open_source
from voile.data.roles import Roles
from voile.documents.fitting.loop.corpus import read_learning_corpus
from voile.documents.model.content import DocumentsContent
from voile.documents.model.policies import WholeWarning
from voile.documents.text.document import UnannotatedWarning
from voile.documents.text.reader import LOST_CHARACTERS, DocumentReader
from voile.documents.verbs import applying_step as applying
from voile.documents.verbs.applying_step import FIGURES
from voile.documents.verbs.choose import choose
from voile.documents.verbs.recipe import NamelessWarning
from voile.release.choice import Choice
from voile.release.found_values import VALUES_FOUND
from voile.release.manifest import manifest_path


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


def test_the_order_is_drawn_and_who_is_where_is_known(tmp_path):
    release = applied(people(), tmp_path / "r.jsonl", keep_order=False)
    kept = applied(people(), tmp_path / "kept.jsonl")
    rows, places = read(kept.path), numbers(release)
    assert places != sorted(places)
    assert sorted(places) == numbers(kept) == list(range(72))
    assert read(release.path) == [rows[place] for place in places]


def labelled(label):
    """Return the people's rows with another label, and a kit of them."""
    rows = people()
    for name in ("spans", "letter spans"):
        cells = [cell.replace("NAME", label) for cell in rows[name].to_pylist()]
        rows = rows.set_column(rows.column_names.index(name), name, [cells])
    return rows, fitted(rows, miss_cost=[2])


@pytest.mark.whole
@pytest.mark.parametrize(
    ("label", "options", "repeats"),
    [
        ("PATIENT_NAME", {}, True),
        ("WARD", {"kind": ["WARD=name"]}, True),
        ("WARD", {}, False),
        ("PATIENT_NAME", {"kind": ["PATIENT_NAME=number"]}, False),
    ],
)
def test_that_further_mentions_stay_is_said(tmp_path, label, options, repeats):
    rows, kit = labelled(label)
    (note, *_), said = rows["note"].to_pylist(), "no type of the policy is known to be a name"
    name = re.search("[A-Z][a-z]+ [A-Z][a-z]+(?= came)", note)[0]
    source = table([f"{note} It came on foot with Old_{name.split()[0].lower()} , and was well ."])
    chosen = choose(kit, Choice(policy=0))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        release = applied(source, tmp_path / "r.jsonl", kit=kit, chosen=chosen, **options)
    assert [said in str(one.message) for one in caught if one.category is NamelessWarning] == (
        [] if repeats else [True]
    )
    assert release.public["constraints"]["repeats"] is repeats
    (row,) = read(release.path)
    assert ("Old_" in row["note"]) is not repeats
    (tmp_path / "off").mkdir()
    with warnings.catch_warnings():
        warnings.simplefilter("error", NamelessWarning)
        off = {"repeats": False, **options}
        other = applied(source, tmp_path / "off" / "r.jsonl", kit=kit, chosen=chosen, **off)
    assert other.public["constraints"]["repeats"] is False


def test_a_policy_without_a_pass_is_warned_of_when_chosen_and_when_applied(tmp_path):
    kit = kit_of()
    passes = [one["passes"] for one in kit.tables["frontier"].to_pylist()]
    with pytest.warns(WholeWarning, match="has no pass"):
        chosen = choose(kit, Choice(policy=passes.index(0)))
    with pytest.warns(WholeWarning, match="has no pass"):
        applied(people(), tmp_path / "r.jsonl", kit=kit, chosen=chosen)
    with warnings.catch_warnings():
        warnings.simplefilter("error", WholeWarning)
        choose(kit, Choice(policy=passes.index(max(passes))))


def test_an_edited_policy_has_no_figures_of_the_kits(tmp_path):
    kit, chosen = kit_of(), by_cost(20.0, 2)
    shorter = replace(chosen, policy={**chosen.policy, "passes": 0})
    with pytest.warns(WholeWarning, match="has no pass"):
        release = applied(people(), tmp_path / "r.jsonl", chosen=shorter)
    assert release.private["chosen"] == {
        "number": None,
        "choice": chosen.choice.to_data(),
        "edited": True,
        "figures": {},
    }
    assert release.public["figures"].keys() <= {"published_tokens", VALUES_FOUND}
    assert removals(release) == []
    assert release.public["policy"]["passes"] == 0
    told = applied(people(), tmp_path / "s.jsonl", chosen=replace(chosen, figures={"risk": 0.0}))
    assert told.private["chosen"]["figures"] == DocumentsContent.of(kit).figures_of(chosen.number)
    far = replace(chosen, number=99)
    found = applied(people(), tmp_path / "t.jsonl", chosen=far).private["chosen"]
    assert (found["number"], found["figures"]) == (chosen.number, told.private["chosen"]["figures"])


def test_what_the_figures_are_and_what_was_removed_is_public(tmp_path):
    public = applied(people(), tmp_path / "r.jsonl", chosen=by_cost(2.0)).public
    assert sorted({*public["figures"]} - {VALUES_FOUND}) == sorted(FIGURES)
    few = applied(people(), tmp_path / "few.jsonl").public
    assert {*few["figures"]} - {VALUES_FOUND} == {"loss"}, "2 identifiers are expected to be left"
    assert public["policy"]["labels"] == ["NAME"]
    marks = "text with marks in the place of identifiers"
    assert public["columns"] == [
        {"column": "note", "role": "text", "what": marks},
        {"column": "letter", "role": "text", "what": marks},
        {"column": "ward", "role": "keep", "what": "as in the source"},
    ]


def test_what_was_written_otherwise_than_it_was_made_is_not_published(tmp_path, monkeypatch):
    spoilt = {"rows": 72.0, "documents": 144.0, "characters": 1.0, "marks": 1.0}
    monkeypatch.setattr(applying, "figures_of", lambda findings: spoilt)
    with pytest.raises(AssertionError, match="the release has not the characters"):
        applied(people(), tmp_path / "r.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_a_column_that_has_no_role_is_refused(tmp_path):
    rows = people().append_column("bed", pa.array(["9"] * 72))
    with pytest.raises(RequestError, match="column bed"):
        applied(rows, tmp_path / "r.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_a_policy_edited_into_another_of_the_kit_has_its_figures(tmp_path):
    content, chosen = DocumentsContent.of(kit_of()), by_cost(20.0, 2)
    number = next(n for n in range(len(content.frontier)) if content.policy(n).passes == 1)
    assert number != chosen.number
    edited = replace(chosen, policy=content.policy(number).to_data())
    assert applied(people(), tmp_path / "r.jsonl", chosen=edited).private["chosen"] == {
        "number": number,
        "choice": chosen.choice.to_data(),
        "edited": True,
        "figures": content.figures_of(number),
    }


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ({"miss_cost": 3, "passes": 1}, "no committee was trained for a miss_cost of 3"),
        ({"miss_cost": 2, "passes": 99}, "the committee has no 99 passes"),
        ({"passes": 1}, "policy: miss_cost: is absent"),
        ({"miss_cost": 2, "passes": 1.5}, "policy: passes: must be a whole number"),
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
        {
            "column": "letter",
            "reason": "no parts of speech, which the kit learnt from",
            "rows": 5,
        }
    ]
    blank = less.set_column(2, "letter", [["", *less["letter"].to_pylist()[1:]]])
    assert blank.column_names == less.column_names
    assert numbers(applied(blank, tmp_path / "blank.csv", kit=kit)) == [0, *range(5, 72)]
    some[:5] = ['[{"start": \ufffd 0', *rows["letter pos"].to_pylist()[1:5]]
    lost = rows.set_column(rows.column_names.index("letter pos"), "letter pos", [some])
    release = applied(lost, tmp_path / "lost.csv", kit=kit)
    assert numbers(release) == list(range(1, 72))
    whys = {(one["column"], one["reason"]) for one in release.private["counts"]["set_aside_by"]}
    assert ("letter pos", LOST_CHARACTERS) in whys
    assert None not in {row["note"] for row in read(release.path)}
    reading = DocumentReader.all_of(roles)
    with pytest.warns(UnannotatedWarning):
        learnt = read_learning_corpus(reading, open_source(lost))
    assert len(learnt) == len(read_learning_corpus(reading, open_source(rows))) - 1
    with pytest.raises(RequestError, match="no column note pos"):
        applied(people(), tmp_path / "s.csv", kit=kit)


def test_secrets_and_lists_that_are_not_there_are_refused(tmp_path, monkeypatch):
    monkeypatch.delenv("VOILE_SECRET", raising=False)
    short = tmp_path / "short"
    short.write_bytes(b"abc")
    short.chmod(0o600)
    for options in (
        {"replace": "surrogate"},
        {"replace": "surrogate", "key_file": str(short)},
        {"replace": "surrogate", "key_file": str(tmp_path / "none")},
        {"deny": str(tmp_path / "none")},
        {"allow": str(tmp_path / "none")},
        {"patterns": ["tea"]},
        {"record": [""]},
        {"kind": ["NAME=tea"]},
    ):
        with pytest.raises(RequestError):
            applied(people(), tmp_path / "r.csv", **options)
    assert [path.name for path in tmp_path.iterdir()] == ["short"]
