"""What patterns find in texts that people annotated: Spanish cases, English sentences.

The floors are what was measured, less a little; the forms of telephone numbers were written with
both sets at hand, so that they say what a pattern can do, not what it does on another's notes.
"""

from __future__ import annotations

import gzip
import json

import pytest

from voile.documents.patterns import PATTERNS, patterns_of
from voile.documents.patterns.pattern import find
from voile.documents.words.normalisation import normalise

pytestmark = pytest.mark.real


def read(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@pytest.fixture(scope="module")
def cases(data_set):
    folder = data_set("meddocan")
    return [one for part in ("train", "dev", "test") for one in read(folder / f"{part}.jsonl.gz")]


@pytest.fixture(scope="module")
def sentences(data_set):
    return read(data_set("presidio-synthetic-pii") / "synth_dataset_v2.jsonl.gz")


def scored(documents, name, *labels):
    """Return recall (wholly covered), precision, and the share that hits any identifier."""
    gold = covered = found = right = any_kind = 0
    for document in documents:
        removals = PATTERNS[name].find(document["text"])
        spans = [span for span in document["spans"] if span["label"] in labels]
        gold += len(spans)
        covered += sum(
            any(one.start <= span["start"] and span["end"] <= one.end for one in removals)
            for span in spans
        )
        for one in removals:
            met = {
                span["label"]
                for span in document["spans"]
                if span["start"] < one.end and one.start < span["end"]
            }
            found += 1
            right += bool(met & set(labels))
            any_kind += bool(met)
    return covered / gold, right / found, any_kind / found


@pytest.mark.parametrize(
    ("name", "labels", "recall", "precision"),
    [  # the telephone's false ones are record numbers of nine digits
        ("phone", ("NUMERO_TELEFONO", "NUMERO_FAX"), 0.99, 0.85),
        ("email", ("CORREO_ELECTRONICO",), 0.99, 0.99),
    ],
)
def test_spanish_cases(cases, name, labels, recall, precision):
    measured = scored(cases, name, *labels)
    assert measured[0] >= recall
    assert measured[1] >= precision
    assert measured[2] >= 0.99


@pytest.mark.parametrize(
    ("name", "label", "recall", "precision"),
    [  # of the telephone's, 6 of 92 have neither a form nor a word that tells
        ("phone", "PHONE_NUMBER", 0.93, 0.97),
        ("email", "EMAIL_ADDRESS", 1, 1),
        ("url", "DOMAIN_NAME", 1, 1),
        ("card", "CREDIT_CARD", 1, 0.99),
        ("iban", "IBAN_CODE", 1, 1),
        ("ssn", "US_SSN", 1, 1),
        ("ip", "IP_ADDRESS", 1, 1),
    ],
)
def test_english_sentences(sentences, name, label, recall, precision):
    measured = scored(sentences, name, label)
    assert measured[0] >= recall
    assert measured[1] >= precision


def test_nothing_is_found_where_there_are_none(data_set):
    folder = data_set("sec-filings")
    for path in sorted(folder.glob("*.txt.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            assert find(file.read(), patterns_of()) == []


def test_annotated_words_are_found_through_normalising(cases):
    for document in cases:
        text = document["text"]
        plain = normalise(text)
        for span in document["spans"]:
            start, end = span["start"], span["end"]
            inside = [
                at for at in range(len(plain.text)) if start <= plain.original(at, at)[0] < end
            ]
            assert plain.text[inside[0] : inside[-1] + 1] == normalise(text[start:end]).text
            break  # one each: a thousand in all
