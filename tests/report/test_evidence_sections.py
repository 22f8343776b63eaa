"""Evidence is drawn the same for every wing; what the public may not see is withheld."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from math import isnan

import pytest

from voile.core.evidence import Count, Curve, Evidence, Finding, Note, Rate
from voile.report.evidence_sections import evidence_sections
from voile.report.sections import BarChart, Bullets, Grid, Heading, LineChart, Prose
from voile.report.wording import name_of

ALWAYS, SURE = Note("always claiming"), Note("at least {sure:.0%} sure", {"sure": 0.9})
MANY = Rate(30, 100)


def inspections(*number):
    return Note("{inspections} inspections", {"inspections": Count(*number)})


def evidence(*findings, **more):
    return Evidence("reading", "linkability", Note("The attacker reads."), (), findings, **more)


def shown(kind, *evidence, audience="public"):
    """Return the blocks of a kind that an audience sees in the one section."""
    (section,) = evidence_sections(evidence, audience)
    kept = (b for b in section.blocks if audience == "internal" or b.audience == "public")
    return [block for block in kept if isinstance(block, kind)]


def text(*evidence, audience="public"):
    blocks = shown((Grid, Bullets, Prose), *evidence, audience=audience)
    return json.dumps([asdict(block) for block in blocks])


def test_each_question_has_its_section_in_one_order_and_what_a_wing_puts_first():
    one = evidence(Finding("found", MANY))
    other = replace(one, heading="singling out")
    mine = Prose(("Mine.",))
    sections = list(evidence_sections([one, other], "public", {"linkability": (mine,)}))
    assert [section.key for section in sections] == ["singling-out", "linkability"]
    assert sections[1].blocks[0] == mine
    assert list(evidence_sections([], "public")) == []


def test_what_had_no_case_is_said_once_and_no_column_stands_empty():
    one = evidence(
        Finding("right", MANY, meaning="Of the names.", at=SURE),
        Finding("absent", Rate(0, 0), meaning="Of others.", at=SURE),
        Finding("absent", Rate(0, 0), meaning="Of others.", at=ALWAYS),
    )
    (grid,), (lines,) = shown(Grid, one), shown(Bullets, one)
    assert grid.columns == ("what", "found")
    assert grid.rows == (("right, at least 90% sure", "30% (21% to 40%), 30 of 100"),)
    assert [block.paragraphs for block in shown(Prose, one)] == [("The attacker reads.",)]
    assert lines.items == ("Right: of the names.", "Absent: no cases.")


def test_conditions_that_all_quantities_share_stand_in_rows():
    one = evidence(
        *(
            Finding(quantity, MANY, control=control, at=at)
            for at in (ALWAYS, SURE)
            for quantity, control in (("claims", MANY), ("found", None))
        )
    )
    (grid,) = shown(Grid, one)
    assert grid.columns == ("condition", "claims", "control", "found")
    assert [row[0] for row in grid.rows] == ["always claiming", "at least 90% sure"]


def test_conditions_that_one_quantity_has_alone_stand_beside_it():
    one = evidence(
        Finding("claims", MANY, at=ALWAYS),
        Finding("claims", MANY, at=SURE),
        Finding("found", MANY, at=SURE),
    )
    (grid,) = shown(Grid, one)
    assert [row[0] for row in grid.rows] == [
        "claims, always claiming", "claims, at least 90% sure", "found, at least 90% sure",
    ]  # fmt: skip


def test_an_attack_is_named_where_the_question_does_not_name_it():
    one = evidence(Finding("found", MANY))
    assert [block.text for block in shown(Heading, one)] == ["Reading"]
    assert shown(Heading, replace(one, attack=one.heading)) == []


def test_where_nothing_was_tried_or_only_kinds_were_there_is_no_table_of_all():
    assert shown(Grid, evidence(Finding("found", Rate(0, 0)))) == []
    (grid,) = shown(Grid, evidence(Finding("found", MANY, of="NAME")))
    assert grid.columns == ("kind", "found")


def test_a_line_that_was_said_is_not_said_again_and_flat_curves_are_left_out():
    flat, rising = (
        Curve(name, "items known", unit, (2.0, 3.0), y)
        for name, unit, y in (("a", "share", (0.0, 0.0)), ("b", "people", (0.0, 1.0)))
    )
    one = evidence(Finding("found", MANY), curves=(flat, rising), notes=(Note("A note."),))
    assert [block.items for block in shown(Bullets, one, one)] == [("A note.",)]
    charts = shown(LineChart, one, one, audience="internal")
    assert [(chart.y_name, chart.audience) for chart in charts] == [("people", "internal")] * 2


def test_a_number_of_inspections_that_counts_few_is_withheld_with_what_it_found():
    few = [Finding(name, Rate(2, 4), at=inspections(4)) for name in ("found", "of those left")]
    note = Note("Nothing found in {inspections} inspections.", {"inspections": Count(4)})
    one = evidence(*few, Finding("found", Rate(30, 1200), at=inspections(1200)), notes=(note,))
    for told in ("4 inspections", "2 of 4", "of those left"):
        assert told in text(one, audience="internal")
    assert "30 of 1,200" in text(one)
    for told in ("4 inspections", "of 4", "of those left"):
        assert told not in text(one)


def test_a_condition_of_all_but_few_is_withheld_and_one_of_many_is_not():
    one = evidence(
        *(Finding("found", MANY, at=inspections(n, 1200)) for n in (40, 1196, 1200)),
    )
    (grid,) = shown(Grid, one)
    assert [row[0] for row in grid.rows] == [f"{n} of 1,200 inspections" for n in ("40", "1,200")]


@pytest.mark.parametrize(
    ("left", "shows"),
    [
        ((40, 30, 25), ["NAME", "DATE", "PHONE"]),
        ((40, 30, 5), ["NAME"]),  # 30 and 5 add up to 35
        ((40, 6, 5), ["NAME"]),  # 11, of which 6 and 5 may be any two numbers
        ((4, 3, 2), None),
        ((40, 5, 0), ["PHONE"]),  # the 5 would follow from the total
        ((40, 30, 295), ["NAME"]),  # all but 5 were left
    ],
)
def test_types_of_few_are_withheld_with_as_many_others_as_hide_them(left, shows):
    """The total, 'identifiers left', is shown beside the types."""
    types = dict(zip(("NAME", "DATE", "PHONE"), left, strict=True))
    one = evidence(
        Finding("identifiers left", Rate(sum(left), 900)),
        *(Finding("identifiers left", Rate(n, 300), of=kind) for kind, n in types.items()),
    )
    kinds = [grid for grid in shown(Grid, one) if grid.columns[0] == "kind"]
    if shows is None:
        assert not kinds
    else:
        (grid,) = kinds
        assert [row[0] for row in grid.rows] == shows
        assert not [kind for kind in types if kind not in shows and kind in text(one)]
        assert ("withheld" in grid.caption) == (len(shows) < 3)
    (own,) = (grid for grid in shown(Grid, one, audience="internal") if grid.columns[0] == "kind")
    assert all(row[1].endswith(f"{n} of 300") for row, n in zip(own.rows, left, strict=True))
    assert own.audience == ("public" if shows and len(shows) == 3 else "internal")


def test_what_sums_up_an_attacker_s_findings_of_few_is_withheld_with_them():
    mean = Note("Forest: balanced accuracy {mean:.3f}.", {"mean": 0.51}, by="forest")
    for found, told in ((Rate(40, 100), True), (Rate(4, 100), False), (Rate(96, 100), False)):
        one = evidence(Finding("right", found, by="forest"), notes=(mean, Note("Other.")))
        assert ("0.51" in text(one)) is told
        assert "0.51" in text(one, audience="internal")
        assert "Other." in text(one)
        assert "Other." in text(replace(one, findings=(Finding("right", found),)))
        beside = replace(one, findings=(Finding("right", MANY, baseline=found, by="forest"),))
        assert ("0.51" in text(beside)) is told


def test_an_advantage_is_each_finding_s_own():
    one = evidence(
        Finding("pay guessed", Rate(60, 100), control=MANY, at=ALWAYS, advantage=True),
        Finding("pay guessed", Rate(4, 100), control=MANY, at=SURE, advantage=True),
    )
    (lines,) = shown(Bullets, one)
    assert lines.items[0].startswith("Pay guessed, always claiming: advantage over people who")
    assert "30 percentage points" in lines.items[0]
    assert lines.items[1].endswith("is withheld: it follows from few.")


@pytest.mark.parametrize("control", [None, Rate(0, 0)])
def test_that_there_is_no_control_group_is_said_once_of_a_quantity(control):
    one = evidence(
        *(Finding("pay", MANY, control=control, at=at, advantage=True) for at in (ALWAYS, SURE))
    )
    (lines,) = shown(Bullets, one)
    assert lines.items == (
        "Pay: without a control group this cannot be distinguished from knowledge about groups.",
    )


def test_a_question_without_evidence_says_what_its_attack_takes():
    takes = {"singling out": "a population", "linkability": "a register"}
    alone, linked = evidence_sections([evidence(Finding("found", MANY))], "public", takes=takes)
    assert (alone.key, linked.key) == ("singling-out", "linkability")
    assert alone.blocks[0].paragraphs[0].endswith("The attack requires a population.")
    assert "No evidence" not in json.dumps([asdict(block) for block in linked.blocks])


def test_no_advantage_is_claimed_of_what_was_not_tried():
    tried, not_tried = (
        Finding("pay guessed", rate, control=MANY, of=of, advantage=True, meaning="Of people.")
        for rate, of in ((Rate(60, 100), "high"), (Rate(0, 0), "low"))
    )
    (lines,) = shown(Bullets, evidence(tried, not_tried))
    assert lines.items[0].startswith("Pay guessed, high: advantage over people")
    assert lines.items[1:] == ("Pay guessed, by kind: of people.",)


def test_rows_of_nothing_but_0_are_one_sentence():
    none = Rate(0, 100)
    kinds = [Finding("found", MANY, of="a"), *(Finding("found", none, of=x) for x in "bc")]
    one = evidence(*kinds, Finding("found", none, control=MANY, of="d"))
    (grid,), (_, sentence) = shown(Grid, one), shown(Prose, one)
    assert [row[0] for row in grid.rows] == ["a", "d"]
    assert sentence.paragraphs == ("0% throughout, 95% upper bound 3.7% or less: b and c.",)
    (grid,) = shown(Grid, evidence(*kinds[:2]))
    assert [row[0] for row in grid.rows] == ["a", "b"]


def test_a_table_of_nothing_but_0_is_a_sentence_alone():
    one = evidence(*(Finding("found", Rate(0, 100), of=x) for x in "ab"))
    assert not shown(Grid, one)
    assert shown(Prose, one)[1].paragraphs == (
        "0% throughout, 95% upper bound 3.7% or less: a and b.",
    )


def test_a_quantity_of_nothing_but_0_names_the_kinds_that_it_holds_for():
    """Of all kinds together something was left: no sentence may deny it."""
    kinds = [
        (Finding("left", Rate(0, 100), of=x), Finding("found", Rate(0, 0), of=x)) for x in "ab"
    ]
    few = [Finding("left", Rate(5, 20), of=x) for x in "cde"]
    one = evidence(Finding("left", MANY), *(x for pair in kinds for x in pair), *few)
    assert shown(Prose, one)[1].paragraphs == (
        "By kind; withheld where a number of fewer than 11 would follow.",
        "0% throughout, 95% upper bound 3.7% or less: left, of a and b.",
    )


def test_a_quantity_of_nothing_but_0_does_not_name_the_kinds_of_another():
    none = [Finding("left", Rate(0, 100), of=x) for x in "ab"]
    found = [Finding("right", MANY, of=x) for x in "cd"]
    assert shown(Prose, evidence(*none, *found))[1].paragraphs == (
        "0% throughout, 95% upper bound 3.7% or less: left, of a and b.",
    )


def test_of_kinds_nothing_is_drawn_where_those_that_may_be_shown_were_not_tried():
    counts = {"a": Rate(5, 20), "b": Rate(30, 100), "c": Rate(0, 0)}
    one = evidence(*(Finding("left", rate, of=kind) for kind, rate in counts.items()))
    assert shown((Grid, BarChart), one) == []


def test_kinds_are_called_what_the_attack_calls_them():
    found = [Finding("found", MANY, meaning="Of people.", of=x, parts="class") for x in "12"]
    (grid,), (lines,) = shown(Grid, evidence(*found)), shown(Bullets, evidence(*found))
    assert (grid.columns[0], grid.caption) == ("class", "By class")
    assert [row[0] for row in grid.rows] == ["class 1", "class 2"]
    assert lines.items == ("Found, by class: of people.",)
    assert name_of(found[1], "internal") == "found, class 2"


def test_one_kind_alone_stays_in_its_table_with_what_was_not_found_of_it():
    rates = (("left", Rate(0, 100)), ("right", MANY))
    (grid,) = shown(Grid, evidence(*(Finding(name, rate, of="a") for name, rate in rates)))
    assert grid.columns == ("kind", "left", "right")


def test_a_quantity_of_nothing_but_0_is_a_sentence_beside_the_table_of_the_others():
    none, at = Rate(0, 100), [Note("{n} known", {"n": n}) for n in (1, 2)]
    left = [Finding("left", none, control=Rate(0, 50), at=x) for x in at]
    one = evidence(*left, *(Finding("right", MANY, at=x) for x in at))
    (grid,), (_, sentence) = shown(Grid, one), shown(Prose, one)
    assert grid.columns == ("condition", "right")
    assert sentence.paragraphs == ("0% throughout, 95% upper bound 3.7% or less: left.",)


def zeros(*names):
    return [Finding(name, Rate(0, 200), baseline=Rate(0, 100)) for name in names]


def test_several_rows_of_nothing_found_are_one_sentence():
    one = evidence(Finding("right", MANY), *zeros("claims", "guesses"))
    (grid,) = shown(Grid, one)
    assert [row[0] for row in grid.rows] == ["right"]
    assert shown(Prose, one)[1].paragraphs == (
        "0% throughout, 95% upper bound 1.9% or less: claims and guesses.",
    )
    only = evidence(*zeros("claims", "guesses"))
    assert shown(Grid, only) == []
    assert len(shown(Prose, only)) == 2


def test_the_bound_of_nothing_found_is_rounded_up_for_the_public_alone():
    few = evidence(*(Finding(name, Rate(0, 119)) for name in ("claims", "guesses")))
    assert "upper bound 3.2% or less" in shown(Prose, few)[1].paragraphs[0]
    assert "upper bound 3.1% or less" in shown(Prose, few, audience="internal")[1].paragraphs[0]


def test_rows_of_nothing_found_are_kept_apart_where_a_name_holds_a_comma():
    one = evidence(*(Finding("claims", Rate(0, 200), at=at) for at in (ALWAYS, SURE)), *zeros("b"))
    (_, sentence) = shown(Prose, one)
    assert sentence.paragraphs == (
        "0% throughout, 95% upper bound 1.9% or less: "
        "claims, always claiming; claims, at least 90% sure; b.",
    )


def test_one_row_of_nothing_found_stays_in_the_table():
    one = evidence(Finding("right", MANY), *zeros("claims"))
    (grid,) = shown(Grid, one)
    assert [row[0] for row in grid.rows] == ["right", "claims"]


def test_a_control_that_was_not_tried_has_no_column_and_holds_no_row_back():
    untried = [replace(x, control=Rate(0, 0)) for x in zeros("claims", "guesses")]
    (grid,) = shown(Grid, evidence(Finding("right", MANY, control=Rate(0, 0)), *untried[:1]))
    assert grid.columns == ("what", "found", "baseline")
    assert not shown(Grid, evidence(*untried))


def test_rows_too_few_to_show_are_a_sentence_for_the_public_alone():
    few = [Finding(name, Rate(3, 100)) for name in ("claims", "guesses")]
    one = evidence(Finding("right", MANY), *few)
    (grid,) = shown(Grid, one)
    assert [row[0] for row in grid.rows] == ["right"]
    assert shown(Prose, one)[1].paragraphs == (
        "At most 18% throughout, from too few people to show: claims and guesses.",
    )
    (grid,) = shown(Grid, one, audience="internal")
    assert [row[0] for row in grid.rows] == ["right", "claims", "guesses"]


def test_what_found_nothing_is_drawn_beside_a_table_on_the_whole_of_its_axis():
    assert shown(BarChart, evidence(*zeros("claims", "guesses"))) == []
    (chart,) = shown(BarChart, evidence(Finding("right", MANY), *zeros("claims", "guesses")))
    assert chart.whole
    (bar,) = chart.groups[0][1]
    assert (bar.value, bar.low, bar.high) == (0.0, 0.0, Rate(0, 200).interval()[1])


def test_what_is_too_few_to_show_is_drawn_as_its_upper_bound_beside_what_found_nothing():
    few = [Finding(name, Rate(3, 200)) for name in ("names", "ages")]
    (chart,) = shown(BarChart, evidence(*zeros("claims", "guesses"), *few))
    nothing, some = chart.groups[0][1]
    assert (nothing.label, nothing.value) == ("found nothing", 0.0)
    assert some.label == "found too few to show"
    assert isnan(some.value)
    assert some.low == 0.0
    assert some.high > Rate(3, 200).interval()[1]


def test_what_is_hit_in_a_control_stays_in_the_table():
    found = [replace(x, control=MANY) for x in zeros("claims", "guesses")]
    assert len(shown(Grid, evidence(*found))) == 1


@pytest.mark.parametrize("found", [0, 3, 7])
def test_what_was_tried_on_few_stays_in_the_table(found):
    """The upper bound of 0 of 7 would reveal the 7."""
    few = [Finding(name, Rate(found, 7)) for name in ("claims", "guesses")]
    (grid,) = shown(Grid, evidence(Finding("right", MANY), *few))
    assert [row[1] for row in grid.rows[1:]] == ["too few cases to show"] * 2


def test_the_data_holder_reads_in_a_sentence_that_few_were_all_missed():
    few = [Finding(name, Rate(0, 7)) for name in ("claims", "guesses")]
    one = evidence(Finding("right", MANY), *few)
    assert shown(Prose, one, audience="internal")[1].paragraphs == (
        "0% throughout, 95% upper bound 43% or less: claims and guesses.",
    )
