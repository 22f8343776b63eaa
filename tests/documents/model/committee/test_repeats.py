"""Examples of `committee/repeats`."""

from __future__ import annotations

import tracemalloc

import numpy as np

from voile.documents.model.committee.removals import TokenRemovals
from voile.documents.model.committee.repeats import _names_in, find_mentions
from voile.documents.words.tokens import tokenise

NAMED = np.array([False, True])


def test_examples_of_names_in():
    assert (_names_in("Núñez"), _names_in("nunez"), _names_in("ruiz_Wu")) == (
        (("nunez",), ("nunez",)),
        ((), ()),
        (("Wu",), ("ruiz", "Wu")),
    )


def test_a_run_of_letters_that_is_no_word_costs_no_more_than_it_is_long():
    """Mail and reports hold encoded files, each a word of a hundred thousand letters."""
    tokens = tokenise(["Ana Rivera A" + "b" * 20_000 + " Ana Riverra"])
    types = np.array([1, 1, 0, 0, 0], dtype=np.int16)
    tracemalloc.start()
    found = find_mentions(TokenRemovals(tokens, types, types - 1, types > 0), NAMED)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.tolist() == [0, 0, 0, 1, 1]
    assert peak < 10_000_000
