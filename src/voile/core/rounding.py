"""Two significant digits: the public precision of any figure that was computed from people.

Whoever knows all rows but one can compute a release's figures for each value that the last row
may have. Every further digit rules values out: a loss in full once left 3 ages of 60.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from math import ceil, isfinite
from typing import Any, Literal, TypeVar, cast

Towards = Literal["up", "down", "nearest"]
DIGITS = 2
AS_THEY_ARE = frozenset({"number", "version"})
"""The names of values that are no figures, but distinguish one policy or form from another."""
_WAYS: Mapping[Towards, Context] = {
    "up": Context(prec=DIGITS, rounding=ROUND_CEILING),
    "down": Context(prec=DIGITS, rounding=ROUND_FLOOR),
    "nearest": Context(prec=DIGITS, rounding=ROUND_HALF_EVEN),
}
N = TypeVar("N", int, float)
T = TypeVar("T")


def round_number(value: N, towards: Towards = "nearest") -> N:
    """Round a number to two significant digits. Keep an infinite value or NaN.

    The last bits of a sum do not count: a number within one part in 10^12 of two digits has two
    digits.

    >>> [round_number(x) for x in (0.000123, 0.03841, 0.9303, 32_561, 84)]
    [0.00012, 0.038, 0.93, 33000, 84]
    >>> round_number(0.0301, "up"), round_number(0.0301, "down"), round_number(0.1 + 0.2, "up")
    (0.031, 0.03, 0.3)
    """
    if not isfinite(value):
        return value
    short = _WAYS[towards].create_decimal(Decimal(f"{value:.12g}"))
    return _like(value, short)


def _like(value: N, number: Decimal | int) -> N:
    return int(number) if isinstance(value, int) else float(number)


def outwards(value: N, name: str) -> N:
    """Round to the nearest, but the low end of an interval down and its high end up, by name.

    >>> outwards(0.143, "bits_high"), outwards(0.147, "low"), outwards(0.143, "bits")
    (0.15, 0.14, 0.14)
    """
    if name.endswith("low"):
        return round_number(value, "down")
    return round_number(value, "up" if name.endswith("high") else "nearest")


@dataclass(frozen=True)
class StatingRules:
    """How a wing states figures in public, so that none promises too much.

    What counts few people goes up to tens: two digits of 43 would be all there are. Any other
    count goes to the nearest, a share or an estimate up. Each name has one direction: two would
    reveal a further digit.

    Parameters
    ----------
    at_least : the figures of which more is better: down.
    people : the figures that one person more or less changes by one.
    exact : the figures that a reader of the release can count, kept as they are.

    >>> state = StatingRules(at_least=frozenset({"k"}), people=frozenset({"uniques"}))
    >>> [state(128.0, "k"), state(43, "uniques"), state(32_561, ""), state(0.0301, "loss")]
    [120.0, 50, 33000, 0.031]
    """

    at_least: frozenset[str] = frozenset()
    people: frozenset[str] = frozenset()
    exact: frozenset[str] = frozenset()

    def __call__(self, value: N, name: str) -> N:
        """Round the figure of this name."""
        if name in self.exact:
            return value
        if name in self.people and value < 100:
            return _like(value, 10 * ceil(value / 10))
        if name in self.at_least:
            return round_number(value, "down")
        return round_number(value) if value == round(value) else round_number(value, "up")


def coarse(thing: T, rule: Callable[[Any, str], Any] = lambda value, _: round_number(value)) -> T:
    """Round every number in plain data or in dataclasses of it, by a rule of value and name.

    Texts and booleans stay; so do a policy's number and a form's version.

    >>> coarse({"policies": 1234, "number": 1234, "loss": [0.12345, None], "words": "1234"})
    {'policies': 1200, 'number': 1234, 'loss': [0.12, None], 'words': '1234'}
    """
    return cast(T, _coarse(thing, rule, ""))


def _coarse(thing: Any, rule: Callable[[Any, str], Any], name: str) -> Any:
    if name in AS_THEY_ARE:
        return thing
    if isinstance(thing, Mapping):
        return {key: _coarse(value, rule, str(key)) for key, value in thing.items()}
    if isinstance(thing, (list, tuple)):
        return type(thing)(_coarse(one, rule, name) for one in thing)
    if is_dataclass(thing) and not isinstance(thing, type):
        own = {f.name: _coarse(getattr(thing, f.name), rule, f.name) for f in fields(thing)}
        return replace(thing, **own)
    if isinstance(thing, bool) or not isinstance(thing, (int, float)) or not isfinite(thing):
        return thing
    return rule(thing, name)


class StatedNumber(float):
    """A figure in its public form, which remembers its exact value.

    Parameters
    ----------
    exact : only this value decides whether the figure counts few people: 10 of 997 are few, and
        0.011 of about 1,000 are not. It is never written.

    >>> StatedNumber(0.011, exact=0.01003)
    0.011
    """

    exact: float

    def __new__(cls, value: float, exact: float | None = None) -> StatedNumber:
        """Make the figure; a copy is made of its value, and then given its past."""
        made = super().__new__(cls, value)
        made.exact = value if exact is None else exact
        return made


def exact(value: float) -> float:
    """Return a figure's value before it was rounded for the public.

    >>> exact(StatedNumber(0.011, exact=0.01003)), exact(0.5)
    (0.01003, 0.5)
    """
    return value.exact if isinstance(value, StatedNumber) else value


def for_audience(thing: T, audience: Literal["public", "internal"], stating: StatingRules) -> T:
    """Return the facts for a report. For the public, figures are rounded.

    >>> for_audience([0.12345], "public", StatingRules()), for_audience(
    ...     [0.12345], "internal", StatingRules()
    ... )
    ([0.13], [0.12345])
    """

    def stated(value: Any, name: str) -> Any:
        shown = stating(value, name)
        return StatedNumber(shown, exact=value) if isinstance(value, float) else shown

    return coarse(thing, stated) if audience == "public" else thing
