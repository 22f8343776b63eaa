"""Names of persons that the words around them give away."""

from __future__ import annotations

import re
from collections.abc import Callable

from voile.documents.replacements.names import fold
from voile.documents.start.rules.rule import Rule
from voile.documents.start.rules.vocabulary import Vocabulary

# The letters of words: a Title, a reLative, a Bold label, a Hail, a Kind closing; a given name, a
# surname, both; a Capital, ALL capitals, an Initial, Written large though a common word; a
# particle, a word in small letters, a number.
_NAME = "[gsbmCA]"
_WORD = rf"(?:Iq)?{_NAME}(?:h{_NAME})?"
_INITIALS = r"(?:I[.o]?){1,3}"
_MORE = rf"(?:(?:{_INITIALS})?(?:p{{1,3}})?{_WORD})"
_RUN = rf"(?:{_INITIALS})?(?:p{{1,2}})?{_WORD}{_MORE}{{0,3}}"
_LISTED = "[gb]"


def letters_of(words: Vocabulary) -> Callable[[str], str]:
    """Return what gives each form its letter."""

    def letter(form: str) -> str:
        if not form[0].isalnum():
            return form if len(form) == 1 and form.isascii() else "?"
        small = fold(form)
        if form.isdecimal():
            return "0"
        if not form.isalpha():
            return "x"
        return _letter(form, small, words)

    return letter


def _letter(form: str, small: str, words: Vocabulary) -> str:
    for one, known in (
        ("T", words.titles),
        ("H", words.greetings),
        ("K", words.closings),
        ("B", words.labels),
    ):
        if small in known and (one == "T" or form[0].isupper()):
            return one
    if small in words.particles:
        return "p"
    if form[0].islower():
        return "L" if small in words.relatives else "w"
    if len(form) == 1:
        return "I"
    if small in words.common:
        return "m" if small in words.given else "W"
    if small in words.given:
        return "b" if small in words.surnames else "g"
    if small in words.surnames:
        return "s"
    return "A" if form.isupper() else "C"


def _rule(name: str, expression: str, *, sure: bool = False) -> Rule:
    return Rule(name, "NAME", re.compile(expression), sure=sure)


RULES = (
    _rule("title", rf"T[.o]?(?P<found>{_RUN})", sure=True),
    _rule("label", rf"B(?:[^\n:]{{0,3}}):\n?(?P<found>{_RUN})", sure=True),
    _rule(
        "last, first",
        rf"(?P<found>{_WORD}(?:[sC])?[,k]{_LISTED}(?:{_INITIALS}|{_WORD})?)",
        sure=True,
    ),
    _rule("first m. last", rf"(?P<found>{_WORD}{_INITIALS}{_WORD})", sure=True),
    _rule("listed", rf"(?P<found>[gsb]{_MORE}{{0,3}})"),
    _rule("initials", rf"(?P<found>(?:I[.o]){{1,3}}(?:p{{1,2}})?{_WORD})"),
    _rule("greeting", rf"[\n\x1e][H](?P<found>{_RUN})[,k:\n!.-]", sure=True),
    _rule("addressed", rf"[\n\x1e](?P<found>[gsbC]{_MORE}{{0,2}})[,k-]\n", sure=True),
    _rule("signature", rf"K[^\n]{{0,3}}\n{{1,3}}(?P<found>{_RUN})(?=[\n\x1e])", sure=True),
    _rule("relative", rf"L,?(?P<found>{_RUN})"),
    _rule("handle", r"@(?P<found>[a-zA-Z])"),
)
