"""A spaCy pipeline in a folder is data: what its configuration may call, and what it may not."""

from __future__ import annotations

import pickle
import re
from contextlib import suppress

import numpy as np
import pytest
import spacy
import srsly
from tests.documents.adapters.made_models import write_spacy
from tests.documents.adapters.test_model import Evil

from voile.core.errors import RequestError
from voile.documents.model.classifiers.folders.model_folder import ModelFolder
from voile.documents.model.classifiers.folders.spacy_folder import CHUNK


@pytest.fixture
def pipeline(tmp_path):
    return write_spacy(tmp_path / "nlp", {"Ann": "PER"})


def changed(pipeline, before, after):
    config = pipeline / "config.cfg"
    text = config.read_text(encoding="utf-8")
    assert re.search(before, text)
    config.write_text(re.sub(before, after, text, count=1), encoding="utf-8")
    return pipeline


def opened(pipeline):
    return ModelFolder.of(str(pipeline)).open()


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        (
            'factory = "entity_ruler"',
            'factory = "my_own"',
            "not of spaCy's own kinds: entity_ruler",
        ),
        ('factory = "entity_ruler"', 'source = "evil"', "not of spaCy's own kinds: entity_ruler"),
        ('factory = "entity_ruler"', 'factory = "entity_linker"', "not of spaCy's own kinds"),
        (
            "before_creation = null",
            'before_creation = {"@callbacks":"spacy.copy_from_base_model.v1"}',
            r"calls code that is not loaded: spacy\.copy_from_base_model\.v1",
        ),
        ('"spacy.Tokenizer.v1"', '"spacy.zh.ChineseTokenizer"', r"not loaded: spacy\.zh\."),
        ('"spacy.levenshtein_compare.v1"', '"evil.v1"', r"not loaded: evil\.v1"),
        ("train = null", 'train = "evil.v1"', None),
        ('lang = "xx"', 'lang = "..evil"', r"not loaded: the language \.\.evil"),
        ("pipeline = .*", "pipeline = 3", "cannot be read"),
        (r"\[nlp\]", "[other]", "cannot be read"),
    ],
)
def test_what_a_configuration_may_name(pipeline, before, after, why):
    changed(pipeline, before, after)
    if why is None:
        opened(pipeline)
    else:
        with pytest.raises(RequestError, match=why):
            opened(pipeline)


def test_variables_are_put_in_before_anything_is_checked(pipeline):
    changed(pipeline, "train = null", 'train = "evil.v1"')
    changed(pipeline, '"spacy.levenshtein_compare.v1"', "${paths.train}")
    with pytest.raises(RequestError, match=r"not loaded: evil\.v1"):
        opened(pipeline)


def test_components_that_find_no_entities_are_left_out(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("attribute_ruler")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "PER", "pattern": "Ann"}])
    nlp.to_disk(tmp_path / "nlp")
    (tmp_path / "nlp" / "attribute_ruler" / "patterns").write_bytes(b"none")
    model = ModelFolder.of(str(tmp_path / "nlp"))
    assert model.open().types == ("PER",)
    assert not [name for name, _ in model.files if "attribute" in name]
    empty = spacy.blank("en")
    empty.add_pipe("sentencizer")
    empty.to_disk(tmp_path / "empty")
    with pytest.raises(RequestError, match="finds no entities"):
        opened(tmp_path / "empty")


@pytest.mark.parametrize("name", ["vocab/vectors", "tokenizer", "vocab/lookups.bin", "ner/model"])
def test_a_pickle_in_the_place_of_a_file_is_not_run(name, tmp_path):
    nlp = spacy.blank("xx")
    small = {"@architectures": "spacy.HashEmbedCNN.v2", "width": 8, "depth": 1, "embed_size": 50}
    rest = {"window_size": 1, "maxout_pieces": 1, "subword_features": False}
    network = {
        "@architectures": "spacy.TransitionBasedParser.v2",
        "state_type": "ner",
        "extra_state_tokens": False,
        "hidden_width": 8,
        "maxout_pieces": 1,
        "use_upper": True,
        "tok2vec": {**small, **rest, "pretrained_vectors": None},
    }
    nlp.add_pipe("ner", config={"model": network}).add_label("PER")
    nlp.initialize()
    nlp.to_disk(tmp_path / "nlp")
    assert opened(tmp_path / "nlp").types == ("PER",)
    evil = Evil(str(tmp_path / "ran"))
    place = tmp_path / "nlp" / name
    place.parent.mkdir(exist_ok=True)
    for content in (pickle.dumps(evil), _as_array(evil, tmp_path), _as_msgpack(evil)):
        place.write_bytes(content)
        with suppress(RequestError):  # some files are not looked at when there is nothing in them
            opened(tmp_path / "nlp")
        assert not (tmp_path / "ran").exists()


def _as_array(evil, folder):
    np.save(folder / "evil.npy", np.array([evil], dtype=object), allow_pickle=True)
    return (folder / "evil.npy").read_bytes()


def _as_msgpack(evil):
    """Write what an older reader of NumPy arrays in msgpack would have unpickled."""
    said = {"nd": True, "type": "|O8", "kind": "O", "shape": [1], "data": pickle.dumps(evil)}
    return srsly.msgpack_dumps(said)


def test_a_long_text_is_read_in_chunks(pipeline):
    text = "Ann " * 30_000
    assert "".join(part[0] for part in CHUNK.finditer(text)) == text
    pieces = opened(pipeline).read_text(text)
    assert pieces.starts.tolist() == list(range(0, 120_000, 4))
    assert {text[a:b] for a, b in zip(pieces.starts, pieces.ends, strict=True)} == {"Ann"}
