"""`ContainmentSelector`: feature selection as a step of a scikit-learn pipeline."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator  # type: ignore[import-untyped]
from sklearn.feature_selection import SelectorMixin  # type: ignore[import-untyped]
from sklearn.utils import validation  # type: ignore[import-untyped]

from voile.core.errors import RequestError
from voile.core.warn import warn
from voile.data.frames import frame_kind
from voile.itemsets.measures.containment import anonymity, part_anonymity
from voile.itemsets.measures.feasibility import Constraint, FeasibleSet
from voile.itemsets.measures.utility import UNLABELLED
from voile.itemsets.rows.incidence import Incidence
from voile.itemsets.rows.labels import RowLabels
from voile.itemsets.rows.matrices import Nulls, find_ones, frame_matrix
from voile.itemsets.searches.run import SetUtility
from voile.itemsets.selection import METHODS, bound_of, select


class ItemsetsWarning(UserWarning):
    """Some features can never be selected at this k. Lower k to allow them."""


@dataclass(frozen=True)
class BlockedFeature:
    """The rare itemset that blocks a feature. `support` subjects match it, fewer than k.

    `itemset` begins with the feature. `present` is False for an item that the row lacks. Absences
    count only for the methods of k-anonymity.
    """

    itemset: tuple[str, ...]
    present: tuple[bool, ...]
    support: int


@dataclass(eq=False, repr=False)
class ContainmentSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Select the features with the largest utility that may be published under k-anonymity.

    The adversary knows at most m of a person's items, and looks for the people who have all of
    them. In the fitted rows, there are at least k such subjects. There is no guarantee for other
    rows that pass through `transform`. Fit the selector to the rows that you publish.

    Parameters
    ----------
    k : minimum number of subjects, >= 1.
    m : maximum number of items that the adversary knows of a person, >= 1. None for no limit.
    method : as in `voile.itemsets.select`. `joint` has no limit of unique rows here.
    utility : `mutual-information`, `chi-squared`, `hamdist` or `distcnt`. Without labels `coverage`
        or `size`. Or (features,) weights.
    seconds : time limit, > 0. None for as long as the method needs.
    random_state : an int, a Generator or None.
    binarize : numbers above it are items, and `transform` returns 0 and 1. None requires 0 and 1.
    nulls : `refuse`, or `absent` if a missing value is a 0.

    Attributes
    ----------
    anonymity_ : the largest k that the selected features meet, for an adversary who knows m items.
    utility_, bound_ : the utility of the selection, and a proven upper bound for any selection.
    blocked_ : name -> `BlockedFeature`, for each feature that occurs and may not join the
        selection. Computed at first access. It reveals rare itemsets, so a pickled selector
        contains neither it nor the rows.
    selection_ : the `voile.itemsets.Selection`.
    n_features_in_, feature_names_in_ : as in scikit-learn.

    Guarantee: `anonymity_` >= k, proved for the fitted rows.

    Source: Zhang, Mohammed, Dave, Al Hasan, Transactions on Data Privacy 2017.

    >>> rows = np.array([[1, 1, 0], [1, 1, 0], [1, 0, 1], [0, 0, 1]])
    >>> selector = ContainmentSelector(k=2).fit(rows, ["a", "a", "b", "b"])
    >>> selector.get_feature_names_out().tolist(), selector.anonymity_
    (['x1', 'x2'], 2)
    >>> selector.blocked_["x0"]
    BlockedFeature(itemset=('x0', 'x2'), present=(True, True), support=1)
    """

    k: int = 5
    m: int | None = None
    method: str = "portfolio"
    utility: str | ArrayLike = "mutual-information"
    seconds: float | None = None
    random_state: int | np.random.Generator | None = None
    binarize: float | None = None
    nulls: Nulls = "refuse"

    def fit(
        self, X: Any, y: ArrayLike | None = None, subjects: ArrayLike | None = None
    ) -> ContainmentSelector:
        """Select the features.

        Parameters
        ----------
        X : (rows, features) sparse matrix, array or data frame of 0 and 1, or booleans. Any numbers
            with `binarize`.
        y : (rows,) labels of two or more classes. None if the utility needs none.
        subjects : (rows,) the subject of each row. If None, each row is a subject of its own.

        Raises
        ------
        RequestError, InfeasibleError : as in `voile.itemsets.select`.

        Warns
        -----
        ItemsetsWarning : some features occur in no row, or have fewer than k subjects. The message
            contains their numbers.
        """
        if frame_kind(X) is None:
            finite = "allow-nan" if self.nulls == "absent" else True
            checked = validation.validate_data(
                self, X, y, accept_sparse=("csr", "csc"), ensure_all_finite=finite
            )
            X, y = checked if y is not None else (checked, None)
            X = find_ones(X, self.binarize, self.nulls)
        else:  # avoids a dense matrix, and values in error messages
            matrix, _ = frame_matrix(X, binarize=self.binarize, nulls=self.nulls)
            validation.validate_data(self, X, skip_check_array=True)
            X = matrix
        rows = Incidence.of(X, getattr(self, "feature_names_in_", None), subjects)
        labels = None if y is None else RowLabels.of(y, rows.n_rows)
        self.selection_ = select(
            rows,
            labels,
            constraint=Constraint(self.k, self.m),
            method=self.method,
            utility=self.utility,
            seconds=self.seconds,
            random_state=self.random_state,
        )
        chosen = self.selection_.features
        met = anonymity(rows, chosen) if self.m is None else part_anonymity(rows, self.m, chosen)
        self.anonymity_, self.utility_ = met, self.selection_.utility
        self.bound_ = bound_of(self.selection_, SetUtility.of(self._utility, rows, labels))
        self.__dict__.pop("blocked_", None)
        self._rows = rows
        _warn_of_rare(rows, self.k)
        return self

    @cached_property
    def blocked_(self) -> dict[str, BlockedFeature]:
        """The rare itemset that blocks each feature that is not selected, by the feature's name."""
        validation.check_is_fitted(self)
        if not hasattr(self, "_rows"):
            raise RequestError("a stored selector does not hold its rows", instead="fit it again")
        state = FeasibleSet(self._rows, self.selection_.constraint)
        state.extend(self.selection_.features)
        names = self._rows.features
        return {
            names[found.features[0]]: BlockedFeature(
                tuple(names[x] for x in found.features), found.present, found.support
            )
            for found in state.blockers()
        }

    def _get_support_mask(self) -> NDArray[np.bool_]:
        validation.check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=np.bool_)
        mask[self.selection_.features] = True
        return mask

    def _transform(self, X: Any) -> Any:
        return super()._transform(find_ones(X, self.binarize, self.nulls))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self.binarize is None
        tags.input_tags.allow_nan = self.nulls == "absent"
        utility = self._utility
        tags.target_tags.required = isinstance(utility, str) and utility not in UNLABELLED
        return tags

    @property
    def _utility(self) -> str | ArrayLike:
        how = METHODS.get(self.method)
        return self.utility if how is None or how.utility is None else how.utility

    def __getstate__(self) -> dict[str, Any]:
        private = ("_rows", "blocked_")
        return {name: x for name, x in super().__getstate__().items() if name not in private}


def _warn_of_rare(rows: Incidence, k: int) -> None:
    nobody = int((rows.supports == 0).sum())
    few = int((rows.supports < k).sum()) - nobody
    if nobody or few:
        warn(
            f"{nobody:,} of {len(rows.features):,} features belong to nobody and {few:,} to"
            f" fewer than {k:,} subjects: they can never be chosen",
            ItemsetsWarning,
        )
