"""The area under the frontier after so many evaluations, all from one pass of a search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from voile.core.frontier import Frontier
from voile.tables.fitting.scoring.evaluator import Policies, PolicyEvaluator, PolicyScores
from voile.tables.fitting.searches.run import TablesSearchLimit, TablesSearchRun

Method = Callable[[TablesSearchRun], None]


class Marked(TablesSearchRun):
    """A run that stops at the last of `marks`, and has a checkpoint at each of them."""

    def __init__(self, evaluator: PolicyEvaluator, marks: Sequence[int], seed: int) -> None:
        rng = np.random.default_rng(seed)
        super().__init__(evaluator, evaluations=marks[-1], seconds=None, rng=rng, progress=None)
        self.marks = np.array(marks)

    def add(self, scores: PolicyScores, rows: Callable[[NDArray[np.intp]], Policies]) -> None:
        """Take in a batch up to each mark in turn."""
        begin, scored = 0, len(scores.risk)
        while begin < scored:
            room = self.marks[np.searchsorted(self.marks, self.evaluations, side="right")]
            end = min(begin + int(room) - self.evaluations, scored)
            piece = slice(begin, end)
            super().add(
                PolicyScores(scores.risk[piece], scores.loss[piece], scores.suppressed[piece]),
                lambda indices, offset=begin: rows(indices + offset),
            )
            begin = end


def areas(
    evaluator: PolicyEvaluator, method: Method, marks: Sequence[int], seed: int
) -> tuple[NDArray[np.float64], Frontier]:
    """Return the area at each mark, and the frontier at the last; a search's own end holds on."""
    run = Marked(evaluator, marks, seed)
    with suppress(TablesSearchLimit):
        run.begin()
        method(run)
    made = np.array([point.evaluations for point in run.checkpoints])
    at = np.searchsorted(made, marks, side="right") - 1
    return np.array([point.area for point in run.checkpoints])[at], run.frontier()
