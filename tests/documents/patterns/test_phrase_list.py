"""Deny-lists and allow-lists: whole tokens, in one pass."""

from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.core.errors import RequestError, SourceError
from voile.data.places import read_phrases
from voile.documents.patterns.phrase_list import PhraseList
from voile.documents.replacements.removal import RemovalReason, TextRemoval

words = st.sampled_from(["Ann", "ann", "Lee", "Jo", "-", ".", "x1", "_"])
phrases = st.lists(st.lists(words, min_size=1, max_size=3).map(" ".join), min_size=1, max_size=4)


def found(listed, text):
    return [text[one.start : one.end] for one in listed.find(text)]


@given(phrases, st.lists(st.tuples(words, st.sampled_from(["", " ", "\n", "  "])), max_size=12),
       st.booleans())  # fmt: skip
def test_equals_its_naive_twin(listed, pieces, ignore_case):
    text = "".join(word + blank for word, blank in pieces)
    tokens = list(re.finditer(r"[A-Za-z0-9]+|[-._]", text))
    covered = set()
    for first, phrase in product(range(len(tokens)), listed):
        parts = phrase.split()
        here = [token.group() for token in tokens[first : first + len(parts)]]
        same = [p.lower() for p in parts] == [h.lower() for h in here]
        if same if ignore_case else parts == here:
            covered |= {*range(tokens[first].start(), tokens[first + len(parts) - 1].end())}
    removals = PhraseList(listed, ignore_case=ignore_case).find(text)
    assert {at for one in removals for at in range(one.start, one.end)} == covered


def test_worked_examples():
    listed = PhraseList(["Ann Lee", "Ann", "O'Neil", "Straße 5"], label="NAME", name="my list")
    assert found(listed, "ANN  LEE, Anne, Ann-Marie, o’neil, STRASSE 5, straße 5") == [
        "ANN  LEE", "Ann", "o’neil", "straße 5",
    ]  # fmt: skip
    assert listed.find("Ann") == [TextRemoval(0, 3, "NAME", (RemovalReason("list", "my list"),))]
    assert found(PhraseList(["Ann"], ignore_case=False), "ann ANN Ann") == ["Ann"]
    assert found(listed, "Ann_2020.pdf, my_ann lee_, annex_1") == ["Ann", "ann lee"]


def test_tricks_are_seen_through():
    listed = PhraseList(["José Lima", "Иван", "Сосо", "İpek"])
    text = "Jo\u200bse\u0301 Ｌima; Иван, Сосо, Coco. Write to İPEK here"
    assert found(listed, text) == ["Jo\u200bse\u0301 Ｌima", "Иван", "Сосо", "Coco", "İPEK"]
    assert found(listed, "Сосо и Иван пришли") == ["Сосо", "Иван"]


def test_an_allow_list_keeps_what_lies_wholly_inside_a_phrase():
    text = "Washington Hospital, Washington, Parkinson disease of Parkinson"
    allowed = PhraseList(["Washington Hospital", "parkinson disease"])
    removals = [
        TextRemoval(0, 10, "NAME"),
        TextRemoval(21, 31, "NAME"),
        TextRemoval(31, 42, "NAME"),  # reaches over the phrase's beginning
        TextRemoval(54, 63, "NAME"),
    ]
    assert allowed.subtract(text, removals) == removals[1:]
    edges = [TextRemoval(0, 19, "NAME"), TextRemoval(11, 19, "NAME")]
    beyond = [TextRemoval(0, 20, "NAME"), TextRemoval(42, 61, "NAME")]
    assert allowed.subtract(text, [*edges, *beyond]) == beyond
    assert allowed.subtract(text, []) == []
    assert allowed.subtract("none here", removals) == removals


def test_a_list_is_read_line_by_line(tmp_path):
    path = tmp_path / "deny.txt"
    path.write_bytes("\ufeffAnn Lee\r\n\r\n  José \n".encode())
    assert found(PhraseList.read(path, label="NAME"), "ann lee josé") == ["ann lee", "josé"]
    assert read_phrases(path) == ["Ann Lee", "  José "]


def test_what_is_no_list(tmp_path):
    with pytest.raises(RequestError, match="deny-list: the list has no phrase"):
        PhraseList(["", " ", "\u200b"])
    path = tmp_path / "list.txt"
    with pytest.raises(SourceError, match=r"list\.txt: the list cannot be read"):
        PhraseList.read(path)
    path.write_bytes("Jos\xe9".encode("latin-1"))
    with pytest.raises(SourceError, match="the list is not UTF-8") as refused:
        PhraseList.read(path)
    assert "Jos" not in str(refused.value)
