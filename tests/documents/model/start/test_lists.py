"""The public lists and the clusters of each language's words."""

from __future__ import annotations

from itertools import pairwise

import pytest

from voile.documents.model.start.lists import PATHS, clusters_of, lists_of, public_lists
from voile.documents.replacements.names import LANGUAGES, Language

BOTH = pytest.mark.parametrize("language", LANGUAGES)


def of_length(language: Language, bits: int) -> dict[str, frozenset[str]]:
    found = {name.removeprefix("cluster "): words for name, words in clusters_of(language).items()}
    return {path: words for path, words in found.items() if len(path) == bits}


def cluster_of(language: Language, word: str, bits: int) -> str:
    return next(path for path, words in of_length(language, bits).items() if word in words)


@BOTH
def test_a_word_is_in_one_cluster_of_each_length_and_in_those_that_hold_it(language):
    words = frozenset().union(*of_length(language, PATHS[-1]).values())
    assert len(words) > 30_000
    for bits in PATHS:
        own = of_length(language, bits)
        assert sum(map(len, own.values())) == len(frozenset().union(*own.values())) == len(words)
    for shorter, longer in pairwise(PATHS):
        outer = of_length(language, shorter)
        inner = of_length(language, longer)
        assert all(words <= outer[path[:shorter]] for path, words in inner.items())


@BOTH
def test_clusters_hold_letters_alone(language):
    found = of_length(language, PATHS[-1]).values()
    assert all(word.isalpha() and word == word.lower() for one in found for word in one)


def test_words_of_a_kind_share_a_cluster():
    for language, one, other, bits in (
        ("english", "john", "peter", 16),
        ("english", "seattle", "miami", 16),
        ("english", "wrote", "born", 4),
        ("spanish", "maría", "josé", 4),
        ("spanish", "garcía", "lópez", 10),
        ("spanish", "madrid", "barcelona", 10),
    ):
        assert cluster_of(language, one, bits) == cluster_of(language, other, bits)
    assert cluster_of("english", "wrote", 4) != cluster_of("english", "john", 4)
    assert cluster_of("spanish", "padre", 4) != cluster_of("spanish", "josé", 4)


@BOTH
def test_the_lists_of_a_language_are_the_public_ones_and_its_clusters(language):
    public, clusters = public_lists(), clusters_of(language)
    assert lists_of(language) == {**public, **clusters}
    assert public.keys().isdisjoint(clusters)
