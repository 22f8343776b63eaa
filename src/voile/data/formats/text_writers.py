"""Writers of text files: CSV, TSV and JSON lines.

Values of types that a text format lacks become text. Dates and times follow ISO 8601, and booleans
are `true` and `false`. Decimals are exact, and floats have the shortest digits that are read back
unchanged. CSV cannot contain lists, structs and bytes. They are an error that names the column.
"""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections import Counter
from math import isfinite
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from voile.core.errors import RequestError
from voile.data.column_types import plain
from voile.data.formulas import escape as escaped
from voile.data.formulas import formulas
from voile.data.writer import BatchWriter, TextDialect


class CsvWriter(BatchWriter):
    """Write RFC 4180 CSV in UTF-8. A null is an empty field, and an empty text is `""`.

    A field is quoted if it contains the delimiter, a quote or a line end.

    escape : whether to write cells as text that a spreadsheet would run as formulas
        (`voile.data.formulas`).
    dialect : the dialect of the source. A single column needs no delimiter, so the delimiter's
        character can be part of the text.
    """

    delimiter: str | None = None

    def __init__(
        self,
        path: Path,
        schema: pa.Schema,
        *,
        escape: bool = False,
        dialect: TextDialect | None = None,
    ) -> None:
        dialect = dialect or TextDialect()
        is_lone = len(schema) == 1
        self.delimiter = self.delimiter or ("," if is_lone else dialect.delimiter)
        self._line_end = dialect.line_end
        for field in schema:
            _check_flat(field)
        self.formulas = self._formulas = Counter[str]()
        self._escape = escape
        self._file = path.open("wb")
        self._file.write(BOM_UTF8 if dialect.has_mark else b"")
        self._write_lines([self._fields(name, pa.array([name])) for name in schema.names])

    def write(self, batch: pa.RecordBatch) -> None:
        if batch.num_rows:
            named = zip(batch.schema.names, batch.columns, strict=True)
            self._write_lines([self._fields(name, column) for name, column in named])

    def _fields(self, name: str, column: pa.Array) -> pa.Array:
        """Return the values of a column as fields. A dictionary's values are converted once."""
        if isinstance(column, pa.DictionaryArray):
            self._count(name, column.dictionary, column.indices)
            return self._field(column.dictionary).take(column.indices)
        self._count(name, column)
        return self._field(column)

    def _count(self, name: str, values: pa.Array, places: pa.Array | None = None) -> None:
        if _is_text(values.type):
            found = formulas(values)
            if pc.any(found).as_py():
                cells = found if places is None else found.take(places)
                self._formulas[name] += pc.sum(cells).as_py() or 0

    def _field(self, values: pa.Array) -> pa.Array:
        text = values.cast(pa.large_string())
        if not _is_text(values.type):
            return text
        return _quote_cells(escaped(text) if self._escape else text, str(self.delimiter))

    def _write_lines(self, columns: list[pa.Array]) -> None:
        """Join the columns to lines.

        The buffer of the text array contains the bytes of the file.
        """
        fields = pc.binary_join_element_wise(
            *columns, _large(str(self.delimiter)), null_handling="replace", null_replacement=""
        )
        lines = pc.binary_join_element_wise(fields, _large(self._line_end), _large(""))
        self._file.write(_text_bytes(lines))

    def close(self) -> None:
        self._file.close()


class TsvWriter(CsvWriter):
    """Write CSV with tabs as delimiters."""

    delimiter = "\t"


def _check_flat(field: pa.Field) -> None:
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        raise RequestError(
            f"column {field.name} is {kind}, which the CSV format cannot contain",
            instead="write .parquet, or drop the column",
        )


def _is_text(kind: pa.DataType) -> bool:
    texts = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return any(is_one(kind) for is_one in texts)


def _quote_cells(text: pa.LargeStringArray, delimiter: str) -> pa.Array:
    special = pc.match_substring_regex(text, f'^$|["\\r\\n{delimiter}]')
    if not pc.any(special).as_py():
        return text
    doubled = pc.replace_substring(text, '"', '""')
    wrapped = pc.binary_join_element_wise(_large('"'), doubled, _large('"'), _large(""))
    return pc.if_else(special, wrapped, text)


def _large(text: str) -> pa.LargeStringScalar:
    return pa.scalar(text, pa.large_string())


def _text_bytes(text: pa.LargeStringArray) -> memoryview:
    offsets = memoryview(text.buffers()[1]).cast("q")
    start, stop = offsets[text.offset], offsets[text.offset + len(text)]
    return memoryview(text.buffers()[2])[start:stop]


class JsonLinesWriter(BatchWriter):
    """Write one JSON object for each line, in UTF-8. Nulls are written as null.

    Values of types that JSON lacks are text, as in CSV: dates, times, decimals, and non-finite
    floats.
    """

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        for field in schema:
            if pa.types.is_binary(plain(field.type)):
                raise RequestError(
                    f"column {field.name} contains bytes, which JSON cannot represent",
                    instead="write .parquet, or drop the column",
                )
        self._file = path.open("w", encoding="utf-8", newline="\n")

    def write(self, batch: pa.RecordBatch) -> None:
        names = batch.schema.names
        columns = [_json_cells(column) for column in batch.columns]
        for cells in zip(*columns, strict=True):
            row = dict(zip(names, cells, strict=True))
            self._file.write(json.dumps(row, ensure_ascii=False, default=str) + "\n")

    def close(self) -> None:
        self._file.close()


def _json_cells(column: pa.Array) -> list[object]:
    kind = plain(column.type)
    values = column.cast(kind)
    if pa.types.is_floating(kind):
        return [v if v is None or isfinite(v) else str(v) for v in values.to_pylist()]
    if pa.types.is_temporal(kind) or pa.types.is_decimal(kind):
        values = values.cast(pa.string())
    return list(values.to_pylist())
