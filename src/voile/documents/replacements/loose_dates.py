"""Dates that no strict grammar reads, moved as far as they can be understood.

Nothing that stands for a date becomes a mark, which would show that the dates beside it are made
up. What is understood moves by the subject's offset: a numeric date in the usual order of its
language, a day without its year, a weekday, a month's name. Intervals to these are not exact. Other
digits become others; what holds any other word becomes a season.
"""

from __future__ import annotations

import re

from voile.documents.replacements import codes
from voile.documents.replacements.date_ranges import move_dates
from voile.documents.replacements.dates import MONTHS, WEEKDAYS, DateOrder
from voile.documents.replacements.draws import Draws, fold_value
from voile.documents.replacements.names import Language, clean, fold

# Ways to complete a date without its year; 2000 has every day.
_YEARS = (", 2000", " de 2000", "/2000", "-2000")
_PIECES = re.compile(r"[^\W\d_]+|\d+|.", re.DOTALL)
_TIME_WORDS = """
    in on at of the from to until and or since before after around about early mid late last
    next this morning afternoon evening night noon midnight week month year day weeks months
    years days ago later st nd rd th s am pm h hours
    el la los las de del en a al y o desde hasta antes después sobre principios mediados finales
    pasado pasada próximo próxima este esta mañana tarde noche mediodía semana mes año día
    semanas meses años días hace horas"""
_ABOUT_TIME = frozenset(map(fold, _TIME_WORDS.split()))
_SEASONS: dict[Language, tuple[str, ...]] = {
    "english": ("spring", "summer", "autumn", "winter", "Easter", "Christmas", "New Year"),
    "spanish": ("primavera", "verano", "otoño", "invierno", "Pascua", "Navidad", "Año Nuevo"),
}


def move_loosely(
    value: str, offset: int, draws: Draws, *, order: DateOrder | None, language: Language
) -> str:
    """Move what is understood of a date; never return the value itself."""
    return (
        _in_usual_order(value, offset, order, language)
        or _without_year(value, offset, order, language)
        or _by_words(value, offset, draws, language)
        or draws.any(_SEASONS[language], fold_value(value))
    )


def _in_usual_order(
    value: str, offset: int, order: DateOrder | None, language: Language
) -> str | None:
    """Read a numeric date of no stated order: the month first in English, unless it is none."""
    orders: tuple[DateOrder, ...] = ("mdy", "dmy") if order is None else ()
    read = (move_dates(value, offset, order=one, language=language) for one in orders)
    return next(filter(None, read), None)


def _without_year(
    value: str, offset: int, order: DateOrder | None, language: Language
) -> str | None:
    text = clean(value).rstrip(" .,")
    for year in _YEARS:
        moved = move_dates(text + year, offset, order=order or "mdy", language=language)
        if moved is not None and moved[:-4] != (text + year)[:-4]:
            return moved[: -len(year)]
    return None


def _by_words(value: str, offset: int, draws: Draws, language: Language) -> str | None:
    """Move the words of the calendar and change the digits; None where another word is there."""
    new = [_moved(piece, offset, draws, language) for piece in _PIECES.findall(clean(value))]
    text = "".join(piece or "" for piece in new)
    return None if None in new or fold(text) == fold(value) else text


def _moved(piece: str, offset: int, draws: Draws, language: Language) -> str | None:
    if piece.isdecimal():
        return codes.scramble(draws, piece) or codes.disguise(draws, piece)
    if not piece.isalpha() or fold(piece) in _ABOUT_TIME:
        return piece
    for words, length, days in ((WEEKDAYS, 7, 1), (MONTHS, 12, 30)):
        if re.fullmatch(words.pattern, piece, re.IGNORECASE):
            number = words.read(piece, language).number
            return words.write((number + (offset // days % length or 1)) % length, piece, language)
    return None
