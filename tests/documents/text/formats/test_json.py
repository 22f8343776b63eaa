"""JSON of voile, presidio-research and doccano: texts and offsets come back exactly."""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.documents.text.formats.writers import documents, put, same

from voile.core.errors import RequestError, SourceError
from voile.documents.text.corpus import Corpus
from voile.documents.text.document import Span


def voile(document):
    spans = [{"start": s.start, "end": s.end, "label": s.label} for s in document.spans]
    return {"text": document.text, "spans": spans, "more": {"a": [1]}}


def presidio(document):
    spans = [
        {
            "entity_type": s.label,
            "entity_value": document.text[s.start : s.end],
            "start_position": s.start,
            "end_position": s.end,
        }
        for s in document.spans
    ]
    return {"full_text": document.text, "masked": "", "spans": spans, "template_id": 3}


def doccano(document):
    return {"text": document.text, "label": [[s.start, s.end, s.label] for s in document.spans]}


def doccano_labels(document):
    return {"text": document.text, "labels": doccano(document)["label"], "Comments": []}


def doccano_relations(document):
    spans = [
        {"id": 1, "start_offset": s.start, "end_offset": s.end, "label": s.label}
        for s in document.spans
    ]
    return {"text": document.text, "entities": spans, "relations": []}


WRITERS = [voile, presidio, doccano, doccano_labels, doccano_relations]


@pytest.mark.parametrize("write", WRITERS)
@given(
    corpus=st.lists(documents(), min_size=1, max_size=3), ascii=st.booleans(), lines=st.booleans()
)
def test_what_is_written_reads_back_recognised(write, corpus, ascii, lines):
    rows = [write(document) for document in corpus]
    with tempfile.TemporaryDirectory() as folder:
        text = "\n".join(json.dumps(row, ensure_ascii=ascii) for row in rows)
        path = put(Path(folder, "a.json"), text if lines else json.dumps(rows, indent=1))
        assert same(Corpus.read(path), corpus)


def test_ids_and_subjects_are_texts(tmp_path):
    rows = [
        {"text": "", "id": 17, "subject": "p"},
        {"text": "b", "doc_id": "x", "subject": 4},
        {"text": "c", "subject": None, "spans": None},
    ]
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress("\n\n".join(map(json.dumps, rows)).encode("utf-8-sig")))
    found = [(d.id, d.subject) for d in Corpus.read(path)]
    assert found == [("17", "p"), ("x", "4"), ("5", None)]


def test_a_template_can_be_the_subject(tmp_path):
    path = put(tmp_path / "a.jsonl", '{"full_text": "a", "template_id": 4}\n{"full_text": "b"}')
    assert [d.subject for d in Corpus.read(path)] == [None, None]
    with pytest.raises(RequestError, match="row 2 has no field template_id"):
        Corpus.read(path, subject="template_id")
    put(path, path.read_text().split("\n")[0])
    assert Corpus.read(path, subject="template_id")[0].subject == "4"
    with pytest.raises(RequestError, match="did you mean template_id"):
        Corpus.read(path, subject="templateid")


def test_the_same_span_said_twice_is_one(tmp_path):
    path = put(tmp_path / "a.jsonl", '{"text": "May", "label": [[0, 3, "A"], [0, 3, "A"]]}')
    assert Corpus.read(path)[0].spans == (Span(0, 3, "A"),)


SPANS = {
    '[{"start": 0, "end": 99, "label": "A"}]': "document 7: the span 0 to 99 is not inside",
    '[{"start": 3, "end": 3, "label": "A"}]': "document 7: the span 3 to 3 is empty",
    '[{"start": -2, "end": 3, "label": "A"}]': "document 7: the span -2 to 3 is not inside",
    '[[0, 5, "A"], [4, 6, "B"]]': "document 7: the spans 0 to 5 and 4 to 6 overlap",
    '[[0, 5, "A"], [0, 5, "B"]]': "document 7: the spans 0 to 5 and 0 to 5 overlap",
    '[[0, 5]]': "document 7: span 1 has no start, end, label",
    '[[0, 2.5, "A"]]': "span 1 has no",
    '[[true, 2, "A"]]': "span 1 has no",
    '[{"start": "0", "end": 3, "label": "A"}]': "span 1 has no",
    '[{"start": 0, "end": 3, "label": ""}]': "the label of span 1 is blank",
    '[{"start": 0, "end": 3, "label": " "}]': "the label of span 1 is blank",
    '[[0, 3, "A\\nB"]]': "the label of span 1 is blank or has characters that do not print",
    '[{"start": 0, "end": 3}]': "span 1 has no",
    '["Qwert"]': "span 1 has no",
    '{"start": 0}': "document 7: the spans are not a list",
}  # fmt: skip


@pytest.mark.parametrize("spans", SPANS)
def test_wrong_spans_are_refused_with_document_and_offsets(tmp_path, spans):
    path = put(tmp_path / "a.jsonl", f'{{"id": 7, "text": "Qwertzuiop", "spans": {spans}}}')
    with pytest.raises(RequestError, match=SPANS[spans]) as refused:
        Corpus.read(path, "jsonl")
    assert "Qwert" not in str(refused.value)


def test_positions_that_count_something_else_are_refused(tmp_path):
    text, name = "😀 Qwertzuiop", "Qwertzuiop"  # UTF-16 has the name at 3
    span = {"entity_type": "A", "entity_value": name, "start_position": 3, "end_position": 12}
    path = put(tmp_path / "a.json", json.dumps([{"full_text": text, "spans": [span]}]))
    with pytest.raises(SourceError, match="document 1: at 3 to 12 the text differs") as refused:
        Corpus.read(path)
    assert name not in str(refused.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"text": "Qwertzuiop"', "row 1 is not valid JSON from character 2"),
        ('[{"text": "Qwertzuiop"}', "is not whole JSON from line 1, character 24"),
        ('[{"text": "a"}, "Qwertzuiop"]', "item 2 of the list is not an object"),
        ('{"text": ["Qwertzuiop"]}', "row 1 has no text in the field text"),
        ('{"words": "Qwertzuiop"}', "its first object has no text"),
        ('{"text": "a"}\n{"words": "Qwertzuiop"}', "row 2 has no text in the field text"),
        ('{"text": "Qwertzuiop \\ud83d"}', "row 1 holds half of a character"),
        ('[{"text": "Qwertzuiop \\ud83d"}]', "document 1: character 11 is an unpaired surrogate"),
        ('{"text": "Qwertzuiop", "text": 1}', "two columns have the same name"),
        ("[" * 100_000, "is JSON beyond reading"),
        ('{"text": "a", "n": ' + "9" * 5000 + "}", "with too many levels or too long a number"),
        ('{"text": "a", "subject": ["Qwertzuiop"]}', "the subject of row 1 is not text"),
        ('{"text": "a", "label": [], "entities": []}', "document 1: has label and entities"),
        ("", "its first object has no text"),
    ],
)  # fmt: skip
def test_damaged_json_is_refused_in_one_sentence(tmp_path, content, message):
    with pytest.raises(RequestError, match=message) as refused:
        Corpus.read(put(tmp_path / "a.json", content))
    assert "Qwert" not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_doccano_needs_one_field_of_labels(tmp_path):
    with pytest.raises(SourceError, match="document 1: has none of label, labels, entities"):
        Corpus.read(put(tmp_path / "a.jsonl", '{"text": "a"}'), "doccano")
