"""The report's parts: the right numbers, and no word of the text for anybody but the holder."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace

import pytest
from tests.documents.flow import FAMILY, GIVEN, applied, by_cost, fitted, kit_of, people
from tests.documents.reported import changed, figures, grids, page, said, shown, with_passes

from voile.core.evidence import Count, Evidence, Finding, Note, Rate
from voile.core.rounding import round_number
from voile.documents.model.quantities import IN_SAMPLE
from voile.documents.verbs.report_data import SHOWN
from voile.release.manifest import StoredRelease
from voile.report.sections import FrontierChart
from voile.report.suppression import FEW
from voile.report.wording import rate, share

LOOKS = Note("The attacker looks.")
SAID = re.compile(rf"\b({'|'.join((*GIVEN, *FAMILY))})\b")
"""Any word of a name; in a page's code there is none."""


def inspections(number):
    return Note("{inspections} inspections", {"inspections": Count(number)})


def test_no_word_of_the_text_is_in_a_public_page(release, evidence):
    chosen = release.private["story"]["chosen"]
    words = [one["word"] for one in chosen["false_words"]]
    assert SAID.search(" ".join(words))
    assert SAID.search(page(release, evidence, "internal"))
    context = changed(release, context=["canaryword", "Ana"], context_rules=2, context_share=0.5)
    public = page(context, evidence, "public")
    assert not SAID.search(public)
    assert "canaryword" not in public
    assert "MRN" not in public
    assert "canaryword" in page(context, evidence, "internal")
    for subject in (kit_of(), StoredRelease(release.path, release.public)):
        for audience in ("public", "internal"):
            assert not SAID.search(page(subject, (), audience))


def test_what_the_holder_keeps_of_the_kit_has_no_key(release):
    assert kit_of().facts["key"] not in json.dumps(release.private)
    frontier = release.private["story"]["frontier"]
    assert set(frontier) == {*SHOWN}


@pytest.mark.parametrize(("left", "shown_as"), [(9, ""), (10, ""), (11, "1.2%"), (986, "99%")])
def test_ten_of_a_thousand_identifiers_left_are_as_few_as_nine(release, left, shown_as):
    """10 of 997 are 1.1% of 1,000 in public, which would be 11 and no longer few."""
    risks = {"risk": left / 997, "risk_low": 0.005, "risk_high": 0.018}
    story = changed(release, **risks, identifiers=997)
    public = {**release.public["figures"], "published_tokens": 0.9}
    story = replace(story, public={**release.public, "figures": public})
    told = figures(shown(story, audience="public")["summary"])
    assert told["Identifiers left"].value == (shown_as or "under 1.1%")
    assert ("Published unchanged" in told) == bool(shown_as)
    assert bool(told["Identifiers left"].interval) == bool(shown_as)


def test_lists_are_named_to_the_holder_alone(release):
    assert "The learners used" not in said(shown(release)["summary"])
    told = changed(release, lists={"clinic staff": 1200, "towns": 1})
    start = "The learners used 2 lists of the data holder's"
    for audience, end in (
        ("internal", ": clinic staff (1,200 words) and towns (1 word)."),
        ("public", "."),
    ):
        text = said(shown(told, audience=audience)["summary"])
        assert f"{start}{end}" in text


def test_the_summary_says_what_was_asked_and_what_is_left(release):
    chosen, found = (release.private["story"][part] for part in ("chosen", "found"))
    blocks = shown(release)["summary"]
    told = figures(blocks)
    low, high = (share(chosen[f"risk_{end}"]) for end in ("low", "high"))
    assert told["Identifiers left"].value == share(chosen["left"] / found["identifiers"])
    assert told["Identifiers left"].interval == f"{low} to {high}"
    assert told["Harmless tokens removed"].value == share(chosen["loss"])
    assert told["Published unchanged"].value == share(
        release.private["figures"]["published_tokens"]
    )
    public = figures(shown(release, (), "public")["summary"])["Identifiers left"]
    assert (public.value, public.interval) == ("under 6.1%", "")
    assert "weighs a missed identifier as 20 harmless tokens." in said(blocks)
    assert "The committee of classifiers made 2 passes, each trained on" in said(blocks)
    assert "A mark replaces removed text." in said(blocks)
    assert (
        "Further mentions of a removed name in its document were removed as well; these figures "
        "include them. Removed as well, but not in the fit's figures: what patterns find (iban, "
        "card, ssn, dni, health-id, email, url, ip, mac, phone, record numbers)."
    ) in said(blocks)
    assert f"Trained on {found['documents']:,} documents of 36 subjects: " in said(blocks)
    assert "identifiers of 1 type." in said(blocks)


def test_a_figure_of_what_was_learnt_from_is_said_to_be_one(release, evidence):
    assert IN_SAMPLE.text not in said(shown(release, evidence)["summary"])
    own = [replace(one, notes=(*one.notes, IN_SAMPLE)) for one in evidence]
    assert IN_SAMPLE.text in said(shown(release, own)["summary"])


def test_the_headline_is_what_was_measured_on_this_release(release):
    """11% was measured where the fit expected 5%: the page leads with the 11%."""
    low, high = 0.031, 0.078
    expecting = changed(
        release, risk=0.053, left=106, identifiers=2000, risk_low=low, risk_high=high
    )
    left = Rate.from_clusters([30, 2, 0, 12, 0, 0], [40, 60, 80, 90, 70, 60])
    found = Finding("identifiers left", left), Finding("harmless tokens removed", Rate(20, 1000))
    evidence = [Evidence("reading", "singling out", LOOKS, findings=found)]
    for audience in ("public", "internal"):
        told = figures(shown(expecting, evidence, audience)["summary"])
        first = told["Identifiers left"]
        assert (first.value, first.interval) == ("11%", "0.93% to 62%")
        assert first.meaning == "measured on this release; the fit predicted 5.3% (3.1% to 7.8%)"
        assert told["Harmless tokens removed"].value == "2.0%"
    one = figures(shown(expecting)["summary"])["Identifiers left"]
    assert (one.value, one.interval) == ("5.3%", "3.1% to 7.8%")


def test_none_left_is_shown_with_its_upper_bound(release):
    """0 of 200 tokens of 10 documents is no more than 0 of 10 documents."""
    none = Finding("identifiers left", Rate.from_clusters([0] * 10, [20] * 10))
    evidence = [Evidence("reading", "singling out", LOOKS, findings=(none,))]
    told = figures(shown(release, evidence, "public")["summary"])["Identifiers left"]
    assert (told.value, told.interval) == ("0%", "0% to 34%")


def test_few_people_are_not_counted_in_public(release):
    few = changed(release, subjects=7, documents=11)
    assert "Trained on up to 20 documents of fewer than 11 subjects:" in said(
        shown(few, (), "public")["summary"]
    )
    assert "Trained on 11 documents of 7 subjects:" in said(shown(few)["summary"])


def test_the_public_frontier_tells_no_few_identifiers(release):
    whole = release.private["story"]["found"]["identifiers"]
    lefts = [whole, 40, FEW, FEW - 1, 1, 0]
    few = changed(release, risk=1 / whole)
    few.private["story"]["frontier"] = {
        "number": [*range(6)],
        "miss_cost": [2.0] * 6,
        "passes": [*range(6)],
        "risk": [left / whole for left in lefts],
        "risk_low": [0.0] * 6,
        "risk_high": [1.0] * 6,
        "loss": [number / 100 for number in range(6)],
        "published_tokens": [0.5] * 6,
    }
    few.private["story"]["learners"] = [["svm"] * passes for passes in range(6)]

    def chart(audience):
        return next(
            one for one in shown(few, (), audience)["frontier"] if isinstance(one, FrontierChart)
        )

    public, internal = chart("public"), chart("internal")
    assert [round(risk * whole) for risk in internal.risk] == lefts
    most = FEW / round_number(whole)
    assert public.risk == (
        1.0,
        round_number(40 / whole, "up"),
        round_number(FEW / whole, "up"),
        most,
        most,
        0,
    )
    assert [risk for _, risk, _ in public.marks] == [most]
    under = f"under {share(most)} of identifiers left"
    assert [under in one for one in public.described] == [False] * 3 + [True] * 2 + [False]
    assert not any("under" in one for one in internal.described)


def test_the_few_identifiers_left_are_no_number_of_inspections_in_public(release):
    """She inspects as many tokens as identifiers are left: to tell that number tells the other."""
    left = changed(release, inspected_as_left=7, found_as_left=3, inspected_1_percent=30)
    for audience, told in (("public", ["30"]), ("internal", ["7", "30"])):
        *_, grid = grids(shown(left, (), audience)["left"])
        assert [row[0] for row in grid.rows] == told
    findings = [
        Finding("identifiers found", Rate(3, 7), at=inspections(7)),
        Finding("identifiers left that are found", Rate(3, 7), at=inspections(7)),
        Finding("identifiers found", Rate(7, 1200), at=inspections(1200)),
    ]
    evidence = [Evidence("reading", "singling out", LOOKS, findings=tuple(findings))]
    assert "7 inspections" in page(release, evidence, "internal")
    public = page(release, evidence, "public")
    assert not re.search(r"\b7 (inspections|tokens)", public)
    assert "11 inspections" not in public
    assert "identifiers found, 1,200 inspections" in public
    most = figures(shown(release, evidence, "public")["summary"])["Found by the adversary"]
    assert (most.value, most.meaning) == (
        "at most 1.5%",
        "of the first 1,200 inspections hit an identifier",
    )
    alone = [replace(evidence[0], findings=tuple(findings[:2]))]
    assert "Found by the adversary" not in figures(shown(release, alone, "public")["summary"])


@pytest.mark.parametrize("trials", [5, 40, 1000])
def test_what_is_said_of_few_is_the_same_whatever_they_are(trials):
    said = {rate(Rate(hits, trials), "public") for hits in range(1, min(FEW, trials + 1))}
    assert len(said) == 1


def test_documents_published_whole_are_no_count_of_few(release):
    few = changed(release, documents=36, published_documents=2 / 36)
    for audience, told in (("public", "under 31%"), ("internal", "5.6%")):
        whole = dict(grids(shown(few, (), audience)["left"])[0].rows)
        assert whole["documents"] == told


def test_the_public_manifest_solves_no_equation_for_what_is_left(release):
    chosen, figures = release.private["story"]["chosen"], release.public["figures"]
    assert figures.keys() == {"loss"}  # two of loss, risk and tokens published tell the third
    assert figures["loss"] == round_number(chosen["loss"], "up")
    public = shown(release, (), "public")
    assert [one.label for block in public["summary"] for one in getattr(block, "figures", ())] == [
        "Identifiers left",
        "Harmless tokens removed",
    ]
    assert [row[0] for row in grids(public["left"])[0].rows] == ["sentences", "documents"]


def test_no_part_of_the_identifiers_is_told_where_one_is_few(release):
    row = dict(release.private["story"]["passes"][0], taken=True, attacker=False, harmless=40)
    found = {"identifiers": 189, "tokens": 2583}
    for removed, left, told in (
        ((120, 62), 7, [True, False]),  # 62 and the 7 left add up to 69, which is all that follows
        ((120, 5), 64, [False, False]),
        ((120, 29), 40, [True, True]),
    ):
        rows = [{**row, "pass": n, "removed": count} for n, count in enumerate(removed, 1)]
        other = with_passes(release, rows, left=left, repeats_identifiers=0, **found)
        (grid,) = (g for g in grids(shown(other, (), "public")["passes"]) if "pass" in g.columns)
        assert [line[3] != "–" for line in grid.rows] == told
        assert ("fewer than 11" in said(shown(other, (), "public")["passes"])) is not all(told)


def test_one_pass_and_no_pass_are_said_as_such(tmp_path):
    for passes, words in ((1, "made 1 pass."), (0, "made 0 passes.")):
        release = applied(
            people(), tmp_path / f"{passes}.csv", chosen=by_cost(2.0, passes), repeats=False
        )
        assert f"The committee of classifiers {words}" in said(shown(release)["summary"])
        assert "Removed as well" not in said(shown(release)["summary"])


def test_the_attacker_who_finds_most_is_in_the_summary(release):
    def of(name, *rates):
        found = [
            Finding("identifiers found", Rate(hits, n), at=inspections(n)) for hits, n in rates
        ]
        return Evidence(name, "singling out", LOOKS, findings=tuple(found))

    blocks = shown(release, [of("a", (5, 10), (12, 100)), of("b", (40, 1000), (9, 9))])["summary"]
    one = figures(blocks)["Found by the adversary"]
    assert (one.value, one.meaning) == (
        "4.0%",
        "of the first 1,000 inspections hit an identifier",
    )
    few = shown(release, [of("a", (5, 100))], "public")["summary"]
    assert figures(few)["Found by the adversary"].value == "at most 17%"
    assert figures(few)["Found by the adversary"].interval == ""
    assert "Found by the adversary" not in figures(shown(release)["summary"])


def test_where_it_was_judged_on_what_was_learnt_it_says_so(release):
    assert (
        "on text that the classifiers had not seen"
        in figures(shown(release)["summary"])["Identifiers left"].meaning
    )
    blocks = shown(changed(release, cross_fit=0))
    for text in (
        figures(blocks["summary"])["Identifiers left"].meaning,
        grids(blocks["passes"])[0].caption,
        grids(blocks["left"])[-2].caption,
        grids(blocks["left"])[-1].caption,
        said(blocks["theory"]),
    ):
        assert "had learnt from: expect more in other text" in text


def test_the_frontier_shows_every_policy_and_the_chosen_one(release):
    measured, chart = shown(release)["frontier"]
    assert "removes further mentions of a removed name" in said([measured])
    rows = kit_of().tables["frontier"].to_pylist()
    assert isinstance(chart, FrontierChart)
    assert chart.risk == tuple(row["risk"] for row in rows)
    assert chart.marks == (("chosen policy", rows[0]["risk"], rows[0]["loss"]),)
    assert chart.described[-1].startswith(
        "policy 3: a missed identifier weighed as 2, 0 passes, 100% (90% to 100%) of identifiers"
    )
    assert shown(kit_of())["frontier"][1].marks == ()


def test_words_that_point_are_counted_for_all_and_named_for_the_holder(release):
    assert said(shown(changed(release, context_rules=0))["context"]).startswith("No word left")
    for rules, words in ((1, "by 1 rule across"), (3, "by 3 rules across")):
        blocks = shown(changed(release, context_rules=rules, context_share=0.25, context=["dog"]))
        assert "to 25% of the values removed" in said(blocks["context"])
        assert words in said(blocks["context"])
        assert [one.audience for one in blocks["context"]] == ["public", "internal"]
        assert said(blocks["context"]).endswith("The words: dog.")


def test_words_that_only_tell_of_an_identifier_are_said_to_be_no_identifiers(release):
    own = {"labels": ["CONTEXT_NAME", "NAME"], "types": [40, 176]}
    more = {"subjects_by_type": [None] * 2, "deff_by_type": [1.0] * 2}
    more |= {"left_by_type": [3, 2], "costs": [4.0, 20.0], "missed": [3, 2]}
    rows = [{**row, "by_type": [0, *row["by_type"]]} for row in release.private["story"]["passes"]]
    blocks = shown(with_passes(release, rows, **own, **more))
    assert "count them as harmless tokens, not as identifiers" in said(blocks["summary"])
    assert "identifiers of 1 type." in said(blocks["summary"])
    assert "count as identifiers here, as in the loop" in said(blocks["theory"])
    numbers = {row[0]: row[2] for row in grids(blocks["theory"])[1].rows}
    assert numbers["Lemma 1 (1)"].startswith("216 ")  # 40 + 176
    for key in ("summary", "theory"):
        assert "Words associated with" not in said(shown(release)[key])


def test_a_received_release_shows_what_is_public(release):
    parts = shown(StoredRelease(release.path, release.public), (), "public")
    assert list(parts) == ["summary", "singling-out", "codebook", "limits"]
    (codebook,) = parts["codebook"]
    assert codebook.rows == (
        ("note", "text", "text with marks in the place of identifiers"),
        ("letter", "text", "text with marks in the place of identifiers"),
        ("ward", "keep", "as in the source"),
    )


def test_a_kit_shows_its_frontier_and_an_edited_policy_nothing_of_its_own(tmp_path):
    assert list(shown(kit_of())) == ["summary", "frontier", "limits"]
    chosen = by_cost(20.0, 2)
    other = replace(chosen, policy={**chosen.policy, "passes": 0})
    release = applied(people(), tmp_path / "r.csv", chosen=other)
    told = ["summary", "singling-out", "values", "codebook", "frontier", "limits"]
    assert list(shown(release)) == told
    assert {*figures(shown(release)["summary"])} == {"Published unchanged"}


def test_what_each_way_puts_is_named(release):
    for how, words in (("category", "A mark of its category"), ("surrogate", "A made-up value")):
        public = {**release.public, "policy": {**release.public["policy"], "replace": how}}
        assert f"{words} replaces removed text." in said(
            shown(replace(release, public=public))["summary"]
        )


def test_a_kit_of_one_policy_is_told_in_the_singular():
    kit = fitted(people(), miss_cost=[1e-6])
    _, chart = shown(kit)["frontier"]
    assert (
        chart.caption
        == "1 policy that no other policy found beats in both risk and loss, as scored by the fit."
    )
    assert json.dumps(asdict(chart))


def test_what_was_measured_on_the_release_stands_before_what_the_fit_expected(release, evidence):
    order = list(shown(release, evidence))
    assert order.index("singling-out") < order.index("frontier") < order.index("left")


def test_the_summary_begins_with_how_many_documents_and_people_are_released(release):
    figures = release.private["figures"]
    documents, subjects = (int(figures[name]) for name in ("documents", "subjects"))
    assert 0 < subjects <= documents
    begin = said(shown(release)["summary"])
    assert begin.startswith(f"The release holds {documents:,} documents of {subjects:,} people; ")
    few = replace(
        release, private={**release.private, "figures": {**figures, "subjects": FEW - 1.0}}
    )
    public = said(shown(few, (), "public")["summary"])
    assert f" of fewer than {FEW} people." in public
    assert "held out" not in public.partition(".")[0]
