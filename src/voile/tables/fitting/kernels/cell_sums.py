"""Sum the figures of one policy over its own cells in NumPy, without sorting or compiling."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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

Floats = NDArray[np.float64]


def sum_cells(cells: LatticeCells, rules: CellRules) -> Floats:
    """Return the sums of `scratch.score` for the policy with every split of these cells, (6,).

    Rules on sensitive values are ignored. Cost: O(cells x attributes + details).
    """
    n, sums = cells.n, np.zeros(FIGURES)
    g = np.maximum(np.maximum(n, cells.p[: len(n)]), 1.0)
    kept = (n >= rules.least_n) & (g >= rules.least_g)
    log_width, penalty = _widths(cells)
    plain = cells.own - n_log_n(n) + n * log_width
    nats = cells.own - _sum_charges(cells) - rules.slope * n_log_n(n) + rules.spread * n * log_width
    risk = np.where(g < rules.under, n / g**rules.power, 0.0)
    sums[SUPPRESSED] = n[~kept].sum()
    sums[RISK] = risk[kept].sum()
    sums[LOSS] = nats[kept].sum() + sums[SUPPRESSED] * rules.wholly_lost
    sums[LARGEST] = (1 / g[kept]).max(initial=0.0)
    sums[DISTRIBUTION] = plain[kept].sum()
    sums[CERTAINTY] = (n * penalty)[kept].sum()
    return sums


def n_log_n(n: Floats) -> Floats:
    """Return n log n in nats, or 0 for n = 0."""
    made: Floats = n * np.log(np.maximum(n, np.finfo(np.float64).tiny))
    return made


def _widths(cells: LatticeCells) -> tuple[Floats, Floats]:
    """Return the log width of each sampled cell, and the sum of its columns' penalties."""
    log_width, penalty = np.zeros(len(cells.n)), np.zeros(len(cells.n))
    starts = np.cumsum(cells.sizes) - cells.sizes
    for d, (start, size) in enumerate(zip(starts, cells.sizes, strict=True)):
        width = cells.widths[start : start + size]
        codes = cells.codes[: len(cells.n), d]
        log_width += np.log(width)[codes]
        penalty += ((width - 1) / max(width.sum() - 1, 1))[codes]
    return log_width, penalty


def _sum_charges(cells: LatticeCells) -> Floats:
    """Return the total charge of each sampled cell's details."""
    details = cells.details
    if not len(details):
        return np.zeros(len(cells.n))
    each = details.charge[details.attribute] * n_log_n(details.n)
    return np.bincount(details.cell, weights=each, minlength=len(cells.n)).astype(np.float64)
