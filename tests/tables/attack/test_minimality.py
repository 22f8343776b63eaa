"""Cuts that are not there give sensitive values away where they must, and nothing where not."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest

from voile.tables.attack.exact import ExactRows
from voile.tables.attack.minimality import (
    DOUBT,
    PromisedRules,
    SensitivePeople,
    beliefs,
    cuts_of_all,
    cuts_of_tree,
    minimality,
)


def exact(places, group=None):
    places = np.array(places, np.int32).reshape(len(places), -1)
    group = np.zeros(len(places), int) if group is None else np.array(group)
    return ExactRows(places, group)


def attacked(people, values, rules, *, is_tree=True, **options):
    return minimality(
        people,
        [SensitivePeople(np.array(values), rules)],
        0,
        known=["age"],
        sensitive="ill",
        is_tree=is_tree,
        rng=np.random.default_rng(1),
        **options,
    )


def by_enumeration(people, values, rules, cuts):
    """Return the chances of each person over all orders of the values, from the definition."""
    above, found = cuts.above(people.places), Counter()
    whole = np.bincount(values) / len(values)

    def keeps(part):
        n = np.bincount(part, minlength=len(whole))
        share = n[n > 0] / n.sum()
        far = abs(np.cumsum(n / n.sum() - whole)).sum() / (len(whole) - 1)
        far = far if rules.ordered else abs(n / n.sum() - whole).sum() / 2
        diverse = (n > 0).sum() >= rules.distinct
        even = -(share * np.log(share)).sum() >= np.log(rules.entropy) - 1e-9
        return diverse and even and far <= rules.t + 1e-9

    for world in set(permutations(values)):
        has = np.array(world)
        kept = sum(keeps(has[side]) and keeps(has[~side]) for side in above)
        for person, value in enumerate(world):
            found[person, value] += DOUBT**kept
    chances = np.zeros((len(values), max(values) + 1))
    for at, weight in found.items():
        chances[at] = weight
    return chances / chances.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    "rules",
    [
        PromisedRules(2, distinct=2),
        PromisedRules(2, entropy=1.8),
        PromisedRules(2, t=0.3),
        PromisedRules(3, t=0.2, ordered=True),
        PromisedRules(2, distinct=3, entropy=1.9),
    ],
)
@pytest.mark.parametrize("seed", range(4))
def test_beliefs_are_those_of_all_worlds_that_explain_the_missing_cuts(rules, seed):
    rng = np.random.default_rng(seed)
    people = exact(rng.integers(0, 4, (7, 2)))
    values = rng.permutation([0, 0, 0, 1, 1, 2, 2])
    cuts = cuts_of_tree(people, rules.least, np.random.default_rng(0))
    if not cuts:
        return
    [found] = beliefs(people, [SensitivePeople(values, rules)], 0, cuts, rng)
    expected = by_enumeration(people, values.tolist(), rules, cuts[0])
    assert found.chances == pytest.approx(expected, abs=0.1)


def test_a_box_that_k_would_have_cut_betrays_who_is_alike():
    """Two ages, three people each, of four flus and two gouts: uncut at k = 3, l = 2.

    The cut between the ages keeps k; that it is missing says that one age has three flus, and
    so that both gouts are of one age. It does not say of which.
    """
    people = exact([30, 30, 30, 40, 40, 40])
    [found] = beliefs(
        people,
        [SensitivePeople(np.array([0, 0, 0, 0, 1, 1]), PromisedRules(3, distinct=2))],
        0,
        cuts_of_tree(people, 3, np.random.default_rng(0)),
        np.random.default_rng(0),
    )
    assert found.chances[:, 1] == pytest.approx([1 / 3] * 6, abs=0.03)


def test_two_missing_cuts_name_the_people():
    """Three ages, two people each, k = 2: both cuts are missing, so both outer ages are alike.

    Values a, a, b, b and c, d: below the first cut and above the second stand two people each, who
    must share a value. Each of these four has a or b; the two in the middle have c and d.
    """
    places, values = [30, 30, 40, 40, 50, 50], [0, 0, 2, 3, 1, 1]
    groups = np.repeat(np.arange(150), 6)
    people = exact(np.tile(places, 150), groups)
    found = attacked(people, np.tile(values, 150), PromisedRules(2, distinct=2))
    guesses, sure = found.findings
    low, _ = guesses.rate.interval()
    _, blind = guesses.baseline.interval()
    assert low > blind
    assert 0.4 < guesses.rate.value < 0.6  # a or b, c or d: half of each
    assert guesses.baseline.value == pytest.approx(1 / 3, abs=0.06)
    assert sure.rate.trials == 0  # nobody's value is certain


def test_who_is_alone_alike_is_named_with_certainty():
    """Six people, ages 30, 30, 40, 40, 40, 40, of two gouts and four others, no two alike.

    Only the two gouts can be the side of two that lacks two values.
    """
    people = exact(np.tile([30, 30, 40, 40, 40, 40], 30), np.repeat(np.arange(30), 6))
    found = attacked(people, np.tile([0, 0, 1, 2, 3, 4], 30), PromisedRules(2, distinct=2))
    claims = found.findings[1]
    assert (claims.rate.successes, claims.rate.trials) == (60, 60)
    assert claims.baseline.value < 0.6


@pytest.mark.parametrize("is_tree", [True, False])
def test_cuts_that_are_missing_for_another_reason_give_nothing_away(is_tree):
    """The data holder pruned for less risk: values are independent of age, and no rule broke."""
    rng = np.random.default_rng(3)
    people = exact(np.tile(np.repeat([30, 40], 10), 60), np.repeat(np.arange(60), 20))
    values = rng.integers(0, 3, 1200)
    found = attacked(people, values, PromisedRules(2, distinct=2), is_tree=is_tree)
    guesses = found.findings[0]
    if guesses.rate.trials:
        low, high = guesses.rate.interval()
        assert low <= guesses.baseline.value + 0.02
        assert high >= guesses.baseline.value - 0.08


def test_a_cut_of_all_groups_is_told_by_the_one_group_that_can_have_broken_it():
    """Two groups under one cut at 40: of the first every half is diverse however it is handed out.

    So the second, of two gouts and four others, has broken it.
    """
    first = [30] * 3 + [40] * 3
    second = [30] * 2 + [40] * 4
    people = exact(first + second, [0] * 6 + [1] * 6)
    values = np.array([0, 1, 2, 3, 4, 5, 0, 0, 1, 2, 3, 4])
    rules = PromisedRules(2, distinct=2)
    cuts = cuts_of_all(people, 2)
    found = beliefs(people, [SensitivePeople(values, rules)], 0, cuts, np.random.default_rng(0))
    own = {one.group: one.chances for one in found}
    assert own[1][:2, 0].min() > 0.95
    assert 0 not in own or own[0].max() < 0.4


def test_a_cut_that_leaves_too_few_in_any_group_is_missing_for_k():
    people = exact([30, 30, 40, 40, 30, 40, 40, 40], [0] * 4 + [1] * 4)
    assert cuts_of_all(people, 2) == {}
    assert list(cuts_of_tree(people, 2, np.random.default_rng(0))) == [0]


def test_another_column_that_surely_broke_the_cut_explains_it():
    people = exact([30, 30, 40, 40, 40, 40])
    ill, same = np.array([0, 0, 1, 2, 3, 4]), np.array([0, 0, 0, 0, 0, 1])
    rules = PromisedRules(2, distinct=2)
    cuts = cuts_of_tree(people, 2, np.random.default_rng(0))
    both = [SensitivePeople(ill, rules), SensitivePeople(same, rules)]
    assert beliefs(people, both, 0, cuts, np.random.default_rng(0)) == []
    assert len(beliefs(people, both[:1], 0, cuts, np.random.default_rng(0))) == 1
