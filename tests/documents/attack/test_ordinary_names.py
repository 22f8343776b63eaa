"""Names that are ordinary words are guessed where some are left, and not where none is."""

from __future__ import annotations

import json
import math
import random
import re
from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.documents.attack.ordinary_names import (
    CAPITALISED,
    GUESSED,
    SHRINK,
    UNSEEN,
    expected_hits,
    guess_ordinary_names,
    score_words,
)
from voile.documents.attack.words_left import WordsLeft
from voile.documents.model.start.lists import public_lists
from voile.documents.replacements.marks import LabelMarks
from voile.documents.replacements.published_document import publish
from voile.documents.replacements.removal import TextRemoval
from voile.documents.replacements.surrogates import Surrogates
from voile.documents.text.corpus import Corpus
from voile.documents.text.document import Document, Span
from voile.keys.pseudonyms import Secret

_ORDINARY = "Summer May Brown Rice Young Hope Mark Will Green White Black Field Page Bell"
ORDINARY = _ORDINARY.split()
PLAIN = ["Kwame", "Abena", "Xipe", "Yaw", "Zuri", "Ife"]
PLACES = ("Patient {} was seen today.", "I spoke with {} about the plan.")
REST = ("We had some {small} again.", "{} was good here.", "No fever in the {} Ward.")


def note(id, subject, name, leak, rng):
    """Return a note and what is removed: all mentions of a name but a share; and its rest."""
    text, spans, removals = "", [], []
    for _ in range(6):
        place = rng.choice(PLACES + REST)
        if place in PLACES:
            start = len(text) + place.index("{")
            spans.append(Span(start, start + len(name), "NAME"))
            if rng.random() >= leak:
                removals.append(TextRemoval(start, start + len(name), "NAME"))
            text += place.format(name) + " "
        else:
            word = rng.choice(ORDINARY)
            text += place.format(word, small=word.lower()) + " "
    return Document(text, tuple(spans), id, subject), removals


def notes(leak, seed=0, people=60):
    rng = random.Random(seed)
    found = []
    for person in range(people):
        name = rng.choice(ORDINARY if person % 2 else PLAIN)
        found += [note(f"{person}-{n}", f"s{person}", name, leak, rng) for n in range(3)]
    return found


def released(found, put=None):
    put = put or LabelMarks()
    return Corpus(publish(*one, put) for one in found), Corpus(one for one, _ in found)


def rates(found, put=None, seed=1):
    evidence = guess_ordinary_names(*released(found, put), random_state=seed)
    return evidence.findings[0], evidence.findings[1]


def test_where_some_mentions_are_left_the_names_behind_the_marks_are_guessed():
    for put in (LabelMarks(), Surrogates(Secret(bytes(32)))):
        guessed, left = rates(notes(0.2), put)
        assert guessed.quantity == GUESSED
        assert guessed.rate.trials == left.rate.trials == 30
        assert guessed.rate.value > 0.6
        assert guessed.baseline.value < 0.15


def test_where_every_mention_is_replaced_no_more_than_chance_is_guessed():
    hits = expected = 0
    for seed in range(6):
        guessed, left = rates(notes(0, seed), seed=seed)
        hits += guessed.rate.successes
        expected += guessed.baseline.successes
        assert left.rate.value > 0.1  # it is their words that stand there
    assert hits <= expected + 3 * math.sqrt(expected + 1)


def test_the_baseline_is_the_mean_of_all_permutations():
    guesses = {(0, "may"), (1, "rice"), (1, "hope"), (3, "may")}
    names = [(0, "may"), (1, "may"), (2, "hope"), (2, "rice")]
    hits = [
        sum((order[person], word) in names for person, word in guesses)
        for order in permutations(range(4))
    ]
    assert expected_hits(guesses, names, 4) == pytest.approx(np.mean(hits))
    assert expected_hits(set(), [], 0) == 0


WORDS = ("Summer", "summer", "May", "saw", "Dr", "Kwame", "the", ".", "NAME Summer", "NAME Xipe")
WRITTEN = st.lists(
    st.tuples(st.integers(0, 2), st.lists(st.sampled_from(WORDS), max_size=8)), max_size=6
)


def written(drawn):
    """Return published documents, each beside its source; what begins with NAME is replaced."""
    found = []
    for number, (subject, words) in enumerate(drawn):
        text, spans = "", []
        for word in words:
            true = word.removeprefix("NAME ")
            if true != word:
                spans.append(Span(len(text), len(text) + len(true), "NAME"))
            text += true + " "
        removals = [TextRemoval(one.start, one.end, "NAME") for one in spans]
        found.append((Document(text, tuple(spans), str(number), f"s{subject}"), removals))
    return [(publish(*one, LabelMarks()), one[0]) for one in found]


def naive_scores(pairs):
    """Return the scores by subject and word, word after word, with dictionaries alone."""
    texts = [(one.subject, one.text.split()) for one, _ in pairs]
    small = {word for _, words in texts for word in words if word.islower()}
    ordinary = {"summer", "may"} | small | ({"saw", "the"} & public_lists()["word"])
    places = [
        (subject, [["<", *words, ">"][x] for x in (at, at + 1, at + 2)], at)
        for subject, words in texts
        for at in range(len(words))
    ]
    names = [around for _, around, _ in places if around[1] == "[NAME]"]
    rest = [one for one in places if one[1][1] not in ("[NAME]", ".")]
    prior = (len(names) + SHRINK) / (len(names) + len(rest) + 2 * SHRINK)

    def beside(side, around):
        like = [x for x in names if x[side].lower() == around[side].lower()]
        others = [x for _, x, _ in rest if x[side].lower() == around[side].lower()]
        share = (len(like) + SHRINK * prior) / (len(like) + len(others) + SHRINK)
        return share / (1 - share)

    def is_inside(around, at):
        return around[1][0].isupper() and at > 0 and around[0] != "."

    looks = [
        is_inside(around, at)
        for _, around, at in rest
        if around[1].lower() in ordinary and (around[1].islower() or is_inside(around, at))
    ]
    usual = (sum(looks) + SHRINK) / (len(looks) + 2 * SHRINK)
    seen, size = Counter(), Counter()
    for subject, around, at in rest:
        size[subject] += 1
        word = around[1].lower()
        if word in ordinary:
            odds = beside(0, around) * beside(2, around) / (prior / (1 - prior))
            if is_inside(around, at):
                odds *= CAPITALISED / usual
            if around[1].islower():
                odds *= (1 - CAPITALISED) / (1 - usual)
            seen[subject, word] += odds / (1 + odds)
    scores = {}
    for (subject, word), k in seen.items():
        others = sum(n for one, n in size.items() if one != subject)
        elsewhere = sum(x for (one, w), x in seen.items() if w == word and one != subject)
        named = any("[NAME]" in words for one, words in texts if one == subject)
        if others and named and k > (e := size[subject] * (elsewhere + UNSEEN) / others):
            scores[subject, word] = k * math.log(k / e) - (k - e)
    return scores


@given(WRITTEN)
@settings(max_examples=200, deadline=None)
def test_scores_are_those_of_the_naive_twin(drawn):
    pairs = written(drawn)
    left = WordsLeft.of(pairs, {})
    people = sorted({one.subject for one, _ in pairs})
    found, gain = score_words(left)
    ours = {(people[s], word): x for (s, word), x in zip(found, gain, strict=True)}
    assert ours == pytest.approx(naive_scores(pairs))
    behind = {(people[s], word) for s, word in left.ordinary_names()}
    assert behind == {(f"s{n}", "summer") for n, words in drawn if "NAME Summer" in words}


def test_a_name_that_stands_nowhere_counts_as_not_guessed():
    text, spans = "Patient Summer came .", (Span(8, 14, "NAME"),)
    found = [
        (Document(text, spans, str(n), f"s{n}"), [TextRemoval(8, 14, "NAME")]) for n in range(4)
    ]
    guessed, left = rates(found)
    assert (guessed.rate.successes, guessed.rate.trials) == (0, 4)
    assert left.rate.successes == 0


@pytest.mark.parametrize("documents", [[], [(Document("", (), "1"), [])]])
def test_where_no_name_is_replaced_there_is_nothing_to_guess(documents):
    evidence = guess_ordinary_names(*released(documents))
    assert [one.rate.trials for one in evidence.findings] == [0, 0]


def test_the_same_seed_guesses_the_same_and_no_word_is_in_the_evidence():
    release = released(notes(0.2))
    one, other = (guess_ordinary_names(*release, random_state=3) for _ in range(2))
    assert one == other
    told = json.dumps(one.to_json()).casefold()
    assert not any(name.casefold() in told for name in PLAIN)
    assert not re.search(r"\b(summer|rice|page|bell|field)\b", told)


def test_of_one_person_there_is_nobody_to_compare_with():
    found = [note(f"{n}", "s", "Summer", 0.3, random.Random(n)) for n in range(4)]
    guessed, _ = rates(found)
    assert (guessed.rate.successes, guessed.rate.trials) == (0, 1)
