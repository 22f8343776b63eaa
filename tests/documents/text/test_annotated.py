"""What nobody annotated teaches nothing: which documents those are, and that they are left out."""

from __future__ import annotations

import json
import warnings

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.documents.flow import COLUMNS, ROLES, applied, fitted, people
from tests.documents.made import notes

from voile.core.errors import RequestError
from voile.core.progress import silent
from voile.data.roles import Roles
from voile.documents import Corpus, Document, GreedySanitizer
from voile.documents.fitting.loop.corpus import read_learning_corpus
from voile.documents.module import DOCUMENTS
from voile.documents.options import AttackOptions
from voile.documents.text.document import UnannotatedWarning, only_annotated
from voile.documents.text.reader import DocumentReader
from voile.documents.text.source import open_source
from voile.report.wording import format_note

ALL = DocumentReader.all_of(ROLES)


@given(st.lists(st.booleans(), max_size=8))
def test_those_that_nobody_annotated_are_left_out_and_counted(looked):
    documents = [Document("Ana .", id=f"row {n}", annotated=x) for n, x in enumerate(looked, 1)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = only_annotated(iter(documents))
    if all(looked) or not any(looked):
        assert (found, caught) == (documents, [])
        return
    assert found == [one for one in documents if one.annotated]
    (one,) = caught
    assert one.category is UnannotatedWarning
    count = f"{looked.count(False)} of {len(looked)}, the first is row {looked.index(False) + 1};"
    assert count in str(one.message)


ROWS = {
    "jsonl": [
        {"text": "Ana .", "spans": []},
        {"text": "Ana .", "spans": None},
        {"text": "Ana ."},
        {"text": "Ana .", "spans": [[0, 3, "NAME"]]},
    ],
    "presidio": [
        {"full_text": "Ana .", "spans": []},
        {"full_text": "Ana .", "spans": None},
        {"full_text": "Ana ."},
        {
            "full_text": "Ana .",
            "spans": [{"start_position": 0, "end_position": 3, "entity_type": "NAME"}],
        },
    ],
    "doccano": [
        {"text": "Ana .", "label": []},
        {"text": "Ana .", "label": None},
        {"text": "Ana .", "labels": None},
        {"text": "Ana .", "label": [[0, 3, "NAME"]]},
    ],
}


@pytest.mark.parametrize("format", ROWS)
def test_a_list_without_spans_is_not_a_missing_list(tmp_path, format):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS[format]))
    assert [one.annotated for one in Corpus.read(path, format)] == [True, False, False, True]
    cells = [row["spans"] for row in rows_of(f"{format}:{path}")]
    assert [cell is None for cell in cells] == [False, True, True, False]


def rows_of(thing):
    source = open_source(thing)
    return pa.Table.from_batches(source.batches(), source.schema()).to_pylist()


def without(rows, column, places):
    """Return the rows with nulls in a column."""
    cells = rows[column].to_pylist()
    for place in places:
        cells[place] = None
    return rows.set_column(rows.column_names.index(column), column, pa.array(cells, pa.string()))


def test_rows_with_nulls_for_spans_are_not_read():
    rows = without(people(), "spans", [3, 5])
    with pytest.warns(UnannotatedWarning, match="2 of 144, the first is row 4, column note;"):
        found = read_learning_corpus(ALL, open_source(rows))
    whole = read_learning_corpus(ALL, open_source(people()))
    assert len(whole) - len(found) == 2
    every = list(ALL.read_documents(open_source(rows)))
    assert [n for n, one in enumerate(every) if not one.annotated] == [6, 10]


def test_a_text_that_somebody_else_annotated_is_read_all_the_same():
    rows = pa.concat_tables([without(people(), "spans", range(72)), people()])
    with pytest.warns(UnannotatedWarning):
        found = read_learning_corpus(ALL, open_source(rows))
    whole = read_learning_corpus(ALL, open_source(people()))
    assert [(one.text, one.spans) for one in found] == [(one.text, one.spans) for one in whole]


def test_a_column_of_text_without_one_of_spans_teaches_nothing():
    columns = {**COLUMNS, "letter": "text", "letter spans": "drop"}
    roles = Roles.model_validate({"subject": "person", "columns": columns})
    with pytest.warns(UnannotatedWarning, match="72 of 144, the first is row 1, column letter;"):
        kit = fitted(people(), roles, miss_cost=[2])
    assert kit.facts["documents"] == 72


def test_where_nobody_looked_there_is_no_identifier():
    columns = {**COLUMNS, "note": "text", "letter": "text"}
    roles = Roles.model_validate({"subject": "person", "columns": columns})
    with pytest.raises(RequestError, match="no identifier is marked"):
        fitted(people(), roles)


def test_the_estimator_learns_from_annotated_documents_alone():
    whole = notes(4)
    plain = [Document(one.text, subject=one.subject, annotated=False) for one in notes(1, start=9)]
    ways = {"learners": ("svm",), "random_state": 1, "cross_fit": 3}
    with pytest.warns(UnannotatedWarning, match=f"12 of {len(whole) + 12}"):
        half = GreedySanitizer(**ways).fit(Corpus([*whole, *plain]))
    alone = GreedySanitizer(**ways).fit(whole)
    assert half.history_ == alone.history_
    texts = [one.text for one in plain]
    assert half.sanitize(texts) == alone.sanitize(texts)
    assert [one.annotated for one in half.sanitize(Corpus([*whole[:2], *plain[:2]]))] == [
        True,
        True,
        False,
        False,
    ]


def test_apply_reads_no_spans_and_the_attack_is_scored_where_there_are_some(tmp_path):
    rows = people(start=5)
    half = without(rows, "letter spans", range(0, 72, 2))
    release = applied(rows, tmp_path / "a.jsonl")
    again = applied(half, tmp_path / "b.jsonl")
    assert release.path.read_bytes() == again.path.read_bytes()
    options = AttackOptions(learners=("svm",), jobs=1, labels=("published",))
    one, other = (
        DOCUMENTS.attack(release, open_source(truth), options, seed=1, progress=silent)[0]
        for truth in (rows, half)
    )
    left_out = "36 of 144 documents without spans in the truth are left out."
    assert left_out in [format_note(note, "internal") for note in other.notes]
    assert left_out not in [format_note(note, "internal") for note in one.notes]
