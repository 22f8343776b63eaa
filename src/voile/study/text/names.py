"""One made-up name a person, in the table's columns, in an export and in the texts.

The secret draws them from the lists of surrogates; no two people share one. A text replaces the
words of a person's own name as the columns do. Other names in it are drawn independently.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from voile.core.brief import BriefRepr
from voile.core.errors import RequestError
from voile.documents.replacements.draws import initial_of
from voile.documents.replacements.names import NamePool, name_words
from voile.documents.replacements.people import like
from voile.keys.pseudonyms import choose, pseudonym
from voile.keys.secret import Secret

ATTEMPTS, MOST_NAMES = 64, 5
"""After so many attempts a name gets one word more, up to so many."""


class PersonName(NamedTuple):
    """A given name and a family name, either of which may be blank."""

    given: str
    family: str


@dataclass(frozen=True)
class MadeUpNames(BriefRepr):
    """The made-up name of each person, and the replacement of each word of the true one.

    Memory: the names of people. If two people would get one name, their order decides: the same
    people get the same names each time.
    """

    names: Mapping[str, PersonName] = field(repr=False)
    words: Mapping[str, Mapping[str, str]] = field(repr=False)

    @classmethod
    def draw(cls, secret: Secret, people: Mapping[str, PersonName], pool: NamePool) -> MadeUpNames:
        """Draw a name for each person: of other words, with other initials, and nobody else's.

        Raises RequestError: the lists are too short for that.
        """
        used: set[tuple[str, ...]] = set()
        words: dict[str, Mapping[str, str]] = {}
        for person in sorted(people, key=lambda one: pseudonym(secret, one)):
            words[person] = _draw_words(secret, person, people[person], pool, used)
        names = {
            person: PersonName(*(_write_name(one, words[person]) for one in own))
            for person, own in people.items()
        }
        return cls(names, words)

    def words_of(self, person: str) -> Mapping[str, str]:
        """Return the replacement of each folded word of a person's name."""
        return self.words.get(person, {})


def _draw_words(
    secret: Secret, person: str, own: PersonName, pool: NamePool, used: set[tuple[str, ...]]
) -> Mapping[str, str]:
    """Return the replacement of each word of a name; after some attempts the last one is double."""
    given, family = name_words(own.given), name_words(own.family)
    every = [*given, *family]
    for attempt in range(ATTEMPTS * MOST_NAMES):
        found = {
            word: _other(secret, person, word, pool.candidates(word, given=n < len(given)), attempt)
            for n, word in enumerate(every)
        }
        for more in range(attempt // ATTEMPTS if every else 0):
            name = _other(secret, person, f"{every[-1]} and {more}", pool.surnames, attempt)
            found[every[-1]] += f"-{name}"
        new = tuple(word for one in every for word in name_words(found[one]))
        fits = all(initial_of(x) != word[0] for word, x in found.items())
        if not every or (fits and new not in used and {*every}.isdisjoint(new)):
            used.add(new)
            return found
    raise RequestError(
        "the lists of names are too short to give each person another one",
        where="names",
        instead="give longer lists, with several first letters",
    )


def _other(secret: Secret, person: str, word: str, names: Iterable[str], attempt: int) -> str:
    return choose(secret, person, f"{word} {attempt}" if attempt else word, tuple(names))


def _write_name(own: str, words: Mapping[str, str]) -> str:
    """Write a name of as many words in the capitals that the true one has."""
    new = " ".join(words[one] for one in name_words(own))
    return like(own, new) if own.isupper() or own.islower() else new
