"""Measure released messages: their rows, their format, and the separation of the classes.

A message is a row with a value in every reading column. The gate reads only the released cells. It
does not decode messages. `voile signals apply` has the map, and decodes each message to check it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log, sqrt
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from voile.core.errors import TamperedError
from voile.data import Source
from voile.data.source import identifier
from voile.engines.duck import connect
from voile.gate.finding import NOBODY, GateFinding, StatedAdversary

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

GRAIN = 2.0**-44
"""The unit of a message without decimal places. Finer bits would reveal the class."""
NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"
LISTENER = StatedAdversary(
    "reads one message of a person, and compares one column with the messages of every class",
    "release and source",
)


@dataclass(frozen=True, kw_only=True)
class MessageColumns:
    """The columns of released messages.

    numbers, names : the reading columns that are sent as numbers, and as text.
    places : the number of decimal places of a number. None means multiples of 2^-44.
    person : the column of pseudonyms.
    """

    numbers: Sequence[str]
    names: Sequence[str] = ()
    places: int | None = None
    person: str = "pseudonym"

    @property
    def readings(self) -> list[str]:
        """All reading columns."""
        return [*self.numbers, *self.names]


def measure_signals(
    release: Source,
    columns: MessageColumns,
    classes: pa.Table | None = None,
    *,
    directory: Path | None = None,
) -> tuple[GateFinding, ...]:
    """Return the findings of released messages.

    ``class_separation`` of a column is the largest distance between the messages of one class and
    the messages of all other classes. The distance is Kolmogorov-Smirnov for numbers, and total
    variation for text. Each person has weight 1. An adversary who compares one message with a
    threshold has a balanced accuracy of at most (1 + separation) / 2. The interval is Massart's
    (1990), for the numbers of people on the two sides.

    Parameters
    ----------
    release : the messages, as written.
    classes : the class of each person, in the text columns `person` and `class`. None if the
        classes are unknown.

    Raises
    ------
    TamperedError : a cell is not a message of the policy.
    """
    with connect(directory=directory) as connection:
        rows, blank = _load(connection, release, columns)
        findings = [
            NOBODY.finds("rows", rows, "rows"),
            NOBODY.finds("blank", blank, "rows", n=rows),
            NOBODY.finds("decoded", rows - blank, "rows", n=rows),
            NOBODY.finds("finer_messages", _count_finer(connection, columns), "cells"),
        ]
        if classes is not None:
            connection.register("classes", classes)
            findings += _separations(connection, columns)
    return tuple(findings)


def _load(
    connection: DuckDBPyConnection, release: Source, columns: MessageColumns
) -> tuple[int, int]:
    """Create the table `messages`, with reading columns r0, r1, ..., and reject other cells."""
    text = {name: f"{identifier(name)}::VARCHAR" for name in columns.readings}
    is_number = f"regexp_full_match({{}}, '{NUMBER}')"
    read = [
        *(
            f"CASE WHEN {is_number.format(text[name])} THEN {text[name]}::DOUBLE END"
            for name in columns.numbers
        ),
        *(text[name] for name in columns.names),
    ]
    strange = [
        f"({cell} IS NOT NULL AND lower(trim({cell})) NOT IN ('', 'nan', 'inf', '-inf') "
        f"AND NOT {is_number.format(cell)})"
        for cell in (text[name] for name in columns.numbers)
    ]
    cells = ", ".join(f"{sql} AS r{place}" for place, sql in enumerate(read))
    person = f"{identifier(columns.person)}::VARCHAR AS person"
    wrong = " OR ".join(strange) or "false"
    release.select(
        connection,
        f"SELECT {person}, {cells}, {wrong} AS strange FROM source",
        columns=[*columns.readings, columns.person],
        into="messages",
    )
    blank = " AND ".join(f"r{place} IS NULL" for place in range(len(read)))
    part = " OR ".join(f"r{place} IS NULL" for place in range(len(read)))
    row = connection.execute(
        f"SELECT count(*), count(*) FILTER ({blank}), "
        f"count(*) FILTER (strange OR (({part}) AND NOT ({blank}))) FROM messages"
    ).fetchone()
    assert row is not None
    rows, without, wrong_rows = map(int, row)
    if wrong_rows:
        raise TamperedError("a cell of the release is not a message of the policy")
    return rows, without


def _count_finer(connection: DuckDBPyConnection, columns: MessageColumns) -> int:
    """Count the numbers with more decimal places than a message may have."""
    coarse = (
        f"round({{0}} / {GRAIN!r}) * {GRAIN!r}"
        if columns.places is None
        else f"round({{0}}, {columns.places})"
    )
    counts = [
        f"count(*) FILTER (r{place} <> {coarse.format(f'r{place}')})"
        for place in range(len(columns.numbers))
    ]
    row = connection.execute(f"SELECT {' + '.join(counts) or '0'} FROM messages").fetchone()
    assert row is not None
    return int(row[0])


def _separations(connection: DuckDBPyConnection, columns: MessageColumns) -> Iterator[GateFinding]:
    """Yield the separation of each column, for the class with the largest distance."""
    connection.execute(
        "CREATE TABLE weighted AS SELECT messages.*, class, "
        "1.0 / count(*) OVER (PARTITION BY messages.person) AS w "
        "FROM messages JOIN classes ON messages.person = classes.person WHERE r0 IS NOT NULL"
    )
    people = connection.execute(
        "SELECT class, count(DISTINCT person) FROM weighted GROUP BY class ORDER BY class"
    ).fetchall()
    total = sum(n for _, n in people)
    for place, name in enumerate(columns.readings):
        is_number = place < len(columns.numbers)
        found = [
            (_separation(connection, f"r{place}", own, is_number), n)
            for own, n in people
            if 0 < n < total
        ]
        if found:
            value, n = max(found)
            noise = sqrt(log(2 / 0.05) / 2) * (1 / sqrt(n) + 1 / sqrt(total - n))
            interval = (max(0.0, value - noise), min(1.0, value + noise))
            yield LISTENER.finds(
                "class_separation", value, "share", n=total, of=name, interval=interval
            )


def _separation(connection: DuckDBPyConnection, column: str, own: str, is_number: bool) -> float:
    """Return the distance between the messages of one class and those of all other classes."""
    by_value = (
        f"SELECT {column} AS v, sum(w) FILTER (class = $own) AS a, "
        f"sum(w) FILTER (class <> $own) AS b FROM weighted GROUP BY {column}"
    )
    shares = (
        "SELECT v, coalesce(a, 0) / sum(a) OVER () AS a, coalesce(b, 0) / sum(b) OVER () AS b "
        f"FROM ({by_value})"
    )
    sql = (
        f"SELECT max(abs(a)) FROM (SELECT sum(a - b) OVER (ORDER BY v) AS a FROM ({shares}))"
        if is_number
        else f"SELECT sum(abs(a - b)) / 2 FROM ({shares})"
    )
    row = connection.execute(sql, {"own": own}).fetchone()
    assert row is not None
    return float(row[0])
