"""Define the settings of a column in a roles file, in addition to its role."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from voile.core.errors import RequestError
from voile.core.mistakes import mistakes
from voile.keys.date_rule import DateRule


class ColumnSettings(BaseModel):
    """The settings of one column. An unknown setting is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @classmethod
    def check_settings(cls, column: str, settings: Mapping[str, Any]) -> Self:
        """Validate one column's settings.

        Raises
        ------
        RequestError : a setting is wrong. The message lists all mistakes.
        """
        try:
            return cls.model_validate(dict(settings))
        except ValidationError as error:
            raise RequestError(mistakes(error), where=f"roles, column {column}") from None


class KeptSettings(ColumnSettings):
    """The settings of a column released unchanged: how its dates shift with their subject."""

    date_shift_days: int | None = Field(None, ge=1, le=36_500)
    date_shift_weeks: bool = False
    date_months: bool = False
    dates_from: date | None = None
    dates_to: date | None = None

    @property
    def date_rule(self) -> DateRule | None:
        """Return the rule by which the column's dates shift, or None if they do not."""
        days = self.date_shift_days
        if days is None:
            return None
        ends = self.dates_from, self.dates_to
        return DateRule(days, self.date_shift_weeks, self.date_months, *ends)


PATHS = ("order", "order.by", "order.near", "hierarchy", "parents")
"""Settings that may name a file. voile looks for the file next to the roles file."""

Within = Literal["zip3"]


class ByNumber(BaseModel):
    """An order of values by a number for each of them in the CSV file `by`, in ascending order.

    The values are in the column with the quasi-identifier's name, or else in the first column.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    by: Path
    column: str | None = None
    within: Within | None = None


class ByPlace(BaseModel):
    """An order of values by proximity. `near` is a CSV file with latitude and longitude."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    near: Path
    within: Within | None = None


OrderName = Literal["natural", "prefix", "common", "none", "population", "zip3", "zip3-population"]
ORDERS: tuple[str, ...] = get_args(OrderName)
"""The orders with a name."""


def _form_of(order: Any) -> str | None:
    match order:
        case ByPlace() | {"near": _}:
            return "near"
        case ByNumber() | {"by": _}:
            return "by"
        case list() | tuple():
            return "list"
        case str() | Path():
            return "name"
        case _:
            return None


Forms = Annotated[
    tuple[str, ...], BeforeValidator(lambda given: (given,) if isinstance(given, str) else given)
]
"""One form or several forms."""


def _as_number(given: Any) -> Decimal:
    try:
        return Decimal(str(given))
    except InvalidOperation:
        raise PydanticCustomError("no_number", "give a number, of dates by year a year") from None


End = Annotated[Decimal, BeforeValidator(_as_number)]
"""A limit for bottom or top coding."""


Order = Annotated[
    Annotated[OrderName | Path, Tag("name")]
    | Annotated[tuple[str, ...], Tag("list")]
    | Annotated[ByNumber, Tag("by")]
    | Annotated[ByPlace, Tag("near")],
    Discriminator(
        _form_of,
        custom_error_type="no_order",
        custom_error_message="give a name, a file, a list of values, or a table with by or near",
    ),
]


class QuasiSettings(ColumnSettings):
    """The settings of a quasi-identifier: its parsing, its domain, and its fixed split points.

    Numbers, dates and times that are written as text have one form or several (see `forms`). Texts
    in `missing` count as null. Numbers are put into `bins` with about the same number of people, or
    divided at `edges`. The lowest and the highest bin are open. With `bottom` and `top`, all values
    beyond a limit become that limit. Both apply to numbers and to dates by year.

    The order is a list of values, a file with one value per line, `ByNumber`, `ByPlace`, or one of
    these names:

    - ``natural``: numbers, dates and text each by value,
    - ``prefix``: codes by value, as a tree with one group for each common prefix. Use it for
      ICD-10, ISCO, and postal codes of any country,
    - ``common``: by the number of subjects with the value, in descending order. This is the default
      for names,
    - ``none``: as ``common`` for global policies. Trees may divide the values, 12 at most, into any
      two sets,
    - ``population``: by the number of people in the population tables, in descending order,
    - ``zip3``: numeric, with small three-digit areas last, so that Safe Harbor is a policy,
    - ``zip3-population``: areas as in ``zip3``, and within each area its ZIP codes by people.

    `keep_cuts` are the values after which a split point stays in every policy, or ``all``. With
    `cut_every`, whole numbers are split only below its multiples, which do not depend on the data.
    `importance` is the column's weight in the entropy loss, 1 by default.

    `pair` of a latitude column is the name of the longitude column. Both form one place, which
    counts as one column in the entropy loss. Trees divide it into rectangles.
    """

    kind: Literal["integer", "decimal", "date", "time", "text"] | None = None
    by: Literal["day", "month", "year", "hour", "minute"] | None = None
    form: Forms = ()
    missing: tuple[str, ...] = ()
    bins: int | None = Field(None, ge=2, le=10_000)
    edges: tuple[Decimal, ...] = ()
    bottom: End | None = None
    top: End | None = None
    fill: bool | None = None
    order: Order | None = None
    hierarchy: Path | None = None
    parents: Path | None = None
    keep_cuts: tuple[int | str, ...] | Literal["all"] = ()
    drop_cuts: tuple[int | str, ...] = ()
    cut_every: int | None = Field(None, ge=2)
    finest: int | None = None
    coarsest: int | None = None
    importance: float | None = Field(None, ge=0, allow_inf_nan=False)
    pair: str | None = None

    @model_validator(mode="after")
    def _ordered_once(self) -> Self:
        given = [n for n in ("order", "hierarchy", "parents") if getattr(self, n) is not None]
        if len(given) > 1:
            raise PydanticCustomError(
                "ordered_twice", "{given} each order the values: give one", {"given": _and(given)}
            )
        return self

    @model_validator(mode="after")
    def _of_cells(self) -> Self:
        ordered = self.order not in (None, "natural") or self.hierarchy or self.parents
        if ordered and (self.by not in (None, "day") or self.form):
            raise PydanticCustomError(
                "ordered_dates",
                "by and form make other values of the dates, which keep their own order: "
                "leave the order out",
            )
        if ordered and self.codes_numbers:
            raise PydanticCustomError(
                "ordered_numbers",
                "bins, edges, bottom and top are of numbers, which keep their own order: "
                "leave the order out",
            )
        return self

    @model_validator(mode="after")
    def _without_order(self) -> Self:
        if self.order == "none" and (self.keep_cuts or self.drop_cuts):
            raise PydanticCustomError(
                "no_cuts", "cuts to keep or to drop are those of an order, and there is none"
            )
        return self

    @model_validator(mode="after")
    def _rising(self) -> Self:
        if any(a >= b for a, b in pairwise(self.edges)):
            raise PydanticCustomError("edges", "edges do not rise: give each once, least first")
        if self.bottom is not None and self.top is not None and self.bottom >= self.top:
            raise PydanticCustomError("ends", "bottom is not below top")
        if self.edges and (self.bins or self.bottom is not None or self.top is not None):
            raise PydanticCustomError(
                "edges_alone",
                "edges set the ends of all bins, also of the lowest and the highest: leave out "
                "bins, bottom and top",
            )
        return self

    @property
    def codes_numbers(self) -> bool:
        """Return whether numbers are put into bins, or are bottom or top coded."""
        ends = (self.bottom, self.top)
        return bool(self.bins or self.edges or any(end is not None for end in ends))

    @property
    def names_values(self) -> bool:
        """Return whether the user names every value in a list, a file or a tree."""
        named = isinstance(self.order, str | None)
        return not named or self.hierarchy is not None or self.parents is not None

    @property
    def filling(self) -> bool | None:
        """Return `fill`. By default, do not fill between the values of a public file."""
        looked_up = isinstance(self.order, ByNumber | ByPlace)
        return False if self.fill is None and looked_up else self.fill


def _and(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
