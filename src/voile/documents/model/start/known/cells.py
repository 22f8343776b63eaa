"""Collect the known values of a table's cells as rows of one table."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

import pyarrow as pa

from voile.data.placeholders import PLACEHOLDERS
from voile.data.source import Source
from voile.documents.model.start.known.days import read_days
from voile.documents.words.normalisation import normalise

SCHEMA = pa.schema(
    [
        # the subject of the value; null for people known to every document
        ("subject", pa.string()),
        ("number", pa.int64()),  # the number of the row; names in one row belong to one person
        ("column", pa.string()),
        ("kind", pa.string()),
        ("value", pa.string()),
    ]
)
LONGEST = 200
"""The most characters between separators. A longer cell is a text that no note would repeat."""
_LISTED = re.compile(r"[;|]")
_SEVERAL = re.compile(r"\s*[;|\n]\s*")
_BLANKS = re.compile(r"\s+")
_WHOLE = re.compile(r"(\d+)\.0")
"""A whole number with a decimal point, which many programs write for a column with gaps."""


def read_values(
    source: Source,
    kinds: Mapping[str, str],
    by: str | None,
    *,
    numbers: Iterator[int],
    called: Mapping[str, str],
) -> Iterator[pa.RecordBatch]:
    """Stream the values of the columns that have a kind, without rows of null subjects.

    Parameters
    ----------
    by : the column with the subject of each row. None for people known to every document.
    numbers : the numbers of the rows.
    called : the names of columns in reasons, if they differ from the columns' own names.
    """
    for batch in source.batches(dict.fromkeys([*([by] if by else []), *kinds])):
        whose = batch.column(by).to_pylist() if by else None
        people = list(islice(numbers, batch.num_rows))
        rows: dict[str, list[object]] = {name: [] for name in SCHEMA.names}
        for name, kind in kinds.items():
            for row, cell in enumerate(batch.column(name).to_pylist()):
                subject = subject_of(whose[row]) if whose else None
                if cell is None or (whose and subject is None):
                    continue
                for text in _list_forms(kind, cell):
                    entry = (subject, people[row], called.get(name, name), kind, text)
                    for field, part in zip(SCHEMA.names, entry, strict=True):
                        rows[field].append(part)
        yield pa.RecordBatch.from_pydict(rows, SCHEMA)


def _list_forms(kind: str, cell: object) -> Iterable[str]:
    """Yield the values of a cell; days as 19631003, in both orders if the order is unknown."""
    for text in texts_of(cell):
        yield from sorted(map(str, read_days(text))) if kind == "date" else [text]


def subject_of(cell: object) -> str | None:
    """Return the subject of a row in the form in which documents contain it.

    >>> subject_of(501.0), subject_of(" 501 "), subject_of("501.0"), subject_of(None)
    ('501', '501', '501', None)
    """
    if cell is None:
        return None
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    return _without_point(str(cell).strip()) or None


def texts_of(cell: object) -> list[str]:
    """Return the values of a cell as text; none for an empty cell, a placeholder or a long text.

    >>> texts_of("ann@b.org; ann@c.org"), texts_of("N/A"), texts_of(dt.date(1963, 10, 10))
    (['ann@b.org', 'ann@c.org'], [], ['1963-10-10'])
    >>> texts_of(612345678.0), texts_of("612345678.0"), texts_of(1.5)
    (['612345678'], ['612345678'], [])
    """
    if isinstance(cell, dt.datetime):
        cell = cell.date()
    if isinstance(cell, float):
        cell = int(cell) if cell.is_integer() else None
    if not isinstance(cell, str | int | dt.date) or isinstance(cell, bool):
        return []
    text = str(cell)
    if max(map(len, _LISTED.split(text))) > LONGEST:
        return []
    written = _SEVERAL.split(normalise(text).text)
    parts = (_without_point(_BLANKS.sub(" ", part).strip()) for part in written)
    return [part for part in parts if part.casefold() not in PLACEHOLDERS and len(part) > 1]


def _without_point(text: str) -> str:
    whole = _WHOLE.fullmatch(text)
    return whole[1] if whole else text
