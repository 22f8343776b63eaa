"""Annotated text as it is published: what the readers find is what its publishers counted."""

from __future__ import annotations

from collections import Counter

import pytest

from voile.documents.text.corpus import Corpus

pytestmark = pytest.mark.real


def labels(corpus):
    return Counter(span.label for document in corpus for span in document.spans)


def words(corpus, label):
    """The distinct strings of a type."""
    return {d.text[s.start : s.end] for d in corpus for s in d.spans if s.label == label}


def tokens(corpus):
    return sum(len(document.text.split()) for document in corpus)


@pytest.mark.parametrize(
    ("split", "documents", "counted", "spans", "patients", "staff", "names"),
    [
        ("train", 500, 208_464, 11_333, 1_009, 1_000, 1_246),
        ("dev", 250, 110_601, 5_801, 503, 497, 664),
        ("test", 250, 105_062, 5_661, 502, 501, 657),
    ],
)
def test_clinical_cases(data_set, split, documents, counted, spans, patients, staff, names):
    corpus = Corpus.read(data_set("meddocan") / f"{split}.jsonl.gz")
    patient, physician = "NOMBRE_SUJETO_ASISTENCIA", "NOMBRE_PERSONAL_SANITARIO"
    found = labels(corpus)
    assert (len(corpus), tokens(corpus), found.total()) == (documents, counted, spans)
    assert (found[patient], found[physician]) == (patients, staff)
    assert len(words(corpus, patient) | words(corpus, physician)) == names
    assert corpus[0].id.startswith("S")


def test_all_types_of_clinical_cases(data_set):
    corpus = Corpus.read(data_set("meddocan") / "*.jsonl.gz")
    assert (len(corpus), labels(corpus).total(), len(corpus.labels)) == (1_000, 22_795, 22)


def test_mail(data_set):
    corpus = Corpus.read(data_set("enron-email-person-names") / "enron_email_threads.tsv.gz")
    assert (len(corpus), tokens(corpus), labels(corpus)) == (46, 28_835, {"PER": 1_039 + 383})
    assert len(words(corpus, "PER")) == 535
    assert corpus[0].id == "dorland_c_11"


def test_generated_sentences(data_set):
    path = data_set("presidio-synthetic-pii") / "synth_dataset_v2.jsonl.gz"
    corpus = Corpus.read(path, subject="template_id")
    found = labels(corpus)
    assert (len(corpus), tokens(corpus), found.total()) == (1_500, 21_473, 2_863)
    assert (found["PERSON"], found["STREET_ADDRESS"], found["US_DRIVER_LICENSE"]) == (857, 598, 5)
    assert (len(found), len({document.subject for document in corpus})) == (17, 209)


@pytest.mark.parametrize(
    ("part", "tweets", "people"),
    [
        ("a", 1_000, 229),
        ("b", 2_000, 865),
        ("e", 200, 59),
        ("f", 2_000, 2_650),
        ("g", 2_138, 1_802),
        ("h", 2_001, 2_323),
    ],
)
def test_tweets(data_set, part, tweets, people):
    path = data_set("broad-twitter-corpus") / f"{part}.conll.gz"
    corpus = Corpus.read(path, "conll-sentences")
    assert labels(corpus)["PER"] == people
    assert tweets - len(corpus) == (part == "h")  # a tweet whose tokens are all empty
    (whole,) = Corpus.read(path)
    assert len(whole.text.split("\n")) == len(corpus)


def test_articles(data_set):
    corpus = Corpus.read(data_set("wikigold") / "wikigold.conll.txt.gz")
    sentences = sum(len(document.text.split("\n")) for document in corpus)
    assert (len(corpus), sentences, tokens(corpus)) == (145, 1_696, 39_007)
    assert labels(corpus) == {"PER": 934, "LOC": 1_014, "ORG": 898, "MISC": 712}
    assert len(words(corpus, "PER")) == 616


@pytest.mark.parametrize(
    ("name", "documents", "sentences", "counted", "found"),
    [
        ("FIN5", 5, 1_164, 41_010, {"PER": 747, "ORG": 243, "LOC": 171, "MISC": 7}),
        ("FIN3", 3, 303, 13_246, {"PER": 216, "ORG": 56, "LOC": 39, "MISC": 7}),
    ],
)
def test_agreements(data_set, name, documents, sentences, counted, found):
    corpus = Corpus.read(data_set("sec-filings") / f"{name}.txt.gz")
    lines = [line for document in corpus for line in document.text.split("\n")]
    assert (len(corpus), len(lines), tokens(corpus)) == (documents, sentences, counted)
    assert sum(len(document.pos) for document in corpus) == counted
    assert labels(corpus) == found
