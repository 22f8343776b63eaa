"""The adversary's beliefs p(c | s) about each subject's class before any message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.data import Source
from voile.signals.information.subjects import OFF
from voile.signals.model.codec.pieces import Floats
from voile.signals.model.readings.forms import ReadingColumn, ReadingSettings
from voile.signals.model.readings.sources import subjects_of


@dataclass(frozen=True, eq=False)
class ClassBeliefs:
    """The probability of each class for each subject, read from a table."""

    place: dict[str, int]
    chances: Floats
    where: str

    @classmethod
    def read_table(cls, source: Source, subject: str, classes: Sequence[str]) -> ClassBeliefs:
        """Read a table that contains a subject column and one column of probabilities per class.

        Raises
        ------
        RequestError : a subject is missing or repeated, or its probabilities are negative or do not
            sum to 1.
        """
        names = [subject, *classes]
        place: dict[str, int] = {}
        parts = [np.zeros((0, len(classes)))]
        columns = [ReadingColumn(name, ReadingSettings()) for name in classes]
        for batch in source.batches(names):
            cells = [one.cells(batch.column(one.column)).values for one in columns]
            parts.append(np.stack(cells, axis=1))
            for who in subjects_of(batch.column(subject)):
                if who is None or who in place:
                    raise RequestError(
                        "a subject is nobody, or has chances already",
                        where=f"{source.name}, row {len(place) + 1:,}",
                    )
                place[who] = len(place)
        chances = np.concatenate(parts)
        wrong = ~((chances >= 0).all(axis=1) & (np.abs(chances.sum(axis=1) - 1) <= OFF))
        if wrong.any():
            raise RequestError(
                "the chances of a subject's classes are not numbers of sum 1",
                where=f"{source.name}, row {int(wrong.argmax()) + 1:,}",
            )
        return cls(place, chances, source.name)

    def of(self, names: NDArray[np.str_], whose: NDArray[np.intp]) -> Floats:
        """Return the class probabilities, (n, k), for the subject of each row.

        Raises
        ------
        RequestError : a subject has no row in the table.
        """
        places = np.full(len(names), -1)
        for number in np.unique(whose).tolist():
            places[number] = self.place.get(str(names[number]), -1)
        rows = places[whose]
        if (rows < 0).any():
            lacking = len(np.unique(whose[rows < 0]))
            raise RequestError(
                f"{lacking:,} of {len(np.unique(whose)):,} subjects have no chances",
                where=self.where,
                instead="give everyone a row",
            )
        return np.asarray(self.chances[rows])
