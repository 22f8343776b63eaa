"""Lists of given names and surnames, and which of them a word can become."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from voile.core.errors import RequestError
from voile.documents.words.normalisation import as_latin

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

Language = Literal["english", "spanish"]
LANGUAGES: tuple[Language, ...] = ("english", "spanish")

# Small words within surnames: they are neither a name by themselves nor distinguished from one.
_PARTICLES = "de del la las los san santa da das do dos di du le van von der den ter zu al el ibn"
PARTICLES = frozenset(_PARTICLES.split())
_WORDS = re.compile(r"[^\W\d_]+")
_MIXED = re.compile(r"[^\W\d_]*[A-Za-z][^\W\d_]*")


def clean(text: str) -> str:
    """Compose the characters, and drop those that cannot be seen."""
    if text.isascii():
        return text
    composed = unicodedata.normalize("NFC", text)
    return "".join(one for one in composed if unicodedata.category(one) != "Cf")


def undisguise(text: str) -> str:
    """Clean a value, and make Latin of words that mix in letters which only look so."""
    plain = clean(text)
    return plain if plain.isascii() else _MIXED.sub(lambda word: as_latin(word.group()), plain)


def fold(word: str) -> str:
    """Overlook case, accents and width: García, GARCIA and garcia are one name."""
    if word.isascii():
        return word.lower()
    plain = unicodedata.normalize("NFKD", word.casefold())
    return "".join(one for one in plain if not unicodedata.combining(one))


def name_words(text: str) -> list[str]:
    """Return the words of a text, folded, without particles."""
    words = map(fold, _WORDS.findall(undisguise(text)))
    return [word for word in words if word and word not in PARTICLES]


@dataclass(frozen=True)
class Names:
    """Names of one language, the most frequent first.

    The lists that come with voile hold about 300 each of the most common names of English- and
    Spanish-speaking countries, from general knowledge: no list of real people.
    """

    # female, male: given names, one word each; one on both lists is of either gender
    female: tuple[str, ...]
    male: tuple[str, ...]
    surnames: tuple[str, ...]  # with their particles ("de la Fuente")

    def __post_init__(self) -> None:
        for what in ("female", "male", "surnames"):
            if len({fold(name) for name in getattr(self, what)}) < 2:
                raise RequestError(
                    "a list of names holds fewer than two", where=what, instead="give more of them"
                )

    @classmethod
    def read(cls, folder: Path | Traversable) -> Names:
        """Read `female.txt`, `male.txt` and `surnames.txt`: UTF-8, a name a line."""

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

    @property
    def either(self) -> tuple[str, ...]:
        """The given names of either gender."""
        male = set(self.male)
        return tuple(name for name in self.female if name in male)


@cache
def builtin_names(language: Language) -> Names:
    return Names.read(files("voile.documents.replacements") / "lists" / language)


class Pool:
    """Which names can replace a word, by the word alone, so that it has the same role everywhere.

    A given name becomes one of its language and gender; a name of either gender another such, if
    there are enough. A word on several lists is taken for what it is in the first language, and
    there on the list where it stands earlier. A word on no list is a surname of the first language.
    """

    _ENOUGH = 5

    def __init__(self, languages: Sequence[Names]) -> None:
        self._candidates: dict[str, tuple[str, ...]] = {}
        self.surnames = languages[0].surnames
        self.given = languages[0].female + languages[0].male
        self._given: set[str] = set()
        for names in languages:
            self._add(names)

    def candidates(self, word: str) -> tuple[str, ...]:
        return self._candidates.get(word, self.surnames)

    def is_given(self, word: str) -> bool:
        return word in self._given

    def _add(self, names: Names) -> None:
        either = names.either if len(names.either) >= self._ENOUGH else names.female + names.male
        ranks = [_ranks(part) for part in (names.surnames, names.female, names.male)]
        surnames, female, male = ranks
        for word in {*surnames, *female, *male} - self._candidates.keys():
            given = min(female.get(word, _NEVER), male.get(word, _NEVER))
            if surnames.get(word, _NEVER) < given:
                self._candidates[word] = names.surnames
                continue
            self._given.add(word)
            if word in female and word in male:
                self._candidates[word] = either
            else:
                self._candidates[word] = names.female if word in female else names.male


_NEVER = 1 << 30


def _ranks(names: Sequence[str]) -> dict[str, int]:
    """Say where each word stands on a list; a surname of several counts by its last."""
    ranks: dict[str, int] = {}
    for rank, name in enumerate(names):
        for word in name_words(name)[-1:]:
            ranks.setdefault(word, rank)
    return ranks
