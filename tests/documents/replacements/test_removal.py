"""What is to go: sources joined, neighbours merged, nobody's characters escape."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.documents.replacements import Reason, Removal, join_removals, merge_neighbours

TEXT = "Anna  Smith,\tBerta\nJones of Leeds and York"

LEARNT, IP = Reason("pass", "crf", 1), Reason("pattern", "ip")
A, B = Reason("list", "a"), Reason("list", "b")


def removals(by: Reason):
    """Return removals anywhere in 30 characters, those of one source over each other too."""
    one = st.builds(
        lambda start, length, label: Removal(start, start + length, label, (by,)),
        st.integers(0, 29),
        st.integers(1, 8),
        st.sampled_from(["NAME", "DATE"]),
    )
    return st.lists(one, max_size=6)


@given(removals(A), removals(B))
def test_joined_removes_each_character_that_some_source_removes(first, second):
    one = join_removals(first, second)
    covered = {place for r in one for place in range(r.start, r.end)}
    assert covered == {place for r in (*first, *second) for place in range(r.start, r.end)}
    assert sum(r.end - r.start for r in one) == len(covered)
    assert one == sorted(one)


@given(removals(A), removals(B))
def test_joined_takes_the_label_of_the_first_source_and_names_all(first, second):
    for run in join_removals(first, second):
        parts = [[r for r in s if r.start < run.end and run.start < r.end] for s in (first, second)]
        lead = parts[0] or parts[1]
        assert run.label == min(lead, key=lambda r: (r.start, -r.end, r.label)).label
        assert run.by == tuple(by for by, part in zip((A, B), parts, strict=True) if part)


def test_removals_that_only_touch_stay_apart():
    assert len(join_removals([Removal(0, 4, "NAME")], [Removal(4, 6, "AGE")])) == 2


def test_of_one_source_the_first_then_the_longest_gives_the_label():
    tied = [Removal(3, 5, "AGE"), Removal(3, 9, "DATE"), Removal(8, 12, "NAME")]
    assert join_removals(tied) == [Removal(3, 12, "DATE")]


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
        found.append(Removal(start, start + len(word), "NAME"))
    assert [TEXT[r.start : r.end] for r in merge_neighbours(TEXT, found)] == runs


def test_another_label_is_another_run():
    pair = [Removal(0, 4, "NAME"), Removal(6, 11, "PLACE")]
    assert merge_neighbours(TEXT, pair) == pair


def test_what_patterns_find_is_whole():
    text = "10.0.0.1 10.0.0.1 x 10.0.0.1"
    first = Removal(0, 8, "IP", (IP,))
    other = Removal(9, 17, "IP", (LEARNT, IP))
    assert merge_neighbours(text, [first, other]) == [first, other]
    learnt = Removal(18, 19, "IP", (LEARNT,))
    runs = [Removal(9, 19, "IP", (LEARNT, IP)), Removal(20, 28, "IP", (IP,))]
    assert merge_neighbours(text, [first, other, learnt, runs[1]]) == [first, *runs]


def test_a_list_is_no_pattern_whatever_its_name():
    listed = (Reason("list", "pattern words"),)
    pair = [Removal(0, 4, "NAME", listed), Removal(6, 11, "NAME", listed)]
    assert merge_neighbours(TEXT, pair) == [Removal(0, 11, "NAME", listed)]


@pytest.mark.parametrize(
    "wrong",
    [
        [Removal(0, 0, "NAME")],
        [Removal(-1, 3, "NAME")],
        [Removal(40, 60, "NAME")],
        [Removal(0, 5, "NAME"), Removal(4, 6, "NAME")],
    ],
)
def test_what_cannot_be_removed_is_refused_without_a_word_of_the_text(wrong):
    with pytest.raises(RequestError, match="the removal") as refused:
        merge_neighbours(TEXT, wrong)
    assert not any(word in str(refused.value) for word in TEXT.split())


def test_examples_of_reason():
    assert [str(one) for one in (Reason("pass", "svm", 2), Reason("list", "deny-list"))] == [
        "pass 2, svm",
        "deny-list",
    ]


def test_examples_of_merge_neighbours():
    assert merge_neighbours("Anna Smith", [Removal(0, 4, "NAME"), Removal(5, 10, "NAME")]) == [
        Removal(start=0, end=10, label="NAME", by=())
    ]
