"""Sources with secret values that are easy to recognise in any output."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from tests.contracts.people import put

from voile.data.roles import Roles

NUMBER = 987_000
WORD = "CANARY"
NEAR = re.compile(r"987[0-2]\d\d")
FLAGS = ({"0"}, {"1"}, {"0", "1"})


def all_canaries(table: pa.Table, *, spare: tuple[str, ...] = ()) -> pa.Table:
    """Return a table in which each text begins with `CANARY` and each number is near 987,000.

    Zeros and ones that stand for no and yes stay, and so do the columns to `spare`.
    """
    for name in table.column_names:
        if name not in spare:
            table = put(table, name, _canary(table[name]))
    return table


def _canary(column: pa.ChunkedArray) -> pa.Array:
    cells = column.to_pylist()
    known = {str(cell) for cell in cells if cell is not None}
    if known in FLAGS:
        return column.combine_chunks()
    if pa.types.is_string(column.type):
        return pa.array([None if c is None else f"{WORD}{c}" for c in cells], pa.string())
    return pa.array([None if c is None else c + NUMBER for c in cells], column.type)


def told(text: str) -> bool:
    """Say whether a text holds a canary."""
    return WORD in text.upper() or bool(NEAR.search(text))


STRANGERS = 40
"""How many rows are like nobody else's."""


def own(kind: str, i: int) -> str:
    """Return a text that one row alone has."""
    return f"zq{kind}{i:03d}x"


CLUB = "zqclubx"
"""What several have at fit who are all set aside at apply: nobody is alone with it."""


def own_number(i: int) -> int:
    """Return a number that one row alone has, and no rule of rounding ends at."""
    return 987_654_007 + 10 * i


def own_day(i: int) -> str:
    """Return a day that one row alone has; it is not a year's or month's first."""
    return f"{1701 + 3 * i}-03-17"


@dataclass(frozen=True)
class Strange:
    """A source with strangers: rows that are like nobody else's.

    Parameters
    ----------
    fitted, applied : the same people at fit and at apply; then some cannot be worked on.
    marks : by row, the values that it alone has, whichever of the two tables says them.
    """

    roles: Roles
    fitted: pa.Table
    applied: pa.Table
    marks: dict[int, list[Any]]
    fit: dict[str, Any] = field(default_factory=dict)

    def of(self, rows: set[int]) -> Iterator[Any]:
        """Yield the values of rows that others have not."""
        for row in sorted(rows & self.marks.keys()):
            yield from self.marks[row]


def strange(case: Any) -> Strange:
    """Return a wing's ordinary table with strangers at its end."""
    return {
        "tables": _tables,
        "itemsets": _itemsets,
        "documents": _documents,
        "signals": _signals,
    }[case.kind](case.tiny, case.table)


def _roles(tiny: Any, **more: Any) -> Roles:
    data = tiny.roles().model_dump(mode="json", exclude_none=True)
    return Roles.model_validate({**data, "columns": {**data["columns"], **more}})


def _with_strangers(table: pa.Table, **columns: list[Any]) -> tuple[pa.Table, list[int]]:
    """Add a row for each stranger: of each column what is given, else the first row's."""
    n = table.num_rows
    whole = pa.concat_tables([table, table.slice(0, 1).take([0] * STRANGERS)])
    columns = {
        "person": [own("person", i) for i in range(STRANGERS)],
        "name": [own("name", i) for i in range(STRANGERS)],
        "ward": [own("ward", i) for i in range(STRANGERS)],
        **columns,
    }
    for name, cells in columns.items():
        column = whole[name].to_pylist()[:n] + cells
        whole = put(whole, name, pa.array(column, table[name].type))
    return whole, list(range(n, n + STRANGERS))


def _changed(whole: pa.Table, name: str, cells: dict[int, Any]) -> pa.Table:
    column = whole[name].to_pylist()
    for row, cell in cells.items():
        column[row] = cell
    return put(whole, name, pa.array(column, whole[name].type))


def _categorical(whole: pa.Table, name: str) -> pa.Table:
    """Return the table with a column as pandas has categories: all of them in every slice."""
    return put(whole, name, whole[name].combine_chunks().dictionary_encode())


def _tables(tiny: Any, table: pa.Table) -> Strange:
    some = range(STRANGERS)
    born = [f"19{80 + i % 20}-0{1 + i % 9}-{10 + i % 19}" for i in range(len(table))]
    table = table.append_column("born", pa.array(born))
    cells = {
        "age": [own_number(i) for i in some],
        "born": [own_day(i) for i in some],
        "sex": [CLUB if 2 <= i < 18 else own("sex", i) for i in some],
        "zip": [own("zip", i) for i in some],
        "diagnosis": [own("diagnosis", i) for i in some],
    }
    whole, rows = _with_strangers(table, **cells)
    whole = _categorical(_changed(whole, "person", {rows[0]: "", rows[1]: " "}), "ward")
    outside = {rows[i]: own("outside", i) for i in range(2, 18)}
    marks = {
        row: [column[i] for column in cells.values()] + _club(outside, row) + _kept(i)
        for i, row in enumerate(rows)
    }
    fit = {"k": 5, "suppress": 0.4, "hold_out": 0.2, "method": "steepest"}
    applied = _changed(whole, "zip", outside)
    return Strange(_roles(tiny, born="quasi"), whole, applied, marks, fit)


def _itemsets(tiny: Any, table: pa.Table) -> Strange:
    some = range(STRANGERS)
    cells = {
        "area": [CLUB if i % 4 == 2 else own("area", i) for i in some],
        "age": [own_number(i) for i in some],
        "words": [f"fever {CLUB if i % 4 == 2 else own('word', i)}" for i in some],
        "ill": [None if i % 4 == 0 else "yes" for i in some],
    }
    whole, rows = _with_strangers(table, **cells)
    outside = {rows[i]: own("outside", i) for i in range(2, STRANGERS, 4)}
    marks = {
        row: [own("area", i), own_number(i), own("word", i), *_club(outside, row), *_kept(i)]
        for i, row in enumerate(rows)
    }
    quarters = {"role": "items", "quantiles": 4}
    fit = {"hold_out": 0.2, "k": [2, 3], "drop_unlabelled": True}
    applied = _changed(whole, "tea", outside)
    return Strange(_roles(tiny, age=quarters), _categorical(whole, "ward"), applied, marks, fit)


def _documents(tiny: Any, table: pa.Table) -> Strange:
    some = range(STRANGERS)
    notes = [f"Today , Mrs {own('note', i)} was well ." for i in some]
    label = [CLUB if i % 5 == 0 else "NAME" for i in some]
    start = notes[0].index(own("note", 0))
    spans = [
        json.dumps([{"start": start, "end": start + len(own("note", i)), "label": label[i]}])
        for i in some
    ]
    whole, rows = _with_strangers(table, note=notes, spans=spans)
    aside = {rows[i]: f"{notes[i]} \ufffd" for i in range(0, STRANGERS, 5)}
    marks = {row: [own("note", i), *_club(aside, row), *_kept(i)] for i, row in enumerate(rows)}
    fit = {"learners": ["svm"], "miss_cost": [1, 20], "cross_fit": 3, "jobs": 1, "hold_out": 0.2}
    return Strange(_roles(tiny), whole, _changed(whole, "note", aside), marks, fit)


def _signals(tiny: Any, table: pa.Table) -> Strange:
    some = range(STRANGERS)
    pulse = [float(own_number(i)) for i in some]
    mood = [CLUB if i % 4 == 2 else "calm" for i in some]
    whole, rows = _with_strangers(table, pulse=pulse, mood=mood)
    unseen = {rows[i]: own("mood", i) for i in range(2, STRANGERS, 4)}
    unclassed = {rows[i]: None for i in range(3, STRANGERS, 4)}
    applied = _changed(_changed(whole, "mood", unseen), "ill", unclassed)
    marks = {row: [own_number(i), *_club(unseen, row), *_kept(i)] for i, row in enumerate(rows)}
    fit = {"method": ["normal"], "strength": [0.5, 1], "hold_out": 0.2}
    return Strange(_roles(tiny), _categorical(whole, "ward"), applied, marks, fit)


def _club(cells: dict[int, str], row: int) -> list[str]:
    return [cells[row], CLUB] if row in cells else []


def _kept(i: int) -> list[str]:
    return [own("ward", i), own("person", i), own("name", i)]
