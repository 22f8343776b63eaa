"""A model of the user's own from the options to a release: tried, stored by hash, found again."""

from __future__ import annotations

import random

import pytest
from tests.documents.adapters.made_models import write_onnx, write_spacy
from tests.documents.flow import applied, fitted, read, table
from tests.documents.start.made import hospital

import voile
from voile.core.errors import RequestError
from voile.documents.adapters.model import ModelClassifier
from voile.documents.adapters.model_folder import opened
from voile.documents.verbs.content import Content
from voile.documents.verbs.models import with_models
from voile.documents.verbs.options import FitOptions
from voile.documents.verbs.work import Work
from voile.release.kit import Kit
from voile.release.options import checked, stored

WORDS = [f"{a}{b}{c}{d}" for a in "BDGKLM" for b in "aeo" for c in "lnrt" for d in "aeo"]
random.Random(1).shuffle(WORDS)
PEOPLE, SHIPS = WORDS[:80], WORDS[80:160]
PLAIN = ["We", "saw", "again", "in", "May", ".", "and", "all", "was", "well"]
OPTIONS = {"miss_cost": [10], "max_passes": 2}


def notes():
    """Return notes of people and of ships, of whom nothing but a model tells which is which."""
    who = [f"{{{name}|NAME}}" if n % 2 else SHIPS[n] for n, name in enumerate(PEOPLE)]
    texts = [f"We saw {one} again in May . And all was well and well ." for one in who]
    return table(texts)


def rows():
    return table([f"We saw {name} and {ship} ." for name, ship in zip(PEOPLE, SHIPS, strict=True)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    words = dict.fromkeys([*PLAIN, *SHIPS], 0) | dict.fromkeys(PEOPLE, 1)
    return write_onnx(tmp_path_factory.mktemp("models") / "ner", words)


@pytest.fixture(scope="module")
def kit(folder):
    return fitted(notes(), model={"ner": folder}, **OPTIONS)


def released(kit, out, **options):
    release = applied(rows(), out, kit=kit, repeats=False, jobs=1, **options)
    assert release is not None
    return [row["note"] for row in read(out)]


def test_a_kit_holds_where_it_is_and_what_it_was(kit, folder, tmp_path):
    kit.save(tmp_path / "kit")
    again = Kit.load(tmp_path / "kit")
    assert again.facts["learners"] == ["svm", "ner"]
    members = [m for one in Content.of(again).committees.values() for m in one.members]
    (own,) = [m for m in members if m.learner == "ner"]
    assert isinstance(own.classifier, ModelClassifier)
    assert own.classifier.model.folder == str(folder)
    assert [name for name, _ in own.classifier.model.files] == [
        "config.json",
        "model.onnx",
        "tokenizer.json",
    ]
    assert own.calibration is not None
    assert released(again, tmp_path / "r.jsonl") == [
        f"We saw [NAME] and {ship} ." for ship in SHIPS
    ]


def test_the_same_seed_gives_the_same_kit_on_any_number_of_processes(kit, folder):
    again = fitted(notes(), model=f"ner={folder}", **OPTIONS, jobs=2)
    assert again.id == kit.id


def test_a_model_that_moved_is_found_and_one_that_changed_is_refused(kit, folder, tmp_path):
    expected = released(kit, tmp_path / "a.jsonl")
    moved = folder.rename(tmp_path / "moved")
    try:
        with pytest.raises(RequestError, match="ner is not there; say where it is now with"):
            released(kit, tmp_path / "b.jsonl")
        found = released(kit, tmp_path / "b.jsonl", model={"ner": moved})
        assert found == expected
        other = write_onnx(tmp_path / "other", {"Ann": 1})
        with pytest.raises(RequestError, match=r"changed .*: model\.onnx, tokenizer\.json; put"):
            released(kit, tmp_path / "c.jsonl", model={"ner": other})
        with pytest.raises(RequestError, match="--model: the policy has no model ned; did you"):
            released(kit, tmp_path / "c.jsonl", model={"ned": moved})
        assert not (tmp_path / "c.jsonl").exists()
        plan = {"plan": True, "at_most": 50}
        with pytest.raises(RequestError, match="ner is not there; say where it is now with"):
            voile.documents.accept(kit, tmp_path / "b.jsonl", rows(), **plan)
        voile.documents.accept(kit, tmp_path / "b.jsonl", rows(), model={"ner": moved}, **plan)
        (committee,) = Content.of(kit).committees.values()
        assert not with_models(committee.first(0), ()).members  # which nothing is needed for
    finally:
        moved.rename(folder)


def test_a_work_folder_goes_on_with_the_same_model_alone(tmp_path):
    rows, people, _ = hospital(tmp_path)
    model = write_spacy(tmp_path / "nlp", {"Vega": "PER"})
    options = {"learners": ["svm"], "cross_fit": 3, "jobs": 1, "seed": 1, "least_left": 50}
    voile.documents.init(
        rows, tmp_path / "work", known=people, by="patient_id", model={"ner": model}, **options
    )
    work = Work.open(tmp_path / "work")
    assert [one.name for one in work.file.models] == ["ner"]
    assert work.fit().found["learners"] == ["svm", "ner"]
    (model / "tokenizer").write_bytes(b"other")
    opened.cache_clear()
    with pytest.raises(RequestError, match="changed since it was fitted with: tokenizer; put"):
        work.fit()


def test_a_fit_is_resumed_with_the_same_model_alone(folder, tmp_path):
    options = {"model": {"ner": folder}, "resume": str(tmp_path / "fits"), **OPTIONS}
    first = fitted(notes(), **options)
    held = sorted((tmp_path / "fits").iterdir())
    again = fitted(notes(), **options)
    assert again.id == first.id
    assert sorted((tmp_path / "fits").iterdir()) == held
    other = write_spacy(tmp_path / "nlp", dict.fromkeys(PEOPLE, "PER"))
    fitted(notes(), **{**options, "model": {"ner": other}})
    assert set(held) < set((tmp_path / "fits").iterdir())


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("folder", "model: write NAME=FOLDER"),
        ("=folder", "model: write NAME=FOLDER"),
        ("ner=", "model: write NAME=FOLDER"),
        (3, "model: write NAME=FOLDER"),
        ({}, "model: write NAME=FOLDER"),
        ("crf=folder", "two learners are called crf"),
        (["a=x", "a=y"], "two learners are called a"),
    ],
)
def test_what_names_no_model_is_refused(given, said):
    with pytest.raises(RequestError, match=said):
        checked(FitOptions, {"model": given})


def test_a_model_that_is_not_there_is_refused_before_any_text_is_read():
    with pytest.raises(RequestError, match="absent: there is no folder of a model"):
        fitted(table(["no identifier"]), model="ner=absent")


def test_a_kit_does_not_say_where_its_options_lay(folder):
    options = checked(FitOptions, {"model": f"ner={folder}"})
    assert stored(options) == {"model": [None]}
    assert options.model == ({"ner": str(folder)},)
