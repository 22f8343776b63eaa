"""Compute the figures of policies under any measures: each record's risk, and the losses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from voile.tables.fitting.kernels.cell_sums import sum_cells
from voile.tables.fitting.kernels.cells import CellRules, LatticeCells
from voile.tables.fitting.kernels.scorer import (
    CERTAINTY,
    DISTRIBUTION,
    FIGURES,
    LARGEST,
    LOSS,
    RISK,
    SUPPRESSED,
)
from voile.tables.people.counts import CombinationCounts, Constraints
from voile.tables.scoring.losses import (
    PolicyFigures,
    distribution_of_all,
    entropies,
    importance_shares,
)

if TYPE_CHECKING:
    from voile.tables.fitting.kernels.compiled_scorer import CompiledScorer

Floats = NDArray[np.float64]
Policies = NDArray[np.bool_]
SMALL = 400_000
"""Cells times attributes up to which sums use all cells, whatever the policies."""
ALONE, FEW = 3, 16
"""The finest policies, each summed on its own cells, and the size of later batches."""


class FigureScorer:
    """A scorer that computes the figures of policies with the compiled kernels, in one pass."""

    def __init__(
        self,
        counts: CombinationCounts,
        cells: LatticeCells,
        constraints: Constraints,
        importance: Sequence[float] | None,
    ) -> None:
        entropy, shares = entropies(counts), importance_shares(counts, importance)
        self._charges = np.divide(shares, entropy, out=np.zeros_like(shares), where=shares > 0)
        rules = CellRules.of(constraints, counts)
        self._rules = rules._replace(slope=1.0 - self._charges.sum())
        self._cells = cells
        self._subjects, self._most = counts.subjects, distribution_of_all(counts)

    def __call__(self, policies: NDArray[np.bool_]) -> PolicyFigures:
        """Return the figures of (m, n_bits) policies."""
        sums = self._sums(policies)
        dropped = sums[:, SUPPRESSED] / self._subjects
        hidden = (sums[:, LOSS] - sums[:, DISTRIBUTION]) / self._subjects
        spread = sums[:, DISTRIBUTION] / self._most if self._most else np.zeros(len(sums))
        certainty = sums[:, CERTAINTY] / self._subjects / len(self._cells.sizes)
        lost = [np.clip(part + dropped, 0.0, 1.0) for part in (spread, hidden, certainty)]
        return PolicyFigures(sums[:, RISK], sums[:, LARGEST], dropped, *lost)

    @cached_property
    def _scorer(self) -> CompiledScorer:
        from voile.tables.fitting.kernels.compiled_scorer import CompiledScorer

        return CompiledScorer(self._cells.charge_details(1.0, self._charges), self._rules)

    def _sums(self, policies: Policies) -> Floats:
        """Return the sums, computed on coarser cells for policies with fewer splits."""
        from voile.tables.fitting.kernels.compiled_scorer import CompiledScorer

        if len(self._cells.n) * len(self._cells.sizes) <= SMALL:
            return self._scorer.figures(policies)
        order = np.argsort(-policies.sum(axis=1), kind="stable")
        kept = np.asarray(policies.any(axis=0))
        cells = self._cells.coarsen_charged(kept, 1.0, self._charges)
        scorer, sums = CompiledScorer(cells, self._rules), np.empty((len(policies), FIGURES))
        alone = not (self._rules.least_l > 0 or self._rules.of_shares)
        for begin, end in _parts(len(order)):
            some, used = order[begin:end], np.asarray(policies[order[begin:]].any(axis=0))
            if alone and end <= ALONE:
                own = cells.coarsen(policies[some[0]][kept])
                sums[some] = sum_cells(own, self._rules)
                continue
            if cells.count_under(used[kept]) <= len(cells.p) // 2:
                cells, kept = cells.coarsen(used[kept]), used
                scorer = CompiledScorer(cells, self._rules)
            sums[some] = scorer.figures(policies[some][:, kept])
        return sums


def _parts(count: int) -> Iterator[tuple[int, int]]:
    """Yield the range of each batch: the finest policies one by one, then `FEW` at a time."""
    ends = [*range(1, min(ALONE, count) + 1), *range(ALONE + FEW, count, FEW), count]
    yield from pairwise(dict.fromkeys([0, *ends]))
