"""Rates keep their counts and so their intervals; evidence survives a file."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from voile.core.evidence import Count, Curve, Evidence, Finding, Note, Rate, difference

counts = st.integers(1, 10**9).flatmap(
    lambda n: st.tuples(st.integers(0, n), st.just(n)).map(lambda pair: Rate(*pair))
)


@pytest.mark.parametrize(("successes", "trials"), [(-1, 3), (4, 3), (1, 0)])
def test_impossible_counts_are_refused(successes, trials):
    with pytest.raises(ValueError, match="successes of"):
        Rate(successes, trials)


@pytest.mark.parametrize("deff", [0.5, math.inf, math.nan])
def test_a_design_effect_is_one_or_more(deff):
    with pytest.raises(ValueError, match="the design effect is"):
        Rate(1, 5, clusters=3, deff=deff)


def test_trials_come_from_as_many_clusters_at_most():
    assert Rate(1, 5, clusters=5).clusters == 5
    assert Rate(0, 0, clusters=0).interval() == (0.0, 1.0)
    for clusters in (0, 6):
        with pytest.raises(ValueError, match=f"{clusters} clusters of 5 trials"):
            Rate(1, 5, clusters=clusters)


def test_one_cluster_says_nothing_and_two_little():
    assert Rate(3, 9, clusters=1, deff=9).interval() == (0.0, 1.0)
    low, high = Rate(3, 9, clusters=2).interval()
    assert 0 < low < high < 1


def test_each_trial_has_its_subject():
    with pytest.raises(ValueError, match="shorter"):
        Rate.by_subject([True, False], ["Ana"])
    with pytest.raises(ValueError, match="shorter"):
        Rate.from_clusters([1, 0], [2])


def test_nothing_tried_says_nothing():
    rate = Rate(0, 0)
    assert math.isnan(rate.value)
    assert rate.interval() == (0.0, 1.0)


def test_wilson_agrees_with_a_worked_example():
    """Newcombe 1998, table I: 81 of 263 is 0.2553 to 0.3662."""
    low, high = Rate(81, 263).interval()
    assert (round(low, 4), round(high, 4)) == (0.2553, 0.3662)


@given(counts)
def test_an_interval_holds_its_rate(rate):
    low, high = rate.interval()
    assert 0 <= low <= rate.value <= high <= 1


@given(st.integers(1, 10**6))
def test_nothing_found_is_not_no_risk(n):
    low, high = Rate(0, n).interval()
    assert low == 0
    assert high >= min(1.0, 3 / n)


@given(counts, counts)
def test_a_difference_holds_its_value_and_turns_around(a, b):
    value, low, high = difference(a, b)
    assert low - 1e-12 <= value <= high + 1e-12
    back = difference(b, a)
    assert back == pytest.approx((-value, -high, -low))


def clustered(rng, clusters, share):
    """Draw how many of each document's identifiers are left: some documents lose far more."""
    own = rng.beta(share * CONCENTRATION, (1 - share) * CONCENTRATION, clusters)
    trials = 1 + rng.negative_binomial(2, 0.06, clusters)  # about 30, from 1 to well over 100
    return rng.binomial(trials, own), trials


CONCENTRATION, DRAWS = 1.5, 400


@pytest.mark.parametrize(("clusters", "share"), [(40, 0.1), (100, 0.05), (200, 0.02), (200, 0.1)])
def test_an_interval_of_clustered_trials_covers_where_wilson_s_own_does_not(clusters, share):
    """Of 400 draws 93% of intervals or more hold the share; as if each trial stood alone, few do.

    About 15 documents or more lose something here: where 5 or 6 do, 94% hold it.
    """
    rng = np.random.default_rng(1)
    held = {"clustered": 0, "alone": 0}
    for _ in range(DRAWS):
        hits, trials = clustered(rng, clusters, share)
        rate = Rate.from_clusters(hits.tolist(), trials.tolist())
        for name, found in (("clustered", rate), ("alone", Rate(rate.successes, rate.trials))):
            low, high = found.interval()
            held[name] += low <= share <= high
    assert held["clustered"] >= 0.93 * DRAWS
    assert held["alone"] <= 0.6 * DRAWS


def test_a_difference_of_clustered_trials_covers_too():
    rng = np.random.default_rng(2)
    held = {"clustered": 0, "alone": 0}
    for _ in range(DRAWS):
        rates = [
            Rate.from_clusters(*map(np.ndarray.tolist, clustered(rng, 60, p))) for p in (0.1, 0.2)
        ]
        for name, (a, b) in (
            ("clustered", rates),
            ("alone", [Rate(rate.successes, rate.trials) for rate in rates]),
        ):
            _, low, high = difference(a, b)
            held[name] += low <= -0.1 <= high
    assert held["clustered"] >= 0.93 * DRAWS
    assert held["alone"] <= 0.6 * DRAWS


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=12))
@example([(0, 2), (0, 1)])
def test_the_design_effect_is_the_formula_s(pairs):
    """e_d = x_d - p n_d; V = m / (m - 1) (sum e^2 + 2 max e^2) / n^2; deff = V n / (p (1 - p))."""
    x, n = (np.array(part) for part in zip(*((min(a, b), b) for a, b in pairs), strict=True))
    rate = Rate.from_clusters(x.tolist(), n.tolist())
    x, n = x[n > 0], n[n > 0]
    assert (rate.successes, rate.trials) == (x.sum(), n.sum())
    if (n <= 1).all():
        assert (rate.clusters, rate.deff) == (None, 1)
        return
    m, total, p = len(n), n.sum(), x.sum() / n.sum()
    assert rate.clusters == m
    if m > 1 and 0 < p < 1:
        squares = (x - p * n) ** 2
        variance = m / (m - 1) * (squares.sum() + 2 * squares.max()) / total**2
        assert rate.deff == pytest.approx(max(1, variance / (p * (1 - p) / total)))
    else:
        assert rate.trials / rate.deff == pytest.approx(m)  # none missed: the clusters count


def test_the_interval_is_wilson_s_of_effective_counts_with_t():
    """Worked by hand: 20 of 400 in 30 documents, deff 4, so 5 of 100 with t(29) = 2.0452."""
    low, high = Rate(20, 400, clusters=30, deff=4).interval()
    n, p, t = 100, 0.05, 2.0452
    middle, half = p + t * t / (2 * n), t * math.sqrt(p * (1 - p) / n + t * t / (4 * n * n))
    assert (low, high) == pytest.approx(
        ((middle - half) / (1 + t * t / n), (middle + half) / (1 + t * t / n)), abs=1e-5
    )


@given(st.lists(st.integers(1, 30), min_size=2, max_size=40))
def test_nothing_found_in_clusters_is_no_more_than_nothing_found_in_so_many_trials(sizes):
    found = Rate.from_clusters([0] * len(sizes), sizes)
    high = found.interval()[1]
    assert high >= Rate(0, len(sizes)).interval()[1] - 1e-12
    assert high >= min(1.0, 3 / len(sizes))


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), max_size=40))
def test_trials_are_gathered_by_subject(trials):
    hits, whose = [hit for hit, _ in trials], [subject for _, subject in trials]
    per = [[hit for hit, who in trials if who == one] for one in dict.fromkeys(whose)]
    assert Rate.by_subject(hits, whose) == Rate.from_clusters(map(sum, per), map(len, per))


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"more": 1}, "more"),
        ({"knows": "age"}, "knows"),
        ({"findings": [{"quantity": "a", "rate": {"successes": 5, "trials": 4}}]}, "findings"),
        ({"findings": [{"quantity": "a", "rate": {"successes": "1", "trials": 4}}]}, "findings"),
        ({"findings": [{"name": "a", "rate": {"successes": 1, "trials": 4}}]}, "findings"),
        ({"notes": [{"text": "{a}", "values": {"a": 1, "b": 2}}]}, "notes"),
        ({"notes": [{"text": "{a:>9}", "values": {"a": 1}}]}, "notes"),
        ({"heading": "other"}, "heading"),
    ],
)
def test_evidence_with_a_field_that_is_not_as_written_is_refused(change, field):
    data = Evidence("linkage", "linkability", Note("The adversary looks.")).to_json()
    assert Evidence.from_json(data)
    with pytest.raises(ValueError, match=field):
        Evidence.from_json({**data, **change})


def test_evidence_comes_back_equal_from_json():
    evidence = Evidence(
        "linkage",
        "linkability",
        Note("The adversary holds a register, with {errors:.1%} errors.", {"errors": 0.05}),
        ("age", "zip"),
        (
            Finding("correct claims", Rate(3, 10), Rate(1, 10), Rate(0, 4), "of the claims"),
            Finding("found", Rate(0, 0), by="forest", of="yes", at=Note("always claiming")),
            Finding("found", Rate.from_clusters([3, 1], [5, 4]), advantage=True),
        ),
        (Curve("precision", "share", "precision", (0.5, 1.0), (1.0, 0.3), (0.2, 0.1), (1.0, 0.6)),),
        (Note("{tokens} tokens, {words} words", {"tokens": Count(4, 200), "words": 7}, by="a"),),
    )
    assert Evidence.from_json(json.loads(json.dumps(evidence.to_json()))) == evidence
