"""Examples of `theory/game`."""

from __future__ import annotations

from fractions import Fraction

from voile.documents.theory.counts import TokenConfusion
from voile.documents.theory.game import (
    change_by_type,
    cost,
    cost_by_type,
    is_local_optimum,
    utility,
)


def test_examples_of_cost():
    assert cost(missed=3, lost=7, miss_cost=10) == Fraction(37, 1)


def test_examples_of_cost_by_type():
    assert cost_by_type([3, 1], lost=7, costs=[10, 2]) == Fraction(39, 1)


def test_examples_of_change_by_type():
    assert change_by_type([3, 1], lost=7, costs=[10, 2]) == Fraction(-25, 1)


def test_examples_of_is_local_optimum():
    assert is_local_optimum(TokenConfusion(tp=1, fp=50, tn=850, fn=99), miss_cost=50)
    assert not is_local_optimum(TokenConfusion(tp=1, fp=50, tn=850, fn=99), miss_cost=51)


def test_examples_of_utility():
    assert utility(TokenConfusion(tp=1, fp=3, tn=12, fn=4), inspections=6) == Fraction(3, 2)
