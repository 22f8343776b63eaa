"""From weighted sums to losses and areas, never more than is proved."""

from __future__ import annotations

import numpy as np
import pytest

from voile.tables.policies.envelope import area, least_loss

ONE, TWO = np.array([1.0]), np.array([1.0, 3.0])


@pytest.mark.parametrize("least_risk", [0.01, 0.3])
def test_an_area_is_a_sum_from_below(least_risk):
    """Below loss + risk = 1, and nothing below the least risk: that much and (1 - least)^2 / 2."""
    exact = least_risk + (1 - least_risk) ** 2 / 2
    found = area(ONE, ONE[None], least_risk)
    assert found <= exact
    assert found == pytest.approx(exact, abs=1e-3)


def test_within_a_combo_the_greatest_line_counts_and_over_them_the_least():
    floors = np.array([[0.8, 1.2], [0.5, 1.4]])  # at risk .2: .6 and .6; .3 and .8
    assert least_loss([0.2], TWO, floors[:1], 0.0) == pytest.approx(0.6)
    assert least_loss([0.2], TWO, floors[1:], 0.0) == pytest.approx(0.8)
    assert least_loss([0.2], TWO, floors, 0.0) == pytest.approx(0.6)


def test_a_loss_is_at_most_one_at_least_none_and_one_where_there_is_no_policy():
    assert least_loss([0.1, 0.9], ONE, np.array([[0.5]]), 0.0).tolist() == [0.4, 0.0]
    assert least_loss([0.1], ONE, np.array([[7.0]]), 0.0) == 1.0
    assert least_loss([0.1], ONE, np.array([[0.5]]), 0.2) == 1.0


def test_one_risk_is_bounded_as_one_of_many():
    floors = np.array([[0.8, 1.2], [0.5, 1.4]])
    many = [0.0, 0.2, 0.9]
    each = [float(least_loss(risk, TWO, floors, 0.1)) for risk in many]
    assert each == least_loss(many, TWO, floors, 0.1).tolist()
