"""Public lists of names, places and words; README.md gives their sources."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from voile.core.errors import RequestError
from voile.documents.replacements.names import LANGUAGES, Language, fold

TIERS = 3
"""The number of frequency tiers of names: 1 for the list of one country, 3 for many lists."""
PATHS = (4, 6, 10, 16)
"""The path lengths of clusters. A shorter path is a prefix of the paths that it contains."""
_CLUSTERS = "clusters-{}"


@cache
def public_lists() -> Mapping[str, frozenset[str]]:
    """Return the words of each list, in lower case without accents.

    The lists are "given 1" to "given 3", "surname 1" to "surname 3", "place" and "word".
    """
    lists: dict[str, set[str]] = {f"given {n}": set() for n in range(1, TIERS + 1)}
    lists |= {f"surname {n}": set() for n in range(1, TIERS + 1)}
    for line in _lines("names"):
        word, given, surname = line.split()
        for kind, tier in (("given", given), ("surname", surname)):
            if tier != "0":
                lists[f"{kind} {tier}"].add(word)
    lists |= {name: set(_lines(f"{name}s")) for name in ("place", "word")}
    return MappingProxyType({name: frozenset(words) for name, words in lists.items()})


def lists_of(language: Language) -> Mapping[str, frozenset[str]]:
    """Return the public lists and the clusters of a language's words."""
    return {**public_lists(), **clusters_of(language)}


@cache
def clusters_of(language: Language) -> Mapping[str, frozenset[str]]:
    """Return clusters of a language's words: words of a cluster occur in similar contexts.

    Their names are their paths in a tree: "cluster 0110" contains "cluster 011011" and others.
    """
    clusters: dict[str, set[str]] = {}
    for line in _lines(_CLUSTERS.format(language)):
        path, *words = line.split()
        for bits in PATHS:
            clusters.setdefault(f"cluster {path[:bits]}", set()).update(words)
    return MappingProxyType({name: frozenset(words) for name, words in clusters.items()})


@cache
def towns() -> tuple[frozenset[str], frozenset[str]]:
    """Return the unambiguous towns, and the towns that are also words or common names; folded."""
    lines = _lines("towns")
    shared = frozenset(line[1:] for line in lines if line[0] == "?")
    return frozenset(line for line in lines if line[0] != "?"), shared


@cache
def frequent_words() -> frozenset[str]:
    """Return the most frequent words of all languages, including names, folded."""
    lines = (line for language in LANGUAGES for line in _lines(_CLUSTERS.format(language)))
    words = (word for line in lines for word in line.split()[1:])
    return frozenset(word if word.isascii() else fold(word) for word in words)


def name_clusters(language: Language) -> str:
    """Return the name of a language's clusters in a kit, which distinguishes their versions."""
    return f"{language} {digest_of_clusters(language)[:16]}"


def find_clusters(name: str) -> Mapping[str, frozenset[str]]:
    """Return the clusters of a kit, by their full name."""
    language = next((one for one in LANGUAGES if name == name_clusters(one)), None)
    if language is None:
        raise RequestError(
            "the kit learnt with another version of the clusters of words",
            instead="apply it with the voile that made it, or fit again",
        )
    return clusters_of(language)


def digest_of_clusters(language: Language) -> str:
    return hashlib.sha256(_file(_CLUSTERS.format(language)).encode()).hexdigest()


def _lines(name: str) -> list[str]:
    return _file(name).splitlines()


def _file(name: str) -> str:
    return (files(__name__) / f"{name}.txt").read_text(encoding="utf-8")
