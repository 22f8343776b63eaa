"""A release's rows with the token of each row's person, from the private folder."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

import pyarrow as pa

from voile.core.errors import TamperedError
from voile.data import Source
from voile.data.source import evenly

PERSON = "voile person"


class RowsWithPeople(Source):
    """A release's rows with a column `PERSON`.

    Raises `TamperedError` on reading where the two files differ in their number of rows.
    """

    def __init__(self, release: Source, people: Source) -> None:
        fields = [pa.field(name, type_) for name, type_ in release.columns.items()]
        fields.append(pa.field(PERSON, pa.int64()))
        super().__init__(release.name, release.kind, fields)
        self._release, self._people = release, people

    def _read(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        shown = [name for name in columns if name != PERSON]
        release = evenly(self._release.batches(shown, batch_rows=rows), rows)
        people = evenly(self._people.batches(["person"], batch_rows=rows), rows)
        for part, who in zip_longest(release, people):
            if part is None or who is None or len(part) != len(who):
                raise TamperedError("the release has not the rows that its people have")
            yield from part.append_column(PERSON, who.column(0)).select(columns).to_batches()

    def fingerprint(self) -> str:
        """Return the release's own."""
        return self._release.fingerprint()
