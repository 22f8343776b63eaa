"""Theorems and lemmas in the report, with the run's own numbers."""

from __future__ import annotations

import re

from tests.documents.flow import applied, by_cost, people
from tests.documents.reported import changed, grids, said, shown, with_passes


def numbers_of(story):
    """The results that apply, with the run's own numbers."""
    return {row[0]: row[2] for row in grids(shown(story)["theory"])[1].rows}


def test_theorems_are_told_of_a_local_optimum_alone(release, tmp_path):
    plain, numbers = grids(shown(release)["theory"])
    names = [row[0] for row in plain.rows]
    assert names[:4] == ["Lemma 1 (1)", "Lemma 1 (2)", "Theorem 1", "Theorem 2"]
    assert [row[2] for row in plain.rows[:3]] == ["holds"] * 3
    found, chosen = (release.private["story"][part] for part in ("found", "chosen"))
    told = numbers_of(release)
    assert told["Lemma 1 (1)"] == "{0} = {0}".format(found["identifiers"])
    assert told["Lemma 1 (2)"] == "{0} = {0}".format(chosen["lost"])
    assert told["Theorem 1"] == f"3 <= {found['tokens']}"
    assert (plain.audience, numbers.audience) == ("public", "internal")
    assert not re.search(r"[\d_=<>^]", " ".join(row[2] for row in plain.rows))
    assert grids(shown(release, audience="public")["theory"])[0].rows == plain.rows
    shorter = applied(people(), tmp_path / "r.csv", chosen=by_cost(20.0, 1))
    assert "this policy stops before one" in said(shown(shorter)["theory"])
    assert grids(shown(shorter)["theory"]) == []


def test_with_costs_of_their_own_the_smallest_counts(release):
    attacker = {"attacker_tp": 2, "attacker_fp": 12, "attacker_fn": 5, "attacker_tn": 300}
    rows = [{**row, "by_type": [*row["by_type"], 0]} for row in release.private["story"]["passes"]]
    found, chosen = (release.private["story"][part] for part in ("found", "chosen"))
    types = {"types": [*found["types"], 0], "labels": ["NAME", "DATE"]}
    types |= {"missed": [*chosen["missed"], 0], "left_by_type": [*chosen["left_by_type"], 0]}
    types |= {"subjects_by_type": [None] * 2, "deff_by_type": [1.0] * 2}
    told = {}
    for costs in ([20.0, 4.0], [20.0, 20.0]):
        story = with_passes(release, rows, costs=costs, **types, **attacker)
        plain = grids(shown(story)["theory"])[0]
        told[len(set(costs))] = (plain.rows[4][2], numbers_of(story)["Theorem 2"])
        assert plain.rows[4][0] == "Theorem 3"
    assert told[2][1] == "6 >= 4"
    assert not told[2][0].startswith("does not apply")
    assert told[1][0].startswith("does not apply: adding the attacker's")
    assert told[1][1] == "6 not >= 20"


def test_where_the_classifier_finds_nothing_theorem_2_says_so(release):
    """No other result says as much of what an adversary gains by classifying."""
    silent = {"attacker_tp": 0, "attacker_fp": 0, "attacker_fn": 5, "attacker_tn": 300}
    found = changed(release, **silent, costs=[20.0])
    plain = {row[0]: row[2] for row in grids(shown(found)["theory"])[0].rows}
    assert plain["Theorem 2"] == "holds: the classifier finds no identifier"
    assert plain["Lemma 3"] == "does not apply: the classifier finds no identifier"
    assert numbers_of(found)["Theorem 2"] == "the classifier finds no identifier (TP_A = 0)"


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
    told |= {"subjects_by_type": [None] * 2, "deff_by_type": [1.0] * 2}
    attacker = {"attacker_tp": 0, "attacker_fp": 0, "attacker_fn": 10, "attacker_tn": 300}
    story = with_passes(release, rows, **own, **told, **attacker)
    numbers = numbers_of(story)
    assert (numbers["Lemma 1 (1)"], numbers["Lemma 1 (2)"]) == ("26 = 26", "19 = 19")
    assert numbers["Theorem 1"].startswith("3 <= ")  # T changes by 5 - 80, then by 14 - 17
    assert numbers_of(changed(story, lost=20))["Lemma 1 (2)"] == "20 not = 19"
    rows[2] |= {"fp": 17}
    unpaid = with_passes(story, rows, lost=22)
    plain = grids(shown(unpaid)["theory"])[0]
    assert plain.rows[2][2].endswith("the classifier of pass 2 was added and did not lower T")


def test_the_theorems_take_1_percent_of_tokens_inspected(release):
    attacker = {"attacker_tp": 3, "attacker_fp": 6, "attacker_tn": 15, "attacker_fn": 2}
    counts = {"inspected_as_left": 100, "inspected_1_percent": 20, "costs": [2.0]}
    told = numbers_of(changed(release, **attacker, **counts))
    assert told["Lemma 3"].startswith(f"{949 / 850:.6g} <= ")  # the paper's Example 1
    assert f"({949 / 850:.6g} <= {22 / 3:.6g})" in told["Theorem 4"]
