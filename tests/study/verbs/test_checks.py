"""What apply refuses of all parts together."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.study.made import PLAN, write_key

from voile.core.errors import InfeasibleError, RequestError
from voile.study.plan.plan import StudyPlan
from voile.study.verbs.checks import check_promise, check_written_once

FIGURES = {"joint": 20.0, "joint_at_recall": 30.0, "subjects": 100.0}


@pytest.fixture
def plan(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(PLAN.replace("max_relative_risk = 0.2", "joint_risk = 0.2"))
    write_key(tmp_path)
    return StudyPlan.read_file(path)


def test_a_sex_that_is_guessed_may_not_break_a_promised_joint_risk(plan):
    said = r"guesses sex from the texts above chance, and then the joint risk is 0\.3, above 0\.2"
    with pytest.raises(InfeasibleError, match=said):
        check_promise(plan, FIGURES, ["sex"], [])
    check_promise(plan, FIGURES, [], [])
    check_promise(plan, {**FIGURES, "joint_at_recall": 20.0}, ["sex"], [])


def test_parts_that_show_more_than_when_they_were_fitted_break_a_promised_joint_risk(plan):
    with pytest.raises(InfeasibleError, match=r"is 0\.21, above 0\.2: parts show more"):
        check_promise(plan, {**FIGURES, "joint": 21.0}, [], [])


@pytest.mark.parametrize(
    ("rows", "notes", "where"),
    [
        (["P1", " P1", "P2"], ["P1"], "parts.visits"),
        (["P1", "P2"], ["P1", "P2\t"], "parts.notes"),
        (["P1 ", "P2 "], ["P1 ", "P2 "], None),  # the same way everywhere
        ([1, 2], ["1", "2"], None),
    ],
)
def test_a_person_is_written_in_one_way_in_every_part(plan, tmp_path, rows, notes, where):
    for name, whose in (("visits", rows), ("notes", notes)):
        pq.write_table(pa.table({"person_id": whose}), tmp_path / f"{name}.parquet")
    if where is None:
        check_written_once(plan)
        return
    with pytest.raises(RequestError, match="with blanks around") as caught:
        check_written_once(plan)
    assert caught.value.where == where
    assert not any(one.strip() in str(caught.value) for one in ("P1", "P2"))


@pytest.mark.parametrize("nobody", [None, " "])
def test_a_row_of_nobody_is_refused(plan, tmp_path, nobody):
    pq.write_table(pa.table({"person_id": ["P1", nobody, nobody]}), tmp_path / "visits.parquet")
    with pytest.raises(RequestError, match=r"visits\.parquet has 2 rows without person_id; fill"):
        check_written_once(plan)
