"""Select the features of the largest utility that may be published together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voile.core.errors import RequestError, nearest
from voile.core.interruption import ctrl_c
from voile.itemsets.measures.classification import CrossValidation, RocArea
from voile.itemsets.measures.feasibility import Constraint
from voile.itemsets.paper import maximal, selectors
from voile.itemsets.rows.incidence import Incidence
from voile.itemsets.rows.labels import LabelsLike
from voile.itemsets.searches import best, exact, greedy, joint, portfolio
from voile.itemsets.searches.bounds import utility_bound
from voile.itemsets.searches.run import ItemsetsSearchLimit, ItemsetsSearchRun, SetUtility
from voile.itemsets.searches.unseen import SearchWay, affordable, without_each

__all__ = ["METHODS", "Selection", "SelectionMethod", "bound_of", "select"]


@dataclass(frozen=True)
class SelectionMethod:
    """A search with its options.

    - `utility` : the method's own utility, if any.
    - `exact` : whether it searches under exact k-anonymity.
    - `unique` : whether it can limit the share of unique rows.
    - `given` : whether it can start with features that are published in any case.
    - `without` : returns the search to repeat without each fold, to test the choice on other
      people. It returns None if that takes too long.
    """

    explore: Callable[[ItemsetsSearchRun], None]
    utility: str | None = None
    exact: bool = False
    unique: bool = False
    given: bool = True
    without: Callable[[ItemsetsSearchRun], SearchWay | None] = field(default=lambda run: None)


def _as(
    explore: Callable[[ItemsetsSearchRun], None], *, several: bool = False
) -> Callable[[ItemsetsSearchRun], SearchWay]:
    """Repeat the same search. `several` : it would build many sets."""
    return lambda run: SearchWay(explore, run.worth.name, several)


def _paper(
    explore: Callable[[ItemsetsSearchRun], None], utility: str, *, exact: bool = False
) -> SelectionMethod:
    return SelectionMethod(explore, utility=utility, exact=exact, without=_as(explore))


METHODS: Mapping[str, SelectionMethod] = {
    "portfolio": SelectionMethod(portfolio.explore, without=portfolio.fallback),
    "best": SelectionMethod(best.explore, without=_as(best.explore, several=True)),
    "greedy": SelectionMethod(greedy.explore, without=_as(greedy.explore, several=True)),
    "exact": SelectionMethod(exact.explore, given=False, without=_as(best.explore, several=True)),
    "joint": SelectionMethod(joint.explore, unique=True, without=_as(joint.explore)),
    "maximal": SelectionMethod(maximal.explore, given=False),
    "paper-hamdist": _paper(selectors.hamdist, "hamdist"),
    "paper-distcnt": _paper(selectors.distcnt, "distcnt"),
    "cm-greedy": _paper(selectors.cm, "cm"),
    "k-anonymity-hamdist": _paper(selectors.hamdist, "hamdist", exact=True),
    "k-anonymity-distcnt": _paper(selectors.distcnt, "distcnt", exact=True),
}


@dataclass(frozen=True, eq=False)
class Selection:
    """The features that a search selected.

    Parameters
    ----------
    features : (selected,) int32, their numbers, rising. They meet the constraint.
    utility : the utility of the set, in the unit of `utility_name` ("weights" for given weights).
    bound : no feasible set has a larger utility. None if nothing is proven.
    constraint : the required constraint.
    evaluations : number of sets that were built or, in exact search, examined.
    method, stopped : the method. `finished`, `evaluations`, `seconds` or `interrupted`.
    tried : for the method `portfolio`, the AUC of each search on people that it did not see.
    without : the features selected without the people of each fold, if folds were given. None if
        that takes too long.
    """

    features: NDArray[np.int32]
    utility: float
    utility_name: str
    bound: float | None
    constraint: Constraint
    evaluations: int
    method: str
    stopped: str
    tried: Mapping[str, RocArea] = field(default_factory=dict)
    without: tuple[NDArray[np.int32], ...] | None = None


def select(
    X: Any,
    y: LabelsLike | None = None,
    *,
    constraint: Constraint,
    method: str = "portfolio",
    utility: str | ArrayLike = "mutual-information",
    evaluations: int | None = None,
    seconds: float | None = None,
    random_state: int | np.random.Generator | None = None,
    unique: float = 1.0,
    given: ArrayLike = (),
    among: ArrayLike | None = None,
    folds: CrossValidation | None = None,
) -> Selection:
    """Select features that meet a constraint together, with the largest utility that can be found.

    The same seed and number of evaluations give the same features.

    Parameters
    ----------
    X : an `Incidence`, or input of `Incidence.of`.
    y : (rows,) labels. None if the utility needs none.
    constraint : k, and the adversary's possible knowledge.
    method : one of `METHODS`. Methods of the paper have their own utility.
    utility : one of `UTILITIES`, `distcnt`, or (features,) weights. Features of a weight of 0 or
        less are never selected.
    evaluations : maximum number of sets to build, >= 1. None for as many as the method needs.
    seconds : time limit, > 0. One block of features may exceed it.
    random_state : seed or generator, for random methods.
    unique : maximum share of unique rows, in [0, 1]. Only the method `joint` accepts less than 1.
    given : numbers of features that are published in any case. Not for `exact` and `maximal`.
    among : numbers of the features that may be selected in addition. None for all.
    folds : folds of people. The selection is repeated without each fold. This takes five more
        searches, or few more if the method does so in any case.

    Returns
    -------
    Selection : empty only if no feature has a positive weight. Ctrl-C returns the best set so far.

    Raises
    ------
    InfeasibleError : no feature meets the constraint. The message contains the largest k that a
        feature meets. Also if the given features do not meet the constraint together.
    RequestError : k exceeds the number of subjects, or the method or utility is unknown. Also a
        missing label, a utility that the method does not accept, or a limit out of range.

    >>> rows = np.array([[1, 1, 0], [1, 1, 0], [1, 0, 1], [0, 0, 1]])
    >>> chosen = select(rows, constraint=Constraint(k=2), utility="coverage")
    >>> chosen.features.tolist(), round(chosen.utility, 3), chosen.bound == chosen.utility
    ([0, 1], 0.714, True)
    """
    if method not in METHODS:
        raise RequestError(f"no method {method!r}", instead=nearest(method, METHODS))
    if evaluations is not None and evaluations < 1:
        raise RequestError("evaluations must be at least 1")
    if seconds is not None and not seconds > 0:
        raise RequestError("seconds must be more than 0")
    if not 0 <= unique <= 1:
        raise RequestError("unique must be a share from 0 to 1")
    how = METHODS[method]
    if unique < 1 and not how.unique:
        raise RequestError(f"{method} keeps to no share of unique rows", instead="use joint")
    given = np.unique(np.asarray(given, dtype=np.int32))
    if len(given) and not how.given:
        raise RequestError(
            f"the method {method} takes no columns of numbers, nor other features that are given",
            instead="use portfolio, best, greedy or joint",
        )
    if how.exact:
        constraint = replace(constraint, m=None, absences=True)
    run = ItemsetsSearchRun(
        SetUtility.of(utility if how.utility is None else how.utility, Incidence.of(X), y),
        constraint,
        evaluations=evaluations,
        seconds=seconds,
        rng=np.random.default_rng(random_state),
        unique=unique,
        given=given,
        among=None if among is None else np.asarray(among),
        folds=folds,
    )
    stopped = _explore(run, how)
    return Selection(
        features=run.best,
        utility=run.utility,
        utility_name=run.worth.name,
        bound=run.bound,
        constraint=constraint,
        evaluations=run.evaluations,
        method=method,
        stopped=stopped,
        tried=run.tried,
        without=run.without,
    )


def _explore(run: ItemsetsSearchRun, how: SelectionMethod) -> str:
    if not len(run.candidates):  # no feature has a weight
        run.bound = run.utility
        return "finished"
    stopped = "finished"
    try:
        with ctrl_c():
            try:
                how.explore(run)
            except ItemsetsSearchLimit as limit:
                stopped = limit.reason
            _choose_without_folds(run, how)
    except KeyboardInterrupt:
        if not len(run.best):
            raise
        return "interrupted"
    return stopped


def _choose_without_folds(run: ItemsetsSearchRun, how: SelectionMethod) -> None:
    way = how.without(run)
    if run.folds is not None and run.without is None and way is not None and affordable(run):
        run.without = without_each(run, way, run.folds)


def bound_of(found: Selection, worth: SetUtility) -> float:
    """Return an upper bound of the utility of every feasible set.

    The bound is proved by the search or by `utility_bound`.
    """
    if found.bound == found.utility:
        return found.bound
    least = min(found.bound or np.inf, utility_bound(worth, found.constraint))
    return max(found.utility, least)
