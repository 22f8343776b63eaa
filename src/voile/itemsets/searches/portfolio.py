"""The default: of three searches, the one whose sets classify best on people it did not see."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import InfeasibleError
from voile.itemsets.measures.classification import FOLDS, CrossValidation
from voile.itemsets.searches import best, joint
from voile.itemsets.searches.run import Indices, Limit, Run, Worth

MOST_ONES = 2**22
FEW_SETS = 5
SLOWEST = "distcnt"


@dataclass(frozen=True)
class Way:
    """A search and the utility that it maximises; `several`: it builds more than one set."""

    explore: Callable[[Run], None]
    utility: str
    several: bool = False


WAYS: Mapping[str, Way] = {
    "joint": Way(joint.explore, "mutual-information"),
    "best": Way(best.explore, "mutual-information", several=True),
    "distcnt": Way(best.explore, "distcnt"),
}


def explore(run: Run) -> None:
    """Keep the set of `joint`, of `best`, or of `best` by DistCnt: the one that classifies best.

    Each is built five times without a fifth of the people, for a k smaller by as much, and a
    logistic regression on its features is tried on that fifth; of the largest mean AUC, the set is
    built of all rows. Where columns of numbers are given, one set of each is built of all rows and
    tried; only `best`, if it is kept, goes on to more. With another utility, without labels, or
    with fewer than five people in all classes but one, this is `best`, or in the last case `joint`.
    A limit during the trial keeps the set of `joint`.

    Rows with more than four million ones have the time of about one more search: one set of each is
    built and tried, and that of `joint` is kept unless another leads by more than the paired
    interval. `distcnt`, the slowest, is first built of a sample, for a k smaller by as much but at
    least 2, and of all rows only where it leads even so.
    """
    labels = run.worth.labels
    if labels is None or run.worth.name != WAYS["best"].utility:
        best.explore(run)
        return
    joint.explore(run)
    folds = CrossValidation.of(run.rows, labels, run.rng)
    if folds is None:
        return
    many = len(run.rows.items) > MOST_ONES
    unseen = not len(run.given) and not many
    shown, whole = folds.shown(run.rows), {"joint": run}
    for name in WAYS:
        if unseen:
            sets = [_built_without(run, name, folds.hidden(fold)) for fold in range(FOLDS)]
        elif many and name == SLOWEST:
            sets = [_built_without(run, name, ~folds.sample, least=2)] * FOLDS
        else:
            if name not in whole:
                whole[name] = _built(run, name, 1)
            sets = [whole[name].best] * FOLDS
        run.tried[name] = folds.auc([shown.project(one) for one in sets])
        run.check_time()
    if many and run.tried[SLOWEST].leads(run.tried["joint"]):
        whole[SLOWEST] = _built(run, SLOWEST, 1)
        run.tried[SLOWEST] = folds.auc([shown.project(whole[SLOWEST].best)] * FOLDS)
    beyond = [x for x in run.tried if not many or run.tried[x].leads(run.tried["joint"])]
    most = max(beyond, key=lambda name: run.tried[name].value, default="joint")
    if most != "joint":
        run.take(whole[most] if many or not (unseen or WAYS[most].several) else _built(run, most))


def _built(run: Run, name: str, most: int | None = None) -> Run:
    """Search all rows, within what is left of the limits, for `most` sets where given."""
    same = WAYS[name].utility == run.worth.name
    worth = run.worth if same else Worth.of(WAYS[name].utility, run.rows, run.worth.labels)
    left = run.left if most is None else {**run.left, "evaluations": most}
    other = Run(worth, run.constraint, **left, rng=run.rng, given=run.given, among=run.among)
    with suppress(Limit):
        WAYS[name].explore(other)
    run.spend(other.evaluations)
    return other


def _built_without(run: Run, name: str, hidden: NDArray[np.bool_], *, least: int = 1) -> Indices:
    """Return the set that a search builds without some rows; none where none is feasible."""
    assert run.worth.labels is not None
    rows, labels = run.rows.among(~hidden), run.worth.labels.among(~hidden)
    k = round(run.constraint.k * rows.n_subjects / run.rows.n_subjects)
    constraint, left = replace(run.constraint, k=max(k, least)), run.left["seconds"]
    worth = Worth.of(WAYS[name].utility, rows, labels)
    try:
        part = Run(
            worth, constraint, evaluations=FEW_SETS, seconds=left, rng=run.rng, among=run.among
        )
    except InfeasibleError:
        return np.zeros(0, dtype=np.int32)
    with suppress(Limit):
        WAYS[name].explore(part)
    run.spend(part.evaluations)
    return part.best
