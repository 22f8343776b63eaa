"""Write rows into memory."""

from __future__ import annotations

import pyarrow as pa

from voile.core.errors import RequestError
from voile.data.column_types import conform, plain_schema
from voile.data.files.memory import MemoryPath
from voile.data.writer import Writer


class MemoryWriter(Writer):
    """An Arrow table at a place in memory, dictionaries written out."""

    def __init__(self, place: MemoryPath, schema: pa.Schema, *, escape: bool = False) -> None:
        if escape:
            raise RequestError(
                "formulas are escaped in .csv and .tsv alone",
                where=str(place),
                instead="write a file, or leave --formulas escape out",
            )
        self._place, self._schema = place, plain_schema(schema)
        self._batches: list[pa.RecordBatch] = []

    def write(self, batch: pa.RecordBatch) -> None:
        self._batches.append(conform(batch, self._schema))

    def close(self) -> None:
        self._place.rows = pa.Table.from_batches(self._batches, self._schema)
