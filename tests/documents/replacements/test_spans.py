"""Spans: sources are settled, neighbours joined, and no letter or digit escapes."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.documents.replacements.marks import LabelMarks
from voile.documents.replacements.removal import RemovalReason, TextRemoval
from voile.documents.replacements.spans import complete_units, join_adjacent, settle_spans
from voile.documents.text.document import Document

TEXT = "Anna  Smith,\tBerta\nJones of Leeds and York"

LEARNT, IP = RemovalReason("pass", "crf", 1), RemovalReason("pattern", "ip")
A, B = RemovalReason("list", "a"), RemovalReason("list", "b")


def removals(by: RemovalReason):
    """Return removals anywhere in 30 characters, those of one source over each other too."""
    one = st.builds(
        lambda start, length, label: TextRemoval(start, start + length, label, (by,)),
        st.integers(0, 29),
        st.integers(1, 8),
        st.sampled_from(["NAME", "DATE"]),
    )
    return st.lists(one, max_size=6)


@given(st.text("ab1 -,\n", min_size=40, max_size=40), removals(A), removals(B))
def test_settled_spans_cover_each_letter_and_digit_that_a_source_removes(text, first, second):
    settled = settle_spans(text, first, second)
    covered = {place for r in settled for place in range(r.start, r.end)}
    asked = {place for r in (*first, *second) for place in range(r.start, r.end)}
    assert covered <= asked
    assert not any(text[place].isalnum() for place in asked - covered)
    assert all(a.end <= b.start for a, b in pairwise(settled))


@given(st.text("ab1 -,\n", min_size=40, max_size=40), removals(A), removals(B))
def test_no_word_has_two_types(text, first, second):
    """A span of the first source has the letters and digits that touch it, whatever their type."""
    settled = settle_spans(text, first, second)
    for before, after in pairwise(settled):
        if before.end == after.start and text[before.end - 1].isalnum():
            inside = [r for r in (*first, *second) if r.start < before.end < r.end]
            assert not inside or not text[after.start].isalnum()


def test_spans_that_only_touch_stay_apart():
    assert len(settle_spans(TEXT, [TextRemoval(0, 4, "NAME")], [TextRemoval(4, 6, "AGE")])) == 2


@pytest.mark.parametrize(
    ("first", "second", "settled"),
    [
        ("ORG:Kessler Clinic on Monday, May 29", "", "ORG:Kessler Clinic on Monday, May 29"),
        (
            "DATE:Monday, May 29",
            "ORG:Kessler Clinic on Monday, May 29",
            "ORG:Kessler Clinic on|DATE:Monday, May 29",
        ),
        ("NAME:Kessler", "ORG:Kessler Clinic", "ORG:Kessler Clinic"),
        ("NAME:Kessler", "DATE:Kessler Clinic", "NAME:Kessler|DATE:Clinic"),
        ("DATE:May 29", "ID:29-A7", "DATE:May 29-A7"),
    ],
)
def test_the_earlier_source_has_its_spans_and_no_word_is_cut(first, second, settled):
    text = "Seen at Kessler Clinic on Monday, May 29-A7 again"

    def spans(written):
        pairs = (one.split(":") for one in written.split("|") if one)
        return [TextRemoval(text.index(w), text.index(w) + len(w), label) for label, w in pairs]

    assert settle_spans(text, spans(first), spans(second)) == spans(settled)


@pytest.mark.parametrize(
    ("unit", "found", "whole"),
    [
        ("03-04-1950", "-04-", "03-04-1950"),
        ("2021-03-04T14:22:00Z", "2021-03-04T14", "2021-03-04T14:22:00Z"),
        ("Smith-Jones", "Jones", "Smith-Jones"),
    ],
)
def test_a_span_that_cuts_a_unit_has_all_of_it(unit, found, whole):
    text = f"on {unit} she"
    start = text.index(found)
    spans = complete_units(
        text, [TextRemoval(start, start + len(found), "DATE")], [(3, 3 + len(unit))]
    )
    assert [text[one.start : one.end] for one in spans] == [whole]


@pytest.mark.parametrize(
    ("words", "runs"),
    [
        (["Anna", "Smith"], ["Anna  Smith"]),
        (["Smith", "Berta"], ["Smith", "Berta"]),
        (["Berta", "Jones"], ["Berta", "Jones"]),
        (["Ann", "a"], ["Anna"]),
        (["Leeds", "York"], ["Leeds", "York"]),
    ],
)
def test_blanks_within_a_line_part_no_names(words, runs):
    found = []
    for word in words:
        start = TEXT.index(word, found[-1].end if found else 0)
        found.append(TextRemoval(start, start + len(word), "NAME"))
    assert [TEXT[r.start : r.end] for r in join_adjacent(TEXT, found)] == runs


def test_another_label_is_another_run():
    pair = [TextRemoval(0, 4, "NAME"), TextRemoval(6, 11, "PLACE")]
    assert join_adjacent(TEXT, pair) == pair


def test_what_patterns_find_is_whole():
    text = "10.0.0.1 10.0.0.1 x 10.0.0.1"
    first = TextRemoval(0, 8, "IP", (IP,))
    other = TextRemoval(9, 17, "IP", (LEARNT, IP))
    assert join_adjacent(text, [first, other]) == [first, other]
    learnt = TextRemoval(18, 19, "IP", (LEARNT,))
    runs = [TextRemoval(9, 19, "IP", (LEARNT, IP)), TextRemoval(20, 28, "IP", (IP,))]
    assert join_adjacent(text, [first, other, learnt, runs[1]]) == [first, *runs]


def test_a_list_is_no_pattern_whatever_its_name():
    listed = (RemovalReason("list", "pattern words"),)
    pair = [TextRemoval(0, 4, "NAME", listed), TextRemoval(6, 11, "NAME", listed)]
    assert join_adjacent(TEXT, pair) == [TextRemoval(0, 11, "NAME", listed)]


@pytest.mark.parametrize(
    "wrong",
    [
        [TextRemoval(0, 0, "NAME")],
        [TextRemoval(-1, 3, "NAME")],
        [TextRemoval(40, 60, "NAME")],
        [TextRemoval(0, 5, "NAME"), TextRemoval(4, 6, "NAME")],
    ],
)
def test_what_cannot_be_removed_is_refused_without_a_word_of_the_text(wrong):
    with pytest.raises(RequestError, match="the removal") as refused:
        LabelMarks()(Document(TEXT), wrong)
    assert not any(word in str(refused.value) for word in TEXT.split())


def test_examples_of_reason():
    assert [
        str(one) for one in (RemovalReason("pass", "svm", 2), RemovalReason("list", "deny-list"))
    ] == [
        "pass 2, svm",
        "deny-list",
    ]


def test_examples_of_join_adjacent():
    assert join_adjacent("Anna Smith", [TextRemoval(0, 4, "NAME"), TextRemoval(5, 10, "NAME")]) == [
        TextRemoval(start=0, end=10, label="NAME", by=())
    ]
