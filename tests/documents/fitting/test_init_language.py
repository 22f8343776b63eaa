"""`init` by the notes' language: with the starter of one, and by rules alone."""

from __future__ import annotations

import pytest
from tests.documents.fitting.test_init import QUICK, texts_of
from tests.documents.model.start.made import hospital, write_table

import voile
from voile.core.errors import RequestError
from voile.documents import Document
from voile.documents.fitting.unmarked.marks import ReviewedSpan
from voile.documents.fitting.work import UnmarkedWork
from voile.documents.model.content import DocumentsContent
from voile.documents.model.policies import UncheckedWarning
from voile.documents.model.start.lists import clusters_of
from voile.documents.model.start.rules import LanguageRules
from voile.face.keywords import VoileWarning
from voile.release.kit import StoredKit

pytestmark = pytest.mark.filterwarnings(
    "ignore::voile.documents.model.start.known.known_values.KnownValuesWarning"
)


def test_a_start_without_what_was_learnt_elsewhere(tmp_path):
    rows, people, _ = hospital(tmp_path)
    voile.documents.init(
        rows, tmp_path / "work", known=people, by="patient_id", starter="none", **QUICK
    )
    kit = StoredKit.load(tmp_path / "work")
    assert kit.facts["hinter"] == LanguageRules("english").name
    assert "starter" not in kit.facts["start"]["proposed"]
    assert UnmarkedWork.open(tmp_path / "work").starter is None


def test_without_a_starter_what_rules_find_is_a_feature_of_what_is_learnt_and_applied(tmp_path):
    who = ["la Dra. Oyono", "el lunes"] * 60
    rows = [{"note": f"Vino {one} a las {n} .", "who": str(n)} for n, one in enumerate(who)]
    write_table(tmp_path / "notes.csv", rows)
    work = tmp_path / "work"
    voile.documents.init(tmp_path / "notes.csv", work, language="spanish", subject="who", **QUICK)
    kit = StoredKit.load(work)
    assert kit.facts["hinter"] == LanguageRules("spanish").name
    remover = DocumentsContent.of(kit).committees[10.0].remover()
    removed = remover([Document("Llega don Zzyzx Qwrt y Zzyzx Qwrt habla .")])
    hint = removed.tokens.hint
    assert hint is not None
    assert removed.type[hint == 2].all()
    assert (hint == 2).sum() == 2


def test_clusters_of_words_are_seen_once_a_line_is_read(tmp_path):
    rows = [{"note": f"Vino la Dra. Oyono a las {n} .", "who": str(n)} for n in range(60)]
    write_table(tmp_path / "notes.csv", rows)
    own = {"lists": ["oyono=" + str(tmp_path / "list.txt")], "subject": "who"}
    (tmp_path / "list.txt").write_text("Oyono\n")
    work = tmp_path / "work"
    voile.documents.init(tmp_path / "notes.csv", work, language="spanish", **own, **QUICK)
    begun = UnmarkedWork.open(work)
    for said, seen in ([], False), ([ReviewedSpan(0, 0, 9, ())], True):
        kit = begun.fit(said).to_kit()
        read = DocumentsContent.of(kit)
        attributes = read.committees[10.0].space.attributes
        assert "list=oyono" in attributes
        assert any(name.startswith("list=cluster") for name in attributes) == seen
        assert kit.facts["lists"] == read.to_kit().facts["lists"] == {"oyono": ["oyono"]}
        assert read.lists == {"oyono": 1}  # what the data holder has
        mine = {"oyono": frozenset({"oyono"})}
        assert read.committees[10.0].space.lists == {**clusters_of("spanish"), **mine}


def test_surrogates_are_of_the_language_of_the_notes(tmp_path, monkeypatch):
    monkeypatch.setenv("VOILE_SECRET", "0" * 64)
    rows = [
        {"note": f"El {day}/03/2021 vino la Dra. Oyono {n} a la consulta .", "who": str(n)}
        for n, day in enumerate([*range(10, 30)] * 3)
    ]
    place, work = tmp_path / "notes.csv", tmp_path / "work"
    write_table(place, rows)
    voile.documents.init(place, work, subject="who", **QUICK)
    kit = voile.open_kit(work)
    asked = [{}, {"language": "spanish"}, {"language": "english"}]
    with pytest.warns(UncheckedWarning):
        one, spanish, english = (
            kit.apply(None, str(place), replace="surrogate", keep_order=True, **how)
            for how in asked
        )
    assert texts_of(one) == texts_of(spanish) != texts_of(english)
    assert one.private["surrogates"]["language"] == "spanish"


def test_a_starter_of_another_language_is_refused(tmp_path):
    note = "La paciente refiere que la noche del lunes no se durmió por el dolor de la espalda."
    write_table(tmp_path / "notes.csv", [{"note": note, "who": str(n)} for n in range(9)])
    with pytest.raises(RequestError, match=r"seems to be Spanish.*; leave starter out"):
        voile.documents.init(tmp_path / "notes.csv", tmp_path / "work", starter="english")


@pytest.mark.parametrize(
    ("note", "found"),
    [
        (
            "Der Patient war nicht in der Klinik , und das ist für die Frau {n} auf dem Weg .",
            "German",
        ),
        ("Пациентка Анна {n} не была в клинике .", "Cyrillic script"),
    ],
)
def test_a_language_without_a_model_gets_rules_alone_and_a_sentence(note, found, tmp_path):
    rows = [{"note": f"{note.format(n=n)} Tel. 555-123-{n:04} .", "who": str(n)} for n in range(40)]
    write_table(tmp_path / "notes.csv", rows)
    with pytest.warns(VoileWarning, match=f"seem to be in {found}: voile has no pretrained model"):
        voile.documents.init(tmp_path / "notes.csv", tmp_path / "work", subject="who", **QUICK)
    assert StoredKit.load(tmp_path / "work").facts["hinter"] == LanguageRules("english").name
