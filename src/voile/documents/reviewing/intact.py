"""Check that a file of lines and answers has the form in which voile writes it."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from voile.data.files.database import OwnDatabase

COLUMNS = "SELECT name, type, pk FROM pragma_table_info(?) ORDER BY cid"
PURPOSES = ("review", "census", "sample", "adjudication")
MOST = 1 << 53
RANGES = {
    "meta": "name = 'readers' AND value NOT GLOB '[1-9]' AND value NOT GLOB '[1-9][0-9]'",
    "lines": f"number NOT BETWEEN 1 AND {MOST} OR batch NOT BETWEEN 0 AND 9999"
    f' OR purpose NOT IN {PURPOSES} OR document < -1 OR "end" < start',
    "keys": f"number NOT BETWEEN 1 AND {MOST} OR stroke NOT BETWEEN 1 AND number"
    " OR final NOT IN (0, 1) OR unsure NOT IN (0, 1) OR seconds NOT BETWEEN 0 AND 1e9",
    "never": "word = '' OR reviewer = ''",
}
"""Conditions for invalid rows of each table that the column types do not exclude."""


def is_intact(file: OwnDatabase, tables: str) -> bool:
    """Return whether a file has the columns of these statements, with valid types and values.

    Also check that every answer belongs to a line. O(rows).
    """
    file.run("SELECT number FROM finals LIMIT 1")  # a view
    if file.run("PRAGMA quick_check") != [("ok",)] or file.run("PRAGMA foreign_key_check"):
        return False
    with closing(sqlite3.connect(":memory:")) as model:
        model.executescript(tables)
        for table, wrong in RANGES.items():
            columns = model.execute(COLUMNS, [table]).fetchall()
            if file.run(COLUMNS, table) != columns:
                return False
            if file.run(f"SELECT 1 FROM {table} WHERE {wrong} OR {_other_types(columns)} LIMIT 1"):
                return False
    return True


def _other_types(columns: list[tuple[str, str, int]]) -> str:
    return " OR ".join(f"typeof(\"{name}\") <> '{kind.lower()}'" for name, kind, _ in columns)
