"""Texts that other tools redacted are aligned with their originals, and what is left is counted."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voile.documents as vd
from voile.core.errors import RequestError
from voile.documents.adversary.alignment import align, count_marks

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


def test_other_texts_are_refused():
    other = pd.DataFrame({"text": ["Wholly other words, of nobody here.", *REDACTED[1:]]})
    with pytest.raises(RequestError, match="text 1 is not the original's"):
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
