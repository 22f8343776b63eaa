"""`voile documents forecast` counts notes, or those of a work folder, and plans their reading."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.documents.start.made import hospital

import voile
from voile.cli.run import run
from voile.core.errors import RequestError

GOAL = {"at_most": 20, "recall": 0.9}
QUICK = {"learners": ["svm"], "cross_fit": 3, "jobs": 1, "seed": 1, "least_left": 50}


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(hospital(tmp_path_factory.mktemp("hospital"), 60, 4)[0])


def test_notes_are_planned_for_each_assumed_rate(notes: Path) -> None:
    found = voile.documents.forecast(str(notes), left=[5, 10], **GOAL)
    assert [one["left"] for one in found["forecast"]] == [5, 10]
    for one in found["forecast"]:
        plan = one["plan"]
        assert 0 < plan["least"] <= plan["expected"] <= plan["most"] <= 2 * found["tokens"]


def test_without_a_rate_a_quarter_to_four_times_the_goal_is_assumed(notes: Path) -> None:
    found = voile.documents.forecast(str(notes), **GOAL)
    assert [one["left"] for one in found["forecast"]] == [5, 10, 20, 40, 80]


@pytest.mark.filterwarnings(
    "ignore::voile.documents.start.known.KnownValuesWarning",
    "ignore::voile.documents.verbs.policies.UncheckedWarning",
)
def test_a_work_folder_has_the_plan_of_its_notes(notes: Path, tmp_path: Path) -> None:
    voile.documents.init(notes, tmp_path / "work", subject="patient_id", **QUICK)
    asked = {"left": [5], **GOAL}
    of_work = voile.documents.forecast(tmp_path / "work", **asked)
    assert of_work == voile.documents.forecast(str(notes), **asked)


def test_the_screen_labels_what_is_least_expected_and_most(notes: Path, capsys: Any) -> None:
    words = ["documents", "forecast", str(notes), "--at-most", "20", "--left", "5", "--json"]
    assert run([*words, "--recall", "0.9"]) == 0
    told, heard = capsys.readouterr()
    plan = json.loads(told)["forecast"][0]["plan"]
    assert f"{round(plan['expected']):,} tokens expected" in heard
    assert f"{plan['least']:,} at least, {plan['most']:,} at most" in heard
    assert "at most 20 per 1,000 tokens" in heard


def test_a_table_without_a_column_of_text_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("a,b\n1,2\n")
    with pytest.raises(RequestError, match="which column holds the text"):
        voile.documents.forecast(str(table))
