"""Surrogates for the labels of real corpora, Spanish and English."""

from __future__ import annotations

import gzip
import json
from collections import Counter

import pytest
from tests.real_data import DATA

from voile.documents.replacements.kinds import kind_of
from voile.documents.replacements.names import fold
from voile.documents.replacements.removal import TextRemoval
from voile.documents.replacements.surrogates import Surrogates
from voile.documents.text.document import Document
from voile.keys.secret import Secret

SECRET = Secret(bytes(range(32)))

pytestmark = pytest.mark.real


def published(name: str, replacer: Surrogates):
    """Return (kind, what stood there, what stands there) of every span of a corpus."""
    path = DATA / name
    if not path.exists():
        pytest.skip(f"the data set {name} is not there")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            read = json.loads(line)
            document = Document(read["text"], id=str(number))
            spans = [TextRemoval(s["start"], s["end"], s["label"]) for s in read["spans"]]
            made = replacer(document, spans)
            for edit in made.edits:
                old = read["text"][edit.source_start : edit.source_end]
                yield kind_of(edit.label), old, made.text[edit.start : edit.end]


@pytest.mark.parametrize(
    ("name", "replacer"),
    [
        ("meddocan/dev.jsonl.gz", Surrogates(SECRET, language="spanish")),
        (
            "presidio-synthetic-pii/synth_dataset_v2.jsonl.gz",
            Surrogates(SECRET, date_order="mdy"),
        ),
    ],
)
def test_all_that_is_annotated_gets_a_surrogate(name, replacer):
    values, marks = Counter(), Counter()
    for kind, old, new in published(name, replacer):
        values[kind] += 1
        marks[kind] += new.startswith("[")
        if kind != "age" and len(old) > 2:
            assert fold(old) != fold(new)
    assert not any(marks.values())
    assert values["name"] > 500
