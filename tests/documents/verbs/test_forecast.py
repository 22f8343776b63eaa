"""`voile documents forecast` counts notes, or those of a work folder, and plans their reading."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.documents.model.start.made import hospital

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
    "ignore::voile.documents.model.start.known.known_values.KnownValuesWarning",
    "ignore::voile.documents.model.policies.UncheckedWarning",
)
def test_a_work_folder_has_the_plan_of_its_notes(notes: Path, tmp_path: Path) -> None:
    voile.documents.init(notes, tmp_path / "work", subject="patient_id", **QUICK)
    asked = {"left": [5], **GOAL}
    of_work = voile.documents.forecast(tmp_path / "work", **asked)
    assert of_work == voile.documents.forecast(str(notes), **asked)


def test_what_is_read_for_each_rate_is_a_table_on_standard_output(notes: Path, capsys: Any) -> None:
    words = ["documents", "forecast", str(notes), "--at-most", "20", "--left", "5"]
    assert run([*words, "--recall", "0.9", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)["forecast"][0]["plan"]
    assert run([*words, "--recall", "0.9"]) == 0
    told, heard = capsys.readouterr()
    assert "at most 20 per 1,000 tokens" in heard
    head, row = [line.split("\t") for line in told.splitlines()]
    assert head == ["left_per_1000", "expected", "least", "most", "proves"]
    assert row[:4] == ["5", f"{round(plan['expected'])}", f"{plan['least']}", f"{plan['most']}"]


def test_where_no_amount_of_reading_proves_it_the_table_says_nothing(
    notes: Path, capsys: Any
) -> None:
    assert (
        run(["documents", "forecast", str(notes), "--at-most", "2", "--left", "6", "--left", "12"])
        == 0
    )
    told, heard = capsys.readouterr()
    assert told.splitlines()[2].split("\t") == ["12", "", "", "", ""]
    assert "where the table is empty, no amount of reading proves it" in heard


def test_a_table_without_a_column_of_text_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("a,b\n1,2\n")
    with pytest.raises(RequestError, match="the column of the text is not given"):
        voile.documents.forecast(str(table))
