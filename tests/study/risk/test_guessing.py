"""A classifier on released texts: it finds what they say of a sex, and nothing where they are
neutral.
"""

from __future__ import annotations

import numpy as np
import pytest

from voile.study.risk import guessing
from voile.study.risk.guessing import gather, guess

WORDS = [
    "fever",
    "cough",
    "rest",
    "home",
    "ward",
    "pain",
    "seen",
    "well",
    "drug",
    "dose",
    "night",
    "day",
]


def people(n: int, said: float) -> tuple[dict[str, str], dict[str, str]]:
    """Return texts of n people, of whom a share is called she or he, and the sex of each."""
    rng = np.random.default_rng(7)
    truth = {f"P{x}": "FM"[x % 2] for x in range(n)}
    words = {one: " ".join(rng.choice(WORDS, 12)) for one in truth}
    called = {one: {"F": "she", "M": "he"}[sex] for one, sex in truth.items()}
    texts = {
        one: f"{text} {called[one] if rng.random() < said else 'they'}"
        for one, text in words.items()
    }
    return texts, truth


@pytest.mark.parametrize(("said", "found"), [(1.0, True), (0.3, True), (0.0, False)])
def test_what_is_left_of_the_sex_is_found(said, found):
    result = guess("sex", *people(400, said))
    assert result.is_above_chance == found
    assert result.low <= result.accuracy <= result.high
    assert result.accuracy == pytest.approx(0.5 + said / 2, abs=0.1)
    assert (result.people, result.chance) == (400, 0.5)


def test_a_commoner_sex_is_no_success():
    texts, truth = people(400, 0.0)
    more = {one: "M" if n % 8 else "F" for n, one in enumerate(truth)}
    assert guess("sex", texts, more).accuracy < 0.65


@pytest.mark.parametrize("truth", [{}, dict.fromkeys(("P0", "P1"), "F"), {"P0": "F", "P1": "M"}])
def test_of_one_sex_or_few_people_nothing_is_said(truth):
    texts, _ = people(2, 1.0)
    assert guess("sex", texts, truth) is None


def test_memory_follows_some_people(monkeypatch):
    monkeypatch.setattr(guessing, "MOST_PEOPLE", 2)
    monkeypatch.setattr(guessing, "MOST_CHARACTERS", 3)
    said = [("b", "abcdef"), ("a", "x"), ("c", "never"), ("a", "y"), ("b", "more")]
    assert gather(said, "abc") == {"b": "abc\n", "a": "x\ny\n"}
