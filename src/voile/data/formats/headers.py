"""Decide from the values below a first row whether it contains column names or a record."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation

from voile.core.warn import warn
from voile.data.placeholders import PLACEHOLDERS

NO_HEADER = "no-header"
"""The word after `::` for a text file with a record, not column names, in the first row."""
LOOKED_AT = 1_000
"""The number of rows that are examined to distinguish column names from a record."""
MOSTLY = 0.9
DATED = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}")


class HeaderWarning(UserWarning):
    """The first row looks like a record, but is read as column names. Write `FILE::no-header`."""


def warn_of_record(
    first: Sequence[str], rows: Sequence[Sequence[str]], *, where: str, instead: str
) -> None:
    """Warn of a first row that looks like a record. The warning does not contain its values."""
    if data := count_data_cells(first, rows):
        warn(
            f"{where}: its first row names the columns, but {data} of its {len(first)} cells look "
            f"like data; if it is a record, {instead}",
            HeaderWarning,
        )


def count_data_cells(first: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Count the cells of a first row that look like data. Return 0 if the row contains names.

    A cell is data in three cases. The same value occurs below it, it is a date above dates, or it
    is a number near the numbers below. A row contains names in three other cases. A word is above
    numbers or dates, its numbers form a sequence (years, or 0, 1, 2), or at most half of its cells
    are data.

    >>> count_data_cells(["Caucasian", "1"], [["Other", "3"], ["Caucasian", "0"]])
    2
    >>> count_data_cells(["race", "visits"], [["Other", "3"], ["Caucasian", "0"]])
    0
    """
    named = [cell.strip() for cell in first]
    columns = [[row[i].strip() for row in rows if i < len(row)] for i in range(len(named))]
    pairs = [(cell, [x for x in below if x]) for cell, below in zip(named, columns, strict=True)]
    if _count_on(named) or any(_is_word_above(cell, below) for cell, below in pairs):
        return 0
    data = sum(_is_data(cell, below) for cell, below in pairs)
    return data if 2 * data > len(named) else 0


def _is_data(cell: str, below: Sequence[str]) -> bool:
    if not cell or not below:
        return False
    if cell in below or (DATED.fullmatch(cell) and _share(below, DATED.fullmatch) >= MOSTLY):
        return True
    number, numbers = _number(cell), [n for n in map(_number, below) if n is not None]
    if number is None or len(numbers) < MOSTLY * len(below):
        return False
    least, most = min(numbers), max(numbers)
    return least - (most - least) / 10 <= number <= most + (most - least) / 10


def _is_word_above(cell: str, below: Sequence[str]) -> bool:
    """Return whether a cell is a word above numbers or dates, as only a column name is."""
    if not any(map(str.isalpha, cell)) or cell.casefold() in PLACEHOLDERS or len(below) < 2:
        return False
    return max(_share(below, _number), _share(below, DATED.fullmatch)) >= MOSTLY


def _count_on(cells: Sequence[str]) -> bool:
    """Return whether the numbers are consecutive, as in column numbers of programs."""
    numbers = [int(cell) for cell in cells if cell.isdecimal()]
    if len(numbers) < 2 or len(numbers) < len(list(filter(None, cells))) - 1:
        return False
    return numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def _share(below: Sequence[str], is_one: Callable[[str], object]) -> float:
    return sum(is_one(cell) is not None for cell in below) / max(len(below), 1)


def _number(text: str) -> Decimal | None:
    try:
        number = Decimal(text.replace(",", ".", 1))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None
