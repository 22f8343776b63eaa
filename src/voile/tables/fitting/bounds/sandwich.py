"""Choose the next weights of a proof, so that the bound on the area rises most."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.core.frontier import Frontier

Floats = NDArray[np.float64]

LEAST = 1e-6
MOST = 16


def between(weights: Floats, frontier: Frontier) -> Floats:
    """Return up to 16 weights between those given, the most promising first.

    The result is empty if no weight is promising. The bounds for two neighbouring weights are
    lines. At best they touch the hull of the frontier at the best policies for these weights. The
    lines and the chord of the two policies form a triangle. A line with the chord's slope cuts off
    most of it (the sandwich algorithm of Burkard, Hamacher and Rote 1991). Triangles of less than a
    millionth do not justify a weight.

    >>> frontier = Frontier.of([0, .2, 1], [1, .2, 0], np.zeros((3, 1)))
    >>> between(np.array([.1, 1, 9]), frontier).round(9).tolist()
    [0.25, 4.0]
    """
    asked = np.append(0.0, weights)
    values = frontier.loss + asked[:, None] * frontier.risk
    best = values.argmin(axis=1)
    risk, loss = frontier.risk[best], frontier.loss[best]
    corner = np.diff(values.min(axis=1)) / np.diff(asked)  # the risk at which two lines cross
    height = loss[:-1] - asked[:-1] * (corner - risk[:-1])
    across, down = risk[:-1] - risk[1:], loss[1:] - loss[:-1]
    triangle = (across * (loss[1:] - height) - down * (corner - risk[1:])) / 2
    worth = np.argsort(-triangle, kind="stable")[:MOST]
    worth = worth[triangle[worth] > LEAST]
    found: Floats = down[worth] / across[worth]
    return found
