"""Theorems and lemmas in the report, with the run's own numbers."""

from __future__ import annotations

import re

from tests.documents.flow import applied, by_cost, people
from tests.documents.reported import changed, grids, said, shown, with_passes


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
    assert "this policy stops before the end of its loop" in said(shown(shorter)["theory"])
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
    told |= {"subjects_by_type": [None] * 2, "deff_by_type": [1.0] * 2}
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
