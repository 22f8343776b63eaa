"""The rows, adversary and utility that all policies of a fit share, and the search for each k."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import InfeasibleError, RequestError
from voile.core.progress import ProgressHook
from voile.itemsets.measures.classification import MOST_ONES, CrossValidation
from voile.itemsets.measures.feasibility import Constraint
from voile.itemsets.rows.incidence import Incidence
from voile.itemsets.rows.labels import RowLabels
from voile.itemsets.rows.sources import SourceRows
from voile.itemsets.searches.run import SetUtility
from voile.itemsets.selection import METHODS, Selection, bound_of, select
from voile.itemsets.verbs.intervals import IntervalLayers
from voile.itemsets.verbs.options import FitOptions

SMALL_K = (2, 3, 5, 8, 11)
GROWTH = 2
MANY_ONES, FEW_SETS = 2**17, 8


@dataclass(frozen=True, eq=False)
class ItemsetsPoint:
    """A set of features with its risk, its lost share of utility, and the k of its search.

    `without` : the features chosen without the people of each fold. None if every choice uses all
        people.
    """

    features: NDArray[np.int32]
    k: int
    utility: float
    bound: float | None
    risk: float
    lost: float
    without: tuple[NDArray[np.int32], ...] | None = None


@dataclass(frozen=True, eq=False)
class ItemsetsFamily:
    rows: SourceRows
    options: FitOptions
    adversary: Constraint
    worth: SetUtility
    everything: float
    nothing: float
    classifying: CrossValidation | None
    layers: IntervalLayers

    @classmethod
    def of(
        cls,
        rows: SourceRows,
        options: FitOptions,
        m: int | None,
        *,
        rng: np.random.Generator,
        layers: IntervalLayers,
    ) -> ItemsetsFamily:
        """Return a family with the utility and the adversary of the options.

        Raises RequestError if all features together have no utility.
        """
        default = "coverage" if rows.labels is None else "mutual-information"
        name = METHODS[options.method].utility or options.utility or default
        worth = SetUtility.of(name, rows.incidence, rows.labels)
        whole = layers.open(1)
        everything, nothing = worth(whole), worth(whole[:0])
        if not everything > nothing:
            raise RequestError(
                f"by {name} no feature is worth anything", instead="use the utility coverage"
            )
        exact = METHODS[options.method].exact
        adversary = Constraint(1, None if exact else m, options.absences or exact)
        tries = _classifying(rows.incidence, worth.labels, options.auc, rng)
        return cls(rows, options, adversary, worth, everything, nothing, tries, layers)

    @property
    def incidence(self) -> Incidence:
        """The rows without their labels."""
        return self.rows.incidence

    @property
    def requested_k(self) -> list[int]:
        """The requested values of k, without 1, which requires nothing and needs no search."""
        return list_requested_k(self.options)

    def points(self, found: list[Selection]) -> Iterator[ItemsetsPoint]:
        """Yield the empty set, the set of all features, and the sets that the search found.

        The set of all features is omitted if values of k other than 1 or a share of unique rows are
        requested.
        """
        yield self.empty()
        if self.options.unique is None and (not self.options.k or 1 in self.options.k):
            yield self.keep_everything()
        yield from map(self.point, found)

    def search(self, rng: np.random.Generator, progress: ProgressHook) -> Iterator[Selection]:
        """Yield the best set for each k.

        Without requested values, stop at the first infeasible k.
        """
        ks = to_try(self.options, self.incidence.n_subjects)
        for place, k in enumerate(ks):
            progress("searching features for each k", place, len(ks))
            try:
                found = self.best(replace(self.adversary, k=k), rng)
            except InfeasibleError:
                if self.requested_k:
                    raise
                return
            yield found
            if found.stopped == "interrupted":
                return

    def best(self, asked: Constraint, rng: np.random.Generator) -> Selection:
        """Return the best set that the search finds under one constraint."""
        k, unique = asked.k, self.options.unique
        if not len(self.layers.open(k)):
            raise InfeasibleError(
                f"no column of numbers can be cut at a k of {k:,}", instead="use a smaller k"
            )
        return select(
            self.incidence,
            self.worth.labels,
            constraint=asked,
            method=self.options.method if unique is None else "joint",
            utility=self.worth.name,
            evaluations=self._evaluations(),
            seconds=self.options.seconds,
            random_state=rng,
            unique=1.0 if unique is None else unique,
            given=self.layers.list_given(k),
            among=self.layers.open(k),
            folds=self.classifying,
        )

    def _evaluations(self) -> int | None:
        """Return the maximum number of sets to build, which is small if the rows have many ones."""
        quick = self.options.evaluations is None and self.options.seconds is None
        if quick and self.options.method in ("best", "greedy"):
            return FEW_SETS if self.incidence.supports.sum() > MANY_ONES else None
        return self.options.evaluations

    def keep_everything(self) -> ItemsetsPoint:
        """Return the policy of every feature with a weight. It promises nothing."""
        weights = self.worth.weights
        good = self.incidence.supports > 0 if weights is None else weights > 0
        some = self.layers.open(1)
        features = np.union1d(some[good[some]], self.layers.list_given(1)).astype(np.int32)
        worth = self.worth(features)
        return self._score_features(features, k=1, utility=worth, bound=worth)

    def empty(self) -> ItemsetsPoint:
        """Return the policy that publishes no feature. All rows are then identical."""
        nobody = np.zeros(0, dtype=np.int32)
        subjects = self.incidence.n_subjects
        return ItemsetsPoint(nobody, subjects, self.nothing, self.nothing, 1 / subjects, 1.0)

    def point(self, found: Selection) -> ItemsetsPoint:
        k = found.constraint.k
        bound = bound_of(found, self.worth.among(self.layers.open(k)))
        scored = self._score_features(found.features, k=k, utility=found.utility, bound=bound)
        return replace(scored, without=found.without)

    def _score_features(
        self, features: NDArray[np.int32], *, k: int, utility: float, bound: float | None
    ) -> ItemsetsPoint:
        risk = 1 / self.adversary.count_reached(self.incidence.project(features))
        return ItemsetsPoint(features, k, utility, bound, risk, self.share_lost(utility))

    def share_lost(self, utility: float) -> float:
        """Return the lost share of the utility of all features, in [0, 1]."""
        lost = (self.everything - utility) / (self.everything - self.nothing)
        return min(max(lost, 0.0), 1.0)


def _classifying(
    rows: Incidence, labels: RowLabels | None, asked: str, rng: np.random.Generator
) -> CrossValidation | None:
    """Return the cross-validation to run, or None.

    `asked` is ``quick`` (on a sample if there are many ones), ``always`` or ``never``.
    """
    if labels is None or asked == "never":
        return None
    return CrossValidation.of(rows, labels, rng, most=None if asked == "always" else MOST_ONES)


def list_requested_k(options: FitOptions) -> list[int]:
    """Return the requested values of k, without 1."""
    return sorted(set(options.k) - {1})


def to_try(options: FitOptions, subjects: int) -> list[int]:
    """Return the values of k to search for: the requested ones, or the default ones."""
    return list_requested_k(options) or list(_grid(subjects))


def _grid(subjects: int) -> Iterator[int]:
    """Yield the default values of k, up to the number of subjects. Large values double."""
    yield from (k for k in SMALL_K if k <= subjects)
    k = SMALL_K[-1]
    while (k := k * GROWTH) <= subjects:
        yield k
