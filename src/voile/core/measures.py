"""Describe a risk or a loss: its name, unit, bounds, direction, monotonicity and source.

A measure here is a description; the wings compute the numbers. A search may prune with a
measure only when it declares the monotonicity that pruning needs.
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
    """Describe one number that reaches a person.

    Parameters
    ----------
    name : the word used everywhere for it, e.g. ``relative_risk``.
    title : its name on a screen.
    unit : e.g. ``share``, ``probability``, ``nats``, ``records``.
    formula : one line of plain text.
    bounds : legal interval, closed.
    better : whether ``lower`` or ``higher`` values protect (a risk) or keep (a loss) more.
    generalising : its change as a policy becomes more general: ``falls``, ``rises``, ``neither``.
    source : the paper and equation it comes from.
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
        """Return `value`, or raise ``ValueError`` if it is outside the bounds or NaN."""
        low, high = self.bounds
        within = min(max(value, low), high)
        if not math.isclose(value, within, rel_tol=1e-9, abs_tol=1e-9):
            raise ValueError(f"{self.name} = {value!r} lies outside [{low}, {high}]")
        return within

    def worst(self, values: Sequence[float]) -> float:
        """Return the value that protects, or keeps, least."""
        return max(values) if self.better == "lower" else min(values)
