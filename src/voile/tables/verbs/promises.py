"""Compute the least people of a group, and the least counts that marginals may imply."""

from __future__ import annotations

import math

from voile.report.suppression import FEW

LEAST_IMPLIED = "least_implied"
"""The least count of people that leaves and marginals together imply, and leaves alone do not."""


def least_of(k: int) -> int:
    """Return the least count that marginals may imply if groups have at least k people."""
    return max(FEW, k)


def least_people(k: int, max_risk: float) -> int:
    """Return the least number of people of any group, by k and by the largest risk."""
    return max(k, math.ceil(1 / max_risk - 1e-9))
