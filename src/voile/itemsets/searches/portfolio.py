"""The default: run three searches, and keep the set that classifies unseen people best."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from voile.itemsets.measures.classification import FOLDS, CrossValidation, RocArea
from voile.itemsets.searches import best, joint
from voile.itemsets.searches.run import Indices, ItemsetsSearchLimit, ItemsetsSearchRun, SetUtility
from voile.itemsets.searches.unseen import NOTHING, SearchWay, affordable, has_many_ones, without

SLOWEST = "distcnt"

WAYS: Mapping[str, SearchWay] = {
    "joint": SearchWay(joint.explore, "mutual-information"),
    "best": SearchWay(best.explore, "mutual-information", several=True),
    "distcnt": SearchWay(best.explore, "distcnt"),
}


def explore(run: ItemsetsSearchRun) -> None:
    """Keep the set of `joint`, of `best`, or of `best` by DistCnt: the one that classifies best.

    Each set is built five times without a fifth of the people, for a proportionally smaller k. A
    logistic regression on its features is tested on that fifth. The search with the largest mean
    AUC then builds its set from all rows. `run.without` contains, for each fold, the features of
    the search that is best on the other folds. The AUC of the fold itself has no influence on that
    choice.

    - If features are given (numeric columns), one set of each search is built from all rows and
      tested. If `best` is kept, it then builds more sets.
    - With another utility, or without labels, the result is that of `best`.
    - With fewer than five people in all classes but one, the result is that of `joint`.
    - A limit that is reached during the test keeps the set of `joint`.

    Rows with more than four million ones have time for about one more search. One set of each
    search is built and tested. The set of `joint` is kept unless another leads by more than the
    paired interval. `distcnt`, the slowest, is first built from a sample, for a proportionally
    smaller k of at least 2. It is built from all rows only if the sample's set leads.
    """
    labels = run.worth.labels
    if labels is None or run.worth.name != WAYS["best"].utility:
        best.explore(run)
        return
    joint.explore(run)
    folds = run.folds or CrossValidation.of(run.rows, labels, run.rng)
    if folds is None:
        return
    (_unseen if affordable(run) else _in_sight)(run, folds)


def fallback(run: ItemsetsSearchRun) -> SearchWay:
    """Return the search that provides the set if not all searches could be tried."""
    return WAYS["joint" if run.worth.name == WAYS["best"].utility else "best"]


def _unseen(run: ItemsetsSearchRun, folds: CrossValidation) -> None:
    """Test sets that are built without the people of each fold."""
    shown, sets = folds.select_sampled(run.rows), {}
    for name in WAYS:
        sets[name] = [_built_without(run, name, folds, fold) for fold in range(FOLDS)]
        run.tried[name] = folds.auc([shown.project(one) for one in sets[name]])
        run.check_time()
    run.without = tuple(sets[_best(run.tried, but=fold)][fold] for fold in range(FOLDS))
    if (most := _best(run.tried)) != "joint":
        run.take(_search_all_rows(run, most))


def _best(tried: Mapping[str, RocArea], *, but: int | None = None) -> str:
    """Return the name of the search with the largest mean AUC, without fold `but` if given."""
    return max(tried, key=lambda name: tried[name].mean(but=but))


def _in_sight(run: ItemsetsSearchRun, folds: CrossValidation) -> None:
    """Test sets that are built from all rows.

    With many ones, `joint` is kept unless another leads.
    """
    many, shown, whole = has_many_ones(run), folds.select_sampled(run.rows), {"joint": run}
    for name in WAYS:
        if many and name == SLOWEST:
            part = without(
                run, WAYS[name], ~folds.sample, seconds=run.remaining_limits["seconds"], least=2
            )
            run.spend(part.evaluations if part else 0)
            found = part.best if part else NOTHING
        else:
            if name not in whole:
                whole[name] = _search_all_rows(run, name, 1)
            found = whole[name].best
        run.tried[name] = folds.auc([shown.project(found)] * FOLDS)
        run.check_time()
    if many and run.tried[SLOWEST].leads(run.tried["joint"]):
        whole[SLOWEST] = _search_all_rows(run, SLOWEST, 1)
        run.tried[SLOWEST] = folds.auc([shown.project(whole[SLOWEST].best)] * FOLDS)
    beyond = [x for x in run.tried if not many or run.tried[x].leads(run.tried["joint"])]
    most = max(beyond, key=lambda name: run.tried[name].value, default="joint")
    if most != "joint":
        run.take(whole[most] if many or not WAYS[most].several else _search_all_rows(run, most))


def _search_all_rows(
    run: ItemsetsSearchRun, name: str, most: int | None = None
) -> ItemsetsSearchRun:
    """Search all rows within the remaining limits. Build only `most` sets if given."""
    same = WAYS[name].utility == run.worth.name
    worth = run.worth if same else SetUtility.of(WAYS[name].utility, run.rows, run.worth.labels)
    left = run.remaining_limits if most is None else {**run.remaining_limits, "evaluations": most}
    other = ItemsetsSearchRun(
        worth, run.constraint, **left, rng=run.rng, given=run.given, among=run.among
    )
    with suppress(ItemsetsSearchLimit):
        WAYS[name].explore(other)
    run.spend(other.evaluations)
    return other


def _built_without(run: ItemsetsSearchRun, name: str, folds: CrossValidation, fold: int) -> Indices:
    """Return the set that a search builds without a fold, empty if none is feasible."""
    part = without(run, WAYS[name], folds.find_fold(fold), seconds=run.remaining_limits["seconds"])
    run.spend(part.evaluations if part else 0)
    return part.best if part else NOTHING
