"""How numbers, dates and times are written as text: forms that are declared, or found.

A form of dates and times is `strptime`'s. A form of numbers is the number 1234.5, or 1234 of whole
numbers, written as the column would write it, with its unit: ``1.234,5 kg``, ``$1,234``, ``1234y``,
``1.2345e3`` in scientific notation. A unit's capitals and the spaces around it do not count, and
marks of thousands and powers of ten may be left out.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from itertools import product
from typing import TypeVar

DATES = (
    *("%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S"),
    *("%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y/%m/%d", "%d-%m-%Y", "%m-%d-%Y", "%Y%m%d"),
    *("%d.%m.%y", "%m/%d/%y", "%d/%m/%y", "%d-%m-%y"),
    *("%d %b %Y", "%d %B %Y", "%d. %B %Y", "%b %d, %Y", "%B %d, %Y"),
    *("%d-%b-%Y", "%d-%b-%y", "%d%b%Y", "%m/%Y", "%m.%Y", "%b %Y", "%B %Y"),
    *("%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%d/%m/%Y %H:%M", "%d/%m/%Y %H:%M:%S"),
    *("%m/%d/%Y %H:%M", "%m/%d/%Y %H:%M:%S", "%m/%d/%Y %I:%M:%S %p"),
)
"""The formats of dates that are recognised."""
TIMES = ("%H:%M", "%H:%M:%S", "%H.%M Uhr", "%H:%M Uhr", "%I:%M %p", "%I:%M:%S %p")
YEARS = range(1850, 2151)
LOOKS_DATED = re.compile(
    r"\d{1,4}[-/. ]{1,2}(\d{1,4}|[A-Za-z]{3,9})([-/., ]|$)|[A-Za-z]{3,9} \d|\d{8}"
    r"|\d{1,2}[A-Za-z]{3}\d{4}"
)
LONGEST = 40
NUMBER = re.compile(
    r"(?P<before>[^\d.,]*?)"
    r"(?:1(?P<group>[,. '’\u00a0\u202f]?)234((?P<point>[.,])5)?|1(?P<mark>[.,])2345[eE]\+?0*3)"
    r"(?P<after>(?:[^\d.,]\D*)?)"
)
MONEY = re.compile(
    r"(?:[A-Z]{1,3} ?)?[$€£¥₹]|AUD|BRL|CAD|CHF|CNY|CZK|DKK|EUR|GBP|HUF|INR|JPY|MXN|NOK|NZD|PLN"
    r"|SEK|USD|ZAR",
    re.IGNORECASE,
)
AMOUNT = re.compile(
    rf"[-+−]?(?P<before>(?:(?i:{MONEY.pattern})|kg|mg|cm|mm|km|ml|pH)?)(?P<gap>\s*)"
    r"[-+−]?[\d.,'’ \u00a0\u202f]*\d(?:[eE][-+]?\d{1,3})?\s*(?P<after>\D{0,12})"
)
GROUPS, POINTS = ("", ",", ".", " ", "'", "’", "\u00a0", "\u202f"), ("", ".", ",")
COMPARED = re.compile(r"[<>=~+-]")

T = TypeVar("T")
Form = tuple[str, str]
"""A kind and a format: ``("date", "%d.%m.%Y")``."""


@dataclass(frozen=True)
class NumberForm:
    """The form of numbers: text before and after them, thousands separator, decimal point."""

    pattern: re.Pattern[str]
    group: str
    point: str
    unit: str

    @classmethod
    @cache
    def of(cls, form: str) -> NumberForm | None:
        """Read a form; None where it is none.

        >>> kilos, whole = NumberForm.of("1.234,5 kg"), NumberForm.of("1234")
        >>> kilos.read_number(" 12.034,25 KG"), whole.read_number("1234.5")
        (Decimal('12034.25'), None)
        """
        found = NUMBER.fullmatch(form.strip())
        if not found or (found["group"] and found["group"] == found["point"]):
            return None
        before, after = (re.escape(found[name].strip()) for name in ("before", "after"))
        group, point = found["group"] or "", found["mark"] or found["point"] or ""
        whole = rf"\d{{1,3}}(?:{re.escape(group)}\d{{3}})+|\d+" if group else r"\d+"
        part = rf"(?:{re.escape(point)}(?P<part>\d+))?" if point else "(?P<part>)"
        power = r"(?:e(?P<power>[-+]?\d{1,3}))?" if found["mark"] else "(?P<power>)"
        signs = rf"(?P<outer>[-+−]?)\s*{before}\s*(?P<inner>[-+−]?)"
        pattern = rf"\s*{signs}(?P<whole>{whole}){part}{power}\s*{after}\s*"
        unit = found["after"].strip() or found["before"].strip()
        return cls(re.compile(pattern, re.IGNORECASE), group, point, unit)

    def read_number(self, text: str) -> Decimal | None:
        """Return the number that a text writes; None where it writes none."""
        found = self.pattern.fullmatch(text)
        signs = found["outer"] + found["inner"] if found else ""
        if not found or len(signs) > 1:
            return None
        whole = found["whole"].replace(self.group, "") if self.group else found["whole"]
        sign = "-" if signs in ("-", "−") else ""
        return Decimal(f"{sign}{whole}.{found['part'] or '0'}e{found['power'] or '0'}")


def read_date(text: str, form: str) -> dt.datetime | None:
    """Return the day and time that a text writes; None where it writes none."""
    try:
        return dt.datetime.strptime(text.strip(), form)
    except ValueError:
        return None


def read_forms(text: str, forms: Sequence[str], read: Callable[[str, str], T | None]) -> T | None:
    """Read a text by the forms that fit it. Return None if none fits, or two results differ."""
    found = {value for form in forms if (value := read(text, form)) is not None}
    return found.pop() if len(found) == 1 else None


def find_forms(texts: Iterable[str]) -> list[Form]:
    """Return the forms that read every text, each of another meaning, the simplest first.

    None where no form reads all; several where a text can be read in more than one way.

    >>> find_forms(["31.12.1999", "01.02.2000"]), find_forms(["1.234,50 €", "7 €"])
    ([('date', '%d.%m.%Y')], [('decimal', '1.234,5 €')])
    >>> find_forms(["01/02/1999", "03/04/1999"])
    [('date', '%m/%d/%Y'), ('date', '%d/%m/%Y')]
    >>> find_forms(["1.234", "5.678"]), find_forms(["blue", "34y"])
    ([('decimal', '1234.5'), ('integer', '1.234')], [])

    Money has no thousandths, so that a mark before three digits is one of thousands:

    >>> find_forms(["$1,234", "$85"])
    [('integer', '$1,234')]
    """
    texts = list(dict.fromkeys(text.strip() for text in texts))
    readings: dict[tuple[object, ...], Form] = {}
    if texts:
        for kind, form in _candidates(texts[0]):
            read = tuple(read_as(kind, text, form) for text in texts)
            if None not in read:
                readings.setdefault(read, (kind, form))
    forms = list(readings.values())
    return [one for one in forms if not _is_of_money(*one)] if len(forms) > 1 else forms


def _is_of_money(kind: str, form: str) -> bool:
    """Whether a form writes an amount of money with a decimal point."""
    number = NumberForm.of(form)
    return kind == "decimal" and number is not None and bool(MONEY.fullmatch(number.unit))


def find_usual_form(texts: Iterable[str]) -> tuple[Form, float] | None:
    """Return the form that reads the most texts, and their share; None where no form reads one.

    >>> find_usual_form(["12 kg", "13 kg", "heavy", "14,5"])
    (('integer', '1234 kg'), 0.5)
    """
    texts = list(dict.fromkeys(text.strip() for text in texts))
    looked = texts[:: max(1, len(texts) // 50)]
    forms = dict.fromkeys(one for text in looked for one in _candidates(text))
    fits = [sum(read_as(kind, text, form) is not None for text in texts) for kind, form in forms]
    most, best = max(zip(fits, forms, strict=True), key=lambda one: one[0], default=(0, None))
    return None if best is None else (best, most / len(texts))


def sort_of(text: str) -> str | None:
    """Return whether a text looks like a `number` without a unit, or a `date` or time of day.

    >>> sort_of("1.5"), sort_of("1.5.2000"), sort_of("7:30"), sort_of("5b")
    ('number', 'date', 'date', None)
    """
    for kind, form in _candidates(text.strip()):
        if kind in ("date", "time"):
            return "date"
        number = NumberForm.of(form)
        if number is not None and not number.unit:
            return "number"
    return None


def read_as(kind: str, text: str, form: str) -> object:
    """Read a text by a form, and return the value. Return None if the text does not fit."""
    if kind in ("integer", "decimal"):
        number = NumberForm.of(form)
        return number.read_number(text) if number else None
    if len(text) > LONGEST or (kind == "date" and not LOOKS_DATED.match(text)):
        return None
    found = read_date(text, form)
    return found if kind == "time" or (found and found.year in YEARS) else None


def _candidates(text: str) -> list[Form]:
    """Return the forms in which a text could be written, numbers of fewer marks first."""
    found: list[Form] = [("date", form) for form in DATES] + [("time", form) for form in TIMES]
    found = [(kind, form) for kind, form in found if read_as(kind, text, form) is not None]
    amount = AMOUNT.fullmatch(text)
    if amount is None or COMPARED.search(amount["after"]):
        return found
    unit = amount["after"].strip()
    after = f"{' ' * (f' {unit}' in text)}{unit}" if unit else ""
    before = amount["before"] + amount["gap"] * bool(amount["before"])
    written = [
        ("decimal", f"1{group}234{point}5") if point else ("integer", f"1{group}234")
        for group, point in product(GROUPS, POINTS)
        if not group or group != point
    ]
    written += [("decimal", f"1{mark}2345e3") for mark in ".,"]
    return found + [(kind, f"{before}{number}{after}") for kind, number in written]
