"""Lemma 1 and Theorems 1-3 on small games, played by definition over all sets of classifiers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.documents.theory.proofs import passes_by_identifiers

from voile.core.errors import RequestError
from voile.documents.theory import (
    TokenConfusion,
    change,
    change_by_type,
    cost,
    cost_by_type,
    is_local_optimum,
    lemma_1,
    theorem_1,
    theorem_2,
    theorem_3,
)


@dataclass(frozen=True)
class Game:
    """Tokens with their truth, and classifiers as the sets of tokens that they call identifiers."""

    identifiers: frozenset[int]
    n: int
    classifiers: tuple[frozenset[int], ...]
    ratio: Fraction

    def published(self, H):
        return frozenset(range(self.n)).difference(*(self.classifiers[h] for h in H))

    def cost(self, H):
        left = self.published(H)
        lost = frozenset(range(self.n)) - left - self.identifiers
        return self.ratio * len(left & self.identifiers) + len(lost)

    def counts(self, h, H):
        P, called = self.published(H), self.classifiers[h]
        return TokenConfusion(
            tp=len(P & called & self.identifiers),
            fp=len(P & called - self.identifiers),
            tn=len(P - called - self.identifiers),
            fn=len(P - called & self.identifiers),
        )

    def attackers(self, H):
        """The most accurate classifier on what is published."""
        P = self.published(H)
        wrong = [len(P & (one ^ self.identifiers)) for one in self.classifiers]
        return wrong.index(min(wrong))

    def sets(self):
        numbers = range(len(self.classifiers))
        return (H for size in range(len(numbers) + 1) for H in combinations(numbers, size))

    def optimal(self, H):
        """Definition 4.1, by the cost itself."""
        return self.cost((*H, self.attackers(H))) >= self.cost(H)


@st.composite
def games(draw, ratios=(1, 3, 2, 1, 5, 9)):
    n = draw(st.integers(1, 9))
    tokens = st.frozensets(st.integers(0, n - 1))
    return Game(
        identifiers=draw(tokens),
        n=n,
        classifiers=tuple(draw(st.lists(tokens, min_size=1, max_size=4))),
        ratio=draw(st.sampled_from([Fraction(1, 3), Fraction(3, 2), *map(Fraction, ratios)])),
    )


@given(games())
def test_lemma_1_holds_for_any_set_and_classifier(game):
    """FN and FP as eq. 4 defines them: over all tokens, by all classifiers of the set."""
    everything = frozenset(range(game.n))
    for H in game.sets():
        for h in range(len(game.classifiers)):
            counts = game.counts(h, H)
            left = [game.published(H), game.published((*H, h))]
            told = lemma_1(
                [counts.tp],
                [counts.fp],
                missed=tuple(len(P & game.identifiers) for P in left),
                gone=tuple(len(everything - P - game.identifiers) for P in left),
            )
            assert [one.holds for one in told] == [True, True]


def test_lemma_1_says_so_where_the_numbers_are_not_of_one_run():
    missed, lost = lemma_1([3], [4], missed=(9, 6), gone=(1, 6))
    assert missed.verdict == "9 = 9"
    assert lost.verdict == "6 not = 5"


@given(
    st.lists(st.tuples(st.integers(0, 2), st.frozensets(st.integers(0, 2))), min_size=1),
    st.tuples(st.fractions(0.1, 20), st.floats(0.1, 20)),
)
def test_cost_changes_by_what_each_removes_where_types_have_costs_of_their_own(tokens, costs):
    """Each token has a type, 0 of none, and the classifiers that would remove it."""

    def total(H):
        """T(H), token by token."""
        worth = [Fraction(1), *map(Fraction, costs)]
        bad = [kind for kind, said in tokens if said.isdisjoint(H) == bool(kind)]
        return sum((worth[kind] for kind in bad), Fraction(0))

    told, H = [], ()
    for h in range(3):
        new = [kind for kind, said in tokens if h in said and said.isdisjoint(H)]
        found = [new.count(1), new.count(2)]
        told.append(change_by_type(found, new.count(0), costs))
        H = (*H, h)
        assert sum(told) == total(H) - total(())
    missed = [[kind for kind, said in tokens if said.isdisjoint(H)].count(one) for one in (1, 2)]
    lost = sum(not kind and not said.isdisjoint(H) for kind, said in tokens)
    assert cost_by_type(missed, lost, costs) == total(H)


@given(games())
def test_definition_4_1_and_theorem_2_tell_local_optima(game):
    for H in game.sets():
        attacker = game.counts(game.attackers(H), H)
        assert is_local_optimum(attacker, game.ratio) == game.optimal(H)
        assert theorem_2(attacker, game.ratio).holds == game.optimal(H)


def changes(added, ratio):
    return [change(one, ratio) for one in added]


def greedy(game):
    """Algorithm 1: add the most accurate classifier of what is left while the cost falls."""
    H, kept = (), []
    while True:
        h = game.attackers(H)
        if game.cost((*H, h)) >= game.cost(H):
            return H, kept, game.counts(h, H)
        kept.append(game.counts(h, H))
        H = (*H, h)


@given(games())
def test_greedy_ends_at_a_local_optimum_within_both_bounds(game):
    H, kept, _ = greedy(game)
    told = theorem_1(changes(kept, game.ratio), game.n, len(game.identifiers))
    assert told.applies == (len(game.identifiers) < game.n)
    assert told.holds is not False
    ours = passes_by_identifiers(changes(kept, game.ratio), len(game.identifiers))
    assert ours.holds
    assert ours.observed == len(H) + 1
    assert game.optimal(H)


@pytest.mark.parametrize("n", [4, 5])
def test_where_all_tokens_are_identifiers_the_printed_theorem_1_fails_by_one(n):
    each = tuple(frozenset({token}) for token in range(4))
    _, kept, _ = greedy(Game(frozenset(range(4)), n, each, Fraction(2)))
    assert len(kept) + 1 == 5  # iterations of a set of n tokens
    told = theorem_1(changes(kept, 2), n, 4)
    assert told.holds is (True if n == 5 else None)
    assert told.reason == ("" if n == 5 else "every token is an identifier")
    assert passes_by_identifiers(changes(kept, 2), 4).observed == 5


def test_theorem_1_does_not_apply_to_a_loop_that_went_on():
    pays, does_not = TokenConfusion(2, 3, 5, 1), TokenConfusion(1, 3, 5, 1)
    why = "does not apply: the classifier of pass 2 was added and did not lower T"
    assert theorem_1(changes([pays, does_not], 2), 11, 3).verdict == why
    assert passes_by_identifiers(changes([pays, does_not], 2), 3).verdict == why


@given(games())
def test_theorem_3_bounds_what_the_attacker_finds_at_any_local_optimum(game):
    for H in game.sets():
        attacker = game.counts(game.attackers(H), H)
        told = theorem_3(attacker, game.ratio)
        assert told.applies == game.optimal(H)
        if told.applies:
            assert told.holds
            assert told.vacuous == (told.value >= attacker.identifiers)
            if game.ratio > attacker.harmless:
                assert attacker.tp == 0


@given(games())
def test_publishing_nothing_is_a_local_optimum(game):
    everything = frozenset(range(game.n))
    widest = Game(game.identifiers, game.n, (*game.classifiers, everything), game.ratio)
    H = (len(game.classifiers),)
    assert widest.optimal(H)
    assert theorem_3(widest.counts(widest.attackers(H), H), game.ratio).value == 0


@given(games(ratios=(2, 5, 9)))
def test_with_a_classifier_that_finds_nothing_an_optimum_leaves_nothing_to_find(game):
    if game.ratio <= 1:
        return
    silent = Game(game.identifiers, game.n, (*game.classifiers, frozenset()), game.ratio)
    for H in silent.sets():
        attacker = silent.counts(silent.attackers(H), H)
        if silent.optimal(H):
            assert attacker.positives == 0


@given(st.integers(0, 50), st.integers(0, 50), st.integers(1, 20), st.integers(1, 20))
def test_the_smallest_ratio_serves_several_types(tp, other, ratio, more):
    counts = TokenConfusion(tp + other, ratio * tp + (ratio + more) * other, 3, 2)
    both = cost(tp, 0, ratio) + cost(other, 0, ratio + more) - cost(0, counts.fp, 1)
    assert both == 0  # adding h_A changes nothing: an optimum, just so, over both types
    assert is_local_optimum(counts, ratio)
    assert change(counts, ratio) >= 0


@pytest.mark.parametrize("ratio", [0, -1, float("nan"), float("inf")])
def test_a_ratio_is_a_number_above_nothing(ratio):
    with pytest.raises(RequestError, match="must be a number above 0"):
        cost(1, 1, ratio)


def test_counts_are_whole_and_not_negative():
    import numpy as np

    with pytest.raises(RequestError, match="the count fn is -1"):
        TokenConfusion(0, 0, 0, -1)
    with pytest.raises(TypeError):
        TokenConfusion(0.5, 0, 0, 0)
    big = TokenConfusion(*np.array([2**40, 2**41, 5, 6]))
    assert change(big, 2**40) == 2**41 - 2**80


def test_examples_of_theorem_2():
    assert not theorem_2(TokenConfusion(tp=1, fp=49, tn=850, fn=99), miss_cost=50).holds
    silent = theorem_2(TokenConfusion(tp=0, fp=9, tn=850, fn=99), miss_cost=50)
    assert silent.holds
    assert not silent.vacuous
    assert silent.verdict == "the classifier finds no identifier (TP_A = 0)"


def test_examples_of_theorem_3():
    assert (
        str(theorem_3(TokenConfusion(tp=1, fp=50, tn=850, fn=99), miss_cost=50))
        == "Theorem 3: TP_A <= C/L (1 - alpha) n: 1 <= 18"
    )
