"""Excel workbooks (.xlsx, .xls): one sheet, with column names in its first row.

If several sheets have rows, the user chooses one, because the first may be a cover page.

Text cells stay text, and dates are dates. Excel stores whole numbers as floats, which are read as
integers. An empty cell is null, and a row without filled cells is skipped. Numbers beyond 2^53 are
not exact in Excel itself.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa

from voile.core.errors import RequestError, SourceError, nearest
from voile.data.formats.headers import LOOKED_AT, warn_of_record
from voile.data.formats.kinds import ValueKinds, column, whole
from voile.data.source import TableSource, distinct_names, hash_file


class ExcelSource(TableSource):
    """A sheet of a workbook. Memory: the sheet, which has at most 1,048,576 rows.

    table : the name of the sheet. None for the only sheet with a row below its first.
    """

    def __init__(self, path: Path, *, table: str | None = None) -> None:
        rows, notes = _rows(path, table)
        if not rows:
            raise SourceError(
                "the sheet is empty and has no column names",
                where=path.name,
                instead="choose a sheet with a header row",
            )
        header, *body = rows
        names = [str(_cell(name) or f"column_{i}") for i, name in enumerate(header, 1)]
        distinct_names(names, where=path.name, first_row=True)
        texts = [[str(_cell(cell) or "") for cell in row] for row in body[:LOOKED_AT]]
        remedy = "add a row of names above it"
        warn_of_record(names, texts, where=path.name, instead=remedy)
        arrays = [_array([_cell(row[i]) for row in body]) for i in range(len(names))]
        super().__init__(pa.table(arrays, names=names), path.name, "excel", notes)
        self.path = path

    def fingerprint(self) -> str:
        """Hash the workbook's bytes."""
        return hash_file(self.path)


def _rows(path: Path, table: str | None) -> tuple[list[list[object]], list[str]]:
    """Return the filled rows of the sheet, and its name if it was chosen among several."""
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        with CalamineWorkbook.from_path(str(path)) as book:
            names = book.sheet_names
            if not names:
                raise SourceError(
                    "the workbook has no sheet",
                    where=path.name,
                    instead="choose a workbook with a sheet",
                )
            if table is not None and table not in names:
                raise RequestError(
                    f"the workbook has no sheet {table}",
                    where=path.name,
                    instead=nearest(table, names),
                )
            asked = names if table is None else [table]
            sheets = {
                name: _drop_empty_rows(book.get_sheet_by_name(name).to_python()) for name in asked
            }
    except CalamineError:
        raise SourceError(
            "the Excel file is damaged or truncated",
            where=path.name,
            instead="save the workbook again as .xlsx",
        ) from None
    filled = [name for name, rows in sheets.items() if rows]
    holding = [name for name in filled if len(sheets[name]) > 1] or filled or asked
    if len(holding) > 1:
        raise RequestError(
            "the workbook has several sheets", where=path.name, instead=nearest("", filled)
        )
    chosen = holding[0]
    return sheets[chosen], [f"sheet {chosen}"] if len(names) > 1 else []


def _drop_empty_rows(rows: Iterable[Sequence[object]]) -> list[list[object]]:
    return [list(row) for row in rows if any(cell != "" for cell in row)]


def _cell(value: object) -> object:
    """Return a cell as a Python value: None for an empty one, 3 for 3.0."""
    if value == "":
        return None
    return str(value) if isinstance(value, dt.timedelta) else whole(value)


def _array(values: list[object]) -> pa.Array:
    kinds = ValueKinds()
    kinds.add(values)
    return column(values, kinds.arrow())
