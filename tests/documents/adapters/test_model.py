"""Models of the user's own: what they say of pieces, on tokens, weighed by the user's text."""

from __future__ import annotations

import json
import pickle
import sys
from dataclasses import replace

import numpy as np
import pytest
from tests.documents.adapters.made_models import write_onnx, write_spacy
from tests.documents.learners.made import FORMS, harmless, made, of_forms

from voile.core.errors import RequestError
from voile.documents.adapters.model import ExternalModel
from voile.documents.model.classifiers.arrays import from_table, to_table
from voile.documents.model.classifiers.external import ModelClassifier, odds_of, put_on_tokens
from voile.documents.model.classifiers.folders.model_folder import ModelFolder
from voile.documents.model.classifiers.folders.onnx_folder import open_folder
from voile.documents.model.classifiers.folders.reading import FAR, ModelPieces
from voile.documents.reader.windows import place_windows
from voile.documents.words.tokens import BLANK, GLUED, LINE

KINDS = {
    word: 1 if word.startswith("Name") else 4 if word.startswith("Town") else 0
    for word in FORMS
    if not word.startswith("[")
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_onnx(tmp_path_factory.mktemp("onnx"), KINDS)


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory):
    found = {word: "PER" if kind == 1 else "PLACE" for word, kind in KINDS.items() if kind}
    return write_spacy(tmp_path_factory.mktemp("spacy") / "nlp", found)


@pytest.mark.parametrize("kind", ["folder", "pipeline"])
def test_its_types_become_the_texts_types(kind, request):
    where = str(request.getfixturevalue(kind))
    train, other = made(20, length=30), made(10, seed=1, length=30)
    classifier = ExternalModel.of("ner", where).fit(train, seed=0)
    margins = classifier.margins(other)
    np.testing.assert_array_equal(margins[:, 0] > 0, other.labels == 1)
    np.testing.assert_array_equal(margins[:, 1] > 0, other.labels == 2)
    assert (ExternalModel.of("ner", where).fit(harmless(train)).margins(other) < 0).all()


@pytest.mark.parametrize("kind", ["folder", "pipeline"])
def test_it_is_stored_by_its_place_and_hashes(kind, request):
    where = request.getfixturevalue(kind)
    classifier = ExternalModel.of("ner", str(where)).fit(made(20))
    arrays = from_table(to_table(classifier.to_arrays()))
    again = ModelClassifier.from_arrays(arrays)
    np.testing.assert_array_equal(again.margins(made(5)), classifier.margins(made(5)))
    assert again.model == classifier.model
    weights = max(path.stat().st_size for path in where.rglob("*") if path.is_file())
    assert sum(array.nbytes for array in arrays.values()) < 6_000 < weights + 6_000
    for name, wrong in {"model": np.array("pickle"), "hashes": np.array(["a"])}.items():
        with pytest.raises(RequestError, match=f"the array '{name}'"):
            ModelClassifier.from_arrays({**arrays, name: wrong})
    fewer = ModelClassifier.from_arrays({**arrays, "trust": arrays["trust"][:, 1:]})
    with pytest.raises(RequestError, match="the array 'trust'"):
        fewer.margins(made(5))


def test_a_token_is_what_its_surest_piece_is(tmp_path):
    model = ModelFolder.of(str(write_onnx(tmp_path, {"Ann": 1, "##a": 2, "##bel": 0, "x": 3})))
    form = np.array([FORMS.index("dr")], dtype=np.int32)
    examples = of_forms(form, np.zeros(1), np.array([0, 1]), 1)
    for word, person, place in [("Anna", 6, -6), ("Annbel", 6, -6), ("x", -6, 6), ("zz", -1, -1)]:
        found = odds_of(model, shown(examples, [word]))[0]
        assert np.sign(found).tolist() == np.sign([person, place]).tolist()
    assert odds_of(model, shown(examples, ["Anna"]))[0, 0] > 4


def shown(examples, words, gap=()):
    """Return examples of other words."""
    return replace(
        examples,
        forms=words,
        form=np.arange(len(words), dtype=np.int32),
        first=np.array([0, len(words)]),
        gap=np.array(gap, dtype=np.uint8),
    )


def test_pieces_and_tokens_meet_by_characters():
    starts, ends = np.array([0, 4, 5, 9]), np.array([3, 5, 8, 12])
    pieces = ModelPieces(
        np.array([0, 2, 3, 8, 12, 6]),
        np.array([2, 3, 6, 9, 14, 6]),
        np.array([[1], [2], [3], [4], [5], [6]], dtype=np.float32),
    )
    found = np.full((4, 1), -FAR)
    put_on_tokens(pieces, starts, ends, found)
    naive = [
        max(
            [-FAR]
            + [
                float(odds[0])
                for a, b, odds in zip(pieces.starts, pieces.ends, pieces.odds, strict=True)
                if max(a, start) < min(b, end)
            ]
        )
        for start, end in zip(starts, ends, strict=True)
    ]
    assert found[:, 0].tolist() == naive == [2.0, 3.0, 3.0, -FAR]


def test_the_text_is_as_it_stood(tmp_path):
    model = ModelFolder.of(str(write_spacy(tmp_path / "nlp", {"Annual": "PER"})))
    words = ["Ann", "ual", "came"]
    glued, apart = (shown(made(2), words, [LINE, one, BLANK]) for one in (GLUED, BLANK))
    assert (odds_of(model, glued)[:, 0] > 0).tolist() == [True, True, False]
    assert not (odds_of(model, apart) > 0).any()


@pytest.mark.parametrize("pieces", [1, 3, 4, 5, 11, 40])
@pytest.mark.parametrize("room", [1, 2, 4, 7])
def test_each_piece_is_of_one_window_and_has_neighbours_there(pieces, room):
    owned = []
    for window, own in place_windows(pieces, room):
        size = window.stop - window.start
        assert 0 < size <= room
        owned += range(window.start + own.start, window.start + own.stop)
        assert own.start == 0 or window.start == 0 or own.start >= (room // 4) // 2
        assert own.stop <= size
    assert owned == list(range(pieces))


def test_a_long_text_is_read_in_windows(folder):
    model = ModelFolder.of(str(folder))
    words = ["Name1" if number % 7 == 3 else "word1" for number in range(200)]
    found = odds_of(model, shown(made(2), words))
    assert ((found[:, 0] > 0) == [word == "Name1" for word in words]).all()


def test_a_model_that_changed_is_refused(tmp_path):
    folder = write_onnx(tmp_path / "model", KINDS)
    model = ModelFolder.of(str(folder))
    config = folder / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "note": 1}))
    (folder / "README.md").write_text("not used")
    with pytest.raises(RequestError, match=r"changed since it was fitted with: config\.json; put"):
        model.open()


def test_a_moved_model_is_the_same(tmp_path):
    model = ModelFolder.of(str(write_onnx(tmp_path / "model", KINDS)))
    classifier = ModelClassifier(model, np.ones((1, 2)), np.zeros(1))
    (tmp_path / "model").rename(tmp_path / "moved")
    with pytest.raises(RequestError, match="there is no folder of a model"):
        classifier.margins(made(2))
    assert len(classifier.at(str(tmp_path / "moved")).margins(made(2)))


class Evil:
    """What runs when it is unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return (open, (self.mark, "w"))


def test_what_would_run_runs_where_it_is_unpickled(tmp_path):
    pickle.loads(pickle.dumps(Evil(str(tmp_path / "ran")))).close()
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "config.json"])
def test_a_pickle_in_the_place_of_a_file_is_not_run(name, tmp_path):
    folder = write_onnx(tmp_path / "model", KINDS)
    (folder / name).write_bytes(pickle.dumps(Evil(str(tmp_path / "ran"))))
    with pytest.raises(RequestError):
        ExternalModel.of("ner", str(folder))
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.safetensors", "modeling.py"])
def test_other_files_are_not_opened(name, tmp_path):
    folder = write_onnx(tmp_path / "model", KINDS)
    (folder / name).write_bytes(pickle.dumps(Evil(str(tmp_path / "ran"))))
    model = ExternalModel.of("ner", str(folder))
    assert name not in dict(model.model.files)
    (folder / "model.onnx").unlink()
    with pytest.raises(RequestError, match="exported to ONNX first"):
        ExternalModel.of("ner", str(folder))
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("made_so", "why"),
    [
        ({"config": {"id2label": None}}, "labels are not named"),
        ({"config": {"id2label": {"0": "O"}}}, "labels are not named"),
        ({"config": {"id2label": {"0": "O", "2": "PER"}}}, "labels are not named"),
        ({"width": 3}, "not give a number for each word piece and label"),
        ({"scores": np.nan}, "not a finite number"),
        ({"inputs": ("pixels",)}, "asks for other than input_ids"),
        ({"external": "../model.bin"}, "from outside of its folder"),
        ({"external": "/etc/hostname"}, "from outside of its folder"),
        ({"external": "absent.bin"}, r"lacks a file that can be read: absent\.bin"),
    ],
)
def test_what_is_no_token_classifier_is_refused(made_so, why, tmp_path):
    with pytest.raises(RequestError, match=why):
        ExternalModel.of("ner", str(write_onnx(tmp_path, KINDS, **made_so)))


def test_what_a_model_was_given_is_in_no_error(tmp_path):
    """The tokenizer knows a word that the model does not."""
    folder = write_onnx(tmp_path, {"A": 0, "Zyxandra": 1}, rows=5)
    reader = ExternalModel.of("ner", str(folder)).model.open()
    for text in ("Zyxandra", "Zyxandra \ud800"):
        with pytest.raises(RequestError, match="cannot be run on text") as refused:
            reader.read_text(text)
        assert "Zyx" not in str(refused.value)
        assert refused.value.__cause__ is None


def test_weights_beside_the_model_are_read_and_hashed(tmp_path, folder):
    other = write_onnx(tmp_path, KINDS, external="model.bin")
    model = ExternalModel.of("ner", str(other)).model
    assert "model.bin" in dict(model.files)
    expected = odds_of(ModelFolder.of(str(folder)), made(3))
    np.testing.assert_array_equal(odds_of(model, made(3)), expected)


def test_a_link_out_of_the_folder_is_refused(tmp_path):
    folder = write_onnx(tmp_path / "model", KINDS, external="model.bin")
    (folder / "model.bin").rename(tmp_path / "model.bin")
    (folder / "model.bin").symlink_to(tmp_path / "model.bin")
    with pytest.raises(RequestError, match="from outside of its folder"):
        ExternalModel.of("ner", str(folder))


def test_a_folder_without_a_model_says_what_one_holds(tmp_path):
    with pytest.raises(RequestError, match="there is no folder of a model"):
        ExternalModel.of("ner", str(tmp_path / "absent"))
    with pytest.raises(RequestError, match=r"give a folder with model\.onnx, tokenizer\.json"):
        ExternalModel.of("ner", str(tmp_path))
    write_onnx(tmp_path, KINDS)
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(RequestError, match=r"lacks a file that can be read: tokenizer\.json"):
        ExternalModel.of("ner", str(tmp_path))


def test_without_the_libraries_the_extra_is_named(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(RequestError, match=r"voile\[onnx\]"):
        open_folder(folder)
