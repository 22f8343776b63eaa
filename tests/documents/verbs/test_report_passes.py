"""Passes in the report: what each added, what is left, and what went for nothing."""

from __future__ import annotations

import copy
from dataclasses import replace

from tests.documents.reported import changed, grids, said, shown

from voile.documents.model.quantities import AS_LEFT, ONE_PERCENT
from voile.documents.words.features import CLASSES
from voile.report.sections import BarChart
from voile.report.wording import share


def test_each_pass_is_counted_of_all_identifiers(release):
    story = release.private["story"]
    found, rows = (
        story["found"],
        [row for row in story["passes"] if row["taken"] and not row["attacker"]],
    )
    grid = grids(shown(release)["passes"])[0]
    harmless = found["tokens"] - found["identifiers"]
    assert [row[:3] for row in grid.rows] == [
        (number, "svm", "minimum expected cost") for number in "12"
    ]
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
        f"Further mentions of the removed names are {share(20 / found['identifiers'])} of all "
        f"identifiers and {share(200 / harmless)} of all harmless tokens; they are "
        "removed as well."
    ) in said(shown(more)["passes"])
    few = said(
        shown(changed(release, repeats_identifiers=3, repeats_harmless=0), (), "public")["passes"]
    )
    assert "Further mentions of the removed names are removed as well." in few
    none = changed(release, repeats_identifiers=0, repeats_harmless=0)
    assert "Further mentions" not in said(shown(none)["passes"])


def ended(release, **chosen):
    return said(shown(changed(release, **chosen))["passes"])


def test_why_there_are_no_more_passes_is_said(release, tmp_path):
    assert ended(release) == (
        "Pass 3 was tried and not added: what any learner removed was not worth it."
    )
    rows = [row for row in release.private["story"]["passes"] if row["pass"] < 3]
    assert ended(release, passes=1).endswith("This policy stops after 1.")
    private = copy.deepcopy(release.private)
    private["story"]["passes"] = rows
    short = replace(release, private=private)
    assert said(shown(short)["passes"]) == "The fit stopped at its maximum number of passes."
    assert ended(short, stopped="interrupted") == "The fit was interrupted after these passes."
    assert "; the fit was interrupted." in said(
        shown(changed(short, stopped="interrupted"))["summary"]
    )


def test_learners_are_compared_by_what_was_left_before_the_pass(release):
    (chart,) = (one for one in shown(release)["passes"] if isinstance(one, BarChart))
    assert chart.audience == "internal"
    rows = [row for row in release.private["story"]["passes"] if not row["attacker"]]
    bars = [bar.value for _, group in chart.groups for bar in group]
    assert not rows[-1]["tp"]  # a pass in which nothing is removed is in the text alone
    rows = [row for row in rows if row["tp"]]
    assert bars == [row["tp"] / (row["tp"] + row["fn"]) for row in rows]
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
    rates = dict(zip(AS_LEFT, (30, 40, None, 1.0), strict=True))
    rates |= dict(zip(ONE_PERCENT, (5, 20, None, 1.0), strict=True))
    other = changed(release, **rates)
    found = grids(shown(other)["left"])[2]
    assert [(row[0], row[1].partition(",")[0]) for row in found.rows] == [
        ("40", "75% (60% to 86%)"),
        ("20", "25% (11% to 47%)"),
    ]


def test_harmless_tokens_removed_are_told_by_kind_and_to_the_holder_by_word(release):
    kinds, words = grids(shown(release)["false-positives"])
    (who,) = grids(shown(release)["removals"])
    chosen = release.private["story"]["chosen"]
    assert chosen["false_by_kind"][CLASSES.index("Xx")] == sum(chosen["false_by_kind"])
    assert kinds.rows == (("words with a capital", "100%"),)
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
    (public,) = grids(shown(story, (), "public")["false-positives"])
    assert "removals" not in shown(story, (), "public")
    assert public.rows == (("words with a capital", "under 100%"),)


def test_nothing_removed_for_nothing_is_said(release):
    none = changed(release, false_by_kind=[0] * len(CLASSES), false_words=[])
    blocks = shown(none)["false-positives"]
    assert said(blocks) == "No harmless token of the text learnt from is removed."
    assert grids(blocks) == []


def test_types_of_which_none_is_left_share_a_sentence(release):
    found = release.private["story"]["found"]
    more = {"labels": ["NAME", "DATE", "AGE"], "types": [*found["types"], 40, 9]}
    more |= {"left_by_type": [3, 0, 0], "subjects_by_type": [None] * 3, "deff_by_type": [1.0] * 3}
    more |= {"optimum": False}
    blocks = shown(changed(release, **more))["left"]
    (types,) = (grid for grid in grids(blocks) if grid.columns[0] == "type")
    assert [row[0] for row in types.rows] == ["NAME"]
    assert "No token is left of DATE (of 40) and AGE (of 9)." in said(blocks)
    assert all(block.audience == "internal" for block in blocks if "DATE" in str(block))
