"""Limits of possible readings, which detect forged and faulty messages, with NumPy only.

An attacker's file or device may send any number, and every number decodes to some reading. The live
channel, `decode` and `decode-fhir` apply the same limits to decoded readings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

RANGE = 8.0
"""The map accepts readings within these normal scores; one in 10^15 lies beyond."""


@dataclass(frozen=True)
class ReadingLimits:
    name: str
    words: Sequence[str] = ()
    bounds: tuple[float, float] | None = None

    def is_outside(self, values: Any) -> Any:
        low, high = (0, len(self.words) - 1) if self.words else self.bounds or (values, values)
        return np.logical_not((low <= values) & (values <= high))

    def write_value(self, value: float) -> str | float:
        """Return a value in the source's form. NaN and infinities become text, for JSON."""
        if not isfinite(value):
            return str(value)
        return self.words[int(value)] if self.words and not self.is_outside(value) else value
