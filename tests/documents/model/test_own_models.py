"""A model of the user's own from the options to a release: tried, stored by hash, found again."""

from __future__ import annotations

import hashlib
import json
import random

import pytest
from tests.documents.adapters.made_models import write_onnx, write_spacy
from tests.documents.flow import ROLES, applied, fitted, read, table
from tests.documents.model.start.made import hospital
from tests.documents.reported import grids, shown

import voile
from voile.core.errors import RequestError
from voile.core.progress import silent
from voile.data import open_source
from voile.documents.fitting.fit import fit
from voile.documents.fitting.work import UnmarkedWork
from voile.documents.model.classifiers.external import ModelClassifier
from voile.documents.model.classifiers.folders.model_folder import open_reader
from voile.documents.model.content import DocumentsContent
from voile.documents.model.own_models import with_models
from voile.documents.options import FitOptions
from voile.release.kit import StoredKit
from voile.release.manifest import StoredRelease
from voile.release.options import check_options, list_stored

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
    again = StoredKit.load(tmp_path / "kit")
    assert again.facts["learners"] == ["svm", "ner"]
    members = [m for one in DocumentsContent.of(again).committees.values() for m in one.members]
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


def test_reports_and_manifests_say_which_models_took_part_and_not_where_they_lie(
    kit, folder, tmp_path
):
    hashes = {
        part: hashlib.sha256((folder / file).read_bytes()).hexdigest()
        for part, file in (
            ("configuration", "config.json"),
            ("tokenizer", "tokenizer.json"),
            ("weights", "model.onnx"),
        )
    }
    assert released(kit, tmp_path / "r.jsonl")
    release = StoredRelease.open(tmp_path / "r.jsonl")
    files = [{"part": part, "sha256": sha256} for part, sha256 in hashes.items()]
    assert release.public["models"] == [{"name": "ner", "kind": "onnx", "files": files}]
    for subject in (kit, release):
        for audience in ("internal", "public"):
            (grid,) = grids(shown(subject, audience=audience)["models"])
            assert grid.rows == tuple(("ner", "onnx", *one) for one in hashes.items())
    told = json.dumps([kit.facts, release.public, release.private])
    assert "model.onnx" in told
    assert str(folder) not in told
    assert "models" not in fitted(notes(), miss_cost=[10]).facts


def test_phrases_of_a_ruler_are_in_no_public_hash(tmp_path):
    """Of a few names a hash would confirm the guess."""
    folder = write_spacy(tmp_path / "nlp", dict.fromkeys(PEOPLE, "PER"))
    (ruler,) = folder.rglob("patterns.jsonl")
    sha256 = hashlib.sha256(ruler.read_bytes()).hexdigest()
    kit = fitted(notes(), model={"nlp": folder}, **OPTIONS)
    assert released(kit, tmp_path / "r.jsonl")
    release = StoredRelease.open(tmp_path / "r.jsonl")
    assert sha256 in json.dumps(kit.facts)
    assert release.public["models"][0]["kind"] == "spacy"
    assert sha256 not in json.dumps(release.public)
    assert sha256 not in str(shown(kit, audience="public")["models"])


def test_a_model_needs_no_other_learner_named(folder):
    """The default learner is tried beside it."""
    options = FitOptions(model=({"ner": str(folder)},), miss_cost=(10.0,), jobs=1, least_left=50)
    found = fit(open_source(notes()), ROLES, options, seed=1, progress=silent)
    assert found.facts["learners"] == ["consensus", "ner"]


def test_a_model_may_be_the_only_learner(folder, tmp_path):
    alone = fitted(notes(), learners="none", model={"ner": folder}, **OPTIONS)
    assert alone.facts["learners"] == ["ner"]
    expected = [f"We saw [NAME] and {ship} ." for ship in SHIPS]
    assert released(alone, tmp_path / "r.jsonl") == expected
    with pytest.raises(RequestError, match="no learner"):
        fitted(notes(), learners="none", **OPTIONS)
    with pytest.raises(RequestError, match="none cannot be combined with others"):
        check_options(FitOptions, {"learners": ["svm", "none"], "model": {"ner": str(folder)}})


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
        (committee,) = DocumentsContent.of(kit).committees.values()
        assert not with_models(committee.first(0), ()).members  # which nothing is needed for
    finally:
        moved.rename(folder)


@pytest.mark.parametrize("learners", [["svm"], []])
def test_a_work_folder_goes_on_with_the_same_model_beside_learners_or_alone(tmp_path, learners):
    rows, people, _ = hospital(tmp_path)
    model = write_spacy(tmp_path / "nlp", {"Brandt": "PER"})
    options = {"learners": learners or ["none"], "cross_fit": 3, "jobs": 1, "seed": 1}
    options |= {"least_left": 50, "miss_cost": [1]}
    voile.documents.init(
        rows, tmp_path / "work", known=people, by="patient_id", model={"ner": model}, **options
    )
    work = UnmarkedWork.open(tmp_path / "work")
    assert [one.name for one in work.file.models] == ["ner"]
    assert work.fit().found["learners"] == [*learners, "ner"]
    (model / "tokenizer").write_bytes(b"other")
    open_reader.cache_clear()
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
        ("folder", "model: the value lacks a name or a folder"),
        ("=folder", "model: the value lacks a name or a folder"),
        ("ner=", "model: the value lacks a name or a folder"),
        (3, "model: the value lacks a name or a folder"),
        ({}, "model: the value lacks a name or a folder"),
        ("crf=folder", "two learners are called crf"),
        (["a=x", "a=y"], "two learners are called a"),
    ],
)
def test_what_names_no_model_is_refused(given, said):
    with pytest.raises(RequestError, match=said):
        check_options(FitOptions, {"model": given})


def test_a_model_that_is_not_there_is_refused_before_any_text_is_read():
    with pytest.raises(RequestError, match="absent: there is no folder of a model"):
        fitted(table(["no identifier"]), model="ner=absent")


def test_a_kit_does_not_say_where_its_options_lay(folder):
    options = check_options(FitOptions, {"model": f"ner={folder}"})
    assert list_stored(options) == {"model": [None]}
    assert options.model == ({"ner": str(folder)},)
