"""Apply an analyst's own function to Arrow tables of the source and of releases."""

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
    """The rows to which an analyst's function is applied.

    A number or date is replaced by the mean of its interval, as a float. A date is measured in
    days, months or years. Text is replaced by the label of its interval. Columns that are released
    unchanged stay unchanged.

    Attributes
    ----------
    codes : (n, attributes) int32, the quasi-identifiers as positions in their domains.
    rest : (n rows) the columns that are released unchanged.
    groups : (n,) int64, the jackknife groups from `groups_of`.
    """

    function: Function
    domains: tuple[ValueDomain, ...]
    codes: Codes
    rest: pa.Table
    groups: NDArray[np.int64]

    description = "the data holder's own function"
    score_name = ""

    def fit_source(self) -> AnalysisEstimates:
        """Apply the function to the source's rows."""
        return self.fit_release(self.codes, self.codes, np.ones(len(self.codes), np.bool_))

    def fit_release(
        self, first: Codes, last: Codes, released: NDArray[np.bool_]
    ) -> AnalysisEstimates:
        """Apply the function to the released rows.

        `first` and `last` are (n, attributes) int32, the positions of each row's interval, both
        included. `released` is (n,) bool.
        """
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
    """Read the quasi-identifiers and the columns that are released unchanged.

    People are drawn at random from a large source, as in `read_rows`.
    """
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
