"""Compile every kernel now, rather than at the first search: python -m voile.tables.searches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voile.tables.counts import Constraints, Counts
from voile.tables.evaluator import Evaluator
from voile.tables.searches import STRATEGIES, search


@dataclass(frozen=True)
class _Space:
    evaluator: Evaluator


def main() -> None:
    """Run every strategy, with and without constraints, on four combinations."""
    codes = np.array([[0, 0], [0, 1], [1, 0], [2, 1]], dtype=np.int32)
    sample, people = np.array([1.0, 2.0, 1.0, 3.0]), np.array([2.0, 3.0, 4.0, 5.0])
    counts = Counts((3, 2), codes, sample, people, np.eye(4))
    for constraints in (Constraints(), Constraints(k=2, l_diversity=2, suppress=0.5)):
        for strategy in STRATEGIES:
            search(_Space(Evaluator(counts, constraints)), strategy=strategy, random_state=0)


if __name__ == "__main__":
    main()
