"""How the wing's numbers are written for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voile.sections import Audience

FEW = 11
CALLED = {"safe-harbor": "Safe Harbor", "chosen": "chosen policy"}


def people(count: float, audience: Audience) -> str:
    """Write a count of people; a public report says no number from 1 to 10.

    >>> people(3, "public"), people(3, "internal"), people(1234, "public")
    ('fewer than 11', '3', '1,234')
    """
    if audience == "public" and 0 < count < FEW:
        return f"fewer than {FEW}"
    return f"{count:,.0f}"


def share(value: float) -> str:
    """Write a share with the digits it deserves.

    >>> [share(x) for x in (0.0, 0.00012, 0.0384, 0.5, 1.0)]
    ['0%', '0.012%', '3.8%', '50%', '100%']
    """
    percent = 100 * value
    if percent in (0, 100) or percent >= 10:
        return f"{percent:.0f}%"
    return f"{percent:.1f}%" if percent >= 1 else f"{percent:.2g}%"


def one_in(risk: float) -> str:
    """Write a probability as one in so many.

    >>> one_in(0.05), one_in(1.0)
    ('1 in 20', 'certain')
    """
    return "certain" if risk >= 1 else f"1 in {1 / risk:,.0f}" if risk > 0 else "none"


def about(matches: float) -> str:
    """Write an expected number of people.

    >>> about(84.3), about(3.42), about(0.01)
    ('84', '3.4', 'nearly none')
    """
    return (
        f"{matches:,.0f}"
        if matches >= 10
        else f"{matches:.1f}"
        if matches >= 0.1
        else "nearly none"
    )


def three_sentences(story: Mapping[str, Any], how: str) -> tuple[str, ...]:
    """Say the risk now, what was lost, and how it compares with Safe Harbor."""
    risk, loss = story["chosen"]
    now, before = risk * story["matches"], story["matches"]
    subjects = story["subjects"]
    kept = subjects * (1 - story["suppressed"])
    said = [
        f"Of {kept:,.0f} people in the release, {about(now)} could be expected to be named rightly "
        f"by somebody who looks every one of them up in the population "
        f"({share(now / kept if kept else 0)}); of the source as it is, {about(before)}.",
        f"The release keeps {share(1 - loss)} of what the source's columns tell of each other and "
        f"loses {share(loss)}"
        + (f", {share(story['suppressed'])} of people dropped." if story["suppressed"] else "."),
    ]
    for name, (its_risk, its_loss) in story["marks"].items():
        count = story["beats"][name]["count"]
        called = CALLED.get(name, name)
        if risk <= its_risk and loss <= its_loss:
            said.append(
                f"It beats {called}, which leaves {about(its_risk * before)} such people and loses "
                f"{share(its_loss)}; so do {max(count - 1, 0):,} other policies found."
            )
        else:
            said.append(
                f"{called} leaves {about(its_risk * before)} such people and loses "
                f"{share(its_loss)}; {count:,} policies found beat it in both."
            )
    if not story["marks"]:
        said.append(f"The policy was chosen {how}.")
    return tuple(said)
