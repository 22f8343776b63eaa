"""`init`: from notes that nobody marked to a kit, and what is said of its figures."""

from __future__ import annotations

import json
import os
import shutil
import stat
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest
from tests.documents.model.start.made import STAFF, hospital, notes, patients, write_table
from tests.documents.reported import figures, page, said, shown

import voile
from voile.core.errors import DamagedError, RequestError
from voile.documents.fitting.unmarked.marks import ReviewedSpan
from voile.documents.fitting.work import UnmarkedWork
from voile.documents.model.content import DocumentsContent
from voile.documents.model.policies import UncheckedWarning
from voile.documents.module import DOCUMENTS
from voile.documents.options import ApplyOptions
from voile.documents.text.formats.file import UnreadWarning
from voile.documents.verbs.known import find_known
from voile.documents.verbs.new_notes import NoveltyWarning
from voile.documents.words.features import BLOCKS
from voile.release.found_values import VALUES_FOUND
from voile.release.kit import StoredKit

QUICK = {"learners": ["svm"], "cross_fit": 3, "jobs": 1, "seed": 1, "least_left": 50}
pytestmark = pytest.mark.filterwarnings(
    "ignore::voile.documents.model.start.known.known_values.KnownValuesWarning"
)


@cache
def made():
    """Return a hospital's folder with its work folder."""
    folder = Path(mkdtemp())
    rows, people, staff = hospital(folder)
    voile.documents.init(
        rows, folder / "work", known=people, by="patient_id", known_people=staff, **QUICK
    )
    return folder


@cache
def released():
    kit = voile.open_kit(made() / "work")
    with pytest.warns(UncheckedWarning):
        return kit.apply(None, str(made() / "notes.csv"), keep_order=True)


def texts_of(release):
    return release.rows().read(["note"])["note"].to_pylist()


def test_the_result_says_what_was_found():
    folder = Path(mkdtemp())
    rows, people, staff = hospital(folder)
    found = voile.documents.init(
        rows, folder / "work", known=people, by="patient_id", known_people=staff, **QUICK
    )
    assert found["documents"] == 120
    assert found["met"]["name"] == 120
    assert found["met"]["born"] == 0
    assert found["proposed"]["known name"] >= 60
    assert found["language"] == "english"
    assert found["unknown"] < 0.05 * found["tokens"]


def test_the_work_folder_is_private_and_holds_no_word_beside_its_kit():
    work = made() / "work"
    assert {*os.listdir(work)} == {"kit", "work.json"}
    assert stat.S_IMODE(work.stat().st_mode) == stat.S_IMODE((work / "kit").stat().st_mode) == 0o700
    index = (work / "work.json").read_text()
    assert not any(name in index for one in patients() for name in one["name"].split())


def test_a_kit_is_opened_by_its_work_folder():
    assert StoredKit.load(made() / "work").id == StoredKit.load(made() / "work" / "kit").id
    with pytest.raises(RequestError, match="no kit here"):
        StoredKit.load(made())


def test_known_values_and_what_is_learnt_go():
    texts = texts_of(released())
    rows = notes(patients())
    surnames = {name.split()[1] for name in STAFF}
    for row, text in zip(rows, texts, strict=True):
        given, family = next(
            one["name"].split() for one in patients() if one["patient_id"] == row["patient_id"]
        )
        assert family not in text
        assert given not in text
        assert surnames.isdisjoint(text.split())
        assert "555" not in text
    assert any("in [DATE]" in text for text in texts)  # a month is a part of a date
    assert any("the summer" in text for text in texts)


def test_no_figure_of_it_is_a_measured_one():
    release = released()
    assert release.public["marks"] == "proposed"
    assert {*release.public["figures"]} - {VALUES_FOUND} == {"published_tokens"}
    for audience in ("public", "internal"):
        blocks = shown(release, audience=audience)
        assert "nobody annotated" in said(blocks["start"]).lower()
        assert "unknown here" in said(blocks["start"])
        assert "How many such people are named in the notes" in said(blocks["start"])
        assert "theory" not in blocks
        whole = page(release, (), audience)
        assert "annotated text" not in whole
        assert "annotators" not in whole
        assert figures(blocks["summary"])["Identifiers left"].value == "not measured"
        assert "nobody checked" in said(blocks["frontier"])
    assert "known name" in page(release, (), "internal")
    assert "known name" not in page(release, (), "public")


def test_names_in_no_column_are_the_holders_to_read(tmp_path):
    """Nobody of the staff is known, so that each title is a stranger's."""
    rows, people, _ = hospital(tmp_path)
    found = voile.documents.init(
        rows, tmp_path / "work", known=people, by="patient_id", starter="none", **QUICK
    )
    texts = [row["note"] for row in notes(patients())]
    strangers = sum(text.count("Dr.") for text in texts)
    assert 50 < strangers <= found["names"]["unmet"] < 1.3 * strangers
    assert found["names"]["proposed"] > found["names"]["unmet"] + 60
    with pytest.warns(UncheckedWarning):
        release = voile.open_kit(tmp_path / "work").apply(None, str(rows))
    names = found["names"]
    said_of = (
        f"{names['unmet']:,} of the {names['proposed']:,} proposed names are in no known column"
    )
    assert said_of in page(release, (), "internal")
    assert said_of not in page(release, (), "public")


def test_a_recipient_reads_that_nothing_was_measured():
    from dataclasses import replace

    release = replace(released(), private=None)
    assert "unknown here" in page(release, (), "public")


def test_a_report_shows_the_command_that_made_the_kit():
    kit = voile.open_kit(made() / "work")
    text = kit.report(internal=True).html
    assert "voile documents init SOURCE" in text
    assert "--by patient_id" in text
    assert "--seed SEED" in text
    assert "documents fit" not in text


def test_choosing_warns_that_figures_are_against_proposals():
    kit = voile.open_kit(made() / "work")
    with pytest.warns(UncheckedWarning, match="against proposals that nobody checked"):
        chosen = kit.choose(knee=True)
    assert {*chosen.figures} == {"miss_cost", "passes", "published_tokens"}


def test_new_people_are_known_by_a_table_of_their_own():
    folder = Path(mkdtemp())
    row = {"patient_id": "new", "name": "Zebulon Qwist", "mrn": "ZQ42-42"}
    place = write_table(folder / "new.csv", [row])
    text = "Qwist , Zebulon came with ZQ42-42 , and zebulon qwist left ."
    source = {"patient_id": ["new", "p0"], "note": [text, text]}
    kit = voile.open_kit(made() / "work")
    with pytest.warns(UncheckedWarning):
        first, other = texts_of(
            kit.apply(None, source, known=str(place), patterns="none", keep_order=True)
        )
    assert "wist" not in first
    assert "ZQ42" not in first
    assert "zebulon qwist" in other  # another patient's name is not a known value


def test_naming_the_text_leaves_it_known_whose_notes_they_are():
    name = patients()[0]["name"].lower()
    source = {"patient_id": ["p0"], "note": [f"{name} left ."]}
    kit = voile.open_kit(made() / "work")
    with pytest.warns(UncheckedWarning):
        (text,) = texts_of(kit.apply(None, source, text="note", patterns="none"))
    assert name.split()[1] not in text


def test_known_values_need_a_kit_that_knows_words():
    kit = StoredKit.load(made() / "work")
    tables = {name: one for name, one in kit.tables.items() if name != "known"}
    without = voile.Kit(kit.kind, kit.visibility, kit.facts, tables, module=DOCUMENTS)
    with pytest.raises(RequestError, match="the kit has no known columns"):
        without.apply(None, str(made() / "notes.csv"), known=str(made() / "patients.csv"))


def test_damaged_known_values_are_refused():
    kit = StoredKit.load(made() / "work")
    tables = {**kit.tables, "known": kit.tables["known"].drop(["kind"])}
    content = DocumentsContent.of(StoredKit(kit.kind, kit.visibility, kit.facts, tables))
    with pytest.raises(DamagedError, match="known values"):
        find_known(content, ApplyOptions())


def test_the_same_seed_gives_the_same_kit():
    folder = Path(mkdtemp())
    rows, people, staff = hospital(folder)
    for name in ("one", "two"):
        voile.documents.init(
            rows, folder / name, known=people, by="patient_id", known_people=staff, **QUICK
        )
    one, two = (StoredKit.load(folder / name) for name in ("one", "two"))
    assert one.id == two.id


def test_with_nothing_but_notes_it_runs():
    folder = Path(mkdtemp())
    rows, *_ = hospital(folder)
    found = voile.documents.init(rows, folder / "work", **QUICK)
    assert found["met"] == {}
    assert found["identifiers_proposed"] > 0
    kit = voile.open_kit(folder / "work")
    with pytest.warns(UncheckedWarning):
        texts = texts_of(kit.apply(None, str(rows)))
    assert not any("Dr. Quellen" in text or "Dr. Thakkar" in text for text in texts)


def test_a_reviewed_line_overrides_what_was_proposed():
    work = UnmarkedWork.open(made() / "work")
    text = work.documents[0].text
    before, after = work.corpus(), work.corpus([ReviewedSpan(0, 0, len(text), ())])
    assert before[0].spans
    assert not after[0].spans
    assert [one.spans for one in before][1:] == [one.spans for one in after][1:]
    content = work.fit([ReviewedSpan(0, 0, len(text), ())])
    assert content.found["marks"] == "reviewed"


def test_probabilities_are_of_the_tokens_in_the_source_order():
    work = UnmarkedWork.open(made() / "work")
    found = work.probabilities()
    tokens = work.look.tokens
    names = [
        x
        for x, form in enumerate(tokens.form.tolist())
        if tokens.forms[form] in {name.split()[1] for name in STAFF}
    ]
    assert len(found) == len(tokens)
    assert found[names].mean() > 0.8 > 0.2 > np.median(found)


def test_changed_notes_are_refused():
    folder = Path(mkdtemp())
    rows, people, _ = hospital(folder)
    voile.documents.init(rows, folder / "work", known=people, by="patient_id", **QUICK)
    with rows.open("a") as file:
        file.write("p0,One more .\n")
    with pytest.raises(RequestError, match="the notes have changed"):
        UnmarkedWork.open(folder / "work")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"format": "voile-kit"}, "this is not a work folder"),
        ({"version": 99}, "use a newer voile"),
        ({"seed": "x"}, "work folder's index"),
        ({"seed": -1}, "seed: must be 0 or more"),
        ({"notes": "a\0b"}, "work folder's index"),
        ({"more": 1}, "more: is not known here"),
        ({"roles": {"columns": {"note": {"role": "none"}}}}, "columns.note.role"),
        ({"learning": {"learners": ["rm"]}}, "learners.0"),
    ],
)
def test_a_wrong_index_is_refused(change, match, tmp_path):
    index = json.loads((made() / "work" / "work.json").read_text())
    (tmp_path / "work.json").write_text(json.dumps({**index, **change}))
    with pytest.raises((RequestError, DamagedError), match=match):
        UnmarkedWork.open(tmp_path)
    with pytest.raises(RequestError, match="no work folder here"):
        UnmarkedWork.open(tmp_path / "none")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"language": "spanish"}, "disagree on the language or the starter"),
        ({"starter": None}, "disagree on the language or the starter"),
        ({"starter": "elvish"}, "no starter elvish"),
        ({"starter": "english 0000"}, "another version of the starter"),
    ],
)
def test_another_language_or_starter_than_the_kits_is_refused_at_once(change, match, tmp_path):
    folder = Path(shutil.copytree(made() / "work", tmp_path / "work"))
    index = json.loads((folder / "work.json").read_text())
    (folder / "work.json").write_text(json.dumps({**index, **change}))
    with pytest.raises(RequestError, match=match):
        UnmarkedWork.open(folder)


def test_what_was_learnt_elsewhere_proposes_and_is_a_feature():
    kit = StoredKit.load(made() / "work")
    assert kit.facts["hinter"].startswith("english ")
    assert kit.facts["start"]["proposed"]["starter"] > 0
    columns = DocumentsContent.of(kit).committees[10.0].space.columns
    hints = [n for n, (channel, _, _) in enumerate(BLOCKS) if channel == "hints"]
    stride = DocumentsContent.of(kit).committees[10.0].space.stride
    assert np.isin(columns // stride, hints).any()


def test_a_kit_of_another_version_of_the_starter_is_refused():
    kit = StoredKit.load(made() / "work")
    other = replace(kit, facts={**kit.facts, "hinter": "english 0000"})
    with pytest.raises(RequestError, match="another version of the starter"):
        DocumentsContent.of(other)


def test_what_cannot_be_read_is_counted_and_no_note(tmp_path):
    folder = tmp_path / "mixed"
    folder.mkdir()
    for n, one in enumerate(notes(patients())):
        (folder / f"{one['patient_id']}_{n}.txt").write_text(one["note"])
    (folder / "Quellen.png").write_bytes(b"\x89PNG")
    (folder / "p1_old.docx").write_bytes(bytes.fromhex("d0cf11e0a1b11ae1"))
    with pytest.warns(UnreadWarning) as warned:
        found = voile.documents.init(
            folder, tmp_path / "work", subject_pattern="{subject}_*", **QUICK
        )
    assert found["documents"] == 120
    assert found["unusable"] == {
        "the document is encrypted, or in a format older than Word 2007": 1,
        ".png files: not read": 1,
    }
    text = " ".join(str(one.message) for one in warned)
    assert "nothing is learnt from 2 notes" in text
    assert "1 .png files: not read" in text
    assert "Quellen" not in text


SECRET = "0" * 64


def test_one_true_date_next_to_moved_ones_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("VOILE_SECRET", SECRET)
    kit = voile.open_kit(made() / "work")
    note = "Seen by Dr. Smith on 03/04/2021 and on 05/06/2021. He is well."
    source = {"patient_id": ["p0"], "note": [note]}
    how = {"text": "note", "replace": "surrogate", "subject": "patient_id"}
    with pytest.warns(UncheckedWarning):
        (moved,) = texts_of(kit.apply(None, source, **how))
    assert "03/04/2021" not in moved
    assert "05/06/2021" not in moved
    with pytest.raises(RequestError, match="1 dates stay true next to moved dates"):
        kit.apply(None, source, allow=["05/06/2021"], **how)


def test_notes_of_another_style_get_rules_in_the_place_of_the_default_policy():
    kit = voile.open_kit(made() / "work")
    text = "EL PACIENTE ACUDE A CONSULTA POR DOLOR ABDOMINAL Y FIEBRE DESDE HACE DOS SEMANAS"
    source = {"patient_id": ["p0", "p1"], "note": [text, f"{text} SIN MEJORÍA"]}
    with pytest.warns(NoveltyWarning, match="rules and the pretrained model find identifiers"):
        release = kit.apply(None, source, text="note")
    assert release.public["policy"]["passes"] == 0
    again = kit.apply(None, str(made() / "notes.csv"), keep_order=True)
    assert (
        again.public["policy"]["passes"]
        == kit.apply(
            kit.choose(policy=kit.facts["default_policy"]), str(made() / "notes.csv")
        ).public["policy"]["passes"]
    )
