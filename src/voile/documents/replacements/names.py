"""Lists of given names and surnames, and the names that a word can become."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from voile.core.errors import RequestError
from voile.documents.words.normalisation import as_latin
from voile.documents.words.tokens import SIGNS

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

Language = Literal["english", "spanish"]
LANGUAGES: tuple[Language, ...] = ("english", "spanish")
BUILT_IN = "built in"
"""The entry in the private manifest for voile's own lists of surrogate names."""

# Particles of surnames: they are not names by themselves, and do not distinguish names.
_PARTICLES = "de del la las los san santa da das do dos di du le van von der den ter zu al el ibn"
PARTICLES = frozenset(_PARTICLES.split())
# They say who is spoken of only together with a name, and keep the gender.
_TITLES = """
    mr mrs ms miss mx dr dra drs prof sr sra srta jr ii iii iv phd md rn esq sir madam mister"""
TITLES = frozenset(_TITLES.split())
_WORDS_AND_NUMBERS = re.compile(rf"[^\W_][^\W_{SIGNS}]*")
_WORDS = re.compile(r"[^\W\d_]+")
_MIXED = re.compile(r"[^\W\d_]*[A-Za-z][^\W\d_]*")


def clean(text: str) -> str:
    """Compose the characters, and drop invisible ones."""
    if text.isascii():
        return text
    composed = unicodedata.normalize("NFC", text)
    return "".join(one for one in composed if unicodedata.category(one) != "Cf")


def undisguise(text: str) -> str:
    """Clean a value, and convert words with Latin letters and look-alikes to Latin."""
    plain = clean(text)
    return plain if plain.isascii() else _MIXED.sub(lambda word: as_latin(word.group()), plain)


def fold(word: str) -> str:
    """Fold case, accents and width: García, GARCIA and garcia are one name."""
    if word.isascii():
        return word.lower()
    return unicodedata.normalize("NFKD", word.casefold()).translate(_BARE)


class _BareCharacters(dict[int, int | None]):
    """A cache of each character without combining marks."""

    def __missing__(self, point: int) -> int | None:
        self[point] = None if unicodedata.combining(chr(point)) else point
        return self[point]


_BARE = _BareCharacters()


def words_of(value: str) -> list[str]:
    """Return the words and numbers of a value, folded.

    >>> words_of("C/ Álvarez-O'Neill, 23")
    ['c', 'alvarez', 'o', 'neill', '23']
    """
    return [fold(word) for word in _WORDS_AND_NUMBERS.findall(value)]


def name_words(text: str) -> list[str]:
    """Return the words of a text, folded, without particles."""
    words = map(fold, _WORDS.findall(undisguise(text)))
    return [word for word in words if word and word not in PARTICLES]


@dataclass(frozen=True)
class NameLists:
    """The names of one language; `lists/SOURCES.md` gives the sources of voile's own lists."""

    # female, male: given names of one word each; some names are on both lists
    female: tuple[str, ...]
    male: tuple[str, ...]
    surnames: tuple[str, ...]  # with their particles ("de la Fuente")

    def __post_init__(self) -> None:
        for what in ("female", "male", "surnames"):
            if len({fold(name) for name in getattr(self, what)}) < 2:
                raise RequestError(
                    "a list of names has fewer than two", where=what, instead="give more of them"
                )

    @classmethod
    def read(cls, folder: Path | Traversable) -> NameLists:
        """Read `female.txt`, `male.txt` and `surnames.txt`: UTF-8, one name for each line."""

        def names(what: str) -> tuple[str, ...]:
            try:
                text = (folder / f"{what}.txt").read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError):
                raise RequestError(
                    f"{what}.txt cannot be read",
                    where=str(folder),
                    instead="put female.txt, male.txt and surnames.txt there, in UTF-8",
                ) from None
            return tuple(clean(line).strip() for line in text.splitlines() if line.strip())

        return cls(names("female"), names("male"), names("surnames"))


@cache
def builtin_names(language: Language) -> NameLists:
    return NameLists.read(files("voile.documents.replacements") / "lists" / language)


@cache
def builtin_pool(language: Language) -> NamePool:
    return NamePool([builtin_names(language)])


class NamePool:
    """The names for surrogates, which also gives the role of a word and the gender of a given name.

    The role depends only on the ending. A role from public lists would reveal rare names, which are
    on no list. The gender comes from the lists, and for an unlisted name from its ending.
    """

    def __init__(self, languages: Sequence[NameLists]) -> None:
        self.female = _join_lists(one.female for one in languages)
        self.male = _join_lists(one.male for one in languages)
        self.surnames = _join_lists(one.surnames for one in languages)
        self.given = self.female + self.male
        self.every = self.given + self.surnames
        self._is_given = LetterLeaning(self.given, self.surnames)
        self._ends_female = LetterLeaning(self.female, self.male)
        self._genders = [NameGenders(self.female, self.male), *_builtin_genders()]

    def leans_given(self, word: str) -> bool:
        """Return whether a folded word ends like a given name rather than like a surname."""
        return self._is_given(word)

    def candidates(self, word: str, *, given: bool) -> tuple[str, ...]:
        """Return the names that a folded word can become."""
        if not given:
            return self.surnames
        return self.female if self._is_female(word) else self.male

    def _is_female(self, word: str) -> bool:
        listed = (genders.is_female(word) for genders in self._genders)
        known = next((gender for gender in listed if gender is not None), None)
        return self._ends_female(word) if known is None else known


class NameGenders:
    """The gender of folded given names by two lists, with the most frequent names first."""

    RARER = 3
    """The ratio of ranks that decides the gender of a name on both lists."""

    def __init__(self, female: Sequence[str], male: Sequence[str]) -> None:
        self._female, self._male = map(_find_ranks, (female, male))

    def is_female(self, word: str) -> bool | None:
        """Return whether a name is female; None if the lists do not decide it.

        That is the case for a name on no list, or with similar ranks on both.
        """
        female, male = self._female.get(word, inf), self._male.get(word, inf)
        if female * self.RARER <= male:
            return None if female == inf else True
        return False if male * self.RARER <= female else None


def _find_ranks(names: Sequence[str]) -> dict[str, float]:
    ranks: dict[str, float] = {}
    for rank, name in enumerate(names, 1):
        ranks.setdefault(fold(name), rank)
    return ranks


@cache
def _builtin_genders() -> tuple[NameGenders, ...]:
    """Return the genders of each language.

    A name can come from another language than its note.
    """
    lists = map(builtin_names, LANGUAGES)
    return tuple(NameGenders(one.female, one.male) for one in lists)


class LetterLeaning:
    """A test which of two lists contains the last letters of a word more often.

    The word itself does not count.
    """

    _LETTERS = 3

    def __init__(self, one: Sequence[str], other: Sequence[str]) -> None:
        self._lists = [[fold(name).split()[-1] for name in names] for names in (one, other)]
        self._words = [Counter(words) for words in self._lists]
        self._endings = [
            Counter(word[-n:] for word in words for n in range(1, self._LETTERS + 1))
            for words in self._lists
        ]

    def __call__(self, word: str) -> bool:
        for letters in range(min(self._LETTERS, len(word)), 0, -1):
            one, other = (self._share(number, word, word[-letters:]) for number in (0, 1))
            if one != other:
                return one > other
        return False

    def _share(self, number: int, word: str, ending: str) -> float:
        alike = self._endings[number][ending] - self._words[number][word]
        return alike / len(self._lists[number])


def _join_lists(lists: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for names in lists for name in names))
