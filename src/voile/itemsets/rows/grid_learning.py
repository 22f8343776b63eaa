"""Learn, in one pass, the grid of candidate split points of a column of numbers or dates."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.itemsets.rows.grids import MOST_CUTS, LadderStep, candidates, find_step
from voile.itemsets.rows.ranges import GridForm
from voile.itemsets.rows.scales import Kind, NumberScale, check_forms, find_text_forms


class GridLearner:
    """Read a column batch after batch, then return its grid.

    A column of counts is read as numbers. A declared step is used as it is. The step of a column of
    dates is in months. The grid has at most `most` split points. Memory: the distinct texts, or all
    numbers.
    """

    def __init__(
        self,
        column: str,
        type_: pa.DataType,
        kind: Kind,
        *,
        step: Decimal | None = None,
        forms: tuple[str, ...] = (),
        missing: tuple[str, ...] = (),
        most: int = MOST_CUTS,
    ) -> None:
        self.column, self._most = column, most
        self._kind, self._step, self._forms, self._missing = kind, step, forms, missing
        self._texts: Counter[str] = Counter()
        self._numbers: list[NDArray[np.float64]] = []
        self._is_text = pa.types.is_string(type_)
        self._check(type_)

    def add(self, array: pa.Array) -> None:
        """Count the texts of a batch, or store its numbers.

        Values that cannot be read are ignored.
        """
        if self._is_text:
            for one in pc.value_counts(array.drop_null()).to_pylist():
                self._texts[one["values"]] += one["counts"]
        else:
            self._numbers.append(NumberScale(self._kind, whole=True).numbers(array)[0])

    def form(self) -> GridForm:
        """Return the form with the candidate split points.

        There are none if the column has fewer than two distinct numbers.
        """
        forms = self._forms
        if self._is_text and not forms:
            forms = find_text_forms(self.column, self._kind, self._texts, self._missing)
        scale = NumberScale(self._kind, True, forms, self._missing)
        numbers, counts = self._count_numbers(scale)
        whole = bool((numbers == np.floor(numbers)).all())
        scale = NumberScale(self._kind, whole, forms, self._missing)
        if len(numbers) < 2:
            return GridForm.between(self.column, scale, ())
        step = self._read_step(whole) or find_step(
            numbers, counts, dates=self._kind == "date", whole=whole
        )
        return GridForm.between(
            self.column, scale, candidates(numbers, counts, step, most=self._most)
        )

    def _count_numbers(self, scale: NumberScale) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return the distinct numbers in rising order, and the number of rows with each."""
        if self._is_text:
            read, _ = scale.numbers(pa.array(list(self._texts), pa.string()))
            times = np.array(list(self._texts.values()), dtype=np.int64)
        else:
            read = np.concatenate([np.zeros(0), *self._numbers])
            times = np.ones(len(read), dtype=np.int64)
        known = ~np.isnan(read)
        numbers, of = np.unique(read[known], return_inverse=True)
        return numbers, np.bincount(of, times[known], minlength=len(numbers)).astype(np.int64)

    def _read_step(self, whole: bool) -> LadderStep | None:
        if self._step is None:
            return None
        if whole and self._step % 1:
            raise RequestError(
                "its step divides whole numbers, or months",
                where=f"roles, column {self.column}",
                instead="declare a whole number",
            )
        return LadderStep.from_decimal(self._step)

    def _check(self, type_: pa.DataType) -> None:
        types = pa.types
        dated = types.is_date(type_) or types.is_timestamp(type_)
        number = types.is_integer(type_) or types.is_floating(type_) or types.is_decimal(type_)
        if not (self._is_text or (dated if self._kind == "date" else number)):
            raise RequestError(
                f"is {type_}, and cannot be read as {self._kind}s", where=f"column {self.column}"
            )
        check_forms(self.column, self._kind, self._forms)
