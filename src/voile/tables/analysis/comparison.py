"""Fit one model on a release and on its source, and compare the estimates.

The 95% intervals come from a grouped jackknife with Student's t. The jackknife leaves out one of
`GROUPS` random groups of subjects at a time. The intervals are valid if the rows of one subject
depend on each other. The overlap of two intervals is the measure of Karr et al., The American
Statistician 60 (2006). It is the length of the common part divided by the length of each interval,
averaged over both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.core.errors import RequestError
from voile.tables.analysis.model import Family

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

GROUPS = 25
RIDGE = 1e-4
"""Ridge penalty on standardised coefficients.

It is small enough to leave an estimate unchanged, and large enough for an estimate to exist.
"""


@dataclass(frozen=True, eq=False)
class AnalysisEstimates(BriefRepr):
    """Named estimates with 95% intervals, and the score of their predictions for people left out.

    Attributes
    ----------
    terms : the names of the estimates.
    value, low, high : (terms,) float64, the estimates and the ends of their intervals. NaN if the
        data does not determine an estimate.
    score : AUC (logistic), R2 (linear) or share of explained deviance (Poisson) of a model. It is
        measured on the source's unchanged rows of people whom the fit did not use. NaN without a
        model.
    score_low, score_high : the ends of the score's interval.
    """

    terms: tuple[str, ...]
    value: Floats
    low: Floats
    high: Floats
    score: float = np.nan
    score_low: float = np.nan
    score_high: float = np.nan


def overlap(source: AnalysisEstimates, release: AnalysisEstimates) -> Floats:
    """Return the overlap of the source's and the release's intervals, (terms,) in [0, 1].

    The overlap is 0 if the intervals do not meet or if the release does not determine the estimate.
    It is NaN if the source does not determine the estimate.

    >>> one = AnalysisEstimates(("age",), np.array([1.0]), np.array([0.0]), np.array([2.0]))
    >>> two = AnalysisEstimates(("age",), np.array([2.0]), np.array([1.0]), np.array([3.0]))
    >>> overlap(one, two).tolist()
    [0.5]
    """
    common = np.minimum(source.high, release.high) - np.maximum(source.low, release.low)
    shared = np.clip(np.nan_to_num(common, nan=0.0), 0.0, None)
    shares = [_share(shared, one.high - one.low, common) for one in (source, release)]
    return np.where(np.isnan(source.value), np.nan, np.mean(shares, axis=0))


def _share(shared: Floats, length: Floats, common: Floats) -> Floats:
    """Return the common part divided by each length, and 1 for a point in the other interval."""
    shares = np.divide(shared, length, out=np.zeros_like(shared), where=length > 0)
    return np.where((length == 0) & (common >= 0), 1.0, shares)


def groups_of(people: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Assign each person at random to one of `GROUPS` groups, and return each row's group.

    Returns
    -------
    groups : (n,) int64 in 0 to `GROUPS` - 1. All rows of a person have the same group, and no group
        is empty.

    Raises
    ------
    RequestError : there are fewer than 2 x `GROUPS` people.
    """
    whom, place = np.unique(people, return_inverse=True)
    if len(whom) < 2 * GROUPS:
        raise RequestError(
            f"an analysis compares {2 * GROUPS} subjects or more, and there are {len(whom)}"
        )
    return np.asarray(rng.permutation(np.arange(len(whom)) % GROUPS)[place])


def fit_model(
    family: Family,
    terms: tuple[str, ...],
    features: Floats,
    outcome: Floats,
    groups: NDArray[np.int64],
    *,
    judged: Floats | None = None,
    released: Mask | None = None,
) -> AnalysisEstimates:
    """Fit a generalised linear model, and score its predictions for the people left out.

    Parameters
    ----------
    features : (n, terms) float64, features of the rows of the release or of the source.
    outcome : (n,) float64. 0 or 1 for a logistic model, counts for a Poisson model.
    groups : (n,) int64, the jackknife groups from `groups_of`.
    judged : (n, terms) float64, the source's features, for which the outcome is predicted.
        `features` if None.
    released : (n,) bool, rows that the fit may use. All rows if None. Every row is predicted.

    Cost: `GROUPS` + 1 fits, each O(n terms^2) per step.
    """
    kept = np.ones(len(outcome), dtype=np.bool_) if released is None else released
    judged = features if judged is None else judged
    scale = _FeatureScale.of(features[kept])
    known = scale.determined
    fits, predicted = [], np.empty(len(outcome))
    for group in range(GROUPS):
        train, test = kept & (groups != group), groups == group
        coefficients, predict = _fit(family, scale(features[train]), outcome[train])
        predicted[test] = predict(scale(judged[test]))
        fits.append(scale.raw(coefficients))
    whole = scale.raw(_fit(family, scale(features[kept]), outcome[kept])[0])
    low, high = _jackknife(whole, np.array(fits).reshape(GROUPS, int(known.sum())))
    value, lows, highs = (np.full(len(terms), np.nan) for _ in range(3))
    value[known], lows[known], highs[known] = whole, low, high
    return AnalysisEstimates(terms, value, lows, highs, *_score(family, outcome, predicted, groups))


def summarise(
    function: Callable[[Any], Mapping[str, float]], table: Any, groups: Any
) -> AnalysisEstimates:
    """Compute an analyst's own function on an Arrow table, with jackknife intervals.

    Raises
    ------
    RequestError : the function raised an error, returned a number that is not finite, or returned
        other names when a group was left out. The message does not repeat the function's own error,
        since that error may quote the data.
    """
    whole = _ask(function, table)
    parts = [_ask(function, table.filter(groups != group)) for group in range(GROUPS)]
    if any(list(part) != list(whole) for part in parts):
        raise RequestError("the analysis gave other names when some people were left out")
    value = np.array(list(whole.values()), dtype=np.float64)
    fits = np.array([list(part.values()) for part in parts], dtype=np.float64)
    return AnalysisEstimates(tuple(whole), value, *_jackknife(value, fits))


def _ask(function: Callable[[Any], Mapping[str, float]], table: Any) -> dict[str, float]:
    try:
        numbers = {str(name): float(number) for name, number in function(table).items()}
    except Exception as error:  # the function's message may quote the data
        raise RequestError(
            f"the analysis raised {type(error).__name__}",
            instead="call its function in Python on an Arrow table to see why",
        ) from error
    if not numbers or not np.isfinite(list(numbers.values())).all():
        raise RequestError("the analysis gave no number, or one that is NaN or infinite")
    return numbers


@dataclass(frozen=True, eq=False)
class _FeatureScale:
    """A standardisation of features that drops features determined by the ones before them."""

    mean: Floats
    spread: Floats
    determined: Mask

    @classmethod
    def of(cls, features: Floats) -> _FeatureScale:
        mean, spread = features.mean(axis=0), features.std(axis=0)
        standard = (features - mean) / np.where(spread > 0, spread, 1.0)
        gram = standard.T @ standard / len(features)
        return cls(mean, spread, _independent(gram))

    def __call__(self, features: Floats) -> Floats:
        on = self.determined
        return np.asarray((features[:, on] - self.mean[on]) / self.spread[on])

    def raw(self, coefficients: Floats) -> Floats:
        """Return the coefficients on the scale of the original features."""
        return np.asarray(coefficients / self.spread[self.determined])


def _independent(gram: Floats) -> Mask:
    """Return a mask of the standardised features that the features before them do not determine."""
    kept: list[int] = []
    for place in range(len(gram)):
        own = gram[place, place]
        if own > 0.5 and kept:
            inner = gram[np.ix_(kept, kept)]
            explained = gram[place, kept] @ np.linalg.solve(inner, gram[kept, place])
            own -= explained
        if own > 1e-8:
            kept.append(place)
    mask = np.zeros(len(gram), dtype=np.bool_)
    mask[kept] = True
    return mask


def _fit(
    family: Family, features: Floats, outcome: Floats
) -> tuple[Floats, Callable[[Floats], Floats]]:
    """Return coefficients of standardised features, and a function that predicts the mean."""
    if not features.shape[1]:
        mean = float(outcome.mean())
        return np.zeros(0), lambda rows: np.full(len(rows), mean)
    from sklearn.linear_model import (  # type: ignore[import-untyped]
        LinearRegression,
        LogisticRegression,
        PoissonRegressor,
    )

    if family == "linear":
        model = LinearRegression().fit(features, outcome)
        return model.coef_, model.predict
    if family == "poisson":
        model = PoissonRegressor(alpha=RIDGE / len(outcome), solver="newton-cholesky")
        model.fit(features, outcome)
        return model.coef_, model.predict
    if outcome.min() == outcome.max():
        raise RequestError("the outcome has one class among the rows released")
    model = LogisticRegression(C=1 / RIDGE, solver="newton-cholesky").fit(features, outcome)
    return model.coef_[0], lambda rows: np.asarray(model.predict_proba(rows)[:, 1])


def _jackknife(whole: Floats, fits: Floats) -> tuple[Floats, Floats]:
    """Return the lower and upper ends of 95% intervals from leave-one-group-out fits.

    `whole` are the estimates of all rows. `fits` are (GROUPS, terms) estimates without one group
    each.
    """
    from scipy.stats import t

    variance = (GROUPS - 1) / GROUPS * ((fits - fits.mean(axis=0)) ** 2).sum(axis=0)
    half = t.ppf(0.975, GROUPS - 1) * np.sqrt(variance)
    return whole - half, whole + half


def _score(
    family: Family, outcome: Floats, predicted: Floats, groups: NDArray[np.int64]
) -> tuple[float, float, float]:
    score = _SCORES[family]
    whole = score(outcome, predicted)
    parts = [score(outcome[groups != g], predicted[groups != g]) for g in range(GROUPS)]
    low, high = _jackknife(np.array([whole]), np.array(parts)[:, None])
    return whole, float(low[0]), float(high[0])


def _auc(outcome: Floats, predicted: Floats) -> float:
    from sklearn.metrics import roc_auc_score  # type: ignore[import-untyped]

    return float(roc_auc_score(outcome, predicted)) if 0 < outcome.mean() < 1 else np.nan


def _r2(outcome: Floats, predicted: Floats) -> float:
    from sklearn.metrics import r2_score

    return float(r2_score(outcome, predicted))


def _deviance(outcome: Floats, predicted: Floats) -> float:
    from sklearn.metrics import d2_tweedie_score

    return float(d2_tweedie_score(outcome, predicted, power=1))


_SCORES = {"linear": _r2, "logistic": _auc, "poisson": _deviance}
SCORE_NAMES: Mapping[str, str] = {
    "linear": "R2",
    "logistic": "AUC",
    "poisson": "share of deviance explained",
}
