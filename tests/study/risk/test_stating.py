"""What texts state of a column: never less than a naive reader of the words, on random worlds."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from voile.data import open_source
from voile.study.readers.categories import CategoryReader, find_stated
from voile.study.risk.stating import category_columns, measure_stated, true_values

RACES = ["White", "Black", "Hispanic", "Other"]
FILLER = ["the", "other", "eye", "hurts", "blackish", "nonhispanic", "black"]


@pytest.mark.parametrize("seed", range(20))
def test_no_fewer_people_than_a_naive_reader_finds(seed):
    rng = np.random.default_rng(seed)
    truth = {f"p{n}": str(rng.choice(RACES)) for n in range(60)}
    texts = []
    for who, race in truth.items():
        words = [*rng.choice(FILLER, 3), *([race.lower()] if rng.random() < 0.5 else [])]
        texts.append((who, " ".join(rng.permutation(words))))
    [found] = measure_stated(texts, {"race": CategoryReader("race", RACES)}, {"race": truth})
    said = {}
    for who, text in texts:
        said[who] = frozenset(x for x in RACES if x.lower() in text.split())
    for words in {*said.values()} - {frozenset()}:
        own = [who for who in said if said[who] == words]
        [(value, most)] = Counter(truth[who] for who in own).most_common(1)
        assert sum(who in found.people for who in own) >= most
        assert {who for who in own if truth[who] == value} <= found.people
    assert not any(who in found.people for who in said if not said[who])
    assert found.of == 60


@pytest.mark.parametrize(
    ("column", "cells", "text", "read"),
    [
        ("race", ["White", "Black or African American"], "An african  American man", {1}),
        ("race", ["White", "Black"], "a Caucasian man", {0}),
        ("marital_status", ["M", "S", "D"], "Patient is married.", {0}),
        ("marital_status", ["M", "S", "D"], "never married , sadly", {1}),
        ("occupation", ["Fire fighter", "Nurse"], "works as a FIRE-FIGHTER", {0}),
        ("occupation", ["Fire fighter", "Nurse"], "fired", set()),
        ("ethnicity", ["hispanic", "nonhispanic"], "a nonhispanic man", {1}),
        ("job", ["Ärztin", "Lehrer"], "ist Arztin", {0}),
    ],
)
def test_words_of_a_value_are_read(column, cells, text, read):
    assert CategoryReader(column, cells).find_values(text) == {cells[n] for n in read}


def test_numbers_and_sexes_are_no_categories():
    table = open_source({"sex": ["male", "female"], "zip": ["00214", "00215"], "n": [1, 2],
                         "race": ["White", None]})  # fmt: skip
    assert [*category_columns(table, ["sex", "zip", "n", "race"])] == ["race"]


def test_a_person_without_a_value_or_words_is_not_stated():
    truth = {"a": "W", "b": "B"}
    said = {"a": frozenset(), "b": frozenset("B"), "c": frozenset("W")}
    assert find_stated(said, truth) == {"b"}


def test_of_several_rows_the_last_value_counts():
    table = open_source({"who": ["a", "a", "b"], "race": ["White", "Black", None]})
    assert true_values(table, "who", ["race"]) == {"race": {"a": "Black"}}
