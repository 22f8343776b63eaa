"""How an interval of an ordered domain is written, so that no spreadsheet reads it as a date."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

MISSING = "missing"
SHOWN = 8
DATE_LIKE = re.compile(r"(\d{1,4})-(\d{1,4})\Z")


@dataclass(frozen=True)
class Style:
    """Write ranges as first, `between`, last; or, where `listed`, the values themselves."""

    between: str = "-"
    listed: bool = False


def reads_as_date(label: str) -> bool:
    """Whether a spreadsheet might turn this label into a date.

    >>> [reads_as_date(x) for x in ("0-17", "18-44", "1-12", "5-44", "1990-12", "1990-1995")]
    [False, False, True, True, True, False]
    """
    match = DATE_LIKE.match(label)
    if not match:
        return False
    a, b = int(match[1]), int(match[2])
    day_and_month = (1 <= a <= 12 and 1 <= b <= 31) or (1 <= b <= 12 and 1 <= a <= 31)
    month_and_year = 1 <= a <= 12 and (b <= 99 or b >= 1900)
    year_and_month = 1 <= b <= 12 and (a <= 99 or a >= 1900)
    return day_and_month or month_and_year or year_and_month


def style_for(kind: str, by: str, values: Sequence[Any]) -> Style:
    """Choose one style for a whole domain.

    Text that is not all digits is listed (``Black|Other``). Ranges use ``-`` unless a value holds
    one itself, or a label of the domain's could be read as a date: then all say `` to ``.
    """
    known = [v for v in values if v is not None]
    if kind in ("text", "listed") and not all(str(v).isdigit() for v in known):
        return Style(listed=True)
    dash = Style("-")
    if kind == "date" and by != "year":
        return Style(" to ")
    if any("-" in str(v) for v in known):
        return Style(" to ")
    return dash


def label_interval(values: Sequence[Any], first: int, last: int, style: Style) -> str:
    """Write values `first`..`last`; null, when it is among them, as ``missing``.

    >>> label_interval((0, 1, None), 0, 2, Style())
    '0-1|missing'
    """
    shown = list(values[first : last + 1])
    missing = shown[-1] is None
    if missing:
        shown.pop()
    parts = [_known(shown, style)] if shown else []
    return "|".join(parts + [MISSING] * missing)


def _known(shown: Sequence[Any], style: Style) -> str:
    if len(shown) == 1:
        return str(shown[0])
    if not style.listed:
        return f"{shown[0]}{style.between}{shown[-1]}"
    if len(shown) <= SHOWN:
        return "|".join(str(v) for v in shown)
    return f"{shown[0]}|...|{shown[-1]} ({len(shown)} values)"
