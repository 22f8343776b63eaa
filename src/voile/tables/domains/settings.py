"""What a roles file may say of a column beside its role."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from voile.core.errors import RequestError


class Settings(BaseModel):
    """Settings of one column, read all at once; one that is not known is a mistake."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @classmethod
    def read(cls, column: str, settings: Mapping[str, Any]) -> Self:
        """Check one column's settings; every mistake is named."""
        try:
            return cls.model_validate(dict(settings))
        except ValidationError as error:
            said = "; ".join(
                ": ".join(filter(None, (".".join(map(str, e["loc"])), _said(e["msg"]))))
                for e in error.errors(include_input=False, include_url=False)
            )
            raise RequestError(said, where=f"roles, column {column}") from None


def _said(message: str) -> str:
    """Return pydantic's words without the names of classes."""
    return message.removesuffix(" for <class 'pathlib.Path'>")


class KeptSettings(Settings):
    """What becomes of a column that is released as it is: one shift of dates for each subject."""

    date_shift_days: int | None = Field(None, ge=1, le=36_500)


PATHS = ("order", "order.by", "order.near", "hierarchy", "parents")
"""Settings that may name a file, which is looked for beside the roles file."""

Within = Literal["zip3"]


class ByNumber(BaseModel):
    """Order values by a number that the CSV file `by` has for each, least first.

    Values stand in the column that is called as the quasi-identifier, else in the first.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    by: Path
    column: str | None = None
    within: Within | None = None


class ByPlace(BaseModel):
    """Order values by where they lie: `near` is a CSV file with latitude and longitude."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    near: Path
    within: Within | None = None


OrderName = Literal["natural", "common", "population", "zip3", "zip3-population"]
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


class QuasiSettings(Settings):
    """How a column's domain is built, and which of its cuts are not free.

    The order is a list of values, a file with one value a line, `ByNumber`, `ByPlace`, or

    - ``natural``: numbers, dates and text each by value;
    - ``common``: by how many subjects have a value, most first: what names have by default;
    - ``population``: by how many people the population tables count, most first;
    - ``zip3``: numeric, but small three-digit areas last, so that Safe Harbor is on the lattice;
    - ``zip3-population``: areas as in ``zip3``, and in each its ZIP codes by people.
    """

    kind: Literal["integer", "decimal", "date", "text"] | None = None
    by: Literal["day", "month", "year"] = "day"
    form: str | None = None
    fill: bool | None = None
    order: Order | None = None
    hierarchy: Path | None = None
    parents: Path | None = None
    keep_cuts: tuple[int | str, ...] = ()
    drop_cuts: tuple[int | str, ...] = ()
    finest: int | None = None
    coarsest: int | None = None

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
        if ordered and (self.by != "day" or self.form is not None):
            raise PydanticCustomError(
                "ordered_dates",
                "by and form make other values of the dates, which keep their own order: "
                "leave the order out",
            )
        return self

    @property
    def names_values(self) -> bool:
        """Whether the user names every value: in a list, in a file or in a tree."""
        named = isinstance(self.order, str) or self.order is None
        return not named or self.hierarchy is not None or self.parents is not None

    @property
    def filling(self) -> bool | None:
        """`fill`; a public file knows the values there are, not those between them."""
        looked_up = isinstance(self.order, ByNumber | ByPlace)
        return False if self.fill is None and looked_up else self.fill


def _and(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
