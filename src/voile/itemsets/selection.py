"""Choose the features that may be shared and are worth most."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voile.core.errors import RequestError, nearest
from voile.core.interruption import ctrl_c
from voile.itemsets.measures.feasible import Constraint
from voile.itemsets.paper import maximal, selectors
from voile.itemsets.rows.incidence import Incidence
from voile.itemsets.rows.labels import LabelsLike
from voile.itemsets.searches import best, exact, greedy, joint
from voile.itemsets.searches.bounding import clash_bound
from voile.itemsets.searches.run import Limit, Run, Worth

__all__ = ["METHODS", "Method", "Selection", "bound_of", "select"]


@dataclass(frozen=True)
class Method:
    """A search, and what it insists on.

    Parameters
    ----------
    explore : offers feasible sets to a run.
    utility : the only one it knows; None takes the user's.
    exact : whether it asks for exact k-anonymity, whatever the constraint says of m and absences.
    unique : whether it keeps to a share of unique rows.
    """

    explore: Callable[[Run], None]
    utility: str | None = None
    exact: bool = False
    unique: bool = False


METHODS: Mapping[str, Method] = {
    "best": Method(best.explore),
    "greedy": Method(greedy.explore),
    "exact": Method(exact.explore),
    "joint": Method(joint.explore, unique=True),
    "maximal": Method(maximal.explore),
    "paper-hamdist": Method(selectors.hamdist, utility="hamdist"),
    "paper-distcnt": Method(selectors.distcnt, utility="distcnt"),
    "cm-greedy": Method(selectors.cm, utility="cm"),
    "k-anonymity-hamdist": Method(selectors.hamdist, utility="hamdist", exact=True),
    "k-anonymity-distcnt": Method(selectors.distcnt, utility="distcnt", exact=True),
}


@dataclass(frozen=True, eq=False)
class Selection:
    """Hold the features a search chose.

    Parameters
    ----------
    features : (chosen,) int32, their numbers, rising; they meet the constraint.
    utility : what they are worth, in the unit of the utility named.
    utility_name : `weights` for a user's own.
    bound : no feasible set is worth more than this; None where nothing is proven. Equal to
        `utility` where the optimum is.
    constraint : what was asked for.
    evaluations : sets built or, by exact search, looked at.
    method : the name of the method.
    stopped : `finished`, `evaluations`, `seconds` or `interrupted`.
    """

    features: NDArray[np.int32]
    utility: float
    utility_name: str
    bound: float | None
    constraint: Constraint
    evaluations: int
    method: str
    stopped: str


def select(
    X: Any,
    y: LabelsLike | None = None,
    *,
    constraint: Constraint,
    method: str = "best",
    utility: str | ArrayLike = "mutual-information",
    evaluations: int | None = None,
    seconds: float | None = None,
    random_state: int | np.random.Generator | None = None,
    unique: float = 1.0,
) -> Selection:
    """Choose features that meet a constraint together and are worth as much as can be found.

    The same seed and number of evaluations choose the same features.

    Parameters
    ----------
    X : an `Incidence`, or what `Incidence.of` reads.
    y : (rows,) labels; None where the utility needs none.
    constraint : k, and what an adversary may know.
    method : one of `METHODS`; those of the paper have a utility of their own, and the two of
        k-anonymity ask for the exact one.
    utility : one of `UTILITIES`, `distcnt`, or (features,) weights; what weighs 0 or less is
        never chosen.
    evaluations : most sets to build, >= 1; where None, what the method needs.
    seconds : when to stop, > 0; passed by up to one block of features.
    random_state : seed or generator, for the methods that draw.
    unique : the largest share of rows that nobody else's may equal (of one subject alone), in
        [0, 1]; less than 1 for the method `joint` only.

    Returns
    -------
    Selection : of features that occur; empty only where no feature weighs anything. Ctrl-C
        returns what there is, once a set was built.

    Raises
    ------
    InfeasibleError : no feature meets the constraint; names the largest k that one meets.
    RequestError : more k than subjects, an unknown method or utility, a label that is needed, a
        utility that a method does not take, limits out of range.

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
    if how.exact:
        constraint = replace(constraint, m=None, absences=True)
    run = Run(
        Worth.of(utility if how.utility is None else how.utility, Incidence.of(X), y),
        constraint,
        evaluations=evaluations,
        seconds=seconds,
        rng=np.random.default_rng(random_state),
        unique=unique,
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
    )


def _explore(run: Run, how: Method) -> str:
    """Search, and say why it ended."""
    if not len(run.candidates):  # nothing weighs anything
        run.bound = run.utility
        return "finished"
    try:
        with ctrl_c():
            how.explore(run)
    except Limit as limit:
        return limit.reason
    except KeyboardInterrupt:
        if not len(run.best):
            raise
        return "interrupted"
    return "finished"


def bound_of(found: Selection, worth: Worth) -> float:
    """Return what no feasible set is worth more than: what the search proved, else by clashes.

    Parameters
    ----------
    found : what a search chose among the rows of `worth`.

    Guarantee: proven, and at least what was found is worth.
    """
    if found.bound is not None:
        return found.bound
    return max(found.utility, clash_bound(worth, found.constraint))
