"""An adversary who links rows through kept columns, against the long way and against the bound."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables.joint.worlds import PEOPLE, shown, space_of

from voile.ledger.linking import GroupPairs as Pairs
from voile.ledger.linking import linked_matches
from voile.tables.joint.figures import ShownRelease as Shown
from voile.tables.joint.figures import joint_figures
from voile.tables.joint.linking import count_linked_matches as linked
from voile.tables.people.counts import Constraints
from voile.tables.policies.policy import Policy

DRAWN = settings(deadline=None, max_examples=60)


def rows_of(space, sample):
    """The combination of each person."""
    place = {tuple(code): i for i, code in enumerate(space.counts.codes.tolist())}
    at = [domain.position for domain in space.domains]
    return np.array([place[tuple(a[x] for a, x in zip(at, p, strict=True))] for p in sample])


@DRAWN
@given(PEOPLE, PEOPLE, st.data())
def test_linking_is_never_above_the_union(sample, others, data):
    space = space_of(sample, others)
    one, other = data.draw(shown(space)), data.draw(shown(space))
    many = data.draw(st.integers(0, 2))
    draw = st.lists(st.integers(0, 2), min_size=len(sample), max_size=len(sample))
    shared = [np.array(data.draw(draw)) for _ in range(many)]
    found = linked(space, rows_of(space, sample), one, other, shared)
    assert found <= joint_figures(space, [one, other]).matches + 1e-9
    third = data.draw(shown(space))
    assert found <= joint_figures(space, [one, other, third]).matches + 1e-9


@DRAWN
@given(PEOPLE, PEOPLE, st.data())
def test_a_shared_name_links_every_row_of_releases_that_suppress_nothing(sample, others, data):
    space = space_of(sample, others)
    bits = st.lists(st.booleans(), min_size=space.n_bits, max_size=space.n_bits)
    pair = [Shown(Policy(space.domains, np.array(data.draw(bits)))) for _ in range(2)]
    names = [np.arange(len(sample))]
    found = linked(space, rows_of(space, sample), *pair, names)
    assert found == pytest.approx(joint_figures(space, pair).matches)


GROUPS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=25
)


@DRAWN
@given(GROUPS, st.integers(0, 5))
def test_it_is_the_long_way(rows, outside):
    first, second, shared = (np.array([row[i] for row in rows]) for i in range(3))
    both = Counter(zip(first.tolist(), second.tolist(), strict=True))
    pairs = sorted(both)
    people = {pair: both[pair] + outside * (pair[1] % 2) for pair in pairs}
    alone = np.zeros(3)
    for (a, _), n in people.items():
        alone[a] += n
    there, truth = defaultdict(Counter), defaultdict(Counter)
    for a, b, v in rows:
        there[v][b] += 1
        truth[a, v][b] += 1
    low = high = 0.0
    for (a, v), own in truth.items():
        fits = {b: n for b, n in there[v].items() if (a, b) in people}
        promise = {b: n / sum(fits.values()) / people[a, b] for b, n in fits.items()}
        most = max(promise.values())
        if most > 1 / alone[a] + 1e-12:
            best = [own[b] / people[a, b] for b, x in promise.items() if x > most - 1e-12]
        else:
            best = [sum(own.values()) / alone[a]]
        low, high = low + min(best), high + max(best)  # of guesses that promise the same, any
    one, other = (np.array([pair[i] for pair in pairs]) for i in (0, 1))
    known = Pairs(one, other, np.array([float(people[pair]) for pair in pairs]))
    assert low - 1e-9 <= linked_matches(first, second, shared, alone, known) <= high + 1e-9


def test_suppressed_rows_are_not_linked():
    sample = [(0, "f", "ash")] * 5 + [(1, "f", "ash")] * 2 + [(2, "m", "oak")] * 5
    space = space_of(sample)
    whole = Policy(space.domains, np.ones(space.n_bits, np.bool_))
    rules = Constraints(k=5, suppress=0.9)
    found = linked(space, rows_of(space, sample), Shown.of(whole, rules), Shown(whole), [])
    assert found == pytest.approx(3.0)
