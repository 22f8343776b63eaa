"""SAS, Stata and SPSS files, by pyreadstat (the extra `statistics`).

Numbers without a fraction are integers, because these formats store nearly every number as a float.
Their dates and times are dates and times. Codes stay codes: labels are not applied. Missing numbers
and values that the file declares missing are null. So is empty text, which these formats use for
missing text.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from voile.core.errors import RequestError, SourceError, install
from voile.data.formats.kinds import ValueKinds, column, whole
from voile.data.source import BATCH_ROWS, FileSource, distinct_names

READERS = {
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
    ".dta": "read_dta",
    ".sav": "read_sav",
}


class StatisticsSource(FileSource):
    """A SAS, Stata or SPSS file. Opening it reads the file once to learn the types.

    Memory: one chunk.
    """

    def __init__(self, path: Path, *, encoding: str | None = None) -> None:
        self.path = path
        self._encoding = encoding
        kinds: dict[str, ValueKinds] = {}
        for chunk in self._chunks(BATCH_ROWS):
            for name, values in chunk.items():
                kinds.setdefault(name, ValueKinds()).add(values)
        super().__init__(
            path, path.suffix[1:].lower(), pa.schema([(n, k.arrow()) for n, k in kinds.items()])
        )

    def _read_batches(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        schema = self.schema(columns)
        for chunk in self._chunks(rows, columns):
            arrays = [column(chunk[field.name], field.type) for field in schema]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _chunks(
        self, rows: int, columns: list[str] | None = None
    ) -> Iterator[dict[str, list[object]]]:
        """Yield chunks of `rows` rows. The first chunk is yielded even if it is empty."""
        offset = 0
        while True:
            chunk = self._chunk(offset, rows, columns)
            length = max(map(len, chunk.values()), default=0)
            if length or not offset:
                yield {name: [_cell(v) for v in values] for name, values in chunk.items()}
            offset += length
            if length < rows:
                return

    def _chunk(self, offset: int, rows: int, columns: list[str] | None) -> dict[str, Any]:
        pyreadstat = _pyreadstat()
        read = getattr(pyreadstat, READERS[self.path.suffix.lower()])
        asked = {"usecols": columns, "encoding": self._encoding}
        try:
            chunk, about = read(
                self.path, output_format="dict", row_offset=offset, row_limit=rows,
                **{name: value for name, value in asked.items() if value is not None},
            )  # fmt: skip
            if not all(about.column_names):  # None for a name that cannot be decoded
                raise ValueError
        except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, OSError, ValueError):
            raise SourceError(
                f"the {self.path.suffix} file is damaged or truncated near row {offset + 1}",
                where=self.path.name,
                instead="copy the file again",
            ) from None
        distinct_names(about.column_names, where=self.path.name)
        return dict(chunk)


def _cell(value: object) -> object:
    return None if value == "" else whole(value)


def _pyreadstat() -> Any:
    try:
        import pyreadstat
    except ImportError:
        raise RequestError(
            "reading SAS, Stata and SPSS files needs pyreadstat",
            instead=install("statistics"),
        ) from None
    return pyreadstat
