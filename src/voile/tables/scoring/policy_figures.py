"""What policies leave of each record's own risk, and lose, whatever was searched for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import Brief
from voile.tables.kernels.cells import CellRules, LatticeCells
from voile.tables.kernels.scorer import (
    CERTAINTY,
    DISTRIBUTION,
    LARGEST,
    LOSS,
    RISK,
    SUPPRESSED,
)
from voile.tables.people.counts import Constraints, Counts
from voile.tables.scoring.losses import distribution_of_all, entropies, importance_shares

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PolicyFigures(Brief):
    """Figures of policies, (m,) each.

    The sum of 1 / g and the largest 1 / g of the subjects released (0 if none is), the share of
    subjects that are not, and the three losses (see `losses`).
    """

    expected_matches: Floats
    largest: Floats
    suppressed: Floats
    distribution: Floats
    resolution: Floats
    ncp: Floats


class FigureScorer:
    """Compute the figures of policies by the compiled kernels, all in one pass."""

    def __init__(
        self,
        counts: Counts,
        cells: LatticeCells,
        constraints: Constraints,
        importance: Sequence[float] | None,
    ) -> None:
        from voile.tables.kernels.compiled_scorer import CompiledScorer

        entropy, shares = entropies(counts), importance_shares(counts, importance)
        charges = np.divide(shares, entropy, out=np.zeros_like(shares), where=shares > 0)
        rules = CellRules.of(constraints, counts)._replace(slope=1.0 - charges.sum())
        self._scorer = CompiledScorer(cells.charged(1.0, charges), rules)
        self._subjects, self._most = counts.subjects, distribution_of_all(counts)

    def __call__(self, policies: NDArray[np.bool_]) -> PolicyFigures:
        """Return the figures of (m, n_bits) policies."""
        sums = self._scorer.figures(policies)
        dropped = sums[:, SUPPRESSED] / self._subjects
        hidden = (sums[:, LOSS] - sums[:, DISTRIBUTION]) / self._subjects
        spread = sums[:, DISTRIBUTION] / self._most if self._most else np.zeros(len(sums))
        certainty = sums[:, CERTAINTY] / self._subjects / len(self._scorer.sizes)
        lost = [np.clip(part + dropped, 0.0, 1.0) for part in (spread, hidden, certainty)]
        return PolicyFigures(sums[:, RISK], sums[:, LARGEST], dropped, *lost)
