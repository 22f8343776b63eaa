"""Who is read, whose a text is, and what never is."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.documents.flow import COLUMNS, NAMELESS, ROLES, people, table

from voile.core.errors import RequestError
from voile.data import open_source
from voile.data.hold_out import HoldOut
from voile.data.roles import Roles
from voile.documents.fitting.loop.corpus import read_learning_corpus, text_hashes
from voile.documents.text import reader as reading
from voile.documents.text.document import Document, Span
from voile.documents.text.reader import (
    LONGEST,
    LOST_CHARACTERS,
    DocumentReader,
    text_hash,
    why_unusable,
    without_controls,
)

ALL = DocumentReader.all_of(ROLES)


def texts(corpus):
    return [one.text for one in corpus]


def test_a_document_is_a_row_and_a_column_of_text():
    rows = table(["{Ana|NAME} came .", None], ["To Eva .", "To {Leo|NAME} ."], ["a", "b"])
    corpus = list(ALL.read_documents(open_source(rows)))
    assert texts(corpus) == ["Ana came .", "To Eva .", "", "To Leo ."]
    assert [one.subject for one in corpus] == ["a", "a", "b", "b"]
    assert [[(s.start, s.end) for s in one.spans] for one in corpus] == [[(0, 3)], [], [], [(3, 6)]]
    assert corpus[3].id == "row 2, column letter"


def test_the_order_of_rows_and_copies_of_them_change_nothing():
    rows = people()
    twice = pa.concat_tables([rows, rows])
    drawn = twice.take(np.random.default_rng(2).permutation(len(twice)))
    found = [
        [
            (one.subject, one.text, one.spans)
            for one in read_learning_corpus(read, open_source(given))
        ]
        for read in (ALL, DocumentReader.all_of(NAMELESS))
        for given in (rows, drawn)
    ]
    assert found[0] == found[1]
    assert found[2] == found[3]
    assert len(found[0]) == len({(subject, text) for subject, text, _ in found[0]})


def test_equal_texts_of_two_people_are_both_read():
    rows = table(["{Ana|NAME} came ."] * 2, ["One .", "Two ."], ["a", "b"])
    assert texts(read_learning_corpus(ALL, open_source(rows))).count("Ana came .") == 2


def test_the_texts_of_a_row_that_is_nobodys_are_one_persons():
    rows = table(["One .", "Two .", "One .", "One ."], [*["Same ."] * 3, "Other ."], [None] * 4)
    for roles in (ROLES, NAMELESS):
        subjects = [
            one.subject for one in DocumentReader.all_of(roles).read_documents(open_source(rows))
        ]
        assert subjects[0] == subjects[1] == subjects[4] == subjects[5]
        assert subjects[2] == subjects[3] != subjects[0]
        assert subjects[6] == subjects[7] not in subjects[:6]


def test_who_a_row_is_about_is_whose_its_texts_are():
    rows = table(["One .", "Two ."], ["Same .", "Same ."], ["7", None])
    subjects = [one.subject for one in list(ALL.read_documents(open_source(rows)))]
    assert subjects[:2] == ["7", "7"]
    assert subjects[2] == subjects[3] not in (None, "7")


def test_empty_texts_and_those_that_lack_are_not_learnt_from():
    rows = table(["", " \n", "Lost \ufffd .", "Came \x00 .", "Kept ."], [None] * 5)
    assert texts(read_learning_corpus(ALL, open_source(rows))) == ["Came  .", "Kept ."]
    assert len(list(ALL.read_documents(open_source(rows)))) == 10


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        ("Ana\tcame\r\n\f\v.", False),
        ("José 😀 \u200b", False),
        ("\ufffd", True),
        ("a\x07", False),
        ("a\x1b[0m", False),
    ],
)
def test_what_was_lost_in_decoding_is_seen(text, lost):
    assert (why_unusable(text) is not None) == lost


def test_a_text_that_no_memory_holds_is_not_worked_on():
    assert why_unusable("a" * LONGEST) is None
    assert f"{LONGEST:,}" in why_unusable("a" * (LONGEST + 1))


@given(st.integers(0, 2**32), st.integers(1, 7), st.booleans())
def test_those_held_out_are_read_by_nobody(seed, batch, named):
    rows = people(each=1).slice(0, 20)
    roles = ROLES if named else NAMELESS
    hold_out = HoldOut(0.4, seed.to_bytes(32, "big"), roles.subject)
    before, reading.BATCH_ROWS = reading.BATCH_ROWS, batch
    try:
        read = texts(read_learning_corpus(DocumentReader(roles, hold_out), open_source(rows)))
    finally:
        reading.BATCH_ROWS = before
    expected = []
    for number, row in enumerate(rows.to_pylist()):
        one = rows.slice(number, 1).to_batches()[0]
        if not hold_out.find_held(one, number)[0]:
            expected += [row["note"], row["letter"]]
    assert sorted(read) == sorted(expected)


def with_pos(**columns):
    return Roles.model_validate({"columns": {**columns, "note": {"role": "text", "pos": "pos"}}})


def test_parts_of_speech_are_read_where_they_are_given():
    tags = json.dumps([{"start": 0, "end": 3, "tag": "PROPN"}])
    rows = pa.table({"note": ["Ana came ."], "pos": [tags]})
    tagged = DocumentReader.all_of(with_pos(pos="drop"))
    assert tagged.pos == ["pos"]
    assert next(iter(tagged.read_documents(open_source(rows)))).pos == ((0, 3, "PROPN"),)


def test_spans_need_not_be_there_where_nothing_is_learnt():
    plain = people().drop_columns(["spans", "letter spans"])
    ALL.check(open_source(plain), annotated=False)
    with pytest.raises(RequestError, match="no column spans"):
        ALL.check(open_source(plain))
    for name in ("ward", "note", "person"):
        with pytest.raises(RequestError, match=f"no column {name}"):
            ALL.check(open_source(plain.drop_columns([name])), annotated=False)
    with pytest.raises(RequestError, match="column more has no role"):
        ALL.check(open_source(plain.append_column("more", plain["ward"])), annotated=False)


@pytest.mark.parametrize("role", ["quasi", "private", "items", "reading"])
def test_a_role_that_documents_do_not_treat_is_refused(role):
    roles = Roles.model_validate({"subject": "person", "columns": {**COLUMNS, "ward": role}})
    with pytest.raises(RequestError, match=f"column ward has the role {role}"):
        DocumentReader.all_of(roles).check(open_source(people()))


def test_a_text_is_known_again_by_who_has_the_key():
    corpus = list(ALL.read_documents(open_source(people(each=1))))
    found = text_hashes(corpus, b"k" * 32)
    assert found.tolist() == [text_hash(one.text, b"k" * 32) for one in corpus]
    assert len(np.unique(found)) == len(set(texts(corpus)))
    assert not set(found.tolist()) & set(text_hashes(corpus, b"l" * 32).tolist())
    assert text_hash("Ana", b"k") != text_hash("Ana ", b"k")


def test_documents_of_a_batch_are_numbered_on():
    (batch,) = people(each=1).slice(0, 3).to_batches()
    documents = ALL.documents(batch, 100, annotated=False)
    assert [one.id for one in documents][::2] == [f"row {n}, column note" for n in (101, 102, 103)]
    assert all(one.spans == () for one in documents)
    assert ALL.documents(batch.slice(0, 0), 0, annotated=True) == []
    marked = ALL.documents(batch, 100, annotated=True)
    assert [replace(one, spans=(), annotated=False) for one in marked] == documents
    assert all(one.spans for one in marked[::2])


def test_examples_of_why_unusable():
    assert (why_unusable("Jos\ufffd came"), why_unusable("José came")) == (
        LOST_CHARACTERS,
        None,
    )


def test_control_characters_are_removed_and_spans_move_with_their_text():
    marked = Document("a\x00Anna\x07 x\x7f", (Span(2, 6, "NAME"),), pos=((2, 7, "NN"),))
    plain = without_controls(marked)
    assert plain.text == "aAnna x"
    assert [plain.text[one.start : one.end] for one in plain.spans] == ["Anna"]
    assert plain.pos == ((1, 5, "NN"),)
    assert without_controls(plain) is plain
