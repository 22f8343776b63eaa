"""Build records of people: all rows of a person in one order, by number of rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.keys.pseudonyms import canonical_of
from voile.tables.domains.domain import OUTSIDE, ValueDomain, encode_cells

Codes = NDArray[np.int32]
Rows = NDArray[np.int64]
DATED = ("date", "time")


class PersonRecords(NamedTuple):
    """The records of people who have the same number of rows.

    Attributes
    ----------
    rows : (people, number) positions in the `PersonRows`, in the record's order.
    codes : (people, number x columns) positions of the values in their domains, row after row.
    values : (people, number, sensitive columns) the numbers of the sensitive values.
    """

    number: int
    rows: Rows
    codes: Codes
    values: Codes


@dataclass(frozen=True, eq=False)
class PersonRows(BriefRepr):
    """Rows of a table, person by person, each person's by date and then by all values.

    The order of the source has no influence: rows with the same position are equal in all
    quasi-identifiers.

    Attributes
    ----------
    row : (n,) the row's number in the source.
    codes : (n, columns) positions in the domains, none of them outside.
    values : (n, sensitive columns) the numbers of the sensitive values, including null.
    first : (people,) the position of each person's first row.
    counts : (people,) the number of rows of each person.
    """

    shows = ()

    row: Rows
    codes: Codes
    values: Codes
    first: Rows
    counts: Rows

    @classmethod
    def of(
        cls,
        domains: Sequence[ValueDomain],
        subject: str,
        batches: Iterable[tuple[pa.RecordBatch, Rows]],
        sensitive: Sequence[str] = (),
    ) -> PersonRows:
        """Read the rows of batches, each given with its row numbers in the source.

        Rows with a value outside its domain are left out. A row without a subject is a separate
        person. Memory: O(rows x columns).
        """
        named: dict[bytes, int] = {}
        known: list[dict[str | None, int]] = [{} for _ in sensitive]
        parts = [_no_rows(len(domains), len(sensitive))]
        for batch, row in batches:
            codes = np.column_stack([d.codes(batch.column(d.column)) for d in domains])
            fits = (codes != OUTSIDE).all(axis=1)
            shown = np.zeros((len(row), len(sensitive)), np.int32)
            for at, name in enumerate(sensitive):
                shown[:, at] = _number_values(batch.column(name), known[at])
            people = _number_people(batch.column(subject), row, named)
            parts.append((people[fits], row[fits], codes[fits].astype(np.int32), shown[fits]))
        people, row, codes, values = (np.concatenate(each) for each in zip(*parts, strict=True))
        dated = [i for i, domain in enumerate(domains) if domain.parser.kind in DATED]
        keys = [*dated, *(i for i in range(len(domains)) if i not in dated)]
        order = np.lexsort(np.column_stack([row, codes[:, keys[::-1]], people]).T)
        _, first, counts = np.unique(people[order], return_index=True, return_counts=True)
        return cls(row[order], codes[order], values[order], first, counts)

    def shared_numbers(self, k: int, allowed: Sequence[int] | None = None) -> tuple[int, ...]:
        """Return the numbers of rows that at least k people share, ascending.

        If fewer than k people share a number, they are counted at the next lower number, and their
        last rows are dropped.

        Parameters
        ----------
        allowed : the possible numbers, ascending. None allows any number.
        """
        wanted = np.unique(self.counts) if allowed is None else np.asarray(allowed)
        place = np.searchsorted(wanted, self.counts, side="right") - 1
        people = np.bincount(place[place >= 0], minlength=len(wanted))
        shared, waiting = [], 0
        for at in range(len(wanted) - 1, -1, -1):
            waiting += int(people[at])
            if waiting >= k:
                shared.append(int(wanted[at]))
                waiting = 0
        return tuple(reversed(shared))

    def records(self, numbers: Sequence[int]) -> Iterator[PersonRecords]:
        """Yield the records of people by number of rows.

        People lose the rows beyond their number. People with fewer rows than the first number have
        no record.
        """
        place = np.searchsorted(np.asarray(numbers), self.counts, side="right") - 1
        for at, number in enumerate(numbers):
            rows = self.first[place == at][:, None] + np.arange(number)
            codes = self.codes[rows].reshape(len(rows), number * self.codes.shape[1])
            yield PersonRecords(number, rows, codes, self.values[rows])


def _no_rows(columns: int, sensitive: int) -> tuple[Rows, Rows, Codes, Codes]:
    nobody = np.zeros(0, np.int64)
    return nobody, nobody, np.zeros((0, columns), np.int32), np.zeros((0, sensitive), np.int32)


def _number_values(column: pa.Array, known: dict[str | None, int]) -> Codes:
    """Number a sensitive column's cells by their text, and extend `known`."""
    cells, places = encode_cells(column)
    texts = (None if cell is None else str(cell) for cell in cells)
    return np.array([known.setdefault(t, len(known)) for t in texts], dtype=np.int32)[places]


def _number_people(subjects: pa.Array, row: Rows, named: dict[bytes, int]) -> Rows:
    """Number people by the canonical form of their names, and extend `named`."""
    names, places = encode_cells(subjects)
    known = np.array([name is not None for name in names], dtype=np.bool_)
    texts = canonical_of(pa.array([str(name) for name in names if name is not None], pa.string()))
    number = np.zeros(len(names), dtype=np.int64)
    number[known] = [named.setdefault(text, len(named)) for text in texts]
    return np.where(known[places], number[places], -1 - row)
