"""Searches as they run, and what their frontiers are held to."""

from __future__ import annotations

import numpy as np

from voile.tables.fitting.searches.run import TablesSearchRun


def run_of(space, **limits):
    none = {"evaluations": None, "seconds": None, "progress": None}
    return TablesSearchRun(space.evaluator, rng=np.random.default_rng(0), **(none | limits))


def assert_scores_as_from_scratch(evaluator, frontier):
    risk, loss = evaluator.evaluate(frontier.policies)
    np.testing.assert_allclose(frontier.risk, risk, atol=1e-10)
    np.testing.assert_allclose(frontier.loss, loss, atol=1e-10)
