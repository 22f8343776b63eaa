"""How many cases the hostile tests try: so many in CI, `VOILE_HOSTILE` times as many by hand."""

from __future__ import annotations

import os


def cases(number: int) -> int:
    """Return how many cases to try where CI tries `number`."""
    return number * int(os.environ.get("VOILE_HOSTILE", "1"))
