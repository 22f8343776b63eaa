"""Find words in a column's name that suggest its contents, from `glossary.toml`."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from voile.data.roles import Role

LANGUAGES = ("en", "de", "es", "fr", "it", "pt", "nl")


class ColumnWords(NamedTuple):
    """Phrases of one meaning, each joined to one word, and the role that they suggest, if any."""

    role: Role | None
    about: str
    phrases: frozenset[str]

    def found_in(self, name: str) -> str | None:
        """Return the longest of these phrases in a column's name, joined to one word, or None."""
        return max((p for p in _phrases(name) if p in self.phrases), key=len, default=None)


@cache
def glossary() -> dict[str, ColumnWords]:
    """Return the words of every meaning, in order of precedence."""
    text = files("voile.data").joinpath("glossary.toml").read_text(encoding="utf-8")
    return {
        meaning: ColumnWords(
            entry.get("role"),
            entry.get("about", meaning),
            frozenset(
                "".join(split_name(phrase))
                for language in LANGUAGES
                for phrase in entry[language].split(",")
            ),
        )
        for meaning, entry in tomllib.loads(text).items()
    }


def find_words(name: str) -> tuple[ColumnWords, str] | None:
    """Return the first glossary entry that matches a column's name, with the matching phrase.

    >>> entry, word = find_words("ZIP_code")
    >>> entry.role, word
    ('quasi', 'zipcode')
    >>> [find_words(name)[1] for name in ("drug_name", "Größe", "geburts-datum", "fechaNac")]
    ['drug', 'groesse', 'geburtsdatum', 'fechanac']
    >>> find_words("score")
    """
    about_things = mentions(name, "things")
    for meaning, entry in glossary().items():
        phrase = entry.found_in(name)
        if entry.role and phrase and not (meaning == "name" and about_things):
            return entry, phrase
    return None


def is_of_places(name: str) -> bool:
    """Return whether a column's name means that its values are places.

    >>> [is_of_places(name) for name in ("home_city", "city name", "city manager", "patient")]
    [True, True, False, False]
    """
    found = find_words(name)
    places = ("place", "state")
    ends = any(ends_in(name, meaning) for meaning in (*places, "name"))
    return ends and found is not None and found[0] in [glossary()[place] for place in places]


def mentions(name: str, *meanings: str) -> bool:
    """Return whether a column's name has a phrase of one of these meanings.

    For example, ``patient_id`` has a phrase of ``people``.
    """
    return any(glossary()[meaning].found_in(name) for meaning in meanings)


def ends_in(name: str, meaning: str) -> bool:
    """Return whether a column's name ends with a phrase of this meaning.

    For example, ``case_subject`` ends with a phrase of ``people``.
    """
    words = split_name(name)
    ends = {"".join(words[start:]) for start in range(len(words))}
    return bool(ends & glossary()[meaning].phrases)


def split_name(name: str) -> list[str]:
    """Split a column's name into lower-case words, without accents and digits.

    >>> split_name("PatientID"), split_name("date_of-birth"), split_name("icd10 code")
    (['patient', 'id'], ['date', 'of', 'birth'], ['icd', 'code'])
    >>> split_name("Straße"), split_name("AñoDeNacimiento")
    (['strasse'], ['ano', 'de', 'nacimiento'])
    """
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+", _plain(name))
    return [part.casefold() for part in parts]


def _plain(text: str) -> str:
    """Remove accents from letters. German umlauts and ß are replaced by their usual two letters."""
    text = unicodedata.normalize("NFC", text)
    for letter, spelt in _SPELT.items():
        text = text.replace(letter, spelt)
    parts = unicodedata.normalize("NFKD", text)
    return "".join(c for c in parts if not unicodedata.combining(c))


_SPELT = {"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss"}


def _phrases(name: str) -> Iterator[str]:
    """Yield every sequence of adjacent words of a name, joined."""
    words = split_name(name)
    for start in range(len(words)):
        for end in range(start + 1, len(words) + 1):
            yield "".join(words[start:end])
