"""A made-up county: 20,000 people, a release of some of them, and a register with errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from voile.tables.attack.model import HitMiss
from voile.tables.attack.records import IntervalRecords

COLUMNS = ("age", "sex", "race", "zip")
PEOPLE = 20_000


@dataclass(frozen=True)
class County:
    people: NDArray[np.int32]
    register: NDArray[np.int32]
    released: NDArray[np.int64]
    held_out: NDArray[np.int64]

    def records(
        self, codes: NDArray[np.int32], who: NDArray[np.int64], widths: tuple[int, ...]
    ) -> IntervalRecords:
        """Generalise to intervals of the given widths in each column."""
        cut = np.where(codes[who] < 0, -1, codes[who] // np.array(widths))
        return IntervalRecords(cut.astype(np.int32), who)


def _county() -> County:
    rng = np.random.default_rng(2013)
    n = PEOPLE
    people = np.column_stack(
        [
            rng.integers(0, 95, n),
            rng.integers(0, 2, n),
            rng.choice(5, n, p=[0.78, 0.13, 0.05, 0.03, 0.01]),
            np.minimum(rng.geometric(0.05, n), 40) - 1,
        ]
    ).astype(np.int32)
    register = people.copy()
    off = rng.random(n) < 0.05
    register[off, 0] = np.clip(register[off, 0] + rng.choice([-1, 1], off.sum()), 0, 94)
    moved = rng.random(n) < 0.08
    register[moved, 3] = rng.permutation(people[:, 3])[moved]
    register[rng.random(n) < 0.03, 2] = -1
    order = rng.permutation(n).astype(np.int64)
    return County(people, register, order[:3000], order[3000:4000])


@pytest.fixture(scope="session")
def county() -> County:
    return _county()


@pytest.fixture(scope="session")
def beliefs() -> HitMiss:
    return HitMiss(np.array([0.05, 0.0, 0.0, 0.08]), 1.0)
