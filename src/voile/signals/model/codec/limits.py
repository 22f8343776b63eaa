"""What no reading can be, by which forged and faulty messages are noticed: NumPy alone.

A file or a device in other hands may send any number, and every number decodes to something. The
live channel, `decode` and `decode-fhir` hold what they decode to the same limits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

RANGE = 8.0
"""Normal scores within which the map takes a value for a reading; once in 10^15 one lies beyond."""


@dataclass(frozen=True)
class ReadingLimits:
    name: str
    words: Sequence[str] = ()
    bounds: tuple[float, float] | None = None

    def is_outside(self, values: Any) -> Any:
        low, high = (0, len(self.words) - 1) if self.words else self.bounds or (values, values)
        return np.logical_not((low <= values) & (values <= high))

    def write_value(self, value: float) -> str | float:
        """Return a value as the source has it; one that is not a number as text, for JSON."""
        if not isfinite(value):
            return str(value)
        return self.words[int(value)] if self.words and not self.is_outside(value) else value
