"""Define the interface between searches and the code that scores policies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.bool_]
Sums = NDArray[np.float64]
"""(..., 3): the sum behind risk, the sum behind loss, the subjects suppressed."""

RISK, LOSS, SUPPRESSED = range(3)
LARGEST, DISTRIBUTION, CERTAINTY, FIGURES = 3, 4, 5, 6
"""The additional sums for the figures of a policy: `scratch.add_interval`."""


@dataclass(frozen=True, eq=False)
class ChainDescent:
    """Some steps of a steepest chain, each with all policies one merge further.

    Policy i, of `sums[i]`, is `on_the_way[step[i]]` (steps, n_bits) without cut `bit[i]`.
    """

    on_the_way: Bits
    step: NDArray[np.integer]
    bit: NDArray[np.integer]
    sums: Sums

    def policies(self, which: NDArray[np.intp]) -> Bits:
        rows: Bits = self.on_the_way[self.step[which]]
        rows[np.arange(len(which)), self.bit[which]] = False
        return rows


class PolicyScorer(Protocol):
    """Scores the policies of one lattice, (n_bits,) bool, by sums over generalised cells.

    `sizes` are the values of each attribute; attribute d has sizes[d] - 1 bits. All sums are
    over cells, so that with the other attributes' partition fixed they are sums over the
    intervals of one attribute.
    """

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Values of each attribute, on this lattice."""

    def score(self, policies: Bits) -> Sums:
        """Score (m, n_bits) policies from scratch."""

    def walk(self, start: Bits, order: NDArray[np.intp]) -> Iterator[Sums]:
        """Merge `start` at each cut of `order` in turn; yield the sums after each, in pieces."""

    def descend(
        self, start: Bits, free: Bits, *, rescue: bool, allowed: float
    ) -> Iterator[ChainDescent]:
        """Merge `start` at its `free` cuts, each time where most risk goes for the loss.

        Merges that cost nothing come first. With `rescue`, while more than `allowed` subjects
        are suppressed the share of them that a merge frees counts as risk taken away.
        """

    def flips(self, policies: Bits) -> Sums:
        """Score what differs in one cut from each of `policies`: (m, n_bits, 3)."""

    def intervals(self, attribute: int, policy: Bits, last: NDArray[np.int64]) -> Sums:
        """Score each interval of one attribute, the others partitioned as in `policy`.

        (values, values, 3): row i, column j is the interval from value i to j, up to `last[i]`.
        """
