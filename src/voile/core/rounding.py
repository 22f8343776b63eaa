"""Round figures computed from people to two significant digits, the precision shown to the public.

An adversary who knows all rows but one can compute the figures for each possible value of the last
row. Every further digit excludes values: a loss with all digits once left only 3 of 60 ages.
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
"""Names of values that are not figures, but numbers of policies or versions of a format."""
_WAYS: Mapping[Towards, Context] = {
    "up": Context(prec=DIGITS, rounding=ROUND_CEILING),
    "down": Context(prec=DIGITS, rounding=ROUND_FLOOR),
    "nearest": Context(prec=DIGITS, rounding=ROUND_HALF_EVEN),
}
N = TypeVar("N", int, float)
T = TypeVar("T")


def round_number(value: N, towards: Towards = "nearest") -> N:
    """Round a number to two significant digits. Infinite values and NaN stay as they are.

    The last bits of a sum are ignored. A number within one part in 10^12 of a number with two
    digits counts as that number.

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
    """Round the low end of an interval down, the high end up, and other figures to the nearest.

    The end of `name` decides: ``low`` or ``high``.

    >>> outwards(0.143, "bits_high"), outwards(0.147, "low"), outwards(0.143, "bits")
    (0.15, 0.14, 0.14)
    """
    if name.endswith("low"):
        return round_number(value, "down")
    return round_number(value, "up" if name.endswith("high") else "nearest")


@dataclass(frozen=True)
class StatingRules:
    """The rules by which a kind of data rounds its public figures, so that none claims too much.

    A figure that counts few people is rounded up to tens, because two digits would state 43
    exactly. Any other count is rounded to the nearest number with two digits. A share or an
    estimate is rounded up. Each name has one direction, because rounding in two directions would
    reveal a further digit.

    Parameters
    ----------
    at_least : the figures for which more is better. They are rounded down.
    people : the figures that change by one with one person more or less.
    exact : the figures that a reader of the release can count. They are not rounded.

    >>> state = StatingRules(at_least=frozenset({"k"}), people=frozenset({"uniques"}))
    >>> [state(128.0, "k"), state(43, "uniques"), state(32_561, ""), state(0.0301, "loss")]
    [120.0, 50, 33000, 0.031]
    """

    at_least: frozenset[str] = frozenset()
    people: frozenset[str] = frozenset()
    exact: frozenset[str] = frozenset()

    def __call__(self, value: N, name: str) -> N:
        """Round the figure with this name."""
        if name in self.exact:
            return value
        if name in self.people and value < 100:
            return _like(value, 10 * ceil(value / 10))
        if name in self.at_least:
            return round_number(value, "down")
        return round_number(value) if value == round(value) else round_number(value, "up")


def coarse(thing: T, rule: Callable[[Any, str], Any] = lambda value, _: round_number(value)) -> T:
    """Round every number in plain data or dataclasses by a rule of value and name.

    Texts and booleans stay as they are. So do the number of a policy and the version of a format.

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
    """A figure in its public form that remembers its exact value.

    Parameters
    ----------
    exact : the value before rounding, which is never written. Only it decides whether the figure
        counts few people: 10 of 997 are few, and 0.011 of about 1,000 are not.

    >>> StatedNumber(0.011, exact=0.01003)
    0.011
    """

    exact: float

    def __new__(cls, value: float, exact: float | None = None) -> StatedNumber:
        """Make the figure. Copying passes only `value`, and then restores the attribute `exact`."""
        made = super().__new__(cls, value)
        made.exact = value if exact is None else exact
        return made


def exact(value: float) -> float:
    """Return the value of a figure before it was rounded for the public.

    >>> exact(StatedNumber(0.011, exact=0.01003)), exact(0.5)
    (0.01003, 0.5)
    """
    return value.exact if isinstance(value, StatedNumber) else value


def for_audience(thing: T, audience: Literal["public", "internal"], stating: StatingRules) -> T:
    """Return the facts for a report. For the public, all figures are rounded.

    >>> for_audience([0.12345], "public", StatingRules()), for_audience(
    ...     [0.12345], "internal", StatingRules()
    ... )
    ([0.13], [0.12345])
    """

    def stated(value: Any, name: str) -> Any:
        shown = stating(value, name)
        return StatedNumber(shown, exact=value) if isinstance(value, float) else shown

    return coarse(thing, stated) if audience == "public" else thing
