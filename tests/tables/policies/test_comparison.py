"""Policies that beat another are picked unlike each other, and told apart in words."""

from __future__ import annotations

import numpy as np
import pytest

from voile.core.frontier import Frontier
from voile.tables.domains.domain import ValueDomain
from voile.tables.domains.parser import CellParser
from voile.tables.policies.comparison import in_words, most_different
from voile.tables.policies.policy import Policy

AGE = ValueDomain("age", tuple(range(11)), CellParser("integer"))
SEX = ValueDomain("sex", ("F", "M"), CellParser("text"))
ROWS = np.array([[1] * 10, [1] * 9 + [0], [0] * 5 + [1] * 5, [1] * 5 + [0] * 5], dtype=np.bool_)
FRONTIER = Frontier.of([0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4], ROWS)


def test_nothing_beats_the_frontier_itself():
    assert len(most_different(FRONTIER, FRONTIER.dominating(0.1, 0.4))) == 0
    assert len(most_different(FRONTIER, FRONTIER.dominating(0.05, 0.05))) == 0


def test_the_first_loses_least_and_the_next_are_farthest():
    picked = most_different(FRONTIER, FRONTIER.dominating(0.5, 0.5))
    assert sorted(picked.tolist()) == [0, 1, 3]
    assert most_different(FRONTIER, FRONTIER.dominating(0.5, 0.5), most=1).tolist() == [3]
    assert FRONTIER.loss[picked[0]] == 0.1


def test_policies_that_hardly_differ_are_not_picked():
    rows = np.ones((2, 200), dtype=np.bool_)
    rows[1, 0] = False
    frontier = Frontier.of([0.2, 0.1], [0.1, 0.2], rows)
    assert most_different(frontier, frontier.dominating(0.5, 0.5)).tolist() == [1]


def policy(*cuts):
    bits = np.zeros(11, dtype=np.bool_)
    bits[list(cuts)] = True
    return Policy((AGE, SEX), bits)


@pytest.mark.parametrize(
    ("own", "other", "said"),
    [
        (policy(3, 10), policy(3), "it keeps sex in 2 groups where it has 1; age stays as in it"),
        (
            policy(10),
            policy(3, 10),
            "it merges age into 1 group where it has 2; sex stays as in it",
        ),
        (policy(4), policy(3), "it cuts age elsewhere; sex stays as in it"),
    ],
)
def test_the_difference_is_said(own, other, said):
    assert (
        in_words(own, (0.1, 0.3), other, (0.2, 0.3), "it") == f"Risk 50% lower, loss equal: {said}."
    )


def test_a_score_of_nothing_is_no_ratio():
    said = in_words(policy(3), (0.1, 0.0), policy(4), (0.2, 0.0), "it")
    assert said.startswith("Risk 50% lower, loss equal")
