"""Read small files about a domain's values: an order, a tree, numbers or places."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError, SourceError, nearest
from voile.tables.domains.domain import OUTSIDE, ValueDomain

LATITUDE = ("latitude", -90.0, 90.0)
LONGITUDE = ("longitude", -180.0, 180.0)


def read_text(path: Path, what: str, *, where: str | None = None, instead: str = "") -> str:
    """Read a whole UTF-8 file.

    `what` describes the file in error messages.

    Raises
    ------
    SourceError : the file does not exist, is not UTF-8 text, or cannot be read.
    """
    where = where or str(path)
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise SourceError(f"no such {what} file", where=where, instead=instead or None) from None
    except UnicodeDecodeError as error:
        raise SourceError(f"byte {error.start} is not UTF-8 text", where=where) from None
    except OSError as error:
        raise SourceError(f"cannot be read ({error.strerror})", where=where) from None


def read_rows(path: Path, what: str) -> list[tuple[str, ...]]:
    """Read rows of cells, without blank lines.

    The separator is the most frequent of semicolon, comma and tab.

    Raises
    ------
    SourceError : the file is not valid CSV, or is empty.
    """
    text = read_text(path, what)
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=max(";,\t", key=text.count))
    try:
        rows = [tuple(row) for row in lines if row]
    except csv.Error as error:
        raise SourceError(f"line {lines.line_num}: {error}", where=str(path)) from None
    if not rows:
        raise SourceError(f"the {what} file is empty", where=str(path))
    return rows


def read_number(path: Path, domain: ValueDomain, column: str | None) -> NDArray[np.float64]:
    """Read one number for each known value of a domain: (known values,)."""
    rows = read_rows(path, "order")
    key = _key(rows[0], domain)
    if column is None:
        others = [name for place, name in enumerate(rows[0]) if place != key]
        if len(others) != 1:
            raise RequestError(
                f"has {len(others)} columns in addition to the values",
                where=str(path),
                instead='name the one that orders them with column = "..."',
            )
        column = others[0]
    return _look_up(path, rows, domain, [(column, -math.inf, math.inf)])[:, 0]


def read_places(path: Path, domain: ValueDomain) -> NDArray[np.float64]:
    """Read latitude and longitude of each known value of a domain: (known values, 2) in degrees."""
    return _look_up(path, read_rows(path, "order"), domain, [LATITUDE, LONGITUDE])


def _key(header: Sequence[str], domain: ValueDomain) -> int:
    return header.index(domain.column) if domain.column in header else 0


def _look_up(
    path: Path,
    rows: Sequence[Sequence[str]],
    domain: ValueDomain,
    wanted: Sequence[tuple[str, float, float]],
) -> NDArray[np.float64]:
    """Return the wanted columns' numbers. Rows of values outside the domain are not read."""
    header, key = rows[0], _key(rows[0], domain)
    places = [_place(path, header, name) for name, _, _ in wanted]
    known = len(domain) - domain.nullable
    found = np.full((known, len(wanted)), np.nan)
    seen: set[int] = set()
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(header):
            raise SourceError(
                f"row {number} has {len(row)} cells, the header has {len(header)}", where=str(path)
            )
        code = domain.code(row[key])
        if code == OUTSIDE:
            continue
        if code in seen:
            raise RequestError(f"row {number} names a value again", where=str(path))
        seen.add(code)
        for i, (place, (name, least, most)) in enumerate(zip(places, wanted, strict=True)):
            found[code, i] = _number(path, number, row[place], name, least, most)
    _all_found(path, domain, np.isnan(found).any(axis=1))
    return found


def _place(path: Path, header: Sequence[str], name: str) -> int:
    if header.count(name) != 1:
        said = f"has {header.count(name) or 'no'} columns" if name in header else "has no column"
        raise SourceError(f"{said} {name}", where=str(path), instead=nearest(name, header))
    return header.index(name)


def _number(path: Path, row: int, cell: str, name: str, least: float, most: float) -> float:
    """Return a cell's number. An empty cell is NaN, so that it counts as missing."""
    if not cell.strip():
        return math.nan
    where = f"{path}, row {row}, column {name}"
    try:
        number = float(cell)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise RequestError("not a number", where=where)
    if not least <= number <= most:
        raise RequestError(f"outside [{least:g}, {most:g}]", where=where)
    return number


def _all_found(path: Path, domain: ValueDomain, missing: NDArray[np.bool_]) -> None:
    if missing.any():
        raise RequestError(
            f"the file lacks {int(missing.sum()):,} of the {len(missing):,} values of the data",
            where=f"column {domain.column}, {path}",
            instead="add a line for each, written as in the data, leading zeros included",
        )
