"""One made-up name per person, in the table's columns, in an export and in the texts.

The secret draws the names from the lists of surrogates. No two people share a name. In a text, the
words of a person's own name are replaced in the same way as in the columns. Other names in it are
drawn independently.
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
"""The number of attempts before a name gets one more word, and the maximum number of words."""


class PersonName(NamedTuple):
    """A given name and a family name. Either may be blank."""

    given: str
    family: str


@dataclass(frozen=True)
class MadeUpNames(BriefRepr):
    """The made-up name of each person, and the replacement of each word of the true name.

    If two people would get the same name, their order decides. The same people always get the same
    names. Memory: the names of people.
    """

    names: Mapping[str, PersonName] = field(repr=False)
    words: Mapping[str, Mapping[str, str]] = field(repr=False)

    @classmethod
    def draw(cls, secret: Secret, people: Mapping[str, PersonName], pool: NamePool) -> MadeUpNames:
        """Draw a name for each person, with other words, other initials, and no one else's name.

        Raises
        ------
        RequestError : the lists of names are too short.
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
    """Return the replacement of each word of a name. After some attempts the last is double."""
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
    """Write a name with the same words and the same case as the true one."""
    new = " ".join(words[one] for one in name_words(own))
    return like(own, new) if own.isupper() or own.islower() else new
