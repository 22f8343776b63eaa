"""Convert raw cells to values of a domain."""

from __future__ import annotations

import datetime as dt
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from decimal import Context, Decimal, InvalidOperation
from functools import cached_property
from typing import Any, Literal, Self

from voile.data.forms import NumberForm, read_date, read_forms

Kind = Literal["integer", "decimal", "date", "time", "text", "listed"]
By = Literal["day", "month", "year", "hour", "minute"]
Value = int | Decimal | str | None

INTEGER = re.compile(r"[+-]?\d+\Z")
_FLOAT = re.compile(r"[+-]?\d+(\.\d*)?")
DIGITS = 76  # the digits of Arrow's widest decimal type
BELOW_ALL = Decimal("-Infinity")
"""The value of the lowest bin, which has no lower edge."""
MOST_DECIMALS = 256
"""The number of bins for decimals with more distinct values than this."""
EXAMPLES = 3
"""The number of rows that a message names."""
FindRows = Callable[[Callable[[Any], bool]], list[int]]
"""Return the numbers of the first rows with a cell that satisfies the given predicate."""


class NotInKind(ValueError):  # noqa: N818 - the message gives the kind, and never the value
    """A raw value cannot be read as a value of the domain's kind."""


@dataclass(frozen=True)
class CellParser:
    """The settings that determine how a raw cell becomes a value of a domain.

    Attributes
    ----------
    kind : ``integer``, ``decimal``, ``date``, ``time``, ``text``, or ``listed`` (ordered by a file
        or tree).
    by : the unit of one value. For dates ``day``, ``month`` or ``year``. For times ``hour`` or
        ``minute``.
    forms : the written forms of numbers, dates or times as text, see `forms`. A text that two forms
        read differently is not readable. Without forms, Python's and ISO 8601's forms apply.
    missing : texts that mean a missing value. They are read as null.
    edges : ascending bin edges. A number becomes the largest edge that is not above it, or
        `BELOW_ALL` below the first edge.
    bottom, top : the limits of coding. Smaller numbers or years become `bottom`, larger ones become
        `top`.
    """

    kind: Kind
    by: By = "day"
    forms: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    edges: tuple[Decimal, ...] = ()
    bottom: Decimal | None = None
    top: Decimal | None = None

    def __call__(self, raw: Any) -> Value:
        """Return the canonical value of a raw cell, or None for null.

        Raises
        ------
        NotInKind : the cell cannot be read as the parser's kind.

        >>> CellParser("integer")(" 007"), CellParser("date", by="month")("1990-03-31")
        (7, '1990-03')
        >>> CellParser("integer", forms=("1234y",), top=Decimal(90))("97y")
        90
        >>> CellParser("decimal", edges=(Decimal("18.5"), Decimal(25)))("21.7")
        Decimal('18.5')
        """
        if raw is None or (self.missing and self._is_missing(raw)):
            return None
        match self.kind:
            case "integer" | "decimal":
                return self._code_number(self._number(raw))
            case "date":
                day = self._day(raw)
                if self.by == "year":
                    return self._code_number(day.year)
                return day.isoformat()[:7] if self.by == "month" else day.isoformat()
            case "time":
                time = self._time(raw)
                return time.hour if self.by == "hour" else f"{time:%H:%M}"
            case _:
                return str(raw).lower() if isinstance(raw, bool) else str(raw)

    @cached_property
    def missing_numbers(self) -> tuple[float, ...]:
        """Return the numeric texts of `missing` as floats, for comparison with floats."""
        return tuple(map(float, filter(_FLOAT.fullmatch, self.missing)))

    def _is_missing(self, raw: Any) -> bool:
        is_number = isinstance(raw, float) and raw in self.missing_numbers
        return is_number or str(raw).strip() in self.missing

    @property
    def reading(self) -> CellParser:
        """Return the parser without bins and without bottom and top coding."""
        return replace(self, edges=(), bottom=None, top=None)

    @property
    def unit(self) -> str:
        """Return the unit of the numbers, or an empty string. The unit of hours is ``h``."""
        if self.kind == "time":
            return "h" if self.by == "hour" else ""
        found = NumberForm.of(self.forms[0]) if self.is_number and self.forms else None
        return found.unit if found else ""

    @property
    def edge_values(self) -> tuple[int | Decimal, ...]:
        """Return the bin edges as values of the domain."""
        return tuple(map(self._like, self.edges))

    @property
    def is_number(self) -> bool:
        """Return whether the values are numbers."""
        return self.kind in ("integer", "decimal")

    @property
    def is_scale(self) -> bool:
        """Return whether the values are numbers, dates or times, so that any two can be split."""
        return self.is_number or self.kind in ("date", "time")

    def restore(self, text: str | None) -> Value:
        """Return the value of which `str` gives this text.

        >>> CellParser("date", by="year", forms=("%d.%m.%Y",)).restore("1990")
        1990
        """
        if text == str(BELOW_ALL) and self.edges:
            return BELOW_ALL
        if self.kind == "time" and self.by == "hour" and text is not None:
            return _integer(text)
        return CellParser(self.kind, self.by)(text)

    def to_data(self) -> dict[str, Any]:
        """Return plain data for a kit."""
        texts = {"forms": list(self.forms), "missing": list(self.missing)}
        numbers = {"edges": list(map(str, self.edges))}
        ends = {name: _text(getattr(self, name)) for name in ("bottom", "top")}
        return {**asdict(self), **texts, **numbers, **ends}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        """Build the parser from the data of `to_data`, also after a round trip through JSON."""
        forms, missing = tuple(data["forms"]), tuple(data["missing"])
        edges = tuple(Decimal(edge) for edge in data["edges"])
        ends = (None if data[name] is None else Decimal(data[name]) for name in ("bottom", "top"))
        return cls(data["kind"], data["by"], forms, missing, edges, *ends)

    def _number(self, raw: Any) -> int | Decimal:
        if isinstance(raw, str) and self.forms:
            read = read_forms(raw, self.forms, _by_number)
            if read is None:
                raise NotInKind("not a number in this form")
            raw = read
        return _integer(raw) if self.kind == "integer" else _decimal(raw)

    def _code_number(self, number: int | Decimal) -> int | Decimal:
        """Return the bin of a number, or the number after bottom and top coding."""
        if self.top is not None and number > self.top:
            number = self._like(self.top)
        if self.bottom is not None and number < self.bottom:
            number = self._like(self.bottom)
        if not self.edges:
            return number
        place = bisect_right(self.edges, number)
        return self._like(self.edges[place - 1]) if place else BELOW_ALL

    def _like(self, number: Decimal) -> int | Decimal:
        return number if self.kind == "decimal" else int(number)

    def _day(self, raw: Any) -> dt.date:
        if isinstance(raw, dt.datetime):
            return raw.date()
        if isinstance(raw, dt.date):
            return raw
        text = str(raw).strip()
        if self.forms:
            found = read_forms(text, self.forms, read_date)
            if found is None:
                raise NotInKind("not a date in this form")
            return found.date()
        return _iso_day(text, self.by)

    def _time(self, raw: Any) -> dt.time:
        if isinstance(raw, dt.datetime):
            return raw.time()
        if isinstance(raw, dt.time):
            return raw
        text = str(raw).strip()
        found = read_forms(text, self.forms, read_date)
        if found is not None:
            return found.time()
        try:
            if self.forms:
                raise NotInKind("not a time in this form")
            return dt.time.fromisoformat(text)
        except ValueError:
            raise NotInKind("not a time") from None


def _by_number(text: str, form: str) -> Decimal | None:
    found = NumberForm.of(form)
    return found.read_number(text) if found else None


def _text(number: Decimal | None) -> str | None:
    return None if number is None else str(number)


def _integer(raw: Any) -> int:
    if isinstance(raw, int) and not isinstance(raw, bool):
        return raw
    if isinstance(raw, Decimal) and raw == raw.to_integral_value():
        return int(raw)
    text = str(raw).strip()
    if not INTEGER.match(text):
        raise NotInKind("not a whole number")
    return int(text)


def _decimal(raw: Any) -> Decimal:
    try:
        value = raw if isinstance(raw, Decimal) else Decimal(str(raw).strip())
    except InvalidOperation:
        raise NotInKind("not a decimal number") from None
    if not value.is_finite():
        raise NotInKind("not a finite number")
    if not value:
        return Decimal(0)
    if abs(value.adjusted()) >= DIGITS or len(value.as_tuple().digits) > DIGITS:
        raise NotInKind("more digits than a decimal has")
    return Decimal(f"{value.normalize(Context(prec=DIGITS)):f}")  # writes 1E+2 as 100


def _iso_day(text: str, by: By) -> dt.date:
    try:
        if by == "year" and re.fullmatch(r"\d{1,4}", text):
            return dt.date(int(text), 1, 1)
        if by == "month" and re.fullmatch(r"\d{4}-\d{2}", text):
            return dt.date.fromisoformat(f"{text}-01")
        return dt.datetime.fromisoformat(text).date()
    except ValueError:
        raise NotInKind("not a date") from None
