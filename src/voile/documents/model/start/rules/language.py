"""Guess the language of texts by their function words."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TypeVar

from voile.core.errors import RequestError
from voile.documents.replacements.names import Language

L = TypeVar("L", bound=str)

_SMALL: dict[Language, str] = {
    "english": "the of and to in is was for with that on at by from his her he",
    "spanish": "de la el que en y los se del las un por con una al lo su",
}
_OTHERS = {
    "German": "der die und den von zu das mit sich des auf für ist im dem nicht ein eine als auch",
    "French": "le les et des du est dans pour que qui une par au sur pas plus avec ce il elle",
    "Portuguese": "o e do da em um para com não uma os no na ao dos das seu foi são sua",
    "Italian": "il di che e per un in non è una sono del della con da ha dei nel alla si",
    "Dutch": "de het een en van ik te dat die in niet zijn is was op aan met als voor er",
}
"""Languages without trained models."""
_WORD = re.compile(r"[^\W\d_]+")
_LOOKED_AT = 1000
"""The number of first texts that determine the language."""
_LEAST = 20
"""The fewest function words for a decision."""
_TIMES = 3
"""The ratio of the other language's function words that refuses a text."""
_MORE = 1.5
"""The ratio for an untrained language. It exceeds 1, since some languages are similar."""


def check_language(language: Language, texts: Iterable[str], instead: str) -> None:
    """Refuse texts that seem to be in the other language. Cost: O(characters of 1,000 texts).

    >>> check_language("english", ["The patient was seen by the doctor."], "leave it out")
    """
    counted = _count(texts, _SMALL)
    likely = _likeliest(counted)
    if counted[likely] >= _LEAST and counted[likely] > _TIMES * counted[language]:
        raise RequestError(
            f"the text seems to be {likely.capitalize()}, and {language} was asked for",
            instead=instead,
        )


def guess_language(texts: Iterable[str]) -> Language:
    """Return the apparent language of texts; English without evidence.

    >>> guess_language(["El paciente niega dolor y fiebre en los pies"])
    'spanish'
    """
    return _likeliest(_count(texts, _SMALL))


def find_untrained(texts: Iterable[str]) -> str | None:
    """Return the script or the language of texts if there is no trained model for it, else None.

    >>> find_untrained(["Пациентка живёт в Твери"]), find_untrained(["The patient lives in Graz"])
    ('Cyrillic script', None)
    """
    looked_at = list(islice(texts, _LOOKED_AT))
    letters = Counter(letter for text in looked_at for letter in text if letter.isalpha())
    scripts: Counter[str] = Counter()
    for letter, times in letters.items():
        scripts[unicodedata.name(letter, "unknown").split()[0]] += times
    if scripts and scripts.most_common(1)[0][0] != "LATIN":
        return f"{scripts.most_common(1)[0][0].capitalize()} script"
    counted, others = _count(looked_at, _SMALL), _count(looked_at, _OTHERS)
    likely = max(others, key=lambda one: others[one], default="")
    if others[likely] >= _LEAST and others[likely] > _MORE * max(counted.values(), default=0):
        return likely
    return None


def _count(texts: Iterable[str], languages: Mapping[L, str]) -> Counter[L]:
    """Count the function words of each language."""
    counted: Counter[L] = Counter()
    for text in islice(texts, _LOOKED_AT):
        words = Counter(_WORD.findall(text.lower()))
        for one, small in languages.items():
            counted[one] += sum(words[word] for word in small.split())
    return counted


def _likeliest(counted: Counter[Language]) -> Language:
    return max(_SMALL, key=lambda one: counted[one])
