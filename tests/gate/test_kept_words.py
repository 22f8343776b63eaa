"""The share of words that stay, and true dates next to moved ones, against naive twins."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.data import open_source
from voile.gate.dates_left import measure_dates_left
from voile.gate.finding import figures_of
from voile.gate.kept_words import measure_kept_words

WORDS = st.lists(st.sampled_from(["anna", "seen", "by", "[NAME]", "well"]), max_size=6)


def table(texts, name="note"):
    return open_source(pa.table({name: pa.array(texts, pa.string())}))


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=5))
def test_a_word_counts_as_often_as_both_contain_it(pairs):
    before = [word.strip("[]") for words, _ in pairs for word in words]
    after = [word for _, words in pairs for word in words if word != "[NAME]"]
    kept = 0
    for word in before:
        if word in after:
            after.remove(word)
            kept += 1
    found = measure_kept_words(
        table([" ".join(words) for _, words in pairs]),
        ["note"],
        table([" ".join(words) for words, _ in pairs], "text"),
        ["text"],
        np.arange(len(pairs)),
    )
    assert found.value == (kept / len(before) if before else 1)


def test_only_released_rows_count():
    source = table(["one two", "three", None, "four five"])
    found = measure_kept_words(
        table(["four [NAME]", "one two"]), ["note"], source, ["note"], np.array([3, 0])
    )
    assert found.value == 3 / 4


def dates_left(before, after, people=None):
    persons = None
    if people is not None:
        persons = open_source(pa.table({"person": pa.array(people, pa.int64())}))
    order = np.arange(len(before))
    found = measure_dates_left(table(after), ["note"], table(before), ["note"], order, persons)
    return figures_of(found)


@pytest.mark.parametrize(
    ("before", "after", "true"),
    [
        ("Seen 03/04/2021, f/u 9/6.", "Seen 05/01/2021, f/u 9/6.", 1),
        ("Seen 03/04/2021, f/u 9/6.", "Seen 05/01/2021, f/u 11/3.", 0),
        ("Seen 03/04/2021, f/u 9/6.", "Seen 03/04/2021, f/u 9/6.", 0),
        ("3 de marzo y el 5 de mayo", "8 de abril y el 5 de mayo", 1),
        ("March 3 and 2021-05-01", "March 9 and 2021-05-01", 1),
        ("BP 120/80 on March 3, strength 4/5", "BP 120/80 on March 9, strength 4/5", 0),
        ("He may 2 go on March 3", "He may 2 go on April 9", 0),
        ("On March 3 and since March 5", "In winter and since March 5", 1),
    ],
)
def test_one_true_date_next_to_a_moved_one_is_found(before, after, true):
    assert dates_left([before], [after])["true_dates"] == true


def test_dates_are_compared_by_person():
    before, after = ["On March 3", "On March 5"], ["On April 9", "On March 5"]
    assert dates_left(before, after)["true_dates"] == 0
    one = dates_left(before, after, [7, 7])
    assert (one["true_dates"], one["people_with_true_dates"]) == (1, 1)
    assert dates_left(before, after, [7, 8])["true_dates"] == 0
