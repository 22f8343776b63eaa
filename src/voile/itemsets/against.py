"""What each adversary costs: the sets chosen against each, as rows of one table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from voile.core.errors import InfeasibleError
from voile.itemsets.measures.classification import FOLDS, CrossValidation
from voile.itemsets.measures.containment import exposure
from voile.itemsets.measures.feasibility import Constraint
from voile.itemsets.rows.incidence import Incidence
from voile.itemsets.rows.labels import Labels, LabelsLike
from voile.itemsets.selection import Selection, select

Known = int | None


@dataclass(frozen=True)
class Against:
    """A set of features chosen against an adversary who knows up to `m` items of a person.

    Parameters
    ----------
    m, k : what was asked for; m is None for an adversary who knows all items.
    features : how many may be published. utility : what they are worth to the search.
    auc : of a logistic regression on them, cross-validated; None where a class has too few people,
        or there are no labels. With columns of numbers or more than four million ones the choice
        saw all labels, and it is somewhat too high.
    unique_share : share of the rows that no other person's equal.
    reached : the k reached against each adversary of the table, in its order.
    """

    m: Known
    k: int
    features: int
    utility: float
    auc: float | None
    unique_share: float
    reached: tuple[int, ...]


def adversaries(
    X: Any,
    y: LabelsLike | None,
    *,
    k: Sequence[int],
    m: Sequence[Known] = (1, 2, 3, None),
    method: str = "portfolio",
    absences: bool = False,
    random_state: int | None = None,
) -> list[Against]:
    """Choose features against each adversary and for each k, and measure every choice alike.

    A row for each m and k, in order; none where no feature meets them. With `absences` each
    adversary knows items that a person has or lacks. A set against one who knows more is feasible
    against one who knows fewer: `reached` shows what a set chosen against a weak adversary is worth
    against a strong one. The cost of a large m is O(rows x items ** m).

    >>> rows = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 0], [1, 0, 1], [0, 0, 1]])
    >>> for one in adversaries(rows, [0, 0, 0, 0, 1, 1], k=[2], m=[1, None]):
    ...     print(one.m, one.k, one.features, one.reached)
    1 2 3 (3, 1)
    None 2 2 (3, 2)
    """
    rows = Incidence.of(X)
    labels = None if y is None else Labels.of(y, rows.n_rows)
    rng = np.random.default_rng(random_state)
    folds = None if labels is None else CrossValidation.of(rows, labels, rng)

    def choose(asked: Constraint) -> Selection:
        return select(
            rows,
            labels,
            constraint=asked,
            method=method,
            random_state=random_state,
            folds=folds,
        )

    asked = [Constraint(least, known, absences) for known in m for least in k]
    return list(against(rows, folds, asked, choose))


def against(
    rows: Incidence,
    folds: CrossValidation | None,
    asked: Sequence[Constraint],
    choose: Callable[[Constraint], Selection],
) -> Iterator[Against]:
    """Yield what is chosen for each constraint, measured against the adversaries of all."""
    everybody = dict.fromkeys(replace(one, k=1) for one in asked)
    for one in asked:
        try:
            found = choose(one)
        except InfeasibleError:
            continue
        shown = rows.project(found.features)
        told = exposure(shown)
        by_fold = [rows.project(one) for one in found.without or [found.features] * FOLDS]
        yield Against(
            m=one.m,
            k=one.k,
            features=told.features,
            utility=found.utility,
            auc=None if folds is None else folds.tried(by_fold)["logistic"].value,
            unique_share=told.unique_rows / told.rows,
            reached=tuple(adversary.reached(shown) for adversary in everybody),
        )
