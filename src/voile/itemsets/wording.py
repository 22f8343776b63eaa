"""How the wing's numbers are written for people."""

from __future__ import annotations

from collections.abc import Sequence

from voile.evidence import Rate
from voile.sections import Audience

FEW = 11


def share(value: float) -> str:
    """Write a share with the digits it deserves.

    >>> [share(x) for x in (0.0, 0.00012, 0.0384, 0.5, 1.0)]
    ['0%', '0.012%', '3.8%', '50%', '100%']
    """
    percent = 100 * value
    if percent in (0, 100) or percent >= 10:
        return f"{percent:.0f}%"
    return f"{percent:.1f}%" if percent >= 1 else f"{percent:.2g}%"


def share_of(value: float, whole: float, audience: Audience) -> str:
    """Write a share of so many rows; a public report gives no share of 1 to 10 of them.

    >>> share_of(0.0001, 32_561, "public"), share_of(0.002, 32_561, "public")
    ('under 0.034%', '0.2%')
    """
    if audience == "public" and 0 < round(value * whole, 6) < FEW:
        return f"under {share(min(FEW / whole, 1.0))}"
    return share(value)


def itemset(names: Sequence[str], present: Sequence[bool]) -> str:
    """Write what a row has and has not.

    >>> itemset(["tea", "milk"], [True, False])
    'tea, not milk'
    """
    return ", ".join(n if has else f"not {n}" for n, has in zip(names, present, strict=True))


def rate(found: Rate | None, audience: Audience) -> str:
    """Write a rate with its interval; a public report tells no count from 1 to 10."""
    if found is None:
        return "–"
    if found.trials == 0:
        return "nothing to try"
    low, high = found.interval()
    if audience == "public" and (0 < found.trials < FEW or 0 < found.successes < FEW):
        return f"at most {share(max(high, min(FEW / found.trials, 1.0)))}"
    return (
        f"{share(found.value)} ({share(low)} to {share(high)}), "
        f"{found.successes:,} of {found.trials:,}"
    )
