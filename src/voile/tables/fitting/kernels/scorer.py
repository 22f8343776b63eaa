"""Define the interface between searches and the code that scores policies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.bool_]
Sums = NDArray[np.float64]
"""Sums of shape (..., 3): the sum for risk, the sum for loss, and the suppressed subjects."""

RISK, LOSS, SUPPRESSED = range(3)
LARGEST, DISTRIBUTION, CERTAINTY, FIGURES = 3, 4, 5, 6
"""Positions of the additional sums for the figures of a policy. See `scratch.add_interval`."""


@dataclass(frozen=True, eq=False)
class ChainDescent:
    """Some steps of a steepest chain, each with all policies one merge further.

    Policy i has the sums `sums[i]`. It is `on_the_way[step[i]]` (steps, n_bits) without split point
    `bit[i]`.
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
    """A scorer of the policies of one lattice, (n_bits,) bool, by sums over generalised cells.

    `sizes` are the numbers of values of each attribute. Attribute d has sizes[d] - 1 bits. All sums
    are over cells. If the partition of the other attributes is fixed, they are therefore sums over
    the intervals of one attribute.
    """

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Return the number of values of each attribute on this lattice."""

    def score(self, policies: Bits) -> Sums:
        """Score (m, n_bits) policies from scratch."""

    def walk(self, start: Bits, order: NDArray[np.intp]) -> Iterator[Sums]:
        """Merge `start` at each bit of `order` in turn, and yield the sums after each merge.

        The sums are yielded in arrays of several merges.
        """

    def descend(
        self, start: Bits, free: Bits, *, rescue: bool, allowed: float
    ) -> Iterator[ChainDescent]:
        """Merge `start` at its `free` bits, each time where the most risk is removed for the loss.

        Merges that cost nothing come first. With `rescue`, while more than `allowed` subjects are
        suppressed, the share of them that a merge releases counts as removed risk.
        """

    def flips(self, policies: Bits) -> Sums:
        """Score all policies that differ from each of `policies` in one bit, (m, n_bits, 3)."""

    def intervals(self, attribute: int, policy: Bits, last: NDArray[np.int64]) -> Sums:
        """Score each interval of one attribute, with the others partitioned as in `policy`.

        The result is (values, values, 3): row i, column j is the interval from value i to j, up to
        `last[i]`.
        """
