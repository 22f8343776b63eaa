"""What a measure declares is checked on random merges before it is believed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.tables.fitting.scoring.evaluator import PolicyEvaluator
from voile.tables.fitting.scoring.monotone import check
from voile.tables.people.counts import CombinationCounts
from voile.tables.scoring.group_measures import GroupMeasure


def table(*, sizes=(2, 2), sample=(1.0, 2.0, 3.0, 4.0), people=(2.0, 2.0, 8.0, 8.0)):
    codes = np.stack(np.unravel_index(np.arange(len(sample)), sizes), axis=1).astype(np.int32)
    return CombinationCounts(
        sizes, codes, np.array(sample), np.array(people), np.zeros((len(sample), 0))
    )


@given(st.integers(0, 2**32))
@settings(max_examples=30, deadline=None)
def test_what_is_monotone_passes(own, seed):
    counts = own.counts(seed)
    for pair in own.pairs(counts).values():
        for measure in pair:
            check(measure, counts, random_state=seed)


def test_shows_the_merge_that_breaks_a_risk(own):
    # One attribute, one cut: 1 / 2 and 1 / 2 apart, 3 together.
    counts = CombinationCounts(
        (2,), np.array([[0], [1]], np.int32), np.ones(2), np.full(2, 2.0), np.zeros((2, 0))
    )
    rising = own.risk(lambda groups: np.where(groups.group > 3, 3.0, 0.5), name="crowds")
    with pytest.raises(RequestError) as refused:
        check(rising, counts, columns=["zip"])
    assert str(refused.value) == (
        "crowds declares that it falls as policies become more general, and rose by 2 "
        "when cut 1 of zip was merged after 0 other cuts"
    )


def test_shows_the_merge_that_breaks_a_loss(own):
    falling = own.loss(lambda groups: np.ones(len(groups)), name="groups")
    with pytest.raises(RequestError, match=r"groups declares that it rises .* and fell by \d"):
        check(falling, table())


def test_counts_cuts_within_their_attribute(own):
    """Only merging the third value of the second attribute with the fourth is wrong."""
    sample = np.ones(8)
    sample[[2, 3, 6, 7]] = 7.0
    counts = table(sizes=(2, 4), sample=sample, people=sample)
    wrong = own.risk(lambda groups: groups.subjects * (groups.subjects == 14) * (groups.width == 2))
    with pytest.raises(RequestError, match=r"cut [123] of (age was|sex was)|cut 3 of age"):
        check(wrong, counts, columns=["sex", "age"])


def test_single_merges_find_what_one_chain_misses():
    """Only merging the fifth value with the sixth is wrong, and only while both are alone."""
    sample = np.ones(12)
    sample[4:6] = 7.0
    codes = np.arange(12, dtype=np.int32)[:, None]
    counts = CombinationCounts((12,), codes, sample, sample, np.zeros((12, 0)))
    pair = GroupMeasure(
        "pair", "", "", "", generalising="falls", each=lambda g: 1.0 * (g.subjects == 14)
    )

    def refused(seed):
        try:
            check(pair, counts, chains=1, random_state=seed)
        except RequestError:
            return True
        return False

    assert sum(refused(seed) for seed in range(20)) >= 15


@pytest.mark.parametrize(
    ("each", "says"),
    [
        (lambda g: g.subjects * np.nan, "NaN or infinite"),
        (lambda g: g.subjects / 0.0, "NaN or infinite"),
        (lambda g: -g.subjects, "negative risk"),
        (lambda g: g.subjects.sum(), r"gave float64 of shape \(\) for 4 groups"),
        (lambda g: g.subjects[:, None], r"gave float64 of shape \(4, 1\) for 4 groups"),
        (lambda g: g.subjects.astype(str), r"gave <U\d+ of shape \(4,\)"),
        (lambda _: None, r"gave object of shape \(\)"),
        (lambda g: g.subjects / g.subjects.sum(), "depends on the other groups"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_refuses_what_is_no_number_for_each_group(own, each, says):
    with pytest.raises(RequestError, match=says):
        check(own.risk(each), table())
    with pytest.raises(RequestError, match=says):
        PolicyEvaluator(table(), risk=own.risk(each)).evaluate(np.ones((1, 2), dtype=bool))


def test_a_loss_may_be_negative_and_numbers_may_be_whole(own):
    check(own.loss(lambda groups: -(groups.subjects / groups.group)), table())
    check(own.risk(lambda groups: (groups.group < 5).astype(int)), table(people=np.ones(4)))
    check(own.risk(lambda groups: groups.group < 3), table())


@pytest.mark.parametrize("declared", ["neither", "rises"])
def test_refuses_a_risk_that_does_not_declare_that_it_falls(declared):
    risk = GroupMeasure("r", "", "", "", generalising=declared, each=lambda g: g.subjects)
    with pytest.raises(RequestError, match="r does not declare that it falls"):
        PolicyEvaluator(table(), risk=risk)


def test_refuses_a_loss_that_does_not_declare_that_it_rises():
    loss = GroupMeasure("l", "", "", "", generalising="falls", each=lambda g: g.subjects)
    with pytest.raises(RequestError, match="l does not declare that it rises"):
        PolicyEvaluator(table(), loss=loss)
    undeclared = GroupMeasure("u", "", "", "", each=lambda g: g.subjects)
    with pytest.raises(RequestError, match="u does not declare"):
        check(undeclared, table())


def test_the_same_seed_checks_the_same_chains(own):
    def message(seed):
        wrong = own.risk(lambda groups: groups.subjects * (groups.width > 2))
        with pytest.raises(RequestError) as refused:
            check(wrong, own.counts(3), random_state=seed)
        return str(refused.value)

    assert message(1) == message(1)
    assert len({message(seed) for seed in range(8)}) > 1


@pytest.mark.whole
def test_a_long_lattice_is_checked_along_part_of_a_chain(own):
    rng = np.random.default_rng(0)
    codes = np.unique(rng.integers(0, 4000, (60, 2)), axis=0).astype(np.int32)
    ones = np.ones(len(codes))
    counts = CombinationCounts((4000, 4000), codes, ones, ones.copy(), np.zeros((len(codes), 0)))
    asked = []

    def each(groups):
        asked.append(len(groups))
        return groups.subjects / groups.group

    check(own.risk(each), counts, chains=1)
    assert 100 < len(asked) < 2_100
