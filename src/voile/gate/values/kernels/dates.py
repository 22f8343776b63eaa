"""Find days in tokens, such as `1933-07-10`, `10.07.33`, `July 10th, 1933` and `19330710`.

Other languages are supported: `10 de julio de 1933`. Each order of the figures that gives a valid
day counts: 03/04/1933 is a day of March and a day of April. A number of four or five digits in a
text may be a spreadsheet's serial day: 12245 is 1933-07-10.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.core.compiled import bare, compile_kernel
from voile.gate.values.kernels.tokens import DIGIT, KINDS, OFFSET, Bytes, Places, add_byte

MONTHS = (
    "jan january januar janner enero janvier janv gennaio ene",
    "feb february februar feber febrero fevrier fevr febbraio",
    "mar march marz maerz mrz marzo mars",
    "apr april abril avril avr aprile abr",
    "may mai mayo maggio",
    "jun june juni junio juin giugno",
    "jul july juli julio juillet juil luglio",
    "aug august agosto aout ago",
    "sep sept september septiembre septembre settembre",
    "oct october okt oktober octubre octobre ottobre",
    "nov november noviembre novembre",
    "dec december dez dezember diciembre decembre dic dicembre",
)
FILLERS = "st nd rd th of de del"


def _digest(word: str) -> int:
    digest = 0xCBF29CE484222325
    for byte in word.encode():
        digest = (digest ^ byte) * 0x100000001B3 % 2**64
    return digest


_NAMED = sorted(
    [(_digest(word), n) for n, words in enumerate(MONTHS, 1) for word in words.split()]
    + [(_digest(word), -1) for word in FILLERS.split()]
)
WORDS = np.array([digest for digest, _ in _NAMED], np.uint64)
MEANS = np.array([meaning for _, meaning in _NAMED], np.int64)
FILLER = -1
FIRST_SERIAL, LAST_SERIAL = 61, 73_050
"""The serial numbers of 1 March 1900 and 31 December 2099. Spreadsheets misnumber earlier days."""
DAYS = np.array([31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])


@compile_kernel
def find_days(
    canonical: Bytes,
    starts: Places,
    cells: NDArray[np.int32],
    hidden: NDArray[np.bool_],
    has_serials: bool,
    found: NDArray[np.int64],
) -> int:
    """Write the cell and the day of each date, as 8 digits; return the number of dates.

    has_serials : whether numbers may be a spreadsheet's serial days.
    found : (capacity, 2), cells and days. The digits are the year, the month and the day.
    """
    count, tokens = 0, len(cells)
    numbers, months = np.full(tokens, -1, np.int64), np.zeros(tokens, np.int64)
    for token in range(tokens):
        numbers[token], months[token] = _read_token(canonical, starts[token], starts[token + 1])
    for first in range(tokens):
        if hidden[first]:
            continue
        number, cell = numbers[first], cells[first]
        if starts[first + 1] - starts[first] == 8 and number >= 0:
            count = _put_date(
                found, count, cell, number // 10**4, number // 100 % 100, number % 100
            )
            tail, year = number // 10**4, number % 10**4
            count = _put_date(found, count, cell, year, tail % 100, tail // 100)
            count = _put_date(found, count, cell, year, tail // 100, tail % 100)
            continue
        if number < 0 and months[first] <= 0:
            continue
        if has_serials and 4 <= starts[first + 1] - starts[first] <= 5:
            count = _put_serial(found, count, cell, number)
        second = _next(months, first, tokens)
        third = _next(months, second, tokens)
        if third >= tokens or cells[third] != cell or hidden[third]:
            continue
        count = _put_triple(
            found,
            count,
            cell,
            (numbers[first], numbers[second], numbers[third]),
            (months[first], months[second]),
            (starts[first + 1] - starts[first], starts[third + 1] - starts[third]),
        )
    return count


@bare
def _put_triple(
    found: NDArray[np.int64],
    count: int,
    cell: int,
    numbers: tuple[int, int, int],
    months: tuple[int, int],
    sizes: tuple[int, int],
) -> int:
    """Write the possible days of three tokens."""
    a, b, c = numbers
    if sizes[0] == 4 and a >= 0:
        return _put_date(found, count, cell, a, max(b, months[1]), c)
    if c < 0 or (sizes[1] != 4 and sizes[1] != 2):
        return count
    for century in range(1900, 2001, 100):
        year = c if sizes[1] == 4 else century + c
        if months[0] > 0:
            count = _put_date(found, count, cell, year, months[0], b)
        elif months[1] > 0:
            count = _put_date(found, count, cell, year, months[1], a)
        else:
            count = _put_date(found, count, cell, year, a, b)
            if a != b:
                count = _put_date(found, count, cell, year, b, a)
        if sizes[1] == 4:
            break
    return count


@bare
def _put_serial(found: NDArray[np.int64], count: int, cell: int, serial: int) -> int:
    """Write the day of a spreadsheet's serial number, from March 1900 to 2099."""
    if not FIRST_SERIAL <= serial <= LAST_SERIAL:
        return count
    day = serial - FIRST_SERIAL  # days since 1 March 1900, in years that end with February
    year = (4 * day + 3) // 1461  # every fourth year except 1900 is a leap year, so 365.25 days
    month = (5 * (day - 1461 * year // 4) + 2) // 153
    of_month = day - 1461 * year // 4 - (153 * month + 2) // 5 + 1
    if month < 10:
        return _put_date(found, count, cell, 1900 + year, month + 3, of_month)
    return _put_date(found, count, cell, 1901 + year, month - 9, of_month)


@bare
def _put_date(
    found: NDArray[np.int64], count: int, cell: int, year: int, month: int, day: int
) -> int:
    if not (1800 <= year < 2200 and 1 <= month <= 12 and 1 <= day <= DAYS[month - 1]):
        return count
    if count < len(found):
        found[count, 0], found[count, 1] = cell, (year * 100 + month) * 100 + day
    return count + 1


@bare
def _next(months: NDArray[np.int64], token: int, tokens: int) -> int:
    """Return the place of the next token that is not a filler word."""
    token += 1
    if token < tokens and months[token] == FILLER:
        token += 1
    return token


@bare
def _read_token(canonical: Bytes, start: int, end: int) -> tuple[int, int]:
    """Return a token's number or -1, and its month.

    The month is 0 if the token is not a month, and -1 if it is a filler word.
    """
    if KINDS[canonical[start]] == DIGIT:
        number = 0
        for place in range(start, min(end, start + 9)):
            number = number * 10 + canonical[place] - ord("0")
        return (number, 0) if end - start <= 8 else (-1, 0)
    if end - start > 10:
        return -1, 0
    digest = OFFSET
    for place in range(start, end):
        digest = add_byte(digest, canonical[place])
    n = np.searchsorted(WORDS, digest)
    return (-1, MEANS[n]) if n < len(WORDS) and WORDS[n] == digest else (-1, 0)
