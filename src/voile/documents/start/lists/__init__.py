"""Public lists of names, places and words; README.md says where they are from."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

TIERS = 3
"""How common a name is: 1 of one country's list, 3 of many."""
PATHS = (4, 6, 10, 16)
"""Lengths of the paths of clusters; a shorter one's is how those that it holds begin."""


@cache
def public_lists() -> Mapping[str, frozenset[str]]:
    """Return the words of each list, in small letters without accents.

    These are "given 1" to "given 3", "surname 1" to "surname 3", "place" and "word".
    """
    lists: dict[str, set[str]] = {f"given {n}": set() for n in range(1, TIERS + 1)}
    lists |= {f"surname {n}": set() for n in range(1, TIERS + 1)}
    for line in _lines("names"):
        word, given, surname = line.split()
        for kind, tier in (("given", given), ("surname", surname)):
            if tier != "0":
                lists[f"{kind} {tier}"].add(word)
    lists |= {"place": set(_lines("places")), "word": set(_lines("words"))}
    return MappingProxyType({name: frozenset(words) for name, words in lists.items()})


@cache
def english_lists() -> Mapping[str, frozenset[str]]:
    """Return the public lists and clusters of English words that stand between the same others.

    Clusters are named by their paths in a tree, "cluster 0110" holds "cluster 011011" and others.
    """
    clusters: dict[str, set[str]] = {}
    for line in _lines("clusters"):
        path, *words = line.split()
        for bits in PATHS:
            clusters.setdefault(f"cluster {path[:bits]}", set()).update(words)
    own = {name: frozenset(words) for name, words in clusters.items()}
    return MappingProxyType({**public_lists(), **own})


def _lines(name: str) -> list[str]:
    return (files(__name__) / f"{name}.txt").read_text(encoding="utf-8").splitlines()
