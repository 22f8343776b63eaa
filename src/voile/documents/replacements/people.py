"""Rewrite people's names part by part, in their original form."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from voile.documents.replacements import codes
from voile.documents.replacements.draws import SurrogateDraws, initial_of
from voile.documents.replacements.names import Language, NamePool, undisguise
from voile.documents.replacements.roles import MentionPart, NameMention, NameRoles, parts_of

_NAME = re.compile(r"(?:[^\W\d_]|[\s.,;:'’\"“”()/&‐‑–—-])+")

_AFTER_PARTICLE = re.compile(r"\A\s*[-‐‑]?")
_INITIALS = "ABCDEFGHIJKLMNOPRSTVW"


class RenamedPeople:
    """The surrogate names of the people in one document.

    Each word of a name becomes one name, of its role in the document (`roles`). So "Anna Smith",
    "Smith, Anna", "Mrs SMITH" and "A. Smith" stay one person, and two people stay two. Commas,
    hyphens, capitals, possessives and titles stay. A particle is replaced together with its surname
    ("de la Torre" may become "Romero", and "Torre" "de la Fuente"). An initial becomes that of its
    word's surrogate, if the document removes such a word. Otherwise it becomes another initial.

    own : words with surrogates that are already known.
    """

    def __init__(
        self,
        draws: SurrogateDraws,
        pool: NamePool,
        mentions: Sequence[NameMention],
        language: Language,
        own: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._draws = draws
        self._pool = pool
        self._language = language
        self._roles = NameRoles(mentions, pool, language)
        parts = [part for mention in mentions for part in parts_of(mention, language)]
        words = sorted({part.word for part in parts if part.what == "name"})
        self._names = {**own, **{word: self._draw(word) for word in words if word not in own}}
        self._initials: dict[str, str] = {}
        for word in [*own, *sorted(words, key=lambda word: not self._roles.is_given(word))]:
            self._initials.setdefault(word[0], word)

    def rename(self, mention: NameMention) -> str | None:
        """Return a name of the same form; None if the mention is not a name."""
        value = mention.value
        if not _NAME.fullmatch(value) or not (parts := parts_of(mention, self._language)):
            return None
        new: list[str] = []
        done = 0
        for part in parts:
            new.append(value[done : part.start])
            done = part.end
            if part.what == "particle":
                done += len(value[done:]) - len(_AFTER_PARTICLE.sub("", value[done:]))
            else:
                new.append(self._rename_part(part, value[part.start : part.end]))
        name = "".join([*new, value[done:]])
        # A particle at the beginning of a name has a capital: "De la Fuente".
        return name[0].upper() + name[1:] if value[0].isupper() else name

    def _rename_part(self, part: MentionPart, text: str) -> str:
        if part.what in {"title", "and"}:
            return text
        stem = text.removesuffix(part.tail)
        name = self._initial(part.word) if part.what == "initial" else self._name(part.word)
        return like(stem, name) + part.tail

    def _name(self, word: str) -> str:
        if word not in self._names:
            self._names[word] = self._draw(word)
        return self._names[word]

    def _draw(self, word: str) -> str:
        """Draw a name, or letters if the user's lists contain no free name."""
        candidates = self._pool.candidates(word, given=self._roles.is_given(word))
        return (
            self._draws.name(candidates, word)
            or self._draws.name(self._pool.every, word)
            or codes.disguise(self._draws, word).capitalize()
        )

    def _initial(self, letter: str) -> str:
        """Return the initial of the word's surrogate, or another letter."""
        if letter in self._initials:
            return initial_of(self._name(self._initials[letter])).upper()
        return self._draws.any(_INITIALS, letter)


def read_mention(value: str, before: str = "") -> NameMention:
    return NameMention(undisguise(value), before)


def like(model: str, name: str) -> str:
    """Write a name in the capitals of another word; unchanged if that word has mixed case."""
    if model.isupper():
        return name.upper()
    return name.lower() if model.islower() else name
