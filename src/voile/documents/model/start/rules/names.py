"""Find names of persons by the words and signs around them.

The letters for the words and signs of a text are:
    - ``g``, ``s``, ``b``: a given name, a surname, either, by the lists
    - ``m``: a given name that is also a word: May
    - ``C``, ``A``: another word with a capital, all in capitals
    - ``W``, ``w``: a common word with a capital, any word in lower case
    - ``I``, ``p``, ``y``: an initial, a particle, the end of an initial: J, de, M.a
    - ``T``, ``L``: a title, a relative: Dr, wife
    - ``B``, ``R``: a word before a colon and a name, before recipients: Patient, To
    - ``H``, ``K``: a word that begins a letter, that ends it: Dear, Yours
    - ``0``, ``x``, ``?``: a number, a word with digits or signs, a sign that is not ASCII

Other signs represent themselves; see `JOINED` for signs within words.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from voile.documents.model.start.rules.rule import NAME, LetterRule
from voile.documents.model.start.rules.vocabulary import NUMBERED_LABEL, RuleVocabulary
from voile.documents.replacements.names import fold

TITLE = "title"
_WORD = "(?:Iq)?[gsbmCA](?:h[gsbmCAp]{1,2})?"
_INITIALS = "(?:I[.o]?y?){1,3}"
_PARTICLES = "(?:p{1,3})"
_MORE = f"(?:{_INITIALS})?{_PARTICLES}?{_WORD}"
_RUN = f"{_MORE}(?:{_MORE}){{0,3}}"
_LONG_RUN = f"{_MORE}(?:{_MORE}|hw){{0,6}}"
"""The name in a field that contains no other text: Aboul-hosn, and up to six more words."""
_TURNED = f"{_PARTICLES}?{_WORD}(?:[sCA]|I[.o])?(?:[,k]?C[.o])?[,k]"
"""A surname and its comma, as in: Smith Jr., John."""


def letters_of(words: RuleVocabulary) -> Callable[[str], str]:
    """Return the function that maps each form to its letter."""
    first = (
        ("T", words.titles),
        ("H", words.greetings),
        ("K", words.closings),
        ("B", words.labels),
    )
    large = {word: letter for letter, of in first for word in of}
    small = dict.fromkeys(words.relatives, "L") | dict.fromkeys(words.titles, "T")
    either = dict.fromkeys(words.particles, "p") | dict.fromkeys(words.suffixes, "y")

    def letter(form: str) -> str:
        if not form.isalpha():
            sign = form if len(form) == 1 and form.isascii() else "?"
            return sign if not form[0].isalnum() else "0" if form.isdecimal() else "x"
        if NUMBERED_LABEL.fullmatch(form):
            return "W"
        word = fold(form)
        if word in words.headers and form[0].isupper():
            return "R"
        if word in either:
            return either[word]
        if form[0].islower():
            return small.get(word, "w")
        return large.get(word) or _capital(form, word)

    def _capital(form: str, word: str) -> str:
        given, surname = word in words.given, word in words.surnames
        if len(form) == 1:
            return "I"
        if word in words.common:
            return "m" if given else "W"
        if given or surname:
            return "b" if given and surname else "g" if given else "s"
        return "A" if form.isupper() else "C"

    return letter


def _rule(name: str, expression: str, *, within: str = "", sure: bool = False) -> LetterRule:
    area = re.compile(within) if within else None
    return LetterRule(name, NAME, re.compile(expression), area, sure)


RULES = (
    _rule(TITLE, rf"T[.o]?,?(?P<found>{_RUN})", sure=True),
    _rule("label", rf"B[^\n\x1e:]{{0,3}}:\n?(?P<found>(?:p{{1,3}}w)?{_LONG_RUN})", sure=True),
    _rule("last, first", rf"(?P<found>{_TURNED}[gb](?:{_INITIALS}|{_WORD})?)", sure=True),
    _rule("first m. last", rf"(?P<found>{_WORD}{_INITIALS}{_WORD})", sure=True),
    _rule("listed", rf"(?P<found>[gsb](?:{_MORE}){{0,3}})"),
    _rule("initials", rf"(?P<found>(?:I[.o]){{1,3}}{_PARTICLES}?{_WORD})"),
    _rule("greeting", rf"[\n\x1e]H(?P<found>{_RUN})[,k:\n!.-]", sure=True),
    _rule("addressed", rf"[\n\x1e](?P<found>[gsbC](?:{_MORE}){{0,2}})[,k-]\n", sure=True),
    _rule("signature", rf"K[^\n\x1e]{{0,3}}\n{{1,3}}(?P<found>{_RUN})(?=[\n\x1e])", sure=True),
    _rule("relative", rf"L,?(?P<found>{_RUN})"),
    _rule(
        "recipient",
        rf"(?<![/@])(?P<found>(?:{_TURNED}{_MORE}|{_RUN})(?:[,k](?={_WORD}))?)(?![@e])",
        within=r"[\n\x1e](?:[IA][h-])?R:[^\n\x1e]{1,4000}",
        sure=True,
    ),
    _rule("handle", r"(?P<found>@[a-zA-Z])", sure=True),
)
