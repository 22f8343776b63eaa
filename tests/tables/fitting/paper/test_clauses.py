"""What is drawn overlaps nothing pruned, and something is drawn while anything is left."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.tables.fitting.paper.clauses import PolicySublattice, PrunedSublattices


@st.composite
def lattices(draw):
    """Sublattices of one lattice of at most 10 bits; None stands for a free cut."""
    n_bits = draw(st.integers(1, 10))
    rows = st.lists(st.sampled_from([0, 1, None]), min_size=n_bits, max_size=n_bits)
    return n_bits, [sublattice(row) for row in draw(st.lists(rows, max_size=12))]


def sublattice(fixed):
    return PolicySublattice(
        np.array([bit == 1 for bit in fixed]), np.array([bit in (1, None) for bit in fixed])
    )


def members(lattice):
    """Say by enumeration which of all policies lie between top and bottom."""
    n_bits = len(lattice.top)
    every = (np.arange(2**n_bits)[:, None] >> np.arange(n_bits) & 1).astype(bool)
    return (every >= lattice.top).all(axis=1) & (every <= lattice.bottom).all(axis=1)


def pruned_of(n_bits, sublattices):
    pruned = PrunedSublattices(n_bits)
    for one in sublattices:
        pruned.add(one)
    assert len(pruned) == len(sublattices)
    return pruned


@given(lattices(), st.integers(0, 2**32))
@settings(max_examples=120, deadline=None)
def test_what_is_drawn_overlaps_nothing_pruned(lattice, seed):
    n_bits, sublattices = lattice
    covered = np.zeros(2**n_bits, dtype=bool)
    for one in sublattices:
        covered |= members(one)
    required = np.zeros(n_bits, dtype=bool)
    drawn = pruned_of(n_bits, sublattices).draw(np.random.default_rng(seed), required)
    if drawn is None:
        assert covered.all()
        return
    assert members(drawn).any()
    assert not (members(drawn) & covered).any()


@given(lattices(), st.integers(0, 2**32))
@settings(max_examples=80, deadline=None)
def test_cuts_that_must_stay_are_kept(lattice, seed):
    n_bits, sublattices = lattice
    required = np.random.default_rng(seed).random(n_bits) < 0.3
    left = members(PolicySublattice(required, np.ones(n_bits, dtype=bool)))
    for one in sublattices:
        left &= ~members(one)
    drawn = pruned_of(n_bits, sublattices).draw(np.random.default_rng(seed), required)
    assert (drawn is None) == (not left.any())
    if drawn is not None:
        assert drawn.top[required].all()
        assert left[members(drawn)].all()


def test_the_whole_lattice_is_drawn_while_nothing_is_pruned():
    drawn = PrunedSublattices(4).draw(np.random.default_rng(0), np.zeros(4, dtype=bool))
    assert members(drawn).all()


def test_one_clause_fixes_one_cut():
    pruned = pruned_of(4, [sublattice([0, 1, None, None])])
    tops = set()
    for seed in range(20):
        drawn = pruned.draw(np.random.default_rng(seed), np.zeros(4, dtype=bool))
        assert members(drawn).sum() == 8
        tops.add((tuple(drawn.top), tuple(drawn.bottom)))
    assert len(tops) == 2  # keep the first cut, or lack the second


def test_nothing_is_left_once_two_halves_are_pruned():
    pruned = pruned_of(3, [sublattice([0, None, None]), sublattice([1, None, None])])
    assert pruned.draw(np.random.default_rng(0), np.zeros(3, dtype=bool)) is None


def test_backtracks_out_of_a_dead_end():
    """Keeping the first cut, which the first clause allows, leaves the others nothing."""
    pruned = pruned_of(
        3, [sublattice([0, 0, None]), sublattice([1, None, 0]), sublattice([1, None, 1])]
    )
    for seed in range(20):
        drawn = pruned.draw(np.random.default_rng(seed), np.zeros(3, dtype=bool))
        assert members(drawn)[members(sublattice([0, 1, None]))].sum() == members(drawn).sum() > 0


class Counted(PrunedSublattices):
    """Counts how often a literal is made true."""

    made = 0

    def _make(self, *args):
        self.made += 1
        return super()._make(*args)


def test_nothing_is_tried_twice():
    """A literal that led nowhere is made false, so that no two branches share a policy."""
    pruned = Counted(6)
    for number in range(2**6):  # every policy by itself
        fixed = [number >> bit & 1 for bit in range(6)]
        pruned.add(sublattice(fixed))
    assert pruned.draw(np.random.default_rng(0), np.zeros(6, dtype=bool)) is None
    assert pruned.made <= 2 * (2**6 - 1)
