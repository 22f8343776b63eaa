"""What an attack found: the adversary's story, what she knows, rates with intervals, baselines.

Every estimated share is a `Rate`, which keeps its counts and so its interval; nothing found in
n tries is shown with its upper bound of 3/n, not as no risk.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Heading = Literal["singling out", "linkability", "inference"]
Z95 = 1.959963984540054


@dataclass(frozen=True)
class Rate:
    """A share estimated from counts: `successes` of `trials` (0 <= successes <= trials)."""

    successes: int
    trials: int

    def __post_init__(self) -> None:
        if not 0 <= self.successes <= self.trials:
            raise ValueError(f"{self.successes} successes of {self.trials} trials")

    @property
    def value(self) -> float:
        """The share itself; NaN when nothing was tried."""
        return self.successes / self.trials if self.trials else math.nan

    def interval(self, z: float = Z95) -> tuple[float, float]:
        """Return the Wilson score interval (Wilson 1927); [0, 1] when nothing was tried.

        For no success at all the upper end is at least the rule of three's, 3 / trials.

        >>> low, high = Rate(0, 100).interval()
        >>> low, round(high, 3)
        (0.0, 0.037)
        """
        n = self.trials
        if n == 0:
            return 0.0, 1.0
        p = self.successes / n
        centre = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        low = 0.0 if self.successes == 0 else max(0.0, centre - half)
        high = 1.0 if self.successes == n else min(1.0, centre + half)
        if self.successes == 0:
            high = min(1.0, max(high, 3 / n))
        return low, high


def difference(a: Rate, b: Rate) -> tuple[float, float, float]:
    """Return a - b and its 95% interval, of two independent rates that were both tried.

    Newcombe's hybrid of Wilson intervals (1998, method 10).

    >>> [round(x, 4) for x in difference(Rate(56, 70), Rate(48, 80))]
    [0.2, 0.0524, 0.3339]
    """
    (a_low, a_high), (b_low, b_high) = a.interval(), b.interval()
    value = a.value - b.value
    low = value - math.hypot(a.value - a_low, b_high - b.value)
    return value, low, value + math.hypot(a_high - a.value, b.value - b_low)


@dataclass(frozen=True)
class Finding:
    """One line of evidence.

    Parameters
    ----------
    name : what was counted, e.g. ``correct claims``.
    rate : how often it succeeded.
    baseline : the same for an adversary without the release, or guessing within a group.
    control : the same against people who are not in the release, where there are any.
    meaning : one sentence for a reader without statistics.
    """

    name: str
    rate: Rate
    baseline: Rate | None = None
    control: Rate | None = None
    meaning: str = ""


@dataclass(frozen=True)
class Curve:
    """A line with its interval: `y` against `x`, `low` <= `y` <= `high`, all of one length."""

    name: str
    x_name: str
    y_name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()


@dataclass(frozen=True)
class Evidence:
    """What one attack found.

    Parameters
    ----------
    attack : its short name, e.g. ``linkage``.
    heading : which of the three questions of data-protection law it answers.
    story : what the adversary holds, does, and counts as success.
    knows : the columns she is said to know.
    findings, curves : the numbers.
    notes : what a reader must know to read them rightly.
    """

    attack: str
    heading: Heading
    story: str
    knows: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    curves: tuple[Curve, ...] = ()
    notes: tuple[str, ...] = field(default=())

    def to_json(self) -> dict[str, Any]:
        """Return plain data that `from_json` reads back."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Evidence:
        """Rebuild evidence from `to_json`'s plain data."""

        def rate(x: Mapping[str, int] | None) -> Rate | None:
            return None if x is None else Rate(**x)

        findings = tuple(
            Finding(
                name=f["name"],
                rate=Rate(**f["rate"]),
                baseline=rate(f["baseline"]),
                control=rate(f["control"]),
                meaning=f["meaning"],
            )
            for f in data["findings"]
        )
        curves = tuple(
            Curve(
                c["name"],
                c["x_name"],
                c["y_name"],
                *(tuple(c[line]) for line in ("x", "y", "low", "high")),
            )
            for c in data["curves"]
        )
        return cls(
            attack=data["attack"],
            heading=data["heading"],
            story=data["story"],
            knows=tuple(data["knows"]),
            findings=findings,
            curves=curves,
            notes=tuple(data["notes"]),
        )
