"""Texts that other tools redacted are aligned with their originals, and what is left is counted."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voile.documents as vd
from voile.core.errors import RequestError
from voile.documents.attack.alignment import align, count_marks

TEXTS = [
    "Ann May, 43, came to the ward on Monday with a cough.",
    "Mr. Bo Lee was seen by Dr. Kim; he lives in Ayr.",
    "No name stands in this note about a cough.",
]
NAMES = [[(0, 7, "NAME")], [(4, 10, "NAME"), (27, 30, "NAME"), (44, 47, "PLACE")], []]
REDACTED = [
    "<PERSON>, 43, came to the ward on <DATE> with a cough.",
    "Mr. <PERSON> was seen by Dr. Kim; he lives in <LOCATION>.",
    "No name stands in this note about a cough.",
]


def original():
    return pd.DataFrame({"text": TEXTS, "spans": [json.dumps(one) for one in NAMES]})


def test_what_is_left_is_counted_by_hand():
    found = vd.assess(original(), pd.DataFrame({"text": REDACTED}), text="text")
    left, removed, *kinds = found.evidence[0].findings
    assert (left.rate.successes, left.rate.trials) == (1, 4)  # Kim
    assert {one.of: (one.rate.successes, one.rate.trials) for one in kinds} == {
        "NAME": (1, 3),
        "PLACE": (0, 1),
    }
    assert removed.rate.successes == 1  # Monday
    assert found.figures["identifiers_left"] == 1 / 4
    assert "Identifiers left" in found.report(internal=True).html


def test_without_annotations_only_lengths_and_marks_are_known():
    bare = pd.DataFrame({"text": TEXTS})
    found = vd.assess(bare, pd.DataFrame({"text": REDACTED}), text="text")
    assert found.evidence == ()
    assert any("only the lengths and the marks" in said for said in found.summary)
    assert 0 < found.figures["share_of_characters_left"] < 1


NOTES = pd.DataFrame({"pid": [1, 2, 3], "note": TEXTS})
BESIDE = pd.DataFrame({"pid": [1, 2, 3], "name": ["Ann May", "Bo Lee", "Cy Day"]})
STAFF = pd.DataFrame({"name": ["Kim Park"]})


def test_values_of_tables_beside_the_notes_are_counted_by_hand():
    """Of Ann May, Bo Lee and the staff's Kim only Kim is left; Cy Day stands in no note."""
    tables = {"known": BESIDE, "by": "pid", "known_people": STAFF}
    given = {"text": "note", **tables}
    redacted = pd.DataFrame({"note": REDACTED})
    found = vd.assess(NOTES, redacted, **given)
    [evidence] = found.evidence
    left, names = evidence.findings[:2]
    assert (left.quantity, left.rate.successes, left.rate.trials) == ("known values left", 1, 3)
    assert (names.of, names.rate.trials) == ("NAME", 3)
    assert found.figures["known_values_left"] == 1 / 3
    assert any("only its identifiers from the known tables" in said for said in found.summary)
    assert "Known columns" in found.report(internal=True).html
    assert all(one not in found.report().html for one in ("Ann May", "Kim Park"))
    untouched = vd.assess(NOTES, NOTES[["note"]], **given)
    assert untouched.figures["known_values_left"] == 1


def test_annotations_and_known_values_are_judged_side_by_side():
    marked = original().assign(pid=[1, 2, 3])
    found = vd.assess(marked, pd.DataFrame({"text": REDACTED}), text="text", known=BESIDE, by="pid")
    assert [one.attack for one in found.evidence] == ["what is left", "known values left"]
    assert found.figures["identifiers_left"] == 1 / 4
    assert found.figures["known_values_left"] == 0


def test_known_columns_that_meet_no_note_are_refused():
    other = BESIDE.assign(name=["Zed Zulu", "Yan Yoke", "Xia Xu"])
    with pytest.raises(RequestError, match="the known columns meet no note"):
        vd.assess(NOTES, pd.DataFrame({"note": REDACTED}), text="note", known=other, by="pid")


def test_other_texts_are_refused():
    other = pd.DataFrame({"text": ["Wholly other words, of nobody here.", *REDACTED[1:]]})
    with pytest.raises(RequestError, match="text 1 differs from the original's"):
        vd.assess(original(), other, text="text")
    with pytest.raises(RequestError, match="2 released texts for 3 of the original"):
        vd.assess(original(), pd.DataFrame({"text": REDACTED[:2]}), text="text")


@given(st.text("ab .[]", max_size=40), st.text("ab .[]", max_size=40))
def test_outside_the_edits_both_texts_are_the_same(source, published):
    edits = align(source, published)
    here = there = 0
    for edit in (*edits, None):
        ours = published[here : edit.start if edit else None]
        assert ours == source[there : edit.source_start if edit else None]
        if edit:
            here, there = edit.end, edit.source_end


def test_marks_are_counted_by_what_they_are():
    found = count_marks(["<NAME> and [DATE]", "████ saw XXXX and ***", "<NAME>"])
    assert found == {"<NAME>": 2, "[DATE]": 1, "blots": 3}
