"""Rules against a naive count of sets, and against chance."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from voile.core.errors import RequestError
from voile.documents.fitting.context import rules
from voile.documents.fitting.context.rules import RuleThresholds, mine_rules


def tail(n, with_target, with_word, both):
    """The chance that so many of a word's subjects have the target, or more."""
    ways = sum(
        comb(with_target, k) * comb(n - with_target, with_word - k)
        for k in range(both, with_word + 1)
    )
    return Fraction(ways, comb(n, with_word))


def naive(has_word, has_target, least):
    """Count every pair; keep what reaches the least, then the false discovery rate."""
    n = len(has_word)
    words = [{s for s in range(n) if has_word[s, w]} for w in range(has_word.shape[1])]
    targets = [{s for s in range(n) if has_target[s, t]} for t in range(has_target.shape[1])]
    kept = [t for t in range(len(targets)) if len(targets[t]) >= least.subjects]
    most = max((len(targets[t]) for t in kept), default=0) / least.confidence
    usable = [w for w in range(len(words)) if least.subjects <= len(words[w]) <= most]
    found = {}
    for w in usable:
        for t in kept:
            both = len(words[w] & targets[t])
            enough = both >= least.subjects and both >= least.confidence * len(words[w])
            if enough and both * n >= least.lift * len(words[w]) * len(targets[t]):
                found[w, t] = (both, tail(n, len(targets[t]), len(words[w]), both))
    if least.chance < 1:
        tails = sorted(one for _, one in found.values())
        limits = [least.chance * k / (len(usable) * len(kept)) for k in range(1, len(tails) + 1)]
        good = [one for one, limit in zip(tails, limits, strict=True) if one <= limit]
        found = {pair: one for pair, one in found.items() if good and one[1] <= max(good)}
    return {pair: both for pair, (both, _) in found.items()}


def mined(has_word, has_target, least):
    names = [str(w) for w in range(has_word.shape[1])]
    targets = [("T", str(t)) for t in range(has_target.shape[1])]
    return mine_rules(
        sparse.csr_array(has_word), sparse.csr_array(has_target), names, targets, least
    )


@pytest.mark.parametrize("ones", [1, 40, rules.ONES])
@given(
    st.integers(0, 2**32 - 1),
    st.builds(
        RuleThresholds,
        st.integers(1, 4),
        st.sampled_from([0.3, 0.5, 0.75, 1.0]),
        st.sampled_from([0.0, 1.0, 1.5, 3.0]),
        st.sampled_from([0.01, 0.2, 1.0]),
    ),
)
def test_rules_equal_a_naive_count_whatever_the_blocks(ones, seed, least):
    rng = np.random.default_rng(seed)
    n, words, targets = rng.integers(1, 25), rng.integers(0, 12), rng.integers(0, 6)
    has_target = (rng.random((n, targets)) < 0.3).astype(np.int32)
    has_word = (rng.random((n, words)) < rng.random(words)).astype(np.int32)
    if words and targets:
        has_word[:, 0] = has_target[:, 0]  # one that tells for sure
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rules, "ONES", ones)
        found = mined(has_word, has_target, least)
    expected = naive(has_word, has_target, least)
    assert {(w, t): both for (w, t), both in zip(found.pairs, found.subjects, strict=True)} == (
        expected
    )
    for rule in found:
        w, t = int(rule.word), int(rule.target[1])
        assert rule.confidence == pytest.approx(rule.subjects / has_word[:, w].sum())
        assert rule.lift == pytest.approx(rule.confidence / has_target[:, t].mean())
    assert (np.diff(found.confidence) <= 0).all()
    assert found.matrix.nnz == len(found)


def test_chance_alone_makes_rules_that_the_false_discovery_rate_leaves_out():
    rng = np.random.default_rng(5)
    has_word = (rng.random((200, 3000)) < 0.02).astype(np.int32)
    has_target = (rng.random((200, 40)) < 0.25).astype(np.int32)
    has_word[:, 7] = has_target[:, 3] * (rng.random(200) < 0.6)  # and this one is true
    loose = mined(has_word, has_target, RuleThresholds(chance=1.0))
    strict = mined(has_word, has_target, RuleThresholds())
    assert len(loose) > 100
    assert [7, 3] in strict.pairs.tolist()
    assert len(strict) <= 2


def test_a_rules_repr_shows_no_word():
    shown = mined(np.eye(4, dtype=np.int32), np.eye(4, dtype=np.int32), RuleThresholds(1, 1, 0, 1))
    assert repr(shown) == "ContextRules(4)"
    assert "word" not in repr(next(iter(shown)))
    assert "target" not in repr(next(iter(shown)))


@pytest.mark.parametrize(
    "wrong", [{"subjects": 0}, {"confidence": 0}, {"confidence": 1.1}, {"lift": -1}, {"chance": 0}]
)
def test_what_a_rule_must_reach_is_checked(wrong):
    with pytest.raises(RequestError):
        RuleThresholds(**wrong)
