"""The decoder: the least expected cost of all sets of spans, whole units, guarded words."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.documents.words.decoder import OPENING, SIGN, decode_types, join_tokens, unit_places
from voile.documents.words.guarded import find_guarded
from voile.documents.words.looks import COMMA, DOT, FIRST_SIGN, INITIAL, INNER, SLASH
from voile.documents.words.tokens import LINE, tokenise


def units_of(text: str) -> list[str]:
    (places,) = unit_places(tokenise([text]))
    return [text[start:end] for start, end in places]


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("DOB: 03-04-1950.", ["03-04-1950"]),
        ("BP 120/80, T 98.6", ["120/80", "98.6"]),
        ("SSN 560-40-1234-5;", ["560-40-1234-5"]),
        ("at 2021-03-04T14:22:00Z", ["2021-03-04T14:22:00Z"]),
        ("her brother-in-law", ["brother-in-law"]),
        ("O'Brien's mother", ["O'Brien"]),
        ("al-Masri and van der Berg", ["al-Masri"]),
        ("P.K. Subban", ["P.K"]),
        ("he left.Smith came", []),
        ("Smith/Jones - and", []),
        ("a,b 1,234", ["1,234"]),
    ],
)
def test_units_are_words_that_signs_join_without_blanks(text, units):
    assert units_of(text) == units


def cost_of(tokens, chances, costs, types) -> float:
    """Return the expected cost of tokens' types by its definition; infinite of what is no span."""
    look, gap = tokens.known.looks[tokens.form], tokens.gap
    total, before = 0.0, 0
    for i, kind in enumerate(types):
        row = chances[i]
        if not kind:
            total += float(row @ costs)
            before = 0
            continue
        total += 1 - row[kind - 1]
        goes_on = before == kind and gap[i] < LINE
        if look[i] >= FIRST_SIGN:
            stop = look[i] == DOT and i > 0 and look[i - 1] == INITIAL
            last = i + 1 == len(types) or types[i + 1] != kind or gap[i + 1] >= LINE
            if not goes_on or (not stop and (last or look[i] not in (COMMA, INNER, SLASH))):
                return np.inf
            total += 0 if stop else SIGN
        elif not goes_on:
            total += OPENING
        before = kind
    return total


@given(
    st.lists(
        st.sampled_from(["Ana", "Ruiz", ",", "J", ".", "came", "\n", "/"]), min_size=1, max_size=5
    ),
    st.integers(0, 2**32 - 1),
    st.integers(1, 2),
)
@settings(max_examples=150, deadline=None)
def test_no_other_set_of_spans_costs_less(words, seed, kinds):
    tokens = tokenise([" ".join(words)])
    n = len(tokens)
    rng = np.random.default_rng(seed)
    chances = rng.dirichlet(np.full(kinds + 1, 0.7), n)[:, 1:]
    costs = rng.uniform(0.5, 12, kinds)
    found, _ = decode_types(tokens, chances, costs)
    best = min(
        (cost_of(tokens, chances, costs, types) for types in product(range(kinds + 1), repeat=n)),
        default=0.0,
    )
    assert cost_of(tokens, chances, costs, found.tolist()) == pytest.approx(best)


def test_a_unit_goes_as_a_whole_by_its_surest_part():
    tokens = tokenise(["born 03-04-1950 here"])
    chances = np.array([[0.0], [0.0], [0.0], [0.9], [0.0], [0.0], [0.0]])
    types, sure = decode_types(tokens, chances, np.array([2.0]))
    assert types.tolist() == [0, 1, 1, 1, 1, 1, 0]
    assert sure.tolist() == [0, 0.9, 0.9, 0.9, 0.9, 0.9, 0]


def test_tokens_that_are_gone_are_no_part_of_a_span():
    tokens = tokenise(["Ana [NAME] Ruiz"])
    left = np.array([True, False, True])
    types, _ = decode_types(tokens, np.full((3, 1), 0.9), np.array([9.0]), left)
    assert types.tolist() == [1, 0, 1]


def test_nothing_and_no_type_remove_nothing():
    assert decode_types(tokenise([""]), np.zeros((0, 1)), np.ones(1))[0].tolist() == []
    assert decode_types(tokenise(["a b"]), np.zeros((2, 0)), np.ones(0))[0].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("text", "guarded"),
    [
        ("MRN: 5, Tel 7", ["MRN"]),
        ("Anna Smith, MD", ["MD"]),
        ("Parkinson disease and Crohn's", ["Parkinson", "Crohn"]),
        ("Down syndrome; Wilson's disease", ["Down", "Wilson"]),
        ("Dr. Foley saw Anna Wilson", []),
        ("Foley catheter, Swan-Ganz catheter", ["Foley", "Swan", "Ganz"]),
        ("BP 120/80, HR 72, given 5 mg", ["BP", "120", "/", "80", "HR", "72", "5"]),
        ("on 03/04/2021 she", []),
        ("given Lasix and aspirin", ["Lasix", "aspirin"]),
    ],
)
def test_guarded_words_stay(text, guarded):
    tokens = tokenise([text])
    found = np.flatnonzero(find_guarded(tokens, join_tokens(tokens)))
    assert [tokens.forms[tokens.form[place]] for place in found] == guarded
