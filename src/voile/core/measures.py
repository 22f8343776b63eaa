"""Describe a risk or a loss: its name, unit, bounds, direction, monotonicity and source.

A measure is only a description here. The modules of each kind of data compute the numbers. A search
may prune with a measure only if it declares the monotonicity that pruning needs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Direction = Literal["lower", "higher"]
Monotone = Literal["falls", "rises", "neither"]


@dataclass(frozen=True)
class DisplayMeasure:
    """The description of one number that a person reads.

    Parameters
    ----------
    name : the identifier used everywhere, e.g. ``relative_risk``.
    title : its name on a screen.
    unit : e.g. ``share``, ``probability``, ``nats``, ``records``.
    formula : one line of plain text.
    bounds : legal interval, closed.
    better : whether ``lower`` or ``higher`` values protect more (a risk) or preserve more (a loss).
    generalising : its change as a policy becomes more general: ``falls``, ``rises``, ``neither``.
    source : the paper and equation that define it.
    """

    name: str
    title: str
    unit: str
    formula: str
    bounds: tuple[float, float] = (0.0, 1.0)
    better: Direction = "lower"
    generalising: Monotone = "neither"
    source: str = ""

    def check(self, value: float) -> float:
        """Return `value`, moved into the bounds if it exceeds them only by rounding.

        Raises
        ------
        ValueError : the value is outside the bounds or NaN.
        """
        low, high = self.bounds
        within = min(max(value, low), high)
        if not math.isclose(value, within, rel_tol=1e-9, abs_tol=1e-9):
            raise ValueError(f"{self.name} = {value!r} lies outside [{low}, {high}]")
        return within

    def worst(self, values: Sequence[float]) -> float:
        """Return the value that protects or preserves least."""
        return max(values) if self.better == "lower" else min(values)
