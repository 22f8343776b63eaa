"""The findings of the gate: figures measured in the written bytes of a release."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

Unit = Literal[
    "people",
    "rows",
    "groups",
    "values",
    "cells",
    "columns",
    "documents",
    "characters",
    "marks",
    "mentions",
    "probability",
    "share",
    "odds",
    "ratio",
    "pairs",
]
Origin = Literal["release", "release and source", "release and population"]
FORBID = {"extra": "forbid"}


@dataclass(frozen=True, kw_only=True)
class GateFinding:
    """One figure that the gate measured.

    Parameters
    ----------
    name : the name of the figure, such as ``k``. With `of` it is unique within a release.
    value : the figure, in `unit`. The smallest group of an empty release has an infinite size.
    knows : the adversary's knowledge, in one sentence.
    n : the number of people or rows that the figure refers to. None if there is no such number.
    of : the measured column, category or facts, if each of them has its own finding.
    interval : the 95% interval of an estimated figure.
    expected, deviation : the figure expected by chance alone, and its standard deviation. None if
        chance gives no such figure.
    origin : the files that the gate measured.
    """

    __pydantic_config__ = FORBID

    name: str
    value: float
    unit: Unit
    knows: str
    n: int | None = None
    of: str = ""
    interval: tuple[float, float] | None = None
    expected: float | None = None
    deviation: float | None = None
    origin: Origin = "release"

    @property
    def beyond_chance(self) -> float:
        """The figure minus the figure expected by chance, at least 0."""
        return max(0.0, self.value - (self.expected or 0.0))

    @property
    def key(self) -> str:
        """The finding's name in the figures of a manifest.

        >>> GateFinding(name="distinct_l", of="pay", value=2, unit="values", knows="").key
        'distinct_l(pay)'
        """
        return f"{self.name}({self.of})" if self.of else self.name


OWN = tuple(one.name for one in fields(GateFinding))


@dataclass(frozen=True)
class StatedAdversary:
    """An adversary's knowledge, in one sentence, and the files that the gate measured."""

    knows: str
    origin: Origin = "release"

    def finds(
        self,
        name: str,
        value: float,
        unit: Unit,
        *,
        n: float | None = None,
        of: str = "",
        interval: tuple[float, float] | None = None,
        expected: float | None = None,
        deviation: float | None = None,
    ) -> GateFinding:
        """Return a finding with this adversary's knowledge and origin."""
        return GateFinding(
            name=name,
            value=float(value),
            unit=unit,
            knows=self.knows,
            n=None if n is None else round(n),
            of=of,
            interval=interval,
            expected=expected,
            deviation=deviation,
            origin=self.origin,
        )


NOBODY = StatedAdversary("needs no knowledge")
"""The adversary of plain counts: anybody who has the release."""


def figures_of(findings: Iterable[GateFinding]) -> dict[str, float]:
    """Return a dictionary of the findings' values by key."""
    return {one.key: one.value for one in findings}


def findings_to_data(findings: Iterable[GateFinding]) -> list[dict[str, Any]]:
    """Convert findings to plain data for a manifest, without infinite figures and empty fields."""
    return [
        {name: x for name in OWN if (x := getattr(one, name)) not in (None, "")}
        for one in findings
        if math.isfinite(one.value)
    ]


def findings_from_data(data: Iterable[Mapping[str, Any]]) -> tuple[GateFinding, ...]:
    """Recreate findings from the data of `findings_to_data`.

    Raises
    ------
    ValueError, TypeError : a field is missing or unknown.
    """
    return tuple(GateFinding(**one) for one in data)
