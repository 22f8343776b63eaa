"""Learn the form of a source's columns of items in one pass, from their distinct values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from voile.core.errors import RequestError
from voile.core.mistakes import mistakes
from voile.core.round_cuts import roundest_decimal
from voile.data.text import unpack_cell
from voile.itemsets.rows import forms
from voile.itemsets.rows.grid_learning import GridLearner
from voile.itemsets.rows.scales import numbers_of
from voile.report.wording import join_names

Kind = Literal["binary", "categories", "words", "numbers", "dates"]
ON_A_GRID = ("numbers", "dates")


Texts = Annotated[
    tuple[str, ...], BeforeValidator(lambda given: (given,) if isinstance(given, str) else given)
]
"""One text or several texts."""


class ItemSettings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    as_: Kind | None = Field(None, alias="as")
    cuts: tuple[float, ...] = ()
    quantiles: int | None = Field(None, ge=2)
    step: Decimal | None = Field(None, gt=0, allow_inf_nan=False)
    form: Texts = ()
    missing: Texts = ()
    nulls: Literal["absent"] | None = None

    @classmethod
    def check_settings(cls, column: str, settings: Mapping[str, Any]) -> ItemSettings:
        where = f"roles, column {column}"
        try:
            read = cls.model_validate(settings)
        except ValidationError as error:
            raise RequestError(mistakes(error), where=where) from None
        if sum((read.as_ is not None, bool(read.cuts), read.quantiles is not None)) > 1:
            raise RequestError("has more than one of as, cuts and quantiles", where=where)
        if any(a >= b for a, b in zip(read.cuts[:-1], read.cuts[1:], strict=True)):
            raise RequestError("its cuts do not rise", where=where)
        more = {"step", "form", "missing"} & read.model_fields_set
        if more and read.as_ not in ON_A_GRID:
            raise RequestError(
                f"{join_names(sorted(more))} go with numbers and dates",
                where=where,
                instead='say also as = "numbers" or as = "dates"',
            )
        return read


class FormLearner:
    """Read a column batch after batch, then return its form.

    A list contains items. Without a setting, booleans and numbers must be 0 and 1. Text with no
    other values is read in the same way. Other text has a feature for each category, unless it
    contains JSON lists or objects. Memory: the distinct values, or all numbers for quantiles.
    """

    def __init__(self, column: str, type_: pa.DataType, settings: ItemSettings) -> None:
        self.column = column
        self._type = type_
        self._settings = settings
        self._seen: set[str] = set()
        self._numbers: list[NDArray[np.float64]] = []
        self._kind = self._declared_kind()

    def add(self, array: pa.Array) -> None:
        if self._kind == "items":
            self._see(forms.items_of(array)[1])
        elif self._kind == "words":
            self._see(forms.words_of(array)[1])
        elif self._kind == "categories" or self._kind is None:
            self._see(array.cast(pa.string()).dictionary_encode())
        elif self._settings.quantiles is not None:
            numbers = numbers_of(array)[0]
            self._numbers.append(numbers[~np.isnan(numbers)])

    def form(self) -> forms.ColumnForm:
        spelt = {value.strip().lower() for value in self._seen}
        if self._kind == "binary" or (
            spelt and self._kind is None and spelt <= {*forms.ONE, *forms.ZERO}
        ):
            return forms.BinaryForm(self.column, ("",), self._settings.nulls == "absent")
        if self._settings.nulls is not None:
            raise RequestError(
                "nulls goes with columns of 0 and 1",
                where=f"roles, column {self.column}",
                instead="leave nulls out: a null has no item of this column",
            )
        if self._kind == "intervals":
            return forms.IntervalsForm.between(
                self.column, self._settings.cuts or self._quantiles()
            )
        if self._kind == "items":
            return forms.ItemsForm(self.column, self._sort_seen(), str(self._type.value_type))
        if self._kind == "words":
            return forms.WordsForm(self.column, self._sort_seen())
        if self._kind is None and any(unpack_cell(value) is not None for value in self._seen):
            raise RequestError(
                "is text, some of it JSON lists or objects",
                where=f"column {self.column}",
                instead='give lists of texts or whole numbers, or say as = "words" for the words '
                'in it, as = "categories" for a feature each',
            )
        return forms.CategoriesForm(self.column, self._sort_seen())

    def _declared_kind(self) -> str | None:
        """Return the kind that type and settings determine, or None if it depends on the values."""
        type_, settings = self._type, self._settings
        text = pa.types.is_string(type_)
        number = pa.types.is_integer(type_) or pa.types.is_floating(type_)
        truth = pa.types.is_boolean(type_)
        if settings.cuts or settings.quantiles is not None:
            self._only(number or text, "cut into intervals")
            return "intervals"
        if settings.as_ is not None:
            fits = {"binary": text or number or truth, "words": text}
            no_float = not (pa.types.is_floating(type_) or pa.types.is_nested(type_))
            self._only(fits.get(settings.as_, no_float), f"read as {settings.as_}")
            return settings.as_
        if pa.types.is_list(type_):
            of = type_.value_type
            self._only(pa.types.is_string(of) or pa.types.is_integer(of), "read as items")
            return "items"
        self._only(text or number or truth, "read as items")
        return None if text else "binary"

    def _only(self, fits: bool, how: str) -> None:
        if not fits:
            raise RequestError(
                f"is {self._type}, and cannot be {how}", where=f"column {self.column}"
            )

    def _see(self, text: pa.DictionaryArray) -> None:
        self._seen.update(text.dictionary.to_pylist())

    def _sort_seen(self) -> tuple[str, ...]:
        numbers = pa.types.is_list(self._type) and pa.types.is_integer(self._type.value_type)
        return tuple(sorted(self._seen, key=int if numbers else None))

    def _quantiles(self) -> tuple[float, ...]:
        numbers = np.concatenate([np.zeros(0), *self._numbers])
        if not len(numbers):
            raise RequestError("holds no number to cut at", where=f"column {self.column}")
        assert self._settings.quantiles is not None
        shares = np.arange(1, self._settings.quantiles) / self._settings.quantiles
        cuts = np.unique(np.quantile(numbers, shares, method="inverted_cdf"))
        values = np.unique(numbers)
        at = np.searchsorted(values, cuts[cuts > values[0]])
        return tuple(_choose_cut(values[x - 1], values[x]) for x in at) or (float(cuts[0]),)


def _choose_cut(below: float, above: float) -> float:
    """Return a split point above `below` and at most `above`. It is nobody's value if possible."""
    if not np.isfinite([below, above]).all():
        return float(above)
    cut = float(roundest_decimal(*(Decimal(repr(float(end))) for end in (below, above))))
    return cut if below < cut else float(above)


def _learner(column: str, type_: pa.DataType, settings: ItemSettings) -> FormLearner | GridLearner:
    if settings.as_ not in ON_A_GRID:
        return FormLearner(column, type_, settings)
    return GridLearner(
        column,
        type_,
        "date" if settings.as_ == "dates" else "number",
        step=settings.step,
        forms=settings.form,
        missing=settings.missing,
    )


def learn(
    batches: Iterator[pa.RecordBatch],
    types: Mapping[str, pa.DataType],
    settings: Mapping[str, Mapping[str, Any]],
) -> tuple[forms.ColumnForm, ...]:
    """Return the form of each column of items, in the order of the settings."""
    learners = [
        _learner(name, types[name], ItemSettings.check_settings(name, asked))
        for name, asked in settings.items()
    ]
    for batch in batches:
        for learner in learners:
            learner.add(batch.column(learner.column))
    return tuple(learner.form() for learner in learners)
