"""Define a column's settings in a roles file, in addition to its role."""

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
    """Settings of one column, read all at once; one that is not known is a mistake."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @classmethod
    def check_settings(cls, column: str, settings: Mapping[str, Any]) -> Self:
        """Check one column's settings; every mistake is named."""
        try:
            return cls.model_validate(dict(settings))
        except ValidationError as error:
            raise RequestError(mistakes(error), where=f"roles, column {column}") from None


class KeptSettings(ColumnSettings):
    """Set how the dates of a column that is released unchanged move with their subject."""

    date_shift_days: int | None = Field(None, ge=1, le=36_500)
    date_shift_weeks: bool = False
    date_months: bool = False
    dates_from: date | None = None
    dates_to: date | None = None

    @property
    def date_rule(self) -> DateRule | None:
        """How its dates move; None where they stay."""
        days = self.date_shift_days
        if days is None:
            return None
        ends = self.dates_from, self.dates_to
        return DateRule(days, self.date_shift_weeks, self.date_months, *ends)


PATHS = ("order", "order.by", "order.near", "hierarchy", "parents")
"""Settings that may name a file; voile looks for it next to the roles file."""

Within = Literal["zip3"]


class ByNumber(BaseModel):
    """Order values by a number that the CSV file `by` has for each, least first.

    The values are in the column with the quasi-identifier's name, else in the first column.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    by: Path
    column: str | None = None
    within: Within | None = None


class ByPlace(BaseModel):
    """Order values by their place: `near` is a CSV file with latitude and longitude."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    near: Path
    within: Within | None = None


OrderName = Literal["natural", "prefix", "common", "none", "population", "zip3", "zip3-population"]
ORDERS: tuple[str, ...] = get_args(OrderName)
"""The orders that go by a name."""


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
"""One form, or several."""


def _as_number(given: Any) -> Decimal:
    try:
        return Decimal(str(given))
    except InvalidOperation:
        raise PydanticCustomError("no_number", "give a number, of dates by year a year") from None


End = Annotated[Decimal, BeforeValidator(_as_number)]
"""An end that values are coded at."""


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
    """How a column's cells are read, how its domain is built, and which of its cuts are not free.

    Numbers, dates and times as text have a form, or several (see `forms`). `missing` texts count as
    null. Numbers are put into `bins` of about as many people each, or cut at `edges`; the lowest
    and the highest bin are open. `bottom` and `top` code the ends: all values beyond an end become
    that end. This applies to numbers and to dates by year.

    The order is a list of values, a file with one value a line, `ByNumber`, `ByPlace`, or

    - ``natural``: numbers, dates and text each by value;
    - ``natural``: numbers, dates and text each by value,
    - ``prefix``: codes by value, as a tree with one group for each common beginning: ICD-10, ISCO,
      the postal codes of any country,
    - ``common``: by how many subjects have a value, most first: the default for names,
    - ``none``: as ``common`` for global policies, while trees divide the values, 12 at most, into
      any two sets,
    - ``population``: by how many people the population tables count, most first,
    - ``zip3``: numeric, but small three-digit areas last, so that Safe Harbor is on the lattice,
    - ``zip3-population``: areas as in ``zip3``, and in each its ZIP codes by people.

    `keep_cuts` are the values after which a cut stays in every policy, or ``all``. With `cut_every`
    whole numbers are cut only below its multiples, which do not depend on the data.

    `importance` is the column's weight in the entropy loss; the default weight is 1.

    `pair` of latitudes names the column of their longitudes. The two are one place, which counts as
    one column in the entropy loss. Trees cut it into rectangles.
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
        """Whether numbers are put into bins, or their ends coded."""
        ends = (self.bottom, self.top)
        return bool(self.bins or self.edges or any(end is not None for end in ends))

    @property
    def names_values(self) -> bool:
        """Whether the user names every value: in a list, in a file or in a tree."""
        named = isinstance(self.order, str | None)
        return not named or self.hierarchy is not None or self.parents is not None

    @property
    def filling(self) -> bool | None:
        """Return `fill`; by default, do not fill between the values of a public file."""
        looked_up = isinstance(self.order, ByNumber | ByPlace)
        return False if self.fill is None and looked_up else self.fill


def _and(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
