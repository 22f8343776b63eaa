"""How numbers are written for people, the same in every wing.

A public report tells no count of people from 1 to 10, and no share from which one would follow.
"""

from __future__ import annotations

from collections.abc import Sequence

from voile.evidence import Rate, difference
from voile.sections import Audience

FEW = 11


def listed(names: Sequence[str]) -> str:
    """Join names as a sentence does; one at least.

    >>> listed(["age", "sex", "race"])
    'age, sex and race'
    """
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def share(value: float) -> str:
    """Write a share with the digits it deserves.

    >>> [share(x) for x in (0.0, 0.00012, 0.0384, 0.5, 1.0)]
    ['0%', '0.012%', '3.8%', '50%', '100%']
    """
    percent = 100 * value
    if percent in (0, 100) or percent >= 10:
        return f"{percent:.0f}%"
    return f"{percent:.1f}%" if percent >= 1 else f"{percent:.2g}%"


def is_few(value: float, whole: float, audience: Audience) -> bool:
    """Say whether a share tells a public reader a number from 1 to 10.

    >>> is_few(0.0003, 32_561, "public"), is_few(0.0003, 32_561, "internal")
    (True, False)
    """
    return audience == "public" and 0 < round(value * whole, 6) < FEW


def share_of(value: float, whole: float, audience: Audience) -> str:
    """Write a share of so many; a public report gives no share of 1 to 10 of them, or of the rest.

    >>> share_of(0.0001, 32_561, "public"), share_of(0.002, 32_561, "public")
    ('under 0.034%', '0.2%')
    >>> share_of(0.98, 200, "public"), share_of(1.0, 200, "public")
    ('over 94%', '100%')
    """
    if is_few(value, whole, audience):
        return f"under {share(min(FEW / whole, 1.0))}"
    if is_few(1 - value, whole, audience):
        return f"over {share(max(1 - FEW / whole, 0.0))}"
    return share(value)


def rate(found: Rate | None, audience: Audience) -> str:
    """Write a rate with its interval; a public report tells no count from 1 to 10.

    >>> rate(Rate(50, 100), "public"), rate(Rate(3, 100), "public"), rate(None, "public")
    ('50% (40% to 60%), 50 of 100', 'at most 17%', '–')
    """
    if found is None:
        return "–"
    if found.trials == 0:
        return "nothing to try"
    if audience == "public" and (0 < found.trials < FEW or 0 < found.successes < FEW):
        most = Rate(min(FEW - 1, found.trials), found.trials)  # whatever it is of 1 to 10
        return f"at most {share(most.interval()[1])}"
    low, high = found.interval()
    return (
        f"{share(found.value)} ({share(low)} to {share(high)}), "
        f"{found.successes:,} of {found.trials:,}"
    )


def advantage(found: Rate, control: Rate | None) -> str:
    """Say how much oftener an attack is right about people who were released."""
    if control is None or not (found.trials and control.trials):
        return "Without a control group this cannot be told from knowledge about groups."
    value, low, high = difference(found, control)
    return (
        f"Advantage over people who were never released: {100 * value:.1f} percentage points "
        f"(95% interval {100 * low:.1f} to {100 * high:.1f})."
    )
