"""What every wing's report draws alike: the policies of its frontier, and its columns."""

from __future__ import annotations

import pytest

from voile.report.sections import codebook, frontier_chart

FRONTIER = {"risk": [0.1, 0.4], "loss": [0.8, 0.2]}
RISK, LOSS = ("mean risk", "0: nobody"), ("loss", "1: all is lost")


@pytest.mark.parametrize(
    ("chosen", "marks"),
    [(None, ()), ({"risk": 0.4, "loss": 0.2}, (("chosen policy", 0.4, 0.2),))],
)
def test_a_frontier_is_drawn_with_its_axes_and_the_chosen_policy(chosen, marks):
    story = {"frontier": FRONTIER, **({"chosen": chosen} if chosen else {})}
    chart = frontier_chart(story, ["first", "second"], RISK, LOSS)
    assert (chart.risk, chart.loss, chart.described) == (
        (0.1, 0.4),
        (0.8, 0.2),
        ("first", "second"),
    )
    assert ((chart.risk_name, chart.risk_ends), (chart.loss_name, chart.loss_ends)) == (RISK, LOSS)
    assert chart.marks == marks
    assert chart.caption.startswith("2 policies that")


def test_one_policy_is_one():
    story = {"frontier": {"risk": [0.1], "loss": [0.8]}}
    assert frontier_chart(story, ["only"], RISK, LOSS).caption.startswith("1 policy that")


def test_the_codebook_has_a_row_for_each_column():
    age = {"column": "age", "role": "quasi", "what": "in tens", "from": "age"}
    (grid,) = codebook([age]).blocks
    assert grid.rows == (("age", "quasi", "in tens"),)
