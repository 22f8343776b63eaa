"""Names of people, rewritten part by part in the form they had."""

from __future__ import annotations

import re
from collections.abc import Iterable

from voile.documents.replacements.draws import Draws, initial_of
from voile.documents.replacements.names import (
    PARTICLES,
    Language,
    Pool,
    fold,
    name_words,
    undisguise,
)

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_NAME = re.compile(r"(?:[^\W\d_]|[\s.,;:'’\"“”()/&‐‑–—-])+")
_POSSESSIVE = re.compile("['’]s", re.IGNORECASE)

# They say who is spoken of only together with a name, and keep the gender.
_TITLES = "mr mrs ms miss mx dr dra drs prof sr sra srta jr ii iii iv phd"
TITLES = frozenset(_TITLES.split())
# At the beginning of a Spanish name only: Don is a given name, D. an initial.
_SPANISH_TITLES = frozenset(["d", "da", "don", "dona", "dna"])
_BETWEEN = {"english": frozenset(["and"]), "spanish": frozenset(["y", "e"])}
_SHORT = {"mª": "maria", "fco": "francisco"}


class People:
    """Gives the people of one document their surrogate names.

    Each word of a name always becomes the same: "Anna Smith", "Smith, Anna", "Mrs SMITH" and "A.
    Smith" stay one person. Commas, hyphens, capitals, possessives and titles stay; particles go
    with their surname ("de la Torre" may become "Romero", and "Torre" "de la Fuente"). An initial
    becomes that of the word it is short for, if the document removes such a word, else one of its
    own.
    """

    def __init__(self, draws: Draws, pool: Pool, names: Iterable[str], language: Language) -> None:
        self._draws = draws
        self._pool = pool
        self._language = language
        self._drawn: dict[str, str | None] = {}
        self._initials: dict[str, str] = {}
        small = TITLES | _BETWEEN[language]
        words = [word for name in names for word in name_words(name)]
        long = [word for word in words if len(word) > 1 and word not in small]
        for word in sorted(long, key=lambda word: not pool.is_given(word)):
            self._initials.setdefault(word[0], word)

    def rename(self, value: str) -> str | None:
        """Return a name of the same form; None where there is none, or it is not a name."""
        value = undisguise(value)
        if not _NAME.fullmatch(value):
            return None
        found = list(_WORD.finditer(value))
        parts: list[str] = []
        done, named = 0, False
        for number, match in enumerate(found):
            word = match.group()
            parts.append(value[done : match.start()])
            done = match.end()
            if number + 1 < len(found) and self._leads_on(word, value[done:]):
                done = found[number + 1].start()
            elif self._stays(word, number, len(found)):
                parts.append(word)
            elif new := self._word(word):
                parts.append(new)
                named = True
            else:
                return None
        name = "".join([*parts, value[done:]])
        # A particle that begins a name has its capital: "De la Fuente".
        name = name[0].upper() + name[1:] if value[0].isupper() else name
        return name if named else None

    def _leads_on(self, word: str, rest: str) -> bool:
        """Return whether a word is a particle of the name that follows."""
        return fold(word) in PARTICLES and not self._pool.is_given(fold(word)) and rest[0].isspace()

    def _stays(self, word: str, number: int, words: int) -> bool:
        """Return whether a word is no name: a title, or "and" between names."""
        plain = fold(word)
        if self._language == "spanish" and not number and plain in _SPANISH_TITLES:
            return True
        between = 0 < number < words - 1 and word in _BETWEEN[self._language]
        return plain in TITLES or between

    def _word(self, word: str) -> str | None:
        tail = word[-2:] if len(word) > 3 and _POSSESSIVE.fullmatch(word[-2:]) else ""
        stem = word.removesuffix(tail)
        plain = fold(_SHORT.get(stem.lower(), stem))
        new = self._initial(plain) if len(stem) == 1 else self._name(plain)
        return None if new is None else _like(stem, new) + tail

    def _name(self, plain: str) -> str | None:
        if plain not in self._drawn:
            candidates = self._pool.candidates(plain)
            self._drawn[plain] = self._draws.name(candidates, plain)
        return self._drawn[plain]

    def _initial(self, letter: str) -> str | None:
        """Return the initial of the word's surrogate, or of a given name drawn for the letter."""
        if letter in self._initials:
            name = self._name(self._initials[letter])
        else:
            name = self._draws.name(self._pool.given, letter)
        return None if name is None else initial_of(name).upper()


def _like(model: str, name: str) -> str:
    """Write a name in the capitals of another word; as it is where that has both kinds."""
    if model.isupper():
        return name.upper()
    return name.lower() if model.islower() else name
