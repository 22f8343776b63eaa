"""The report's parts: the right numbers, and no word of the text for anybody but the holder."""

from __future__ import annotations

import copy
import json
import re
from dataclasses import asdict, replace

import pytest
from tests.documents.flow import FAMILY, GIVEN, applied, by_cost, fitted, kit_of, people
from tests.documents.test_attacking import OTHERS, attacked

from voile.documents.report import sections
from voile.documents.story import IN_SAMPLE
from voile.documents.words.features import CLASSES
from voile.evidence import Curve, Evidence, Finding, Rate
from voile.release import Release
from voile.report import render
from voile.sections import BarChart, Bullets, Figures, FrontierChart, Grid, LineChart, Prose
from voile.wording import share

SAID = re.compile(rf"\b({'|'.join((*GIVEN, *FAMILY))})\b")
"""Any word of a name; in a page's code there is none."""


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """The longest committee at the higher cost, which is a local optimum."""
    out = tmp_path_factory.mktemp("r") / "r.jsonl"
    return applied(OTHERS, out, patterns=["all"], record=["MRN-######"])


@pytest.fixture(scope="module")
def evidence(release):
    return attacked(release)


def shown(release, evidence=(), audience="internal"):
    parts = sections(release, evidence, audience=audience)
    assert [part.key for part in parts if part.first] == ["summary"]
    return {part.key: part.blocks for part in parts}


def said(blocks):
    return " ".join(text for one in blocks if isinstance(one, Prose) for text in one.paragraphs)


def grids(blocks):
    return [one for one in blocks if isinstance(one, Grid)]


def figures(blocks):
    return {
        one.label: one for block in blocks if isinstance(block, Figures) for one in block.figures
    }


def changed(release, **chosen):
    """Return a release whose story of the policy chosen says something else."""
    private = copy.deepcopy(release.private)
    for name, value in chosen.items():
        part = next(
            part
            for part in ("chosen", "found", "")
            if name in private["story"].get(part, ()) or not part
        )
        (private["story"][part] if part else private["story"])[name] = value
    return replace(release, private=private)


def with_passes(release, rows, **chosen):
    """Return one whose loop went otherwise."""
    other = changed(release, **chosen)
    other.private["story"]["passes"] = rows
    return other


def page(release, evidence, audience):
    parts = sections(release, evidence, audience=audience)
    return render("Notes", parts, audience=audience, facts={})


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
    for subject in (kit_of(), Release(release.path, release.public)):
        for audience in ("public", "internal"):
            assert not SAID.search(page(subject, (), audience))


def test_what_the_holder_keeps_of_the_kit_has_no_key(release):
    assert kit_of().facts["key"] not in json.dumps(release.private)
    frontier = release.private["story"]["frontier"]
    assert set(frontier) == {"number", "miss_cost", "passes", "risk", "loss"}


def test_the_summary_says_what_was_asked_and_what_is_left(release, evidence):
    chosen, found = (release.private["story"][part] for part in ("chosen", "found"))
    blocks = shown(release, evidence)["summary"]
    told = figures(blocks)
    assert told["Identifiers left"].value == share(chosen["left"] / found["identifiers"])
    assert told["Identifiers left"].interval
    assert told["Harmless tokens removed"].value == share(chosen["loss"])
    assert told["Published"].value == share(chosen["published_tokens"])
    public = figures(shown(release, evidence, "public")["summary"])["Identifiers left"]
    assert (public.value, public.interval) == ("under 6.2%", "")
    assert "worth 20 harmless tokens; 2 passes, each learning from" in said(blocks)
    assert "In the place of what was removed stands a mark." in said(blocks)
    assert (
        "Further mentions of a removed name in its document are removed as well, and are in these "
        "figures. Removed as well, and not in these figures: what patterns find (iban, card, ssn, "
        "dni, email, url, ip, mac, phone, record numbers)."
    ) in said(blocks)
    assert f"Learnt from {found['documents']:,} documents of 36 subjects: " in said(blocks)
    assert "identifiers of 1 type." in said(blocks)


def test_a_figure_of_what_was_learnt_from_is_said_to_be_one(release, evidence):
    assert IN_SAMPLE not in said(shown(release, evidence)["summary"])
    own = [replace(one, notes=(*one.notes, IN_SAMPLE)) for one in evidence]
    assert IN_SAMPLE in said(shown(release, own)["summary"])


def test_few_people_are_not_counted_in_public(release):
    few = changed(release, subjects=7, documents=11)
    assert "Learnt from 11 documents of under 11 subjects:" in said(
        shown(few, (), "public")["summary"]
    )
    assert "Learnt from 11 documents of 7 subjects:" in said(shown(few)["summary"])


def test_one_pass_and_no_pass_are_said_as_such(tmp_path):
    for passes, words in ((1, "1 pass. In"), (0, "0 passes. In")):
        release = applied(
            people(), tmp_path / f"{passes}.csv", chosen=by_cost(2.0, passes), repeats=False
        )
        assert f"harmless tokens; {words}" in said(shown(release)["summary"])
        assert "Removed as well" not in said(shown(release)["summary"])


def test_the_attacker_who_finds_most_is_in_the_summary(release):
    def of(name, *rates):
        found = [
            Finding(f"identifiers found in {n} inspections", Rate(hits, n)) for hits, n in rates
        ]
        return Evidence(name, "singling out", "She looks.", findings=tuple(found))

    blocks = shown(release, [of("a", (5, 10), (12, 100)), of("b", (40, 1000), (9, 9))])["summary"]
    one = figures(blocks)["Found by an attacker"]
    assert (one.value, one.meaning) == (
        "4.0%",
        "of the first 1000 tokens that she inspects are identifiers",
    )
    few = shown(release, [of("a", (5, 100))], "public")["summary"]
    assert figures(few)["Found by an attacker"].value == "at most 11%"
    assert figures(few)["Found by an attacker"].interval == ""
    assert "Found by an attacker" not in figures(shown(release)["summary"])


def test_where_it_was_judged_on_what_was_learnt_it_says_so(release):
    assert "had not seen it" in figures(shown(release)["summary"])["Identifiers left"].meaning
    blocks = shown(changed(release, cross_fit=0))
    for text in (
        figures(blocks["summary"])["Identifiers left"].meaning,
        grids(blocks["passes"])[0].caption,
        grids(blocks["left"])[-2].caption,
        grids(blocks["left"])[-1].caption,
        said(blocks["theory"]),
    ):
        assert "had learnt from it: in other text more is left" in text


def test_the_frontier_shows_every_policy_and_the_chosen_one(release):
    measured, chart = shown(release)["frontier"]
    assert "every mention of a name that it removed" in said([measured])
    rows = kit_of().tables["frontier"].to_pylist()
    assert isinstance(chart, FrontierChart)
    assert chart.risk == tuple(row["risk"] for row in rows)
    assert chart.marks == (("chosen policy", rows[0]["risk"], rows[0]["loss"]),)
    assert chart.described[-1].startswith("policy 3: a miss worth 2, 0 passes, 100% of identifiers")
    assert shown(kit_of())["frontier"][1].marks == ()


def test_each_pass_is_counted_of_all_identifiers(release):
    story = release.private["story"]
    found, rows = (
        story["found"],
        [row for row in story["passes"] if row["taken"] and not row["attacker"]],
    )
    grid = grids(shown(release)["passes"])[0]
    harmless = found["tokens"] - found["identifiers"]
    assert [row[:3] for row in grid.rows] == [("1", "svm", "by cost"), ("2", "svm", "by cost")]
    for shares, row in zip(grid.rows, rows, strict=True):
        assert shares[3:] == (share(row["tp"] / found["identifiers"]), share(row["fp"] / harmless))
    removed = sum(row["tp"] for row in rows)
    more = story["chosen"]["repeats_identifiers"]
    assert removed + more == found["identifiers"] - story["chosen"]["left"]


def test_what_further_mentions_add_to_the_passes_is_said(release):
    found = release.private["story"]["found"]
    harmless = found["tokens"] - found["identifiers"]
    more = changed(release, repeats_identifiers=20, repeats_harmless=200)
    assert (
        f"Further mentions of the names removed are {share(20 / found['identifiers'])} of all "
        f"identifiers and {share(200 / harmless)} of all harmless tokens; they go as well."
    ) in said(shown(more)["passes"])
    few = said(
        shown(changed(release, repeats_identifiers=3, repeats_harmless=0), (), "public")["passes"]
    )
    assert "are under 6.2% of all identifiers and 0% of all harmless" in few
    none = changed(release, repeats_identifiers=0, repeats_harmless=0)
    assert "Further mentions" not in said(shown(none)["passes"])


def ended(release, **chosen):
    return said(shown(changed(release, **chosen))["passes"])


def test_why_there_are_no_more_passes_is_said(release, tmp_path):
    assert ended(release) == (
        "Pass 3 was tried as well: no learner's removals were worth what they cost."
    )
    rows = [row for row in release.private["story"]["passes"] if row["pass"] < 3]
    assert ended(release, passes=1).endswith("This policy stops after 1.")
    private = copy.deepcopy(release.private)
    private["story"]["passes"] = rows
    short = replace(release, private=private)
    assert said(shown(short)["passes"]) == "So many passes were asked for."
    assert ended(short, stopped="interrupted") == "Then the fit was interrupted."
    assert "; the fit was interrupted." in said(
        shown(changed(short, stopped="interrupted"))["summary"]
    )


def test_learners_are_compared_by_what_was_left_before_the_pass(release):
    (chart,) = (one for one in shown(release)["passes"] if isinstance(one, BarChart))
    assert chart.audience == "internal"
    rows = [row for row in release.private["story"]["passes"] if not row["attacker"]]
    bars = [bar.value for _, group in chart.groups for bar in group]
    assert bars == [row["tp"] / (row["tp"] + row["fn"]) for row in rows if row["tp"] + row["fn"]]
    assert bars[0] < 1
    assert [name for name, _ in chart.groups] == [f"pass {row['pass']}" for row in rows]


def test_what_is_left_is_told_by_type_to_the_holder(release):
    whole, types, found = grids(shown(release)["left"])
    chosen, corpus = (release.private["story"][part] for part in ("chosen", "found"))
    assert whole.rows[0] == ("tokens", share(chosen["published_tokens"]))
    assert types.audience == "internal"
    assert types.rows[0][0] == "NAME"
    assert types.rows[0][1].endswith(f"{chosen['left']} of {corpus['identifiers']}")
    inspected = chosen["inspected_as_left"], chosen["inspected_1_percent"]
    assert [row[0] for row in found.rows] == [f"{n}" for n in inspected if n]
    other = changed(
        release, inspected_as_left=40, found_as_left=30, inspected_1_percent=20, found_1_percent=5
    )
    found = grids(shown(other)["left"])[2]
    assert [(row[0], row[1].partition(",")[0]) for row in found.rows] == [
        ("40", "75% (60% to 86%)"),
        ("20", "25% (11% to 47%)"),
    ]


def test_harmless_tokens_removed_are_told_by_kind_and_to_the_holder_by_word(release):
    kinds, words, who = grids(shown(release)["false-positives"])
    chosen = release.private["story"]["chosen"]
    assert chosen["false_by_kind"][CLASSES.index("Xx")] == sum(chosen["false_by_kind"])
    assert kinds.rows == (("Words with a capital", "100%"),)
    assert (words.audience, who.audience) == ("internal", "internal")
    often = [{"word": f"w{n}", "removed": 20 - n} for n in range(20)]
    words = grids(shown(changed(release, false_words=often))["false-positives"])[1]
    assert words.rows == tuple((f"w{n}", f"{20 - n}") for n in range(15))
    seldom = changed(
        release, false_words=[{"word": "a", "removed": 2}, {"word": "b", "removed": 1}]
    )
    assert grids(shown(seldom)["false-positives"])[1].rows == (("a", "2"),)
    assert dict(who.rows) == {by: f"{n:,}" for by, n in release.private["removed_by"].items()}
    few = [3 if n else 0 for n in chosen["false_by_kind"]]
    story = changed(release, false_by_kind=few, false_words=[])
    public, _ = grids(shown(story, (), "public")["false-positives"])
    assert public.rows == (("Words with a capital", "under 100%"),)


def test_nothing_removed_for_nothing_is_said(release):
    none = changed(release, false_by_kind=[0] * len(CLASSES), false_words=[])
    blocks = shown(none)["false-positives"]
    assert said(blocks) == "No harmless token of the annotated text is removed."
    assert [grid.columns[0] for grid in grids(blocks)] == ["removed by"]


def test_words_that_point_are_counted_for_all_and_named_for_the_holder(release):
    assert said(shown(changed(release, context_rules=0))["context"]).startswith("No word that is")
    for rules, words in ((1, "by 1 rule that holds over"), (3, "by 3 rules that hold over")):
        blocks = shown(changed(release, context_rules=rules, context_share=0.25, context=["dog"]))
        assert "25% of the values removed" in said(blocks["context"])
        assert words in said(blocks["context"])
        assert [one.audience for one in blocks["context"]] == ["public", "internal"]
        assert said(blocks["context"]).endswith("The words: dog.")


def test_theorems_are_told_of_a_local_optimum_alone(release, tmp_path):
    plain, numbers = grids(shown(release)["theory"])
    assert [row[0] for row in plain.rows][:3] == ["Lemma 1", "Theorem 1", "Theorem 2"]
    assert [row[2] for row in plain.rows[:2]] == ["holds", "holds"]
    left, lost = (release.private["story"]["chosen"][name] for name in ("missed", "lost"))
    found = release.private["story"]["found"]["identifiers"] - sum(left)
    assert dict(numbers.rows)["Lemma 1"] == f"{lost - 20 * found} = {lost - 20 * found}"
    assert dict(numbers.rows)["Theorem 1"].startswith("3 <= ")
    assert (plain.audience, numbers.audience) == ("public", "internal")
    assert not re.search(r"\d", " ".join(row[2] for row in plain.rows).replace("TP_A = 0", ""))
    shorter = applied(people(), tmp_path / "r.csv", chosen=by_cost(20.0, 1))
    assert "this policy is not the end of its loop" in said(shown(shorter)["theory"])
    assert grids(shown(shorter)["theory"]) == []


def test_with_costs_of_their_own_the_smallest_counts(release):
    attacker = {"attacker_tp": 2, "attacker_fp": 12, "attacker_fn": 5, "attacker_tn": 300}
    rows = [{**row, "by_type": [*row["by_type"], 0]} for row in release.private["story"]["passes"]]
    found, chosen = (release.private["story"][part] for part in ("found", "chosen"))
    types = {"types": [*found["types"], 0], "labels": ["NAME", "DATE"]}
    types |= {"missed": [*chosen["missed"], 0], "left_by_type": [*chosen["left_by_type"], 0]}
    told = {}
    for costs in ([20.0, 4.0], [20.0, 20.0]):
        story = with_passes(release, rows, costs=costs, **types, **attacker)
        plain, numbers = grids(shown(story)["theory"])
        told[len(set(costs))] = (plain.rows[1][2], dict(numbers.rows)["Theorem 2"])
        assert plain.rows[0][2] == "holds"
    assert told[2] == ("holds", "6 >= 4")
    assert told[1][0].startswith("does not apply: P is no local optimum")
    assert told[1][1] == "6 not >= 20"


def test_lemma_1_and_theorem_1_take_each_type_at_its_own_cost(release):
    """Two passes of which the second pays by the cost of the second type alone."""
    rows = [
        {"pass": number, "learner": "svm", "decision": "cost", "attacker": attacker, "taken": True}
        | {"removed": 3, "before": 30, "harmless": fp, "tp": sum(by_type), "fp": fp}
        | {"fn": 0, "tn": 0, "by_type": by_type}
        for number, fp, by_type, attacker in (
            (1, 5, [10, 4], False), (1, 5, [10, 4], True), (2, 14, [1, 1], False)
        )
    ]  # fmt: skip
    own = {"types": [20, 6], "labels": ["DATE", "NAME"], "identifiers": 26}
    told = {"costs": [2.0, 15.0], "missed": [9, 1], "lost": 19, "left_by_type": [9, 1]}
    attacker = {"attacker_tp": 0, "attacker_fp": 0, "attacker_fn": 10, "attacker_tn": 300}
    story = with_passes(release, rows, **own, **told, **attacker)
    numbers = dict(grids(shown(story)["theory"])[1].rows)
    # T falls from 20 * 2 + 6 * 15 to 9 * 2 + 15 + 19; by 5 - 80, then by 14 - 17
    assert (numbers["Lemma 1"], numbers["Theorem 1"]) == ("-78 = -78", "3 <= 27")
    wrong = changed(story, lost=20)
    assert dict(grids(shown(wrong)["theory"])[1].rows)["Lemma 1"] == "-77 not = -78"
    rows[2] |= {"fp": 17}
    unpaid = with_passes(story, rows, lost=22)
    plain = grids(shown(unpaid)["theory"])[0]
    assert plain.rows[1][2].endswith("the classifier of pass 2 was added and did not lower T")


def test_the_theorems_take_1_percent_of_tokens_inspected(release):
    attacker = {"attacker_tp": 1, "attacker_fp": 50, "attacker_fn": 99, "attacker_tn": 850}
    counts = {"inspected_as_left": 100, "inspected_1_percent": 850, "costs": [50.0]}
    story = changed(release, **attacker, **counts)
    numbers = dict(grids(shown(story)["theory"])[1].rows)
    assert numbers["Theorem 4"].endswith(f"<= {949 / 850:.6g}")


def test_words_that_only_tell_of_an_identifier_are_said_to_be_no_identifiers(release):
    own = {"labels": ["CONTEXT_NAME", "NAME"], "types": [40, 176]}
    more = {"left_by_type": [3, 2], "costs": [4.0, 20.0], "missed": [3, 2]}
    rows = [{**row, "by_type": [0, *row["by_type"]]} for row in release.private["story"]["passes"]]
    blocks = shown(with_passes(release, rows, **own, **more))
    assert "they count as harmless tokens, not as identifiers" in said(blocks["summary"])
    assert "identifiers of 1 type." in said(blocks["summary"])
    assert "count as identifiers here, as in the loop" in said(blocks["theory"])
    assert dict(grids(blocks["theory"])[1].rows)["Theorem 1"] == "3 <= 217"  # 40 + 176 + 1
    for key in ("summary", "theory"):
        assert "Words that tell" not in said(shown(release)[key])


def test_findings_stand_by_number_and_by_type(release):
    rate = Rate(30, 100)
    found = (
        Finding(
            "identifiers found in 9 inspections", rate, baseline=Rate(1, 100), meaning="Of it."
        ),
        Finding("identifiers found in 4 inspections", Rate(2, 4), meaning="Of it."),
        Finding("identifiers left, NAME, OLD", Rate(3, 60), meaning="Still there."),
        Finding("identifiers left that 9 inspections find, NAME, OLD", Rate(1, 3)),
    )
    curve = Curve("attacker", "inspections", "identifiers found", (0.0, 9.0), (0.0, 3.0))
    one = Evidence(
        "by margin", "singling out", "She looks.", findings=found, curves=(curve,), notes=("N.",)
    )
    linked = Evidence(
        "linking", "linkability", "She reads.",
        findings=(Finding("documents linked", rate, control=Rate(0, 100)),),
    )  # fmt: skip
    blocks = shown(release, [one, linked, one])
    main, types, *_ = grids(blocks["singling-out"])
    assert main.columns == ("what", "found", "at random")
    assert main.rows[0] == (
        "identifiers found in 9 inspections",
        "30% (22% to 40%), 30 of 100",
        "1.0% (0.18% to 5.4%), 1 of 100",
    )
    assert types.columns == ("type", "left of the source's", "of these found")
    assert types.rows == (
        ("NAME, OLD", "5.0% (1.7% to 14%), 3 of 60", "33% (6.1% to 79%), 1 of 3"),
    )
    bullets = [one.items for one in blocks["singling-out"] if isinstance(one, Bullets)]
    assert bullets == [
        ("Identifiers found in 9 inspections: of it.", "Identifiers left: still there.", "N."),
    ]
    charts = [one for one in blocks["singling-out"] if isinstance(one, LineChart)]
    assert [(c.caption, c.audience) for c in charts] == [("By margin", "internal")] * 2
    (control,) = grids(blocks["linkability"])
    assert control.columns == ("what", "found", "control")


def test_a_received_release_shows_what_is_public(release):
    parts = shown(Release(release.path, release.public), (), "public")
    assert list(parts) == ["summary", "codebook", "limits"]
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
    assert list(shown(release)) == ["summary", "frontier", "codebook", "limits"]
    assert figures(shown(release)["summary"]) == {}


def test_what_each_way_puts_is_named(release):
    for how, words in (("category", "a mark of its category"), ("surrogate", "a made-up value")):
        public = {**release.public, "policy": {**release.public["policy"], "replace": how}}
        assert f"stands {words}." in said(shown(replace(release, public=public))["summary"])


def test_a_kit_of_one_policy_is_told_in_the_singular():
    kit = fitted(people(), miss_cost=[1e-6])
    _, chart = shown(kit)["frontier"]
    assert chart.caption == "1 policy that no other found beats in both risk and loss."
    assert json.dumps(asdict(chart))
