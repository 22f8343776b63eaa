"""Values and notes that are out to harm: they are found or left, and never break or leak."""

from __future__ import annotations

import logging
import time
import traceback
import tracemalloc

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.core.errors import VoileError
from voile.data import open_source
from voile.documents.model.start.known.known_values import KnownValues
from voile.documents.text.document import Document

CANARY = "Zyxwquarble"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("Zoe (Q.*) [Quinn]+", "Quinn"),
        ("Qui\x00nn", "Quinn"),
        ("Jose\u0301 Quinn", "José Quinn"),
        ("José", "JOSE\u0301"),
        ("Quinn", "Qu\u200binn"),
        ("Quinn", "\u202eQuinn\u202c"),
        ("Ｑｕｉｎｎ", "Quinn"),
        ("כהן לוי", "כהן לוי"),
        ("محمد", "محمد"),
        ("Κωνσταντίνος", "ΚΩΝΣΤΑΝΤΙΝΟΣ"),
        ("İbrahim Öztürk", "IBRAHIM ÖZTÜRK"),
        ("O'Brien", "O’Brien"),
        ("O'Brien", "OBrien"),
        ("Van der Berg", "VANDERBERG"),
        ("\\d+$ {0} %s", "none"),
    ],
)
def test_a_value_is_no_pattern_and_is_found_however_it_is_encoded(value, written):
    known = KnownValues.read(open_source(pa.table({"pid": ["1"], "surname": [value]})), "pid")
    text = f"Visto hoy: {written}, en casa."
    (found,) = known.propose([Document(text, subject="1")])
    covered = "".join(text[one.start : one.end] for one in found)
    plain = "".join(filter(str.isalnum, written))
    assert plain in "".join(filter(str.isalnum, covered)) or written == "none"


@settings(max_examples=150, deadline=None)
@given(
    values=st.lists(st.text(max_size=30), min_size=1, max_size=4),
    kind=st.sampled_from(["name", "date", "phone", "email", "id", "address", "place"]),
    text=st.text(max_size=200),
)
def test_whatever_is_in_cells_and_notes_the_removals_are_slices_of_the_text(values, kind, text):
    table = pa.table({"pid": ["1"] * len(values), "column": pa.array(values, pa.string())})
    known = KnownValues.read(open_source(table), "pid", kinds={"column": kind})
    text = f"{text} {values[0]} {text}"
    (found,) = known.propose([Document(text, subject="1")])
    ends = 0
    for one in found:
        assert ends <= one.start < one.end <= len(text)
        ends = one.end


def test_a_cell_of_a_million_characters_is_no_value():
    table = pa.table({"pid": ["1"], "surname": [f"{CANARY} " * 100_000]})
    known = KnownValues.read(open_source(table), "pid", kinds={"surname": "name"})
    assert known.propose([Document(f"{CANARY} came.", subject="1")]) == [[]]


def test_no_value_is_in_a_repr_a_log_or_an_error(caplog, capfd):
    table = pa.table({"pid": [CANARY], "surname": [CANARY], "mrn": ["987654321"]})
    with caplog.at_level(logging.DEBUG):
        known = KnownValues.read(open_source(table), "pid")
        known.propose([Document("Nobody came.", subject="other")])
        said = [repr(known), str(known), str(known.hits), str(known.kinds)]
        try:
            known.check()
        except VoileError as error:
            said += traceback.format_exception(error)
        try:
            KnownValues.from_table(known.to_table().drop_columns("kind"))
        except VoileError as error:
            said += [str(error)]
    out, err = capfd.readouterr()
    said += [caplog.text, out, err]
    assert len(said) > 8
    assert not any(one in text for text in said for one in (CANARY, "987654321"))


@pytest.mark.parametrize("text", ["A" * 200_000, "1" * 200_000, "_" * 200_000])
def test_a_run_of_letters_or_digits_costs_what_other_text_does(text):
    known = KnownValues.read(open_source(pa.table({"pid": ["1"], "surname": ["Quinn"]})), "pid")
    tracemalloc.start()
    begun = time.process_time()
    (found,) = known.propose([Document(f"{text} Quinn", subject="1")])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [one.start for one in found] == [len(text) + 1]
    assert time.process_time() - begun < 10
    assert peak < 200 * len(text)
