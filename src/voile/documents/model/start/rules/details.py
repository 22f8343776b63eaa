"""Find dates, ages, numbers, addresses and institutions by their form or a label.

The letters for the words and signs of a text are:
    - ``1``, ``t``, ``2``: a number of one digit, two digits up to 12, up to 31: a month, a day
    - ``0``, ``3``: another number of two digits, of three
    - ``4``, ``5``: a year of four digits, any longer number
    - ``x``: a word with digits: A12
    - ``M``, ``D``: a month, a day of the week
    - ``C``, ``I``: another word with a capital, a single capital
    - ``p``: a lower-case word that joins words with a capital: de
    - ``w``: a word in lower case
    - ``b``, ``n``: a label of a record number: MRN; a word that may follow it: no
    - ``a``, ``l``, ``z``: a label of an address, of a place, of a postal code: Domicilio, Country,
      CP
    - ``g``, ``y``, ``u``: a label of an age, a unit of an age, a word that ends it: Age, years, old
    - ``G``, ``P``: an age as one word, a person with an age: 57yo, woman
    - ``S``: a street: Avenue
    - ``O``, ``N``: an institution, before its name, after its name: Instituto, Clinic
    - ``s``: a word before a year: since

Other signs represent themselves; see `JOINED` for signs within words.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from voile.documents.model.start.rules.rule import LetterRule
from voile.documents.model.start.rules.vocabulary import NUMBERED_LABEL, RuleVocabulary
from voile.documents.replacements.dates import MONTHS, WEEKDAYS
from voile.documents.replacements.names import fold

_MONTH = re.compile(MONTHS.pattern)
_WEEKDAY = re.compile(WEEKDAYS.pattern)
_ORDINAL = re.compile(r"(\d{1,2})(?:st|nd|rd|th|o|er)")
_AGED = re.compile(r"\d{1,3}yo[mf]?")
_DAY, _IN_YEAR, _YEAR = "[1t2]", "[1t]", "(?:4|[t20](?!:))"
_NUMBER = "[1t203456x]"
_VALUE = rf"(?:[wCIb]h)?{_NUMBER}(?:[ho/]?{_NUMBER}){{0,7}}(?:hI)?"
_LONG = "(?=(?:[wCIb]h)?(?:[1t206][ho/]?){0,2}[345x])"
"""The beginning of a number that has three adjacent digits."""
_NO = r"n[.o]?\??"
_LABELS = (
    r"b(?:[.o]?[bnw]){0,2}[.o]?(?:[:#]{1,2}|(?=[35x]))",
    rf"b(?:[.o]?[bwpC]){{0,3}}[.o]?{_NO}[:#]{{0,2}}{_LONG}",
    rf"{_NO}(?:[CIp][.o]?){{0,3}}b(?:[.o]?[bwpC]){{0,2}}[.o]?:?{_LONG}",
    rf"{_NO}(?:[CIp][.o]?){{1,4}}:{_LONG}",
    rf"[bC][.o]?h{_NO}:?{_LONG}",
    "(?:I[.o]){1,4}I?[.o]?:(?=[1t2063][ho/]?[5x]|[5x])",
)
"""MRN: or MRN A17, Colegiado nº, Nº de colegiado, N° Lic.:, Fall-Nr.:, N.A.S.S.:"""
_ANY = "[a-zA-Z0-9]"
_HOST = f"{_ANY}(?:[ohq]{_ANY}){{0,8}}"
EMAIL = "EMAIL"
_PLACE = "(?:[CIMDS](?:[ho][CIMD])?)"
_PLACES = f"{_PLACE}(?:p{{0,3}}{_PLACE}){{0,4}}"


def letters_of(words: RuleVocabulary) -> Callable[[str], str]:
    """Return the function that maps each form to its letter."""
    details = {word: letter for letter, of in words.details.items() for word in of}

    def letter(form: str) -> str:
        if form.isdecimal():
            return _figures(form)
        if NUMBERED_LABEL.fullmatch(form):
            return "b"
        if not form.isalpha():
            if _AGED.fullmatch(form.lower()):
                return "G"
            ordinal = _ORDINAL.fullmatch(form.lower())
            sign = form if len(form) == 1 and form.isascii() else "?"
            return _figures(ordinal[1]) if ordinal else "x" if form[0].isalnum() else sign
        word = fold(form)
        if word in details and (form[0].isupper() or details[word] not in "ON"):
            return details[word]
        if _MONTH.fullmatch(word) or form.lower() in words.months:
            return "M"
        if form[0].isupper():
            return "D" if _WEEKDAY.fullmatch(word) else "I" if len(form) == 1 else "C"
        return "p" if word in words.joining else "w"

    return letter


def _figures(form: str) -> str:
    if len(form) == 1:
        return "1" if form > "0" else "0"
    if len(form) == 2:
        return "t" if 1 <= int(form) <= 12 else "2" if 13 <= int(form) <= 31 else "0"
    if len(form) == 3:
        return "3"
    return "4" if len(form) == 4 and form[:2] in ("18", "19", "20") else "5"


def _rule(name: str, label: str, expression: str) -> LetterRule:
    return LetterRule(name, label, re.compile(f"(?<![/h])(?P<found>{expression})(?![/h])"))


def _build_rule(name: str, label: str, before: str, found: str) -> LetterRule:
    return LetterRule(name, label, re.compile(f"{before}(?P<found>{found})"))


_DAYS = "|".join(
    f"(?:{_DAY}{sign}{_IN_YEAR}|{_IN_YEAR}{sign}2){sign}{year}"
    for sign, year in (("/", _YEAR), ("h", _YEAR), ("o", "4"))
)
_HOUSE = (
    rf"(?:n[.o]?)?{_NUMBER}(?:[ho]{_NUMBER})?(?:[,h-]?(?:[1tx]hx|x|[1t](?:o?w)?I|[1t]ow|Ih[1t]))?"
)
"""A house number, followed by a floor and a door: 12, 4.º A."""
RULES = (
    _build_rule(
        "address on a network",
        EMAIL,
        "",
        f"{_ANY}(?:[ohq]{_ANY}){{0,8}}e{_ANY}(?:[oh]{_ANY}){{0,8}}",
    ),
    _rule(
        "date in figures", "DATE", rf"(?:D,?)?(?:{_DAYS}|4(?P<sign>[/h]){_IN_YEAR}(?P=sign){_DAY})"
    ),
    _rule(
        "date in words",
        "DATE",
        rf"(?:D,?)?(?:{_DAY}p?h?M(?:[.oh]?[,h]?p{{0,2}}s?{_YEAR})?|{_DAY}[.o]M4"
        rf"|M[.o]?{_DAY}(?:,?4)?|M[.o]?(?:[,h]|p{{1,2}}s?)?4|Mh[t20])",
    ),
    _build_rule("year", "DATE", "s", "4(?:h4)?"),
    _build_rule("age", "AGE", "gp?:?", "[1t203]y?|(?<=:)wy"),
    _rule("years old", "AGE", "[1t203]h?y(?:[/ho]?u|pg)|[203]h?y(?=P)|G"),
    _build_rule("age in brackets", "AGE", r"\(", r"[203]y(?=[),;])"),
    _build_rule("person of an age", "AGE", "P(?:,?p|[,(])", "[1t203]y|(?<=Pp)wy"),
    _build_rule("record", "ID", f"(?:{'|'.join(_LABELS)})", _VALUE),
    _build_rule(
        "address", "ADDRESS", "a[^\n\x1e:]{0,3}:", r"(?:[^\n\x1e:.]|[.o](?=[^\n\x1e])){1,24}"
    ),
    _build_rule(
        "place",
        "ADDRESS",
        "[lz][^\n\x1e:]{0,3}:",
        rf"{_NUMBER}(?:h?{_NUMBER})?|{_PLACES}(?:,{_PLACES}){{0,2}}5?",
    ),
    _build_rule("postcode", "ADDRESS", "z[.o]?", f"5(?:h{_NUMBER})?|xx"),
    _rule(
        "street",
        "ADDRESS",
        rf"S(?:[.o]|/[.o]?)?(?:(?:p{{0,3}}|[wp][q?]){_PLACE}[.o]?){{1,5}}(?:,?w/[wn]|,?{_HOUSE})?",
    ),
    _rule(
        "house and street",
        "ADDRESS",
        rf"[1t20345x](?:I[.o]?)?{_PLACE}{{1,3}}S[.o]?(?:,?[CS][.o]?{_NUMBER})?",
    ),
    _rule("postcode and town", "ADDRESS", rf"5(?:h{_NUMBER})?{_PLACES}"),
    _rule(
        "institution",
        "HOSPITAL",
        rf"(?:O|{_PLACE}{{1,4}}N|N(?=p))(?:p{{0,3}}{_PLACE}){{0,5}}(?<!O)",
    ),
)
