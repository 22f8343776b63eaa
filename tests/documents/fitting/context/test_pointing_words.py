"""What words left tell of values removed: planted, naively counted, tried on other subjects."""

from __future__ import annotations

import numpy as np
import pytest
from tests.documents.fitting.context.rule_trial import try_rules

from voile.core.errors import RequestError
from voile.documents.fitting.context.pointing_words import find_pointing_words
from voile.documents.fitting.context.rules import RuleThresholds
from voile.documents.replacements.removal import TextRemoval
from voile.documents.replacements.spans import settle_spans
from voile.documents.text.corpus import Corpus
from voile.documents.text.document import Document

SMALL = RuleThresholds(subjects=2, confidence=0.8, lift=1.5, chance=1)


def wards(subjects, seed, ward=0.9):
    """Patients of four hospitals; most notes name a ward that only their hospital has."""
    rng = np.random.default_rng(seed)
    documents, removals = [], []
    for number in range(subjects):
        hospital = int(rng.integers(0, 4))
        words = [f"w{word}" for word in rng.integers(0, 300, 30)]
        if rng.random() < ward:
            words.append(f"Ward{'abcd'[hospital]}")
        name, place = f"Zed{number}", f"Saint  {'ABCD'[hospital]}"
        text = f"{name} of {place}: {' '.join(words)}."
        at = text.index(place)
        documents.append(Document(text, subject=f"p{number}"))
        removals.append(
            [
                TextRemoval(0, len(name), "NAME"),
                TextRemoval(at, at + 5, "HOSPITAL"),  # token by token: one value all the same
                TextRemoval(at + 7, at + 8, "HOSPITAL"),
            ]
        )
    return Corpus(documents), removals


def test_planted_words_point_and_names_of_one_subject_do_not():
    corpus, removals = wards(200, seed=1)
    found = find_pointing_words(corpus, removals)
    told = {(one.word, one.target) for one in found.rules}
    assert told == {(f"ward{x}", ("HOSPITAL", f"saint {x}")) for x in "abcd"}
    assert found.words == found.pointed_values == 4
    assert found.values == 204
    assert found.mentions == {"NAME": 200, "HOSPITAL": 200}
    with_ward = sum("Ward" in document.text for document in corpus)
    assert found.pointed == {"HOSPITAL": with_ward}
    assert found.share == with_ward / 400


def test_what_is_told_equals_a_naive_count():
    corpus, removals = wards(40, seed=2, ward=0.5)
    found = find_pointing_words(corpus, removals, SMALL)
    left = [set(one.text.partition(": ")[2].lower().rstrip(".").split()) for one in corpus]
    place = [one.text.partition(":")[0].partition(" of ")[2].lower() for one in corpus]
    expected = {}
    for word in set().union(*left):
        whose = [number for number in range(40) if word in left[number]]
        for value in set(place):
            both = sum(place[number] == value for number in whose)
            base = place.count(value) / 40
            if both >= 2 and both / len(whose) >= 0.8 and both / len(whose) / base >= 1.5:
                expected[word, ("HOSPITAL", " ".join(value.split()))] = both
    assert {(one.word, one.target): one.subjects for one in found.rules} == expected
    assert expected
    pointers = {word: target[1] for word, target in expected}
    told = [any(" ".join(place[x].split()) == pointers.get(w) for w in left[x]) for x in range(40)]
    assert found.pointed.get("HOSPITAL", 0) == sum(told)


def test_with_the_words_removed_no_rule_is_left():
    corpus, removals = wards(200, seed=1)
    found = find_pointing_words(corpus, removals)
    for document, ones in zip(corpus, found.removals, strict=True):
        texts = [document.text[one.start : one.end] for one in ones]
        assert all(text.startswith("Ward") for text in texts)
        assert len(texts) == ("Ward" in document.text)
    texts = [one.text for one in corpus]
    both = [*map(settle_spans, texts, removals, found.removals)]
    again = find_pointing_words(corpus, both)
    assert len(again.rules) == 0
    assert again.values == found.values  # the context's own removals are not values
    assert not any(again.removals)
    assert again.share == 0


def test_rules_are_tried_on_other_subjects():
    rules = find_pointing_words(*wards(300, seed=3)).rules
    corpus, removals = wards(150, seed=4)
    tried = try_rules(rules, corpus, removals)
    assert tried.guesses == tried.right == sum("Ward" in one.text for one in corpus)
    assert tried.mentions == 300
    moved = removals[1:] + removals[:1]
    strangers = [[one for one in ones if one.end <= 8] for ones in moved]
    none = try_rules(rules, corpus, strangers)
    assert none.guesses >= tried.guesses
    assert none.right == 0


def test_chance_rules_fail_on_others_and_are_left_out():
    loose = find_pointing_words(*wards(60, seed=5, ward=0.0), SMALL)
    tried = try_rules(loose.rules, *wards(200, seed=6, ward=0.0))
    assert len(loose.rules) > 5
    assert tried.right < 0.5 * tried.guesses  # 0.8 was promised
    assert len(find_pointing_words(*wards(60, seed=5, ward=0.0)).rules) == 0


def test_nothing_printed_shows_a_word():
    found = find_pointing_words(*wards(200, seed=1))
    for text in (repr(found), str(found), repr(found.rules)):
        assert "saint" not in text.lower()
        assert "ward" not in text.lower()


def test_removals_are_of_each_document_and_inside_it():
    corpus, removals = wards(3, seed=1)
    with pytest.raises(RequestError, match="3 documents and removals of 2"):
        find_pointing_words(corpus, removals[:2])
    with pytest.raises(RequestError, match="0 to 9999 is not inside the text"):
        find_pointing_words(corpus, [[TextRemoval(0, 9999, "NAME")], [], []])


def test_nothing_removed_and_nothing_there():
    corpus, _ = wards(5, seed=1)
    for some, none in ((corpus, [[]] * 5), (Corpus([]), []), (Corpus([Document("")]), [[]])):
        found = find_pointing_words(some, none, RuleThresholds(1, 0.1, 0, 1))
        assert (len(found.rules), found.words, found.values, found.share) == (0, 0, 0, 0)
        assert try_rules(found.rules, some, none).guesses == 0
