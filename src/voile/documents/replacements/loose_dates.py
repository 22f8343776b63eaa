"""Move dates that the strict grammar cannot read, as far as possible.

A mark instead of a date would show that the neighbouring dates are invented. So dates never become
marks. A date that voile understands moves by the subject's offset. Examples are a numeric date in
the usual order of its language, a day without its year, a weekday, or the name of a month.
Intervals to these dates are not exact. Other digits are replaced. A text with any other word
becomes a season.
"""

from __future__ import annotations

import re

from voile.documents.replacements import codes
from voile.documents.replacements.date_ranges import move_dates
from voile.documents.replacements.dates import MONTHS, WEEKDAYS, DateOrder
from voile.documents.replacements.draws import SurrogateDraws, fold_value
from voile.documents.replacements.names import Language, clean, fold

# Ways to complete a date without its year.
_YEARS = (", {}", " de {}", "/{}", "-{}", "{}")
_EVERY_DAY = 2000
"""A leap year, which contains every day."""
_DAY_AND_MONTH = re.compile(r"[0-9]{1,2}\.[0-9]{1,2}\.")
_ORDINAL_WORDS = """
    first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
    fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"""
_ORDINALS = _ORDINAL_WORDS.split()
_CARDINAL_WORDS = """
    uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis
    diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco
    veintiséis veintisiete veintiocho veintinueve treinta"""
_CARDINALS = _CARDINAL_WORDS.split()
_FIGURES = {word: f"{n}th" for n, word in enumerate(_ORDINALS, 1)}
_FIGURES |= {
    f"twenty{sign}{word}": f"{20 + n}th" for n, word in enumerate(_ORDINALS[:9], 1) for sign in "- "
}
_FIGURES |= {"thirtieth": "30th", "thirty-first": "31st", "thirty first": "31st", "primero": "1"}
_FIGURES |= {word: str(n) for n, word in enumerate(_CARDINALS, 1)} | {"treinta y uno": "31"}
_NUMBER_WORDS = re.compile(
    rf"\b(?:the )?({'|'.join(sorted(_FIGURES, key=len, reverse=True))})\b", re.IGNORECASE
)
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
    value: str,
    offset: int,
    draws: SurrogateDraws,
    *,
    order: DateOrder | None,
    language: Language,
    year: int = _EVERY_DAY,
) -> str:
    """Move the readable parts of a date. The value itself is never returned.

    year : the year of nearby dates, used for a day without a year.
    """
    return (
        _in_usual_order(value, offset, order, language)
        or _without_year(value, offset, order, language, year)
        or _without_year(value, offset, order, language, _EVERY_DAY)
        or _by_words(value, offset, draws, language)
        or draws.any(_SEASONS[language], fold_value(value))
    )


def _in_usual_order(
    value: str, offset: int, order: DateOrder | None, language: Language
) -> str | None:
    """Read a numeric date without a given order: first as mdy, and then as dmy."""
    orders: tuple[DateOrder, ...] = ("mdy", "dmy") if order is None else ()
    read = (move_dates(value, offset, order=one, language=language) for one in orders)
    return next(filter(None, read), None)


def _without_year(
    value: str, offset: int, order: DateOrder | None, language: Language, year: int
) -> str | None:
    text = _NUMBER_WORDS.sub(_as_figures, clean(value)).rstrip(" ,")
    if _DAY_AND_MONTH.fullmatch(text):
        order = "dmy"
    text = text if text[-1:] == "." and text[:1].isdigit() else text.rstrip(".")
    for form in _YEARS:
        ending = form.format(year)
        moved = move_dates(text + ending, offset, order=order or "mdy", language=language)
        if moved is not None and moved[:-4] != (text + ending)[:-4]:
            return moved[: -len(ending)]
    return None


def _as_figures(word: re.Match[str]) -> str:
    return _FIGURES[word[1].lower()]


def _by_words(value: str, offset: int, draws: SurrogateDraws, language: Language) -> str | None:
    """Move calendar words and replace the digits; None if there is any other word."""
    new = [_move_piece(piece, offset, draws, language) for piece in _PIECES.findall(clean(value))]
    text = "".join(piece or "" for piece in new)
    return None if None in new or fold(text) == fold(value) else text


def _move_piece(piece: str, offset: int, draws: SurrogateDraws, language: Language) -> str | None:
    if piece.isdecimal():
        return codes.scramble(draws, piece) or codes.disguise(draws, piece)
    if not piece.isalpha() or fold(piece) in _ABOUT_TIME:
        return piece
    for words, length, days in ((WEEKDAYS, 7, 1), (MONTHS, 12, 30)):
        if re.fullmatch(words.pattern, piece, re.IGNORECASE):
            number = words.read_word(piece, language).number
            return words.write((number + (offset // days % length or 1)) % length, piece, language)
    return None
