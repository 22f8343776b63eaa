"""What must be read before anything is fitted: the plan for rates that are assumed."""

from __future__ import annotations

import pytest

from voile.core.errors import RequestError
from voile.documents.acceptance.forecast import HELD, TOP, assumed_scores, plan_for
from voile.documents.acceptance.plan import AcceptanceGoal


def test_assumed_scores_expect_the_rate_and_hold_most_of_it_at_the_top() -> None:
    scores = assumed_scores(10_000, 0.002)
    assert scores.sum() == pytest.approx(20)
    assert scores[: int(TOP * 10_000)].sum() == pytest.approx(HELD * 20)


def test_more_left_takes_more_reading_and_each_number_lies_where_its_name_says() -> None:
    plans = [
        one.plan
        for one in plan_for(45_000, 5_000, AcceptanceGoal(2.0), (0.2, 0.5, 1, 2, 3, 4), recall=0.97)
    ]
    assert all(plans)
    for one in plans:
        assert one is not None
        assert one.least <= one.expected <= one.most
    expected = [one.expected for one in plans if one is not None]
    assert expected == sorted(expected)


def test_a_rate_that_nothing_proves_is_named_beside_those_that_can_be_proved() -> None:
    found = plan_for(3_000, 0, AcceptanceGoal(8.0), (1, 500), recall=0.9)
    assert [one.plan is None for one in found] == [False, True]


def test_a_goal_that_no_rate_can_prove_is_refused_with_the_nearest() -> None:
    with pytest.raises(RequestError, match="ask for at most"):
        plan_for(3_000, 0, AcceptanceGoal(0.5), (0.1, 1), recall=0.9)
