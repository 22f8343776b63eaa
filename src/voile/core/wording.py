"""Words of every message."""

from __future__ import annotations


def count(n: int, noun: str) -> str:
    """Write how many of something there are.

    >>> count(1, "policy"), count(1200, "policy"), count(0, "row")
    ('1 policy', '1,200 policies', '0 rows')
    """
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{n:,} {noun if n == 1 else plural}"
