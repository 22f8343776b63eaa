"""Format numbers for readers. All charts of the report use these functions."""

from __future__ import annotations

import math

UNKNOWN = "–"
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def share(value: float) -> str:
    """Write a share in [0, 1] as a percentage that is never rounded to 0% or 100%.

    >>> share(0.1234), share(0.02), share(0.00042), share(0.0), share(1.0)
    ('12.3%', '2.0%', '0.042%', '0%', '100%')
    >>> share(0.14)
    '14%'
    >>> share(0.99999), share(1e-9), share(float("nan"))
    ('>99.9%', '<0.0001%', '–')
    """
    return UNKNOWN if math.isnan(value) else f"{_percent(value)}%"


def _percent(value: float) -> str:
    percent = 100 * value
    if percent in (0, 100):
        return f"{abs(percent):.0f}"
    if 0 < percent < 1e-4:
        return "<0.0001"
    if 99.95 <= percent < 100:
        return ">99.9"
    if percent >= 9.95:
        return f"{percent:.1f}".removesuffix(".0")
    return _round_digits(percent, digits=2)


def share_interval(low: float, high: float) -> str:
    """Write the interval of a share.

    >>> share_interval(0.0, 0.037), share_interval(0.0312, 0.0461)
    ('0–3.7%', '3.1–4.6%')
    """
    return UNKNOWN if math.isnan(low + high) else f"{_percent(low)}–{share(high)}"


def number(value: float) -> str:
    """Write a number: whole numbers in full, others with three significant digits.

    >>> number(32561), number(0.12345), number(1236.4), number(0.0000012), number(-0.0)
    ('32,561', '0.123', '1,236', '1.2·10⁻⁶', '0')
    """
    if math.isnan(value):
        return UNKNOWN
    if value == round(value) or abs(value) >= 100:
        return f"{round(value):,}".replace("-", "−")
    if abs(value) < 1e-4:
        mantissa, exponent = f"{value:.2e}".split("e")
        return f"{float(mantissa):g}·{_power(int(exponent))}".replace("-", "−")
    return _plain(value, digits=3).replace("-", "−")


def number_interval(low: float, high: float) -> str:
    """Write the interval of a number.

    >>> number_interval(0.25, 1236.0)
    '0.25–1,236'
    """
    return UNKNOWN if math.isnan(low + high) else f"{number(low)}–{number(high)}"


def share_tick(value: float) -> str:
    """Write a tick of an axis of shares: exactly, and as a power of ten if it is very small.

    >>> share_tick(0.2), share_tick(0.0005), share_tick(1e-7), share_tick(0.0)
    ('20%', '0.05%', '10⁻⁷', '0')
    """
    if value == 0:
        return "0"
    if value < 0.99e-5:
        mantissa, exponent = f"{value:.0e}".split("e")
        power = _power(int(exponent))
        return power if mantissa == "1" else f"{mantissa}·{power}"
    return f"{_plain(100 * value, digits=6)}%"


def _round_digits(value: float, digits: int) -> str:
    """Write `value` with the given number of significant digits, never with an exponent."""
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{decimals}f}"


def _plain(value: float, digits: int) -> str:
    """Write `value` as `_round_digits` does, without trailing zeros."""
    text = _round_digits(value, digits)
    return text.rstrip("0").rstrip(".") if "." in text else text


def _power(exponent: int) -> str:
    return f"10{str(exponent).translate(_SUPERSCRIPT)}"
