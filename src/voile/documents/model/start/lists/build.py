"""Rebuild the lists: `python -m voile.documents.model.start.lists.build`; see README.md."""

from __future__ import annotations

import gzip
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from voile.documents.replacements.names import Language, fold

VERSIONS = {"faker": "40.54.0", "spacy-lookups-data": "1.0.5"}
CODES: dict[Language, str] = {"english": "en", "spanish": "es"}
CLUSTERED = 60_000
"""The number of the most frequent words for which clusters are stored, without case."""
_WORD = re.compile(r"[^\W\d_]+")
_PLACES = re.compile("countr|state|cit|municip|province|region|department|count")
_WORDS = ("lorem", "job", "company", "color", "currency")
_TIERS = (1, 2, 6)
"""The least number of countries with a name on their lists, for each tier."""


def build(folder: Path) -> None:
    """Write the names, places, words and clusters, sorted, in lower case."""
    for name, expected in VERSIONS.items():
        assert version(name) == expected, f"the lists are of {name} {expected}"
    given, surname = Counter(_names("first", "middle")), Counter(_names("last"))
    both = sorted(given.keys() | surname.keys())
    lines = (f"{word} {_tier(given[word])} {_tier(surname[word])}" for word in both)
    _write(folder / "names.txt", lines)
    places = (one for _, name, held in _read_provider("address") if _is_place(name) for one in held)
    _write(folder / "places.txt", sorted(set(_fold_words(places, least=3))))
    english = (
        one
        for kind in _WORDS
        for country, _, held in _read_provider(kind)
        if country[:2] == "en"
        for one in held
    )
    words = {one.lower() for one in english if one.isascii() and len(one) > 1}
    _write(folder / "words.txt", sorted(words))
    for language, code in CODES.items():
        _write(folder / f"clusters-{language}.txt", _clusters(code))


def _names(*kinds: str) -> Iterator[str]:
    """Yield each word of each country's names, once for each list."""
    for _, name, held in _read_provider("person"):
        parts = ("format", "prefix", "suffix", "romaniz")
        if any(kind in name for kind in kinds) and not any(part in name for part in parts):
            yield from set(_fold_words(held, least=2))


def _read_provider(provider: str) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the country, the name and the words of each list of a Faker provider."""
    base = import_module(f"faker.providers.{provider}")
    for path in sorted(Path(str(base.__file__)).parent.iterdir()):
        if path.is_dir() and not path.name.startswith("__"):
            kind = import_module(f"{base.__name__}.{path.name}").Provider
            names = dir(kind) if provider == "person" else vars(kind)
            for name in names:
                value = getattr(kind, name)
                if isinstance(value, list | tuple | dict):
                    yield path.name, name, _WORD.findall(" ".join(_texts(value)))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _texts(key)
            yield from _texts(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one)


def _is_place(name: str) -> bool:
    parts = ("suffix", "prefix", "format")
    return bool(_PLACES.search(name)) and not any(part in name for part in parts)


def _fold_words(words: Iterable[str], *, least: int) -> Iterator[str]:
    """Yield the words in Latin letters that begin with a capital."""
    for word in words:
        if len(word) >= least and word[0].isupper() and all(map(_is_latin, word)):
            yield fold(word)


def _clusters(code: str) -> Iterator[str]:
    """Yield each cluster: its path in the tree of clusters, first bit first, and its words.

    If a word occurs with and without capitals, the cluster of its more frequent form is used.
    """
    cluster, logarithm = (_table(f"{code}_lexeme_{name}") for name in ("cluster", "prob"))
    words = (word for word, number in cluster.items() if number and word.isalpha())
    number_of: dict[str, int] = {}
    for word in sorted(words, key=lambda word: (-logarithm[word], word))[:CLUSTERED]:
        number_of.setdefault(word.lower(), int(cluster[word]))
    by_path: dict[str, list[str]] = {}
    for word, number in sorted(number_of.items()):
        by_path.setdefault(f"{number:016b}"[::-1], []).append(word)
    return (" ".join((path, *words)) for path, words in sorted(by_path.items()))


def _table(name: str) -> dict[str, float]:
    held = files("spacy_lookups_data") / "data" / f"{name}.json.gz"
    table: dict[str, float] = json.loads(gzip.decompress(held.read_bytes()))
    return table


def _is_latin(one: str) -> bool:
    return "LATIN" in unicodedata.name(one, "")


def _tier(countries: int) -> int:
    return sum(countries >= least for least in _TIERS)


def _write(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    build(Path(__file__).parent)
