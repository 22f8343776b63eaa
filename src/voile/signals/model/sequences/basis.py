"""The functions of time in a subject's scores: level, slope and season."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from voile.signals.model.codec.pieces import Floats
from voile.signals.model.sequences.written_out import LARGEST

LONGEST = 10_000  # maximum units of time in a season; a codec stores a row for each


@dataclass(frozen=True, eq=False)
class TimeBasis:
    """The functions of time in a score. Each subject has its own coefficients for them.

    Every class has the same functions, so they reveal nothing about the class. A season is a table,
    since the bits of a cosine may differ between machines.
    """

    slope: float = 0.0  # units of time over which a slope of 1 rises by 1; 0 without a slope
    season: Floats = field(
        default_factory=lambda: np.zeros((1, 0))
    )  # (period, q) the season's terms at each unit of time of a period

    def __post_init__(self) -> None:
        sound = self.season.ndim == 2 and 0 < len(self.season) <= LONGEST
        sound &= 0 <= self.slope < np.inf and self.size <= LARGEST
        if not (sound and np.isfinite(self.season).all()):
            raise ValueError("a slope or a season is out of range")

    @classmethod
    def of(cls, slope: float, period: int, harmonics: int) -> TimeBasis:
        """Return the basis with a slope and a season, each omitted if its argument is 0."""
        if not period:
            return cls(slope)
        turns = 2 * np.pi * np.outer(np.arange(period), np.arange(1, harmonics + 1)) / period
        return cls(slope, np.concatenate([np.cos(turns), np.sin(turns)], axis=1))

    @property
    def size(self) -> int:
        """The number of coefficients of a score. The level comes first."""
        return 1 + bool(self.slope) + int(self.season.shape[1])

    @cached_property
    def _rows(self) -> list[list[float]]:
        rows: list[list[float]] = self.season.tolist()
        return rows

    def at(self, time: int, since: int) -> Sequence[float]:
        """Return each function at a time. The slope starts at the subject's first reading."""
        rows = self._rows
        row = rows[time % len(rows)]
        return (1.0, (time - since) / self.slope, *row) if self.slope else (1.0, *row)

    def over(self, times: NDArray[np.int64], since: NDArray[np.int64]) -> Floats:
        """Return the functions at (n, T) times of n subjects, as (n, T, size)."""
        parts = [np.ones((*times.shape, 1)), self.season[times % len(self.season)]]
        if self.slope:
            parts.insert(1, ((times - since[:, None]) / self.slope)[..., None])
        return np.concatenate(parts, axis=2)
