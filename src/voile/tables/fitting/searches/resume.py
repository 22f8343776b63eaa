"""Start a search from the frontier of another search."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.core.frontier import Frontier
from voile.tables.fitting.scoring.evaluator import PolicyScores
from voile.tables.fitting.searches.run import TablesSearchRun

BATCH = 64
SAME = 1e-9


def continue_from(run: TablesSearchRun, start: Frontier) -> None:
    """Add the policies of `start` to a run, without those that are not allowed.

    The policies are scored, those that are far apart first. If no record may be suppressed, and the
    scores of the first 64 are those in `start`, the scores of the others are trusted. They do not
    count as evaluations. Cost: O(cells) for each scored policy.

    Raises
    ------
    RequestError : the frontier has policies of another table.
    """
    evaluator = run.evaluator
    if start.policies.dtype != np.bool_ or start.policies.shape[1:] != (evaluator.n_bits,):
        raise RequestError(
            "the frontier given is not of this table's policies",
            instead=f"a policy of this table is {evaluator.n_bits} booleans",
        )
    allowed = start.policies[:, evaluator.required].all(axis=1)
    allowed &= ~start.policies[:, evaluator.forbidden].any(axis=1)
    left = _far_apart(np.flatnonzero(allowed))
    run.taken_up = len(left)
    believed = False
    while len(left) and not believed:
        some, left = left[:BATCH], left[BATCH:]
        scores = evaluator.scores(start.policies[some])
        run.add(scores, start.policies[np.ix_(some, ~evaluator.forbidden)].__getitem__)
        believed = not evaluator.rules.active and _same(scores, start, some)
    said = PolicyScores(start.risk[left], start.loss[left], np.zeros(len(left)))
    run.take(said, start.policies[np.ix_(left, ~evaluator.forbidden)].__getitem__)


def _far_apart(indices: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return indices in an order in which the first ones are evenly spread.

    The order is by the largest power of 2 that divides the position.

    >>> _far_apart(np.arange(6)).tolist()
    [0, 4, 2, 1, 3, 5]
    """
    places = np.arange(len(indices))
    powers = np.where(places == 0, len(indices), places & -places)
    return indices[np.argsort(-powers, kind="stable")]


def _same(scores: PolicyScores, start: Frontier, some: NDArray[np.intp]) -> bool:
    return np.allclose(scores.risk, start.risk[some], rtol=0, atol=SAME) and np.allclose(
        scores.loss, start.loss[some], rtol=0, atol=SAME
    )
