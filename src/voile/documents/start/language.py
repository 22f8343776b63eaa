"""The language that notes seem to be in, by the small words that every text has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from voile.documents.replacements.names import Language

SMALL_WORDS: Mapping[Language, str] = {
    "english": "the of and to in is was for with that it on he she by at from",
    "spanish": "el la los las de del y que en un una con por para se no al",
}


def guess_language(words: Iterable[str]) -> Language:
    """Return the language whose small words are met most; English where none are.

    >>> guess_language("El paciente niega dolor y fiebre".lower().split())
    'spanish'
    """
    met = Counter(words)
    return max(SMALL_WORDS, key=lambda one: sum(met[word] for word in SMALL_WORDS[one].split()))
