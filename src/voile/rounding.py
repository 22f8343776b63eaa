"""Two significant digits: what a public file states of any figure that was computed from people.

Whoever knows all rows but one can compute a release's figures for each value that the last row
may have. Every further digit rules values out: a loss in full once left 3 ages of 60.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from math import isfinite
from typing import Any, Literal, TypeVar, cast

Towards = Literal["up", "down", "nearest"]
DIGITS = 2
AS_THEY_ARE = frozenset({"number", "version"})
"""Names of what is no figure, but tells one policy or form from another."""
_WAYS: Mapping[Towards, Context] = {
    "up": Context(prec=DIGITS, rounding=ROUND_CEILING),
    "down": Context(prec=DIGITS, rounding=ROUND_FLOOR),
    "nearest": Context(prec=DIGITS, rounding=ROUND_HALF_EVEN),
}
N = TypeVar("N", int, float)
T = TypeVar("T")


def rounded(value: N, towards: Towards = "nearest") -> N:
    """Round a number to two significant digits; what is infinite or not a number stays.

    The last bits of a sum do not count: what differs from two digits by one part in 10^12 has
    two digits.

    >>> [rounded(x) for x in (0.000123, 0.03841, 0.9303, 32_561, 84)]
    [0.00012, 0.038, 0.93, 33000, 84]
    >>> rounded(0.0301, "up"), rounded(0.0301, "down"), rounded(0.1 + 0.2, "up")
    (0.031, 0.03, 0.3)
    """
    if not isfinite(value):
        return value
    short = _WAYS[towards].create_decimal(Decimal(f"{value:.12g}"))
    return type(value)(short)


def coarse(thing: T) -> T:
    """Round every number in plain data or in dataclasses of it, whatever it is called.

    Numbers under 100 that are whole, texts and booleans stay; so do a policy's number and a
    form's version.

    >>> coarse({"policies": 1234, "number": 1234, "loss": [0.12345, None], "words": "1234"})
    {'policies': 1200, 'number': 1234, 'loss': [0.12, None], 'words': '1234'}
    """
    found: Any = thing
    if isinstance(thing, Mapping):
        found = {k: v if _stays(k) else coarse(v) for k, v in thing.items()}
    elif isinstance(thing, (list, tuple)):
        found = type(thing)(map(coarse, thing))
    elif is_dataclass(thing) and not isinstance(thing, type):
        found = replace(thing, **{f.name: coarse(getattr(thing, f.name)) for f in fields(thing)})
    elif isinstance(thing, (int, float)) and not isinstance(thing, bool):
        found = rounded(thing)
    return cast(T, found)


def _stays(name: Any) -> bool:
    return name in AS_THEY_ARE
