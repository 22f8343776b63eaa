"""The audit finds what is there to be found, and nothing where there is nothing."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from tests.signals.days import days, fitted

from voile.core.errors import RequestError
from voile.core.evidence import Evidence
from voile.signals import PrivacyMap, SequenceMap, audit
from voile.signals.attack.attackers import bayes, by_chances


def normals(n, seed):
    """Two classes of normal readings, for which whitening is perfect."""
    rng = np.random.default_rng(seed)
    c = rng.choice(2, n, p=[0.3, 0.7])
    return np.round(rng.normal(size=(n, 2)) * [8, 3] + np.stack([60 + 10 * c, 20 + 0 * c], 1), 1), c


def mapped(strength):
    return PrivacyMap("normal", strength=strength, random_state=0).fit(*normals(3000, 1))


def by_name(things):
    return {getattr(thing, "title", thing.name): thing for thing in things}


def test_without_a_map_attackers_find_the_class_and_bayes_is_hardest_to_beat():
    X, c = normals(1600, 2)
    found = audit(mapped(0.0), X, c, permutations=5)
    attackers = by_name(found.attackers)
    best = attackers["Bayes' rule with the map's model"]
    assert best.accuracy.interval()[0] > found.majority.value
    assert all(each.balanced > 0.65 for each in found.attackers)
    assert all(best.bits > each.bits - 0.03 for each in found.attackers if not np.isnan(each.bits))
    assert found.information.low < best.bits < found.information.high + 0.05
    assert found.information.p_value < 0.2


def test_bayes_is_the_textbook_s_where_the_model_is_right():
    """The naive twin: quadratic discriminants, learnt from what was sent at half strength."""
    map = mapped(0.5)
    (known, c), (fresh, d) = normals(20_000, 3), normals(4000, 4)
    twin = QuadraticDiscriminantAnalysis().fit(map.encode(known, c), c)
    Z = map.encode(fresh, d)
    textbook = by_chances("", twin.predict_proba(Z), d)
    ours = bayes(map, Z, d)
    assert ours.bits == pytest.approx(textbook.bits, abs=0.01)
    assert ours.accuracy.value == pytest.approx(textbook.accuracy.value, abs=0.01)
    assert ours.auc == pytest.approx(textbook.auc, abs=0.01)


def test_with_a_perfect_map_they_find_nothing():
    X, c = normals(1600, 2)
    found = audit(mapped(1.0), X, c, permutations=20)
    for each in found.attackers:  # six of them, and the dither is the system's: four deviations
        assert each.accuracy.interval()[0] < found.majority.value + 0.04
        assert each.low - 0.04 < 0.5 < each.high + 0.04
        assert np.isnan(each.bits) or each.bits_low < 0
        assert np.array(each.auc) == pytest.approx([0.5, 0.5], abs=0.09)
    assert found.information.bits < found.information.null + 0.02
    consistency = by_name(found.attackers)["consistency under every class"]
    assert 0.5 < consistency.permuted < 0.6
    known = by_name(found.breaks)["known plaintext"]
    assert not known.promised
    assert known.rate.value > 0.99


@pytest.mark.whole
def test_many_messages_tell_the_class_unless_they_are_of_a_session():
    X, c, whose = days(300, 15, 11)
    single = PrivacyMap("normal", random_state=0).fit(*days(600, 1, 12)[:2])
    rates = {}
    for kind, map in (("single", single), ("session", fitted(0))):
        found = audit(map, X, c, whose, lengths=(15,), invariants=(0,), permutations=0)
        rates[kind] = by_name(found.breaks)["repeat readings, 15 messages"]
        assert rates[kind].rate.trials == 150
        assert rates[kind].promised == (kind == "session")
        assert ("invariants, 15 messages" in by_name(found.breaks)) == (kind == "single")
    assert rates["single"].rate.interval()[0] > rates["single"].baseline.value + 0.1
    assert rates["session"].rate.interval()[0] < rates["session"].baseline.value


def test_it_becomes_evidence():
    X, c, whose = days(150, 2, 13)
    found = audit(fitted(0), X, c, whose, lengths=(2,), permutations=2)
    evidence = found.evidence()
    assert [each.attack for each in evidence] == ["single messages", "repeat readings, 2 messages"]
    for each in evidence:
        assert Evidence.from_json(json.loads(json.dumps(each.to_json()))) == each
    first = evidence[0].findings[0]
    assert first.rate == found.attackers[0].accuracy
    assert first.baseline == found.majority
    assert first.rate.trials == 75  # people, not messages


def test_the_same_seed_gives_the_same_but_for_the_dither():
    X, c = normals(300, 5)
    map = mapped(0.0)
    one, two = (audit(map, X, c, permutations=2, random_state=4) for _ in range(2))
    assert one == two


@pytest.mark.parametrize(
    ("X", "c", "message"),
    [
        (np.ones((40, 2)), np.ones(41, int), "40 readings and 41 classes"),
        (np.ones((40, 2)), np.arange(40) % 3, "not seen a class"),
        (np.ones((40, 2)), np.ones(40, int), "each of two classes"),
        (np.ones((30, 2)), np.arange(30) % 2, "under 20 subjects"),
    ],
)
def test_a_wrong_request_is_refused(X, c, message):
    with pytest.raises(RequestError, match=message):
        audit(mapped(1.0), X, c)


def index_of(n, seed, length=4):
    """Return an index that follows from weight and height, day by day."""
    rng = np.random.default_rng(seed)
    whose = np.repeat(np.arange(n), length)
    c = rng.integers(0, 2, n)[whose]
    height = np.round(rng.normal(165, 9, n * length))
    weight = np.round(rng.normal(62 + 6 * c, 8), 1)
    return np.stack([np.round(1e4 * weight / height**2, 1), weight, height], axis=1), c, whose


@pytest.mark.parametrize("relations", [None, {}])
def test_the_audit_of_sessions_decodes_under_every_class(relations):
    """A relation that is not lifted shows the class of a session's first message."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        map = SequenceMap(relations=relations, random_state=0).fit(*index_of(300, 1))
    found = audit(map, *index_of(700, 2), lengths=(), permutations=0)
    (one,) = (one for one in found.attackers if one.name == "consistency under every class")
    if relations is None:
        assert one.low > one.permuted
    else:
        assert one.low < one.permuted + 0.02
