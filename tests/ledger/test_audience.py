"""Coalitions of recipients: every largest set of which no two are apart, and no other."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.ledger.audience import MOST, LedgerAudience

NAMES = "ABCDEF"
PAIRS = st.sets(st.sampled_from([*combinations(NAMES, 2)]), max_size=9)


def naive(audience: LedgerAudience, name: str | None) -> set[frozenset[str]]:
    fits = [
        set(some)
        for size in range(len(audience.names) + 1)
        for some in combinations(audience.names, size)
        if (name is None or name in some)
        and not any(audience.are_apart(a, b) for a, b in combinations(some, 2))
    ]
    return {frozenset(one) for one in fits if not any(one < other for other in fits)}


@given(PAIRS, st.sampled_from([None, *NAMES]))
def test_coalitions_are_all_the_largest_ones(pairs, name):
    audience = LedgerAudience(tuple(sorted(pairs)))
    named = audience.name_of(name)
    found = audience.coalitions(named)
    assert len(found) == len(set(found))
    assert set(found) == naive(audience, named)


def test_all_collude_without_a_word():
    assert LedgerAudience().coalitions(None) == [frozenset()]
    assert LedgerAudience().coalitions(LedgerAudience().name_of("Site A")) == [frozenset()]


def test_the_longest_name_is_the_recipient():
    audience = LedgerAudience((("Site B", "Site B, Inc."), ("Site A", "Site B")))
    names = ["Site B, Inc.", "Site B, Inc., May", "Site B, May", "Site Bar", "site b"]
    assert [audience.name_of(one) for one in names] == [
        *("Site B, Inc.", "Site B, Inc.", "Site B", None, None)
    ]


@pytest.mark.parametrize(
    "pairs", [(("A", "A"),), (("", "A"),), tuple((f"A{i}", f"B{i}") for i in range(MOST))]
)
def test_pairs_that_say_nothing_or_too_many_are_refused(pairs):
    with pytest.raises(RequestError):
        LedgerAudience(pairs)
