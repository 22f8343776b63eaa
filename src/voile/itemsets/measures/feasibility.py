"""Decide which features may be published together, and find the itemset that blocks another.

A set S of features is k-anonymous by containment under one condition: every itemset within S that
occurs has k subjects. A row's own itemset has the least support of all that it contains. So
feasible sets are closed downwards. One more feature needs a check among its own rows alone, and
a feature once refused stays refused.
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
    k : subjects, >= 1; 1 requires nothing.
    m : maximum number of features known of a person, >= 1; None for no limit, and then the
        constraint is k-anonymity by containment (with absences: exact k-anonymity).
    absences : whether the adversary also knows which items a person lacks.

    Raises
    ------
    RequestError : k or m below 1.
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
        """Refuse a constraint of more subjects than there are: not even the empty set meets it."""
        if self.k > incidence.n_subjects:
            raise RequestError(
                f"k is {self.k:,}, and there are {incidence.n_subjects:,} subjects",
                instead=f"use a k of at most {incidence.n_subjects:,}",
            )

    def count_reached(self, incidence: Incidence) -> int:
        """Return the fewest subjects who share any knowledge of this adversary about a row."""
        if self.m is not None:
            return part_anonymity(incidence, self.m, absences=self.absences)
        if self.absences:
            return int(row_exact_anonymity(incidence).min())
        return anonymity(incidence)

    def candidates(self, incidence: Incidence) -> NDArray[np.intp]:
        """Return the features that occur and may be published alone; refuse when none may."""
        least = self._least(incidence)
        if least.max() < self.k:
            raise InfeasibleError(
                f"no feature meets a k of {self.k:,}",
                instead=f"the largest k that one meets is {int(least.max()):,}",
            )
        return np.flatnonzero(least >= self.k)

    def _least(self, incidence: Incidence) -> NDArray[np.int64]:
        """Return the largest k that each feature meets alone; 0 where it does not occur."""
        if not self.absences:
            return incidence.supports
        from voile.itemsets.kernels.groups import lacking

        without = lacking(incidence.groups, incidence.n_subjects)
        meets = np.minimum(incidence.supports, np.where(without, without, incidence.n_subjects))
        return np.where(incidence.supports, meets, 0)


@dataclass(frozen=True)
class BlockingItemset:
    """An itemset that occurs for too few: the feature kept out, others, and which are present."""

    features: tuple[int, ...]
    present: tuple[bool, ...]
    support: int


class FeasibleSet:
    """Hold a set of features that meets a constraint, and decide which may join it.

    It begins with the `given` features, which must meet it together. Each feature that joins
    divides the patterns into further classes. A trial costs O(ones of the set in its rows). Each
    class of fewer than k subjects adds the rows of its rarest feature, with m times O(set ** (m -
    1)). With absences it examines all patterns. Memory: O(ones).
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
        """The features of the set, in the order they joined."""
        return np.array(self._features, dtype=np.int32)

    @property
    def classes(self) -> NDArray[np.int32]:
        """(patterns,) the class of each pattern: patterns that look the same are in one."""
        return self._classes.of

    @property
    def parts(self) -> tuple[SubjectGroups, SharedClasses, AdmissionRule]:
        return self._groups, self._classes, self._rule

    def reset(self) -> None:
        """Return to the features given; refuse them where they do not meet the constraint."""
        from voile.itemsets.kernels.partition import begin

        self._features: list[int] = []
        begin(self._groups, self._classes)
        if len(self.extend(self._given)) < len(self._given):
            raise InfeasibleError(
                f"the features given do not meet a k of {self.constraint.k:,} together"
            )

    def admits(self, feature: int) -> bool:
        """Return whether a feature that is not in the set may join it."""
        from voile.itemsets.kernels.admission import may_share

        return bool(may_share(*self.parts, feature))

    def join(self, feature: int) -> None:
        """Add a feature for which `admits` was true; it is not tried again."""
        from voile.itemsets.kernels.partition import share

        share(self._groups, self._classes, feature)
        self._features.append(int(feature))

    def extend(self, order: ArrayLike, *, stop: bool = False) -> NDArray[np.int32]:
        """Try features in order, and return those that joined; `stop` at the first that may not."""
        from voile.itemsets.kernels.admission import extend

        tried = np.ascontiguousarray(order, dtype=np.int32)
        joined, _ = extend(*self.parts, tried, stop, len(tried))
        self._features.extend(joined.tolist())
        return joined

    def join_first(self, order: NDArray[np.int32]) -> int:
        """Add the first of some features that may join; return how many were refused."""
        from voile.itemsets.kernels.admission import extend

        joined, tried = extend(*self.parts, order, False, 1)
        self._features.extend(joined.tolist())
        return tried - len(joined)

    def blocker(self, feature: int) -> BlockingItemset | None:
        """Return a least itemset that keeps a feature out, None when it may join."""
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
        """Yield a blocker for each feature that occurs and may not join."""
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
