"""Choose a split point between two numbers by a rule, so that it reveals neither."""

from __future__ import annotations

from decimal import Decimal, localcontext

DIGITS = 400
"""More digits than any float or Arrow decimal has before or after its point."""


def roundest(below: int, above: int) -> int:
    """Return the roundest whole number in (`below`, `above`], or the middle one of several.

    >>> roundest(59, 108), roundest(31, 35), roundest(-4, 7), roundest(19_999, 20_000)
    (100, 33, 0, 20000)
    """
    if below < 0 <= above:
        return 0
    size = 1
    while above // (10 * size) > below // (10 * size):
        size *= 10
    return (below // size + 1 + above // size) // 2 * size


def roundest_decimal(below: Decimal, above: Decimal) -> Decimal:
    """Return the roundest decimal number in (`below`, `above`], with the fewest decimal places.

    >>> print(roundest_decimal(Decimal("1.25"), Decimal("1.31")))
    1.3
    """
    places = max(0, *(-int(x.as_tuple().exponent) for x in (below, above)))
    with localcontext(prec=2 * DIGITS):
        whole = roundest(int(below.scaleb(places)), int(above.scaleb(places)))
        return Decimal(f"{Decimal(whole).scaleb(-places).normalize():f}")
