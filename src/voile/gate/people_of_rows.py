"""A release's rows with the token of each row's person, which the private folder contains."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

import numpy as np
import pyarrow as pa

from voile.core.errors import TamperedError
from voile.data import Source
from voile.data.source import evenly

PERSON = "voile person"
ROW = "row"
ORDER = "the kept order"
"""The column that contains the number of each run of consecutive rows of one person."""


class RowsWithPeople(Source):
    """A release's rows with a column `PERSON`, and a column `ORDER` if they are in source order.

    Reading raises `TamperedError` if the two files have different numbers of rows.
    """

    def __init__(self, release: Source, people: Source) -> None:
        fields = [pa.field(name, type_) for name, type_ in release.columns.items()]
        fields.append(pa.field(PERSON, pa.int64()))
        fields += [pa.field(ORDER, pa.int64())] * is_in_order(people)
        super().__init__(release.name, release.kind, fields)
        self._release, self._people = release, people

    def _read_batches(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        shown = [name for name in columns if name not in (PERSON, ORDER)]
        shown = shown or [*self._release.columns][:1]  # no format reads rows without a column
        last, run = None, 0
        release = evenly(self._release.batches(shown, batch_rows=rows), rows)
        people = evenly(self._people.batches(["person"], batch_rows=rows), rows)
        for part, who in zip_longest(release, people):
            if part is None or who is None or len(part) != len(who):
                raise TamperedError(
                    "the release and the private row map have different numbers of rows"
                )
            token = who.column(0).combine_chunks()
            tokens = token.to_numpy(zero_copy_only=False)
            runs = run + np.cumsum(
                np.diff(tokens, prepend=tokens[:1] if last is None else last) != 0
            )
            last, run = tokens[-1:], runs[-1] if len(runs) else run
            joined = part.append_column(PERSON, token).append_column(ORDER, pa.array(runs))
            yield from joined.select(columns).to_batches()

    def fingerprint(self) -> str:
        """Return the release's fingerprint."""
        return self._release.fingerprint()


def is_in_order(people: Source) -> bool:
    """Return whether released rows are in the order of the source's rows; False if unknown."""
    if ROW not in people.columns:
        return False
    last = -1
    for batch in people.batches([ROW]):
        rows = batch.column(0).to_numpy()
        if (np.diff(rows, prepend=last) <= 0).any():
            return False
        last = int(rows[-1]) if len(rows) else last
    return True
