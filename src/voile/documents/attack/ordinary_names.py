"""Guess replaced names that are ordinary words.

A name such as Summer or May is removed if the committee takes it for a name, and otherwise stays as
a word. Suppose that such a word occurs in places of names in one subject's documents, and in no one
else's. Then it is probably the name behind that subject's marks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from voile.core.evidence import Evidence, Finding, Note, Rate
from voile.documents.attack.remaining import match_documents
from voile.documents.attack.words_left import Pair, WordsLeft
from voile.documents.text.sequence import DocumentSequence
from voile.keys.random import RandomState, streams

Floats = NDArray[np.float64]

GUESSED = "names that are ordinary words, guessed"
CAPITALISED = 0.95
"""The share of names within a sentence that have a capital."""
SHRINK = 1.0
"""The weight of the prior: the number of places next to a word with the average share of names."""
UNSEEN = 0.5
"""The count added to a word's occurrences as a name in other people's documents."""


def guess_ordinary_names(
    published: DocumentSequence,
    truth: DocumentSequence,
    *,
    kinds: Mapping[str, str] | None = None,
    random_state: RandomState = None,
) -> Evidence:
    """Guess which remaining words are the names behind marks and surrogates, and score the guesses.

    No guarantee: a better reader of context may find more. Cost: O(characters).
    """
    left = WordsLeft.of(list(match_documents(published, truth)), kinds or {})
    names = left.ordinary_names()
    (rng,) = streams(random_state, "ordinary names")
    guesses = best_guesses(left, len(names), rng)
    held = set(zip(left.subject.tolist(), (left.words[x] for x in left.word), strict=True))
    whose = [subject for subject, _ in names]
    chance = min(round(expected_hits(guesses, names, int(left.named.sum()))), len(names))
    return Evidence(
        attack="names that are ordinary words",
        heading="inference",
        story=Note(
            "The adversary reads the release and can distinguish the replacements of names "
            "from other words. The adversary learns which words surround names, and looks for "
            "ordinary words in such places or with a capital. If a word is so in one person's "
            "documents and not in others', the adversary takes it for a name of that person's "
            "documents. Each name guessed so is a success."
        ),
        findings=(
            Finding(
                GUESSED,
                Rate.by_subject([name in guesses for name in names], whose),
                baseline=Rate(chance, len(names)),
                meaning="The share of such replaced names that are among as many guesses. The "
                "baseline is the expectation of the same guesses with the people permuted.",
            ),
            Finding(
                "names that are ordinary words, also left",
                Rate.by_subject([name in held for name in names], whose),
                meaning="The share of these names that are left in the person's documents too, "
                "be it as a word.",
            ),
        ),
        notes=(
            Note(
                "A name counts as an ordinary word if it is a month, a day of the week or on "
                "voile's list of words. It also counts if the release has it in small letters."
            ),
        ),
    )


def best_guesses(left: WordsLeft, number: int, rng: np.random.Generator) -> set[Pair]:
    """Return at most `number` guesses with the highest scores; ties are random."""
    guesses, score = score_words(left)
    order = np.lexsort((rng.random(len(score)), -score))[:number]
    return {guesses[place] for place in order.tolist() if score[place] > 0}


def expected_hits(guesses: set[Pair], names: list[Pair], people: int) -> float:
    """Return the expected number of right guesses if the people are assigned at random."""
    often = Counter(word for _, word in names)
    return sum(often[word] for _, word in guesses) / max(people, 1)


def score_words(left: WordsLeft) -> tuple[list[Pair], Floats]:
    """Score how much more often each person's ordinary words seem to be names than others'.

    The score is the log-likelihood ratio of a Poisson count. It compares how often the word seems
    to be a name there with the rate in all others' documents. It is 0 if the word does not seem to
    be a name more often.
    """
    size = len(left.words)
    chances = np.where(left.ordinary[left.word], name_chances(left), 0.0)
    pairs, place = np.unique(left.subject * size + left.word, return_inverse=True)
    subject, word = np.divmod(pairs, size)
    seen = np.bincount(place, chances, len(pairs))
    tokens = np.bincount(left.subject, minlength=len(left.named))[subject]
    others = len(left.word) - tokens
    whole = np.bincount(left.word, chances, size)[word]
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = tokens * (whole - seen + UNSEEN) / others
        gain = seen * np.log(seen / expected) - (seen - expected)
    fits = (seen > expected) & (others > 0) & left.ordinary[word] & left.named[subject]
    found = zip(subject[fits].tolist(), (left.words[x] for x in word[fits]), strict=True)
    return list(found), gain[fits]


def name_chances(left: WordsLeft) -> Floats:
    """Return the probability that a name would be in the place of each remaining word, (n,).

    Naive Bayes with the words before and after, learned from replaced names, and with the capital.
    """
    size = len(left.words)
    names, words = len(left.names_before), len(left.word)
    prior = (names + SHRINK) / (names + words + 2 * SHRINK)
    odds = -_logit(np.array(prior))
    for of_names, of_words in ((left.names_before, left.before), (left.names_after, left.after)):
        with_names = np.bincount(of_names, minlength=size)
        both = with_names + np.bincount(of_words, minlength=size)
        odds = odds + _logit((with_names + SHRINK * prior) / (both + SHRINK))[of_words]
    ordinary = left.ordinary[left.word]
    inside = ordinary & (left.small | left.capital)
    usual = ((inside & left.capital).sum() + SHRINK) / (inside.sum() + 2 * SHRINK)
    odds += np.where(left.capital, np.log(CAPITALISED / usual), 0.0)
    odds += np.where(left.small, np.log((1 - CAPITALISED) / (1 - usual)), 0.0)
    return np.asarray(1 / (1 + np.exp(-odds)))


def _logit(share: Floats) -> Floats:
    return np.asarray(np.log(share / (1 - share)))
