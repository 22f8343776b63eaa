"""Numbers are withheld before a sentence is made, whatever the words around them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.core.evidence import Count, Finding, Note, Rate
from voile.report.suppression import FEW
from voile.report.wording import (
    advantage,
    format_count,
    format_note,
    join_names,
    name_of,
    rate,
    share,
    size,
    upper_bound,
)


@pytest.mark.parametrize("noun", ["tokens", "words", "inspections", "of 200 documents", "signos"])
def test_a_count_of_few_is_withheld_whatever_it_counts(noun):
    note = Note(f"Cut off after examining {{seen}} {noun}, 4 of them.", {"seen": Count(4)})
    assert format_note(note, "internal") == f"Cut off after examining 4 {noun}, 4 of them."
    assert (
        format_note(note, "public") == f"Cut off after examining fewer than 11 {noun}, 4 of them."
    )


@given(st.integers(0, 60), st.integers(0, 60))
def test_what_is_written_of_a_count_is_the_same_for_all_few(value, more):
    count = Count(value, value + more)
    written = format_count(count, "public")
    if 0 < value < FEW <= value + more:
        assert written == format_count(Count(1, value + more), "public")
    if 0 < more < FEW < value:
        assert written == format_count(Count(value + more - 1, value + more), "public")
    if 0 < value + more < FEW:
        assert written == "fewer than 11"


@given(st.text(), st.text())
def test_text_with_braces_stands_as_it_is(column, noun):
    note = Note("knows {column} and {noun}", {"column": column, "noun": noun})
    assert format_note(note, "public") == f"knows {column} and {noun}"


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("{a}", {}),
        ("", {"a": 1}),
        ("{a.real}", {"a": 1}),
        ("{a!r}", {"a": 1}),
        ("{a:>99999999}", {"a": 1}),
        ("{a:,}", {"a": Count(3)}),
        ("{a", {"a": 1}),
    ],
)
def test_a_note_names_its_values_and_nothing_else(text, values):
    with pytest.raises(ValueError, match=r"note|expected"):
        Note(text, values)


@pytest.mark.parametrize("trials", [11, 40, 1000])
@pytest.mark.parametrize("clusters", [None, 8])
def test_a_rate_of_few_is_the_same_whichever_few_and_however_they_lie(trials, clusters):
    def hits(number, deff):
        return Rate(number, trials, clusters, deff if clusters else 1.0)

    few = {rate(hits(x, deff), "public") for x in range(1, FEW) for deff in (1.0, 2.5)}
    assert len(few) == 1
    assert few.pop().startswith("at most ")
    rest = {rate(hits(trials - x, 2.0), "public") for x in range(1, FEW) if trials - x >= FEW}
    assert len(rest) <= 1


@pytest.mark.parametrize("trials", [20, 200])
@pytest.mark.parametrize("clusters", [None, 4, 20])
def test_a_rate_of_few_is_bounded_as_the_worst_of_them_would_be(trials, clusters):
    """The worst: 10 of them, all trials of one cluster alike."""
    effects = [1.0, trials / (clusters or trials)]
    found = [Rate(x, trials, clusters, deff) for x in range(1, FEW) for deff in effects]
    worst = max(one.interval()[1] for one in found)
    assert rate(found[0], "public") == f"at most {share(worst)}"
    rest = Rate(trials - 1, trials, clusters)
    assert rate(rest, "public") == f"at least {share(1 - worst)}"


@pytest.mark.parametrize(
    ("found", "control", "points"),
    [
        (Rate(49, 100), Rate(40, 100), "9.0 percentage points (95% interval -4.7 to 22)"),
        (Rate(50, 100), Rate(40, 100), "10 percentage points (95% interval -3.7 to 23)"),
        (Rate(40, 100), Rate(60, 100), "-20 percentage points (95% interval -33 to -6.1)"),
    ],
)
def test_an_advantage_has_its_interval(found, control, points):
    assert f": {points}." in advantage(found, control, "internal")


def test_an_advantage_is_withheld_where_either_rate_is():
    """3 of 100 against 2 of 100 would follow from 1.0 percentage points."""
    few, many = Rate(3, 100), Rate(40, 100)
    assert "percentage points" in advantage(few, Rate(2, 100), "internal")
    for found, control in ((few, many), (many, few), (few, few)):
        assert "percentage points" not in advantage(found, control, "public")
    assert "percentage points" in advantage(many, Rate(50, 100), "public")


def test_a_condition_of_few_is_withheld_in_a_name():
    at = Note("{inspections} inspections", {"inspections": Count(7)})
    finding = Finding("identifiers found", Rate(3, 7), at=at, by="forest", of="NAME")
    assert name_of(finding, "internal") == "forest: identifiers found, NAME, 7 inspections"
    assert name_of(finding, "public") == (
        "forest: identifiers found, NAME, fewer than 11 inspections"
    )


def test_who_finds_is_named_only_where_there_are_several():
    assert name_of(Finding("identifiers found", Rate(30, 70)), "public") == "identifiers found"


def test_a_public_note_states_a_figure_in_two_digits_that_were_measured():
    note = Note("{bits:.3f} bits, {bits_low:.3f} or more", {"bits": 0.1802, "bits_low": 0.1479})
    assert format_note(note, "public") == "0.18 bits, 0.14 or more"
    assert format_note(note, "internal") == "0.18 bits, 0.148 or more"


def test_words_are_joined_and_shares_have_two_digits_or_so():
    assert [join_names(names) for names in ("a", "ab", "abc")] == ["a", "a and b", "a, b and c"]
    written = [share(x) for x in (0.0, 0.0001, 0.01, 0.094, 0.1, 0.104, 0.999, 1.0)]
    assert written == ["0%", "0.01%", "1.0%", "9.4%", "10%", "10%", "100%", "100%"]


def test_the_holder_sees_every_count():
    assert format_count(Count(1196, 1200), "internal") == "1,196 of 1,200"
    assert format_count(Count(4, 1200), "internal") == "4 of 1,200"
    assert size(4, "internal") == "4"


@pytest.mark.parametrize("other", [None, Rate(0, 0)])
def test_without_a_case_on_both_sides_there_is_no_advantage(other):
    assert "cannot be distinguished" in advantage(Rate(40, 80), other, "public")
    assert "cannot be distinguished" in advantage(Rate(0, 0), Rate(40, 80), "public")


def test_a_rate_of_few_cases_shows_no_share():
    """Of 5 nobody was found: with a share and its interval the 5 would be shown."""
    assert rate(Rate(0, 5), "public") == rate(Rate(0, 9), "public") == "too few cases to show"
    assert rate(Rate(0, 5), "internal").endswith("0 of 5")


@pytest.mark.parametrize(("successes", "audience"), [(3, "internal"), (97, "public")])
def test_only_a_public_reader_and_only_for_few_successes_sees_a_wider_bound(successes, audience):
    found = Rate(successes, 100)
    assert upper_bound(found, audience) == found.interval()[1]
    assert upper_bound(Rate(3, 100), "public") > Rate(3, 100).interval()[1]
