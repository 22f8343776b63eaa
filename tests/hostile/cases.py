"""The number of cases in the hostile tests: fixed in CI, and `VOILE_HOSTILE` times that by hand."""

from __future__ import annotations

import os


def cases(number: int) -> int:
    """Return how many cases to try where CI tries `number`."""
    return number * int(os.environ.get("VOILE_HOSTILE", "1"))
