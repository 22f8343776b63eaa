"""Choose the next weight of risk against loss: a slope of the hull of the found policies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from voile.core.frontier import Frontier

if TYPE_CHECKING:
    from voile.tables.fitting.searches.run import TablesSearchRun

LEAST_RISK = 1e-6


def slopes(run: TablesSearchRun, first: int = 1) -> Iterator[float]:
    """Yield weights without end: slopes of the current hull at increasingly dense positions."""
    number = first
    while (weight := slope(run.found, place(number))) > 0:
        yield weight
        number += 1


def place(number: int) -> float:
    """Return a position in [0, 1), where later ones fall between earlier ones (van der Corput).

    >>> [place(number) for number in range(1, 6)]
    [0.5, 0.25, 0.75, 0.125, 0.625]
    """
    at, half = 0.0, 0.5
    while number:
        at, half, number = at + half * (number % 2), half / 2, number // 2
    return at


def slope(found: Frontier, at: float) -> float:
    """Return the weight at which the hull's policies on both sides of a position are equally good.

    Positions go from the least risk to the largest, half by risk and half by its logarithm. They
    therefore cover both the area and its low-risk end. The result is 0 if the hull has one corner.

    >>> found = Frontier.of([0.01, 0.1, 1], [1, .5, 0], np.zeros((3, 1)))
    >>> round(slope(found, .2), 3), round(slope(found, .5), 3)
    (5.556, 0.556)
    """
    from voile.tables.fitting.kernels.hull import lower_hull

    corners = lower_hull(found.risk.copy(), found.loss.copy())
    if len(corners) < 2:
        return 0.0
    risk, loss = found.risk[corners], found.loss[corners]
    along = _share(risk) / 2 + _share(np.log(np.maximum(risk, LEAST_RISK))) / 2
    edge = min(int(np.searchsorted(along, at, side="right")), len(corners) - 1)
    return float((loss[edge - 1] - loss[edge]) / (risk[edge] - risk[edge - 1]))


def _share(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the relative position of each value, evenly spaced if all values are equal."""
    if values[0] == values[-1]:
        return np.linspace(0.0, 1.0, len(values))
    share: NDArray[np.float64] = (values - values[0]) / (values[-1] - values[0])
    return share
