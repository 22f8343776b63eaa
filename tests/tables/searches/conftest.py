"""Small random tables to search."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from voile.tables.counts import Constraints, Counts
from voile.tables.evaluator import Evaluator


@dataclass(frozen=True)
class Space:
    """The least that a search needs."""

    evaluator: Evaluator


@pytest.fixture(scope="session")
def small_space():
    """Make a space from a seed: all the same but for the constraints given."""

    def make(seed, *, sizes=(3, 2, 4), spread=False, **constraints):
        rng = np.random.default_rng(seed)
        cells = np.stack(np.unravel_index(np.arange(math.prod(sizes)), sizes), axis=1)
        cells = cells[np.sort(rng.permutation(len(cells))[: rng.integers(2, len(cells) + 1)])]
        if spread:  # the same cells, far apart in a domain too large for a table of all keys
            sizes, cells = tuple(size * 997 for size in sizes), cells * 997
        sample = rng.integers(0, 6, len(cells)) * rng.choice([1.0, 1.0, 0.5], len(cells))
        sample[0] += 1
        people = sample + rng.integers(0, 9, len(cells)) * rng.integers(0, 2, len(cells))
        sensitive = sample[:, None] * (rng.random((len(cells), 4)) < 0.4)
        counts = Counts(sizes, cells.astype(np.int32), sample, people, sensitive)
        return Space(Evaluator(counts, Constraints(**constraints)))

    return make
