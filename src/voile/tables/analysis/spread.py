"""Fit a model under policies spread over a frontier, so that its utility can be plotted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.core.frontier import Frontier
from voile.tables.analysis.comparison import AnalysisEstimates, overlap
from voile.tables.analysis.features import Codes
from voile.tables.policies.counted_space import CountedSpace
from voile.tables.policies.family import AnyPolicy, PolicyFamily

MOST = 12
"""The largest number of policies, evenly spaced along the logarithm of risk and along loss."""


class AnalysedRows(Protocol):
    """The interface of an analysis: rows with quasi-identifiers `codes` (n, attributes)."""

    @property
    def codes(self) -> Codes: ...

    @property
    def description(self) -> str:
        """Return a description of the analysis for a person."""

    @property
    def score_name(self) -> str:
        """Return the name of the score, or an empty string if there is no score."""

    def fit_source(self) -> AnalysisEstimates: ...

    def fit_release(
        self, first: Codes, last: Codes, released: NDArray[np.bool_]
    ) -> AnalysisEstimates: ...


@dataclass(frozen=True, eq=False)
class KeptAnalysis(BriefRepr):
    """The estimates under one policy, compared with the source's estimates.

    Attributes
    ----------
    overlap : (terms,) in [0, 1], see `comparison.overlap`.
    release : the estimates under the policy.
    """

    overlap: NDArray[np.float64]
    release: AnalysisEstimates

    @property
    def mean_overlap(self) -> float:
        """Return the mean overlap of the terms that the source determines, else NaN."""
        known = self.overlap[~np.isnan(self.overlap)]
        return float(known.mean()) if len(known) else np.nan


@dataclass(frozen=True, eq=False)
class SourceAnalysis(BriefRepr):
    """An analysis of the source and of the rows that several policies would release.

    Attributes
    ----------
    asked : a description of the analysis.
    score_name : the name of its score, or an empty string.
    policies : the analyses under policies of the frontier, by policy number.
    marks : the analyses under reference policies, by name, such as ``safe-harbor``.
    """

    shows = ("score_name",)

    asked: str
    score_name: str
    source: AnalysisEstimates
    policies: Mapping[int, KeptAnalysis]
    marks: Mapping[str, KeptAnalysis]

    def to_data(self) -> dict[str, Any]:
        """Return plain data for a private kit. It contains the coefficients of all rows."""
        return {
            "asked": self.asked,
            "score_name": self.score_name,
            "source": _plain(self.source),
            "policies": [[number, _describe(one)] for number, one in self.policies.items()],
            "marks": {name: _describe(one) for name, one in self.marks.items()},
        }


def analyse(
    rows: AnalysedRows,
    space: CountedSpace,
    frontier: Frontier,
    family: PolicyFamily,
    marks: Mapping[str, AnyPolicy],
    progress: Callable[[int, int], None],
) -> SourceAnalysis:
    """Fit the model on the source, under a spread of the frontier, and under named policies.

    Cost: the number of named policies + `MOST` + 1, times the cost of a fit.
    """
    numbers = pick_spread(frontier).tolist()
    asked = [*((n, family.row_policy(n)) for n in numbers), *marks.items()]
    source, kept = rows.fit_source(), {}
    for done, (name, policy) in enumerate(asked, 1):
        release = rows.fit_release(*bounds_of(policy, rows.codes), released_by(space, policy, rows))
        kept[name] = KeptAnalysis(overlap(source, release), release)
        progress(done, len(asked))
    return SourceAnalysis(
        rows.description,
        rows.score_name,
        source,
        {number: kept[number] for number in numbers},
        {name: kept[name] for name in marks},
    )


def pick_spread(frontier: Frontier) -> NDArray[np.intp]:
    """Return the numbers of at most `MOST` policies, including the first and the last."""
    risk = np.log(np.maximum(frontier.risk, 1e-6))
    along = np.zeros(len(frontier))
    for axis in (risk, frontier.loss):
        along[1:] += np.abs(np.diff(axis)) / max(float(np.ptp(axis)), 1e-12)
    wanted = np.linspace(0.0, np.cumsum(along)[-1], MOST)
    return np.unique(np.searchsorted(np.cumsum(along), wanted).clip(max=len(frontier) - 1))


def bounds_of(policy: AnyPolicy, codes: Codes) -> tuple[Codes, Codes]:
    """Return the first and the last position of each row's interval in each column.

    Both arrays are (n, attributes) int32.
    """
    entries, values = policy.list_shown(policy.numbers_of(codes))
    first = [own.argmax(axis=1)[entries[:, i]] for i, own in enumerate(values)]
    last = [
        (own.shape[1] - 1 - own[:, ::-1].argmax(axis=1))[entries[:, i]]
        for i, own in enumerate(values)
    ]
    return np.column_stack(first).astype(np.int32), np.column_stack(last).astype(np.int32)


def released_by(space: CountedSpace, policy: AnyPolicy, rows: AnalysedRows) -> NDArray[np.bool_]:
    """Return a mask of the released rows: rows in a group that meets the constraints."""
    own, _, allowed = space.groups(policy)
    keys = policy.keys_of(policy.numbers_of(rows.codes))
    return np.isin(keys, policy.keys_of(own[allowed]))


def _describe(one: KeptAnalysis) -> dict[str, Any]:
    mean = one.mean_overlap
    return {
        "overlap": _finite(one.overlap),
        "mean_overlap": None if np.isnan(mean) else mean,
        "release": _plain(one.release),
    }


def _plain(found: AnalysisEstimates) -> dict[str, Any]:
    return {
        name: _finite(value) if isinstance(value, np.ndarray) else _number(value)
        for name, value in asdict(found).items()
    }


def _finite(values: NDArray[np.float64]) -> list[float | None]:
    return [None if np.isnan(value) else value for value in values.tolist()]


def _number(value: Any) -> Any:
    return None if isinstance(value, float) and np.isnan(value) else value
