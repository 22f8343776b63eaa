"""The pretrained model on the reader: what it proposes, and what it needs."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from voile.core.errors import RequestError
from voile.documents import Document
from voile.documents.fitting.starter.learn_heads import TaughtCorpus, learn_heads
from voile.documents.model.start.starter.shipped import (
    load_starter,
    read_starter,
    reader_starter,
    write_starter,
)
from voile.documents.reader.installed import INDEX, find_reader, open_reader
from voile.documents.text.document import Span
from voile.documents.words.tokens import tokenise

REAL = Path(__file__).parents[4] / ".venv" / "reader"
needs_reader = pytest.mark.skipif(
    not (REAL / INDEX).exists() and "reader" not in os.environ.get("VOILE_REQUIRE", ""),
    reason="the reader is not installed: make reader",
)


def letters(town, number):
    who = ("Mary Smith", "Tom Jones", "Ann Lee", "Bob Hill")[number % 4]
    text = f"Dear {who}, we met in {town} today, and all was well there."
    return Document(text, (Span(5, 5 + len(who), "NAME"), _span(text, town)))


def _span(text, town):
    return Span(text.index(town), text.index(town) + len(town), "PLACE")


@pytest.fixture
def taught(reader):
    """Two corpora of letters; one of them does not mark places."""
    towns = ("Rome", "Oslo", "Lima")
    marked = [letters(town, number) for number in range(12) for town in towns]
    plain = [Document(one.text, one.spans[:1]) for one in marked]
    return {"marked": TaughtCorpus(marked), "plain": TaughtCorpus(plain, ("NAME",))}


def test_a_corpus_teaches_the_types_that_it_marks(taught):
    alone = {"marked": taught["marked"], "plain": TaughtCorpus(taught["plain"].documents)}
    note = taught["marked"].documents[0]
    place = slice(note.spans[1].start, note.spans[1].end)

    def odds_of_place(corpora):
        starter = learn_heads(corpora, "english")
        tokens = starter_tokens(note.text)
        at = int(np.flatnonzero(tokens.starts == place.start)[0])
        return starter._odds(tokens, starter.rules.find(tokens))[at, 1]

    assert odds_of_place(taught) > odds_of_place(alone) + 1


def starter_tokens(text):
    return tokenise([text])


def test_a_file_holds_the_same_heads(taught):
    starter = learn_heads(taught, "english")
    again = read_starter(write_starter(starter), "reader-english x")
    note = starter_tokens(taught["marked"].documents[1].text)
    np.testing.assert_allclose(again.odds(note), starter.odds(note), atol=0.02)
    assert write_starter(again) == write_starter(starter)


def test_its_reader_must_be_installed(reader, monkeypatch):
    assert reader_starter("english") is None  # what is installed here is another one
    with pytest.raises(RequestError, match="this needs layer 6 of the reader with SHA-256 1571fc"):
        load_starter("reader-english").check()
    monkeypatch.setenv("VOILE_READER", os.devnull)
    assert reader_starter("english") is None
    with pytest.raises(RequestError, match="this needs a reader, and none is installed"):
        load_starter("reader-spanish").check()


@needs_reader
@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        (
            "english",
            "Mr. Oluwaseun Adeyemi of Dunmore Holdings moved to Galway last year, he said.",
            {"NAME": "Oluwaseun Adeyemi", "PLACE": "Galway", "ORG": "Dunmore Holdings"},
        ),
        (
            "spanish",
            "La paciente Ainhoa Etxeberria vive en Bilbao y trabaja desde hace dos años.",
            {"NAME": "Ainhoa Etxeberria", "PLACE": "Bilbao"},
        ),
    ],
)
def test_names_places_and_organisations_are_proposed(language, text, expected, monkeypatch):
    monkeypatch.setenv("VOILE_READER", str(REAL))
    assert reader_starter(language) == f"reader-{language}"
    proposed = load_starter(f"reader-{language}").propose([Document(text)])[0]
    found = {one.label: text[one.start : one.end] for one in proposed}
    assert found == expected


@needs_reader
def test_the_reader_is_the_one_that_the_heads_learnt_on(monkeypatch):
    """Ten words' vectors are as they were: another model, or another build, is noticed."""
    monkeypatch.setenv("VOILE_READER", str(REAL))
    reader = find_reader()
    encoder = open_reader(reader.sha256, reader.layer)
    tokens = starter_tokens("Mrs. Lena Vogt saw the surgeon in Graz on Monday")
    words = [tokens.forms[number] for number in tokens.form]
    found = encoder.encode(words, tokens.gap, tokens.first)[:10, :4]
    np.testing.assert_allclose(found, VECTORS, atol=0.05)


VECTORS = [
    [-0.01, 0.304, -0.538, 1.423],
    [0.442, 0.707, -0.3, 0.701],
    [0.084, 0.016, -0.365, -0.248],
    [-0.427, -0.412, 0.249, -0.132],
    [0.112, -0.152, 0.732, 0.915],
    [0.014, 0.134, 0.26, 0.923],
    [-0.157, 0.509, -0.974, 0.906],
    [-0.054, 0.288, -0.084, 0.48],
    [0.185, -0.126, 0.288, 1.581],
    [0.102, 0.418, 0.305, 0.4],
]
