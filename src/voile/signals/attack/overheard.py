"""Smoothed densities of each class, for original readings and overheard messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.evidence import Curve
from voile.signals.model.codec.pieces import Codes, Floats
from voile.signals.model.readings.forms import ReadingColumn

POINTS = 80
EDGE = 0.005  # share of values omitted at each end of a plot
READ, OVERHEARD = "read", "overheard"


def overheard(
    forms: Sequence[ReadingColumn],
    X: NDArray[Any],
    Z: NDArray[Any],
    c: Codes,
    classes: Sequence[str],
) -> Iterator[Curve]:
    """Yield a density curve for each class of each numeric column, for readings and messages."""
    for j, form in enumerate(forms):
        if form.settings.nominal:
            continue
        for what, values in ((READ, X[:, j]), (OVERHEARD, Z[:, j])):
            v = values.astype(np.float64)
            low, high = np.quantile(v, [EDGE, 1 - EDGE])
            grid = np.linspace(low, high, POINTS)
            for k, name in enumerate(classes):
                y = density(v[c == k], grid)
                shown = tuple(float(one) for one in grid), tuple(float(one) for one in y)
                yield Curve(name, f"{form.column}, {what}", "density", *shown)


def density(v: Floats, grid: Floats) -> Floats:
    """Return the density of values, smoothed by a normal kernel (Scott 1992)."""
    width = max(float(v.std()) * len(v) ** -0.2, float(np.ptp(grid)) / (4 * POINTS))
    apart = (grid[:, None] - v) / width
    kernel = np.exp(-0.5 * apart * apart).mean(axis=1)
    return np.asarray(kernel / (width * np.sqrt(2 * np.pi)))


def as_numbers(forms: Sequence[ReadingColumn], table: NDArray[Any]) -> Floats:
    """Return readings or messages as numbers, with nominal columns one-hot encoded."""
    columns: list[Floats] = []
    for j, form in enumerate(forms):
        if form.settings.nominal:
            values = table[:, j].astype(str)
            columns += [(values == one).astype(np.float64) for one in np.unique(values)[1:]]
        else:
            columns.append(table[:, j].astype(np.float64))
    return np.stack(columns, axis=1)
