"""A kit notices notes of another style, and no notes of its own."""

from __future__ import annotations

import random

import numpy as np
import pytest

from voile.documents.words.novelty import NoveltyCheck

WORDS = [f"{a}{b}{c}" for a in "bdfgklmn" for b in "aeiou" for c in ("st", "rt", "nd", "l", "m")]


def notes(seed: int, n: int, *, first: int = 0) -> list[str]:
    """Return notes whose words are drawn by rank, as words are."""
    draw = random.Random(seed)
    weights = [1 / rank for rank in range(1, len(WORDS) - first + 1)]
    return [" ".join(draw.choices(WORDS[first:], weights, k=40)) for _ in range(n)]


def check_of(texts: list[str]) -> NoveltyCheck:
    found = NoveltyCheck.learn(texts, [str(n) for n in range(len(texts))])
    assert found is not None
    return found


def test_a_share_is_that_of_words_in_no_note_of_the_kit():
    check = check_of(notes(1, 60))
    known = {word for text in notes(1, 60) for word in text.split()}
    for text in notes(2, 20):
        words = text.split()
        assert check.measure([text]) == pytest.approx(np.mean([w not in known for w in words]))


def test_notes_of_the_same_source_seldom_count_as_new():
    false = 0
    for seed in range(40):
        check = check_of(notes(seed, 60))
        false += check.measure(notes(1000 + seed, 20)) > check.high
    assert false <= 2


@pytest.mark.parametrize(
    "changed", [str.upper, lambda text: " ".join(w[::-1] for w in text.split())]
)
def test_another_style_and_another_language_count_as_new(changed):
    check = check_of(notes(1, 60))
    assert check.measure(map(changed, notes(2, 20))) > check.high


def test_it_is_kept_with_a_kit():
    check = check_of(notes(1, 60))
    again = NoveltyCheck.from_data(check.to_data())
    assert again.measure(notes(2, 5)) == check.measure(notes(2, 5))


def test_few_notes_say_nothing():
    assert NoveltyCheck.learn(notes(1, 10), [str(n) for n in range(10)]) is None
    assert check_of(notes(1, 60)).measure(["three words only", ""]) is None
