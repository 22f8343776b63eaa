"""Build sets without the people of a fold, to test the choice on these people."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import InfeasibleError
from voile.itemsets.measures.classification import FOLDS, CrossValidation
from voile.itemsets.searches.run import Indices, ItemsetsSearchLimit, ItemsetsSearchRun, SetUtility

MOST_ONES = 2**22
"""Rows with more ones are searched only once, because so many people hardly bias a choice."""
FEW_SETS = 5
NOTHING: Indices = np.zeros(0, dtype=np.int32)


@dataclass(frozen=True)
class SearchWay:
    """A search and the utility that it maximises. `several` : it builds more than one set."""

    explore: Callable[[ItemsetsSearchRun], None]
    utility: str
    several: bool = False


def affordable(run: ItemsetsSearchRun) -> bool:
    """Return whether the search can be repeated for each fold.

    It cannot if there are many ones or given features.
    """
    return not len(run.given) and not has_many_ones(run)


def has_many_ones(run: ItemsetsSearchRun) -> bool:
    """Return whether the rows have so many ones that each search should run only once."""
    return len(run.rows.items) > MOST_ONES


def without_each(
    run: ItemsetsSearchRun, way: SearchWay, folds: CrossValidation
) -> tuple[Indices, ...]:
    """Return the set that a search builds without each fold, within the run's time limit."""
    seconds = None if run.seconds is None else run.seconds / FOLDS
    parts = (without(run, way, folds.find_fold(fold), seconds=seconds) for fold in range(FOLDS))
    return tuple(NOTHING if part is None else part.best for part in parts)


def without(
    run: ItemsetsSearchRun,
    way: SearchWay,
    hidden: NDArray[np.bool_],
    *,
    seconds: float | None,
    least: int = 1,
) -> ItemsetsSearchRun | None:
    """Search without some rows, for a proportionally smaller k of at least `least`.

    Returns None if nothing is feasible.
    """
    labels = run.worth.labels
    rows = run.rows.among(~hidden)
    k = round(run.constraint.k * rows.n_subjects / run.rows.n_subjects)
    known = run.worth.weights if way.utility == "weights" else None  # weights given by the user
    utility = way.utility if known is None else known
    worth = SetUtility.of(utility, rows, None if labels is None else labels.among(~hidden))
    try:
        part = ItemsetsSearchRun(
            worth,
            replace(run.constraint, k=max(k, least)),
            evaluations=FEW_SETS if way.several else None,
            seconds=seconds,
            rng=run.rng,
            unique=run.unique,
            among=run.among,
        )
        with suppress(ItemsetsSearchLimit):
            if len(part.candidates):
                way.explore(part)
    except InfeasibleError:
        return None
    return part
