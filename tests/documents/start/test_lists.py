"""The public lists and the clusters of English words."""

from __future__ import annotations

from itertools import pairwise

from voile.documents.start.lists import PATHS, english_lists, public_lists

CLUSTERS = {
    name.removeprefix("cluster "): words
    for name, words in english_lists().items()
    if name.startswith("cluster ")
}


def of_length(bits: int) -> dict[str, frozenset[str]]:
    return {path: words for path, words in CLUSTERS.items() if len(path) == bits}


def cluster_of(word: str, bits: int) -> str:
    return next(path for path, words in of_length(bits).items() if word in words)


def test_a_word_is_in_one_cluster_of_each_length_and_in_those_that_hold_it():
    words = frozenset().union(*CLUSTERS.values())
    for bits in PATHS:
        own = of_length(bits)
        assert sum(map(len, own.values())) == len(frozenset().union(*own.values())) == len(words)
    for shorter, longer in pairwise(PATHS):
        outer = of_length(shorter)
        assert all(words <= outer[path[:shorter]] for path, words in of_length(longer).items())


def test_clusters_hold_letters_alone():
    assert all(word.isalpha() and word == word.lower() for one in CLUSTERS.values() for word in one)


def test_words_of_a_kind_share_a_cluster():
    assert cluster_of("john", 16) == cluster_of("peter", 16)
    assert cluster_of("seattle", 16) == cluster_of("miami", 16)
    assert cluster_of("wrote", 4) == cluster_of("born", 4) != cluster_of("john", 4)


def test_public_lists_are_among_those_of_english():
    own, english = public_lists(), english_lists()
    assert {name: english[name] for name in own} == dict(own)
    assert not [name for name in own if name.startswith("cluster")]
