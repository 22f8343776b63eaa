"""Decide which features may be published together, and find the itemset that blocks a feature.

A set S of features is k-anonymous by containment if every itemset within S that occurs has at least
k subjects. Among the itemsets that a row contains, the whole row has the least support. Every
subset of a feasible set is therefore feasible. A new feature must be checked only in the rows that
contain it. A refused feature stays refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voile.core.errors import InfeasibleError, RequestError
from voile.itemsets.measures.containment import anonymity, part_anonymity, row_exact_anonymity
from voile.itemsets.rows.incidence import Incidence

if TYPE_CHECKING:
    from voile.itemsets.kernels.admission import AdmissionRule
    from voile.itemsets.kernels.groups import SubjectGroups
    from voile.itemsets.kernels.partition import SharedClasses


@dataclass(frozen=True)
class Constraint:
    """Require at least k subjects for any knowledge that an adversary may have of a row.

    Parameters
    ----------
    k : number of subjects, >= 1. 1 requires nothing.
    m : maximum number of features that the adversary knows of a person, >= 1. None for no limit:
        the constraint is then k-anonymity by containment (with absences: exact k-anonymity).
    absences : whether the adversary also knows which items a person lacks.

    Raises
    ------
    RequestError : k or m is below 1.
    """

    k: int
    m: int | None = None
    absences: bool = False

    def __post_init__(self) -> None:
        if self.k < 1:
            raise RequestError("k must be at least 1")
        if self.m is not None and self.m < 1:
            raise RequestError("m must be at least 1", instead="leave it out for no limit")

    def check(self, incidence: Incidence) -> None:
        """Raise RequestError if k exceeds the number of subjects. Even the empty set fails then."""
        if self.k > incidence.n_subjects:
            raise RequestError(
                f"k is {self.k:,}, and there are {incidence.n_subjects:,} subjects",
                instead=f"use a k of at most {incidence.n_subjects:,}",
            )

    def count_reached(self, incidence: Incidence) -> int:
        """Return the least number of subjects who match any of the adversary's knowledge."""
        if self.m is not None:
            return part_anonymity(incidence, self.m, absences=self.absences)
        if self.absences:
            return int(row_exact_anonymity(incidence).min())
        return anonymity(incidence)

    def candidates(self, incidence: Incidence) -> NDArray[np.intp]:
        """Return the features that occur and may be published alone.

        Raises InfeasibleError if there is none.
        """
        least = self._least(incidence)
        if least.max() < self.k:
            raise InfeasibleError(
                f"no feature meets a k of {self.k:,}",
                instead=f"the largest k that one meets is {int(least.max()):,}",
            )
        return np.flatnonzero(least >= self.k)

    def _least(self, incidence: Incidence) -> NDArray[np.int64]:
        """Return the largest k that each feature meets alone (0 if it does not occur)."""
        if not self.absences:
            return incidence.supports
        from voile.itemsets.kernels.groups import lacking

        without = lacking(incidence.groups, incidence.n_subjects)
        meets = np.minimum(incidence.supports, np.where(without, without, incidence.n_subjects))
        return np.where(incidence.supports, meets, 0)


@dataclass(frozen=True)
class BlockingItemset:
    """An itemset with too few subjects.

    `features` begins with the blocked feature. `present` marks the features that are present in it.
    """

    features: tuple[int, ...]
    present: tuple[bool, ...]
    support: int


class FeasibleSet:
    """A growing set of features that meets a constraint.

    The set begins with the `given` features, which must meet the constraint together. Each feature
    that joins divides the patterns into more classes. A test costs O(ones of the set in the
    feature's rows). Each class of fewer than k subjects adds the rows of its rarest feature, or
    with m O(set ** (m - 1)). With absences, a test examines all patterns. Memory: O(ones).
    """

    def __init__(self, incidence: Incidence, constraint: Constraint, given: ArrayLike = ()) -> None:
        from voile.itemsets.kernels.admission import AdmissionRule
        from voile.itemsets.kernels.groups import UNLIMITED

        constraint.check(incidence)
        self.incidence = incidence
        self.constraint = constraint
        m = UNLIMITED if constraint.m is None else min(constraint.m, UNLIMITED)
        self._rule: AdmissionRule = AdmissionRule(constraint.k, m, constraint.absences)
        self._groups = incidence.groups
        self._classes = _classes(incidence)
        self._given = np.asarray(given, dtype=np.int32)
        self.reset()

    @property
    def features(self) -> NDArray[np.int32]:
        """The features of the set, in the order in which they joined."""
        return np.array(self._features, dtype=np.int32)

    @property
    def classes(self) -> NDArray[np.int32]:
        """(patterns,) class of each pattern. Patterns that look the same are in one class."""
        return self._classes.of

    @property
    def parts(self) -> tuple[SubjectGroups, SharedClasses, AdmissionRule]:
        return self._groups, self._classes, self._rule

    def reset(self) -> None:
        """Reset the set to the given features.

        Raises InfeasibleError if these do not meet the constraint.
        """
        from voile.itemsets.kernels.partition import begin

        self._features: list[int] = []
        begin(self._groups, self._classes)
        if len(self.extend(self._given)) < len(self._given):
            raise InfeasibleError(
                f"the features given do not meet a k of {self.constraint.k:,} together"
            )

    def admits(self, feature: int) -> bool:
        """Return whether a feature outside the set may join it."""
        from voile.itemsets.kernels.admission import may_share

        return bool(may_share(*self.parts, feature))

    def join(self, feature: int) -> None:
        """Add a feature for which `admits` returned True. The feature is not tested again."""
        from voile.itemsets.kernels.partition import share

        share(self._groups, self._classes, feature)
        self._features.append(int(feature))

    def extend(self, order: ArrayLike, *, stop: bool = False) -> NDArray[np.int32]:
        """Add the features of `order` that may join, one after another, and return them.

        With `stop`, the first refused feature ends the search.
        """
        from voile.itemsets.kernels.admission import extend

        tried = np.ascontiguousarray(order, dtype=np.int32)
        joined, _ = extend(*self.parts, tried, stop, len(tried))
        self._features.extend(joined.tolist())
        return joined

    def join_first(self, order: NDArray[np.int32]) -> int:
        """Add the first feature of `order` that may join. Return the number of refused features."""
        from voile.itemsets.kernels.admission import extend

        joined, tried = extend(*self.parts, order, False, 1)
        self._features.extend(joined.tolist())
        return tried - len(joined)

    def blocker(self, feature: int) -> BlockingItemset | None:
        """Return a minimal itemset that blocks a feature, or None if the feature may join."""
        from voile.itemsets.kernels.blockers import blocker

        support, present, ranks, signs = blocker(*self.parts, feature)
        if support < 0:
            return None
        return BlockingItemset(
            features=(feature, *(self._features[rank] for rank in ranks)),
            present=(present, *map(bool, signs)),
            support=support,
        )

    def blockers(self) -> Iterator[BlockingItemset]:
        """Yield a blocking itemset for each feature that occurs and may not join."""
        left = np.flatnonzero(self.incidence.supports)
        for feature in np.setdiff1d(left, self.features).tolist():
            found = self.blocker(feature)
            if found is not None:
                yield found


def _classes(incidence: Incidence) -> SharedClasses:
    from voile.itemsets.kernels.partition import SharedClasses

    patterns = len(incidence.own)

    def zeros() -> NDArray[np.int32]:
        return np.zeros(patterns, dtype=np.int32)

    return SharedClasses(
        of=zeros(),
        ranks=np.empty(len(incidence.items), dtype=np.int32),
        lead=zeros(),
        length=zeros(),
        patterns=zeros(),
        weight=np.zeros(patterns, dtype=np.int64),
        sizes=np.zeros(2, dtype=np.int64),
        place=np.full(patterns, -1, dtype=np.int32),
        moving=zeros(),
        weighs=np.zeros(patterns, dtype=np.int64),
        marks=np.zeros(incidence.n_shared + 1, dtype=np.int64),
    )
