"""An analyst's own function, asked about an Arrow table of the source and of releases."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.data import Source
from voile.tables.analysis.comparison import AnalysisEstimates, groups_of, summarise
from voile.tables.analysis.features import Codes, ModelPredictor
from voile.tables.analysis.rows import draw
from voile.tables.domains.domain import OUTSIDE, ValueDomain

Function = Callable[[pa.Table], Mapping[str, float]]


@dataclass(frozen=True, eq=False)
class OwnRows(BriefRepr):
    """The rows that a function is asked about: quasi-identifiers as `codes`, and the rest.

    A number or date is shown as the mean of its interval, as a float; a date in days, months or
    years. Text is shown as its interval's label. Columns released as they are stay as they are.
    """

    function: Function
    domains: tuple[ValueDomain, ...]
    codes: Codes
    rest: pa.Table
    groups: NDArray[np.int64]

    description = "the data holder's own function"
    score_name = ""

    def fit_source(self) -> AnalysisEstimates:
        """Ask the function about the rows as they are."""
        return self.fit_release(self.codes, self.codes, np.ones(len(self.codes), np.bool_))

    def fit_release(
        self, first: Codes, last: Codes, released: NDArray[np.bool_]
    ) -> AnalysisEstimates:
        """Ask the function about the rows that are released, with their intervals' ends."""
        ends = zip(self.domains, first.T, last.T, strict=True)
        columns = {domain.column: _label_intervals(domain, low, high) for domain, low, high in ends}
        names = [*columns, *self.rest.column_names]
        table = pa.table([*columns.values(), *self.rest.columns], names=names)
        return summarise(self.function, table.filter(pa.array(released)), self.groups[released])


def read_own(
    source: Source,
    function: Function,
    domains: Sequence[ValueDomain],
    kept: Sequence[str],
    subject: str | None,
    rng: np.random.Generator,
) -> OwnRows:
    """Read quasi-identifiers and the columns that are released as they are; see `read_rows`."""
    table, people = draw(source, [*(d.column for d in domains), *kept], subject, rng)
    codes = np.column_stack([d.codes(table.column(d.column)) for d in domains])
    usable = (codes != OUTSIDE).all(axis=1)
    rest = table.select(list(kept)).filter(pa.array(usable))
    return OwnRows(function, tuple(domains), codes[usable], rest, groups_of(people[usable], rng))


def _label_intervals(domain: ValueDomain, first: Codes, last: Codes) -> pa.Array:
    if domain.is_scale:
        return pa.array(ModelPredictor.of(domain, first).expect_terms(first, last)[:, 0])
    pairs, place = np.unique(np.column_stack([first, last]), axis=0, return_inverse=True)
    labels = pa.array(domain.labels([(int(a), int(b)) for a, b in pairs]))
    return labels.take(pa.array(place.ravel()))
