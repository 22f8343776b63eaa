"""A grid of round numbers on which the split points of a column are placed.

A split point at a person's value, or halfway between two people's values, would reveal them. Split
points are therefore multiples of a step. The candidates depend only on the number of rows between
multiples, not on the positions of the rows between them. If every value moves within its cell of
the grid, the candidates stay the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.core.round_cuts import roundest

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

LEAST_CELLS = 20
"""The smallest number of grid cells for the middle of a column."""
MIDDLE = (0.05, 0.95)
MOST_CUTS = 31
NUMBERS = tuple((size, power) for power in range(18, -13, -1) for size in (5, 1))
MONTHS = ((120, 0), (60, 0), (12, 0), (3, 0), (1, 0))


@dataclass(frozen=True)
class LadderStep:
    """A step of `size` times ten to the `power`.

    Each step of a ladder divides the steps before it.
    """

    size: int
    power: int

    @classmethod
    def from_decimal(cls, step: Decimal) -> LadderStep:
        """Convert a step that a user declared.

        >>> LadderStep.from_decimal(Decimal("0.25")), LadderStep.from_decimal(Decimal(500))
        (LadderStep(size=25, power=-2), LadderStep(size=5, power=2))
        """
        sign, digits, power = step.normalize().as_tuple()
        if sign or not isinstance(power, int) or not any(digits):
            raise RequestError("a step is a number above 0")
        return cls(int("".join(map(str, digits))), power)

    def multiples(self, places: NDArray[np.integer] | Floats) -> Floats:
        """Return the multiples at these places, each the float nearest to the decimal."""
        scaled = np.asarray(places, dtype=np.float64) * self.size
        found: Floats = scaled * 10.0**self.power if self.power >= 0 else scaled / 10.0**-self.power
        return found

    def cells(self, numbers: Floats) -> Floats:
        """Return the place of the multiple at or below each number, as whole floats."""
        width = self.size * 10.0**self.power
        places = np.floor(numbers / width)
        places += numbers >= self.multiples(places + 1)
        places -= numbers < self.multiples(places)
        return places


def ladder(*, dates: bool, whole: bool) -> Iterator[LadderStep]:
    """Yield the steps to try, the coarsest first. For whole numbers, the last step is 1."""
    steps = MONTHS if dates else NUMBERS
    return (LadderStep(size, power) for size, power in steps if power >= 0 or not whole)


def find_step(numbers: Floats, counts: Integers, *, dates: bool, whole: bool) -> LadderStep:
    """Return the coarsest step that divides the middle 90% of the rows into at least 20 cells.

    `numbers` are distinct and in rising order. If a single number fills the middle, it is ignored.
    The finest step is returned if no step suffices.
    """
    low, high = _middle(numbers, counts)
    if low == high:
        others = numbers != low
        low, high = _middle(numbers[others], counts[others]) if others.any() else (low, high)
    for step in ladder(dates=dates, whole=whole):
        first, last = step.cells(np.array([low, high]))
        if last - first >= LEAST_CELLS:
            break
    return step


def candidates(
    numbers: Floats, counts: Integers, step: LadderStep, *, most: int = MOST_CUTS
) -> tuple[float, ...]:
    """Return at most `most` multiples of the step, with similar numbers of rows between them.

    A cell counts for at most half of the rows between two split points. The other rows are
    therefore divided too if many rows have the same number. The split point between two occupied
    cells is the roundest multiple.

    >>> ages = np.array([17.0, 18.0, 30.0, 64.0])
    >>> candidates(ages, np.array([1, 1, 1, 1]), LadderStep(1, 0))
    (18.0, 20.0, 50.0)
    """
    cells, of = np.unique(step.cells(numbers), return_inverse=True)
    held = np.bincount(of, counts)
    share = np.cumsum(np.minimum(held, held.sum() / (2 * most + 2)))
    wanted = np.arange(1, most + 1) / (most + 1)
    at = np.unique(np.searchsorted(share / share[-1], wanted - 1e-9)) + 1
    between = ((int(cells[x - 1]), int(cells[x])) for x in at if x < len(cells))
    return tuple(step.multiples(np.array([float(roundest(*ends)) for ends in between])).tolist())


def _middle(numbers: Floats, counts: Integers) -> tuple[float, float]:
    reached = np.cumsum(counts) / counts.sum()
    low, high = (float(numbers[np.searchsorted(reached, share - 1e-9)]) for share in MIDDLE)
    return low, high
