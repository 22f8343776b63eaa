"""Subjects with beliefs, weights and laws of their own: in the fit, the message and the audit."""

from __future__ import annotations

import numpy as np
import pytest

from voile.core.errors import RequestError
from voile.signals import PrivacyMap, Subjects, audit, mutual_information
from voile.signals.fitting.maps.levels import pool_levels
from voile.signals.paper.affine import LearnedAffine

PEOPLE, EACH = 110, 20


def meals(seed, people=PEOPLE, each=EACH, *, shift=8.0):
    """Draw glucose before and after meals, mg/dl: each person's level and rise are their own."""
    rng = np.random.default_rng(seed)
    level, rise = rng.normal(100, 15, people), rng.normal(40, shift, people)
    whose = np.repeat(np.arange(people), each)
    c = rng.integers(0, 2, len(whose))
    x = level[whose] + c * rise[whose] + rng.normal(0, 4, len(whose)) * (1 + c)
    return np.round(x), np.array(["before", "after"])[c], np.array([f"p{i:02}" for i in whose])


def test_own_laws_hide_the_class_from_who_knows_the_subject():
    """The common map hides it from strangers alone; the subject's codec from those who know."""
    X, c, whose = meals(1)
    map = PrivacyMap("normal", random_state=0).fit(X, c, Subjects(whose, own=True))
    rng = np.random.default_rng(2)  # the same people on another day
    fresh = rng.permutation(len(X))[: len(X) // 2]
    known = PrivacyMap("normal", random_state=0).fit(
        np.delete(X, fresh), np.delete(c, fresh), Subjects(np.delete(whose, fresh), own=True)
    )
    own = Subjects(whose[fresh], own=True)
    common = mutual_information(known.encode(X[fresh], c[fresh]), c[fresh], own, permutations=0)
    with pytest.warns(UserWarning, match="use a Session"):
        sent = known.encode(X[fresh], c[fresh], whose[fresh])
    hidden = mutual_information(sent, c[fresh], own, permutations=20)
    assert common.bits > 0.15
    assert hidden.bits < common.bits / 2
    assert (known.decode(sent, c[fresh], whose[fresh]) == X[fresh]).all()
    codec = map.codec(base="normal", strength=1.0, subject="p07")
    mine = whose == "p07"
    z = codec.encode(X[mine], c[mine])
    assert (codec.decode(z, c[mine]) == X[mine]).all()
    assert abs(z.mean()) < 0.7 < z.std() < 1.4


def test_a_subject_nobody_knows_has_the_codec_of_everyone():
    X, c, whose = meals(1)
    map = PrivacyMap("normal", random_state=0).fit(X, c, Subjects(whose, own=True))
    for strength in (0.0, 0.4, 1.0):
        codec = map.codec(base="barycentre", strength=strength, subject="nobody")
        everyone = map.codec(base="barycentre", strength=strength)
        line = np.linspace(50, 250, 9)[None]
        assert (codec.forward(line, 0) == everyone.forward(line, 0)).all()


def test_levels_are_the_linear_predictions_of_a_naive_twin():
    """One column: condition the joint normal law of levels and readings, subject by subject."""
    rng = np.random.default_rng(3)
    whose = rng.integers(0, 25, 300)
    codes = rng.integers(0, 2, 300)
    codes[whose == 0] = 1  # a subject never seen in class 0
    effect = rng.normal(0, 0.8, 25)
    y = effect[whose] + 0.4 * rng.normal(size=(25, 2))[whose, codes] + 0.5 * rng.normal(size=300)
    found = pool_levels(y[None], codes, whose, np.arange(25))
    cells = [[y[(whose == s) & (codes == k)] for k in range(2)] for s in range(25)]
    within = [
        sum(((part[k] - part[k].mean()) ** 2).sum() for part in cells if len(part[k]))
        / sum(len(part[k]) - 1 for part in cells if len(part[k]))
        for k in range(2)
    ]
    means = [[part[k].mean() for part in cells if len(part[k])] for k in range(2)]
    added = [np.mean([within[k] / len(p[k]) for p in cells if len(p[k])]) for k in range(2)]
    between = [np.mean(np.square(means[k])) - added[k] for k in range(2)]
    both = [(p[0].mean(), p[1].mean()) for p in cells if len(p[0]) and len(p[1])]
    r = np.mean([a * b for a, b in both]) / np.sqrt(between[0] * between[1])
    prior = np.array([[between[0], 0], [0, between[1]]])
    prior[0, 1] = prior[1, 0] = r * np.sqrt(between[0] * between[1])
    for s in range(25):
        own = np.flatnonzero(whose == s)
        k = codes[own]
        cov = prior[np.ix_(k, k)] + np.diag([within[j] for j in k])
        cross = prior[:, k]
        mean = cross @ np.linalg.solve(cov, y[own])
        var = np.diag(prior) - np.einsum("ij,ji->i", cross, np.linalg.solve(cov, cross.T)) + within
        assert found.mean[s, :, 0] == pytest.approx(mean, abs=1e-6)
        assert found.spread[s, :, 0] == pytest.approx(np.sqrt(var), abs=1e-6)


def test_few_readings_are_drawn_to_the_class_and_many_to_the_subject():
    rng = np.random.default_rng(4)
    sizes = np.array([2, 200] + [20] * 40)
    whose = np.repeat(np.arange(42), sizes)
    level = np.append([1.5, 1.5], rng.normal(0, 0.7, 40))
    codes = np.arange(len(whose)) % 2
    y = level[whose] + 0.7 * rng.normal(size=len(whose))
    found = pool_levels(y[None], codes, whose, np.arange(42))
    means = np.array([y[whose == s].mean() for s in (0, 1)])
    shrunk = found.mean[:2].mean(axis=(1, 2)) / means
    assert shrunk[0] < 0.9 < shrunk[1] <= 1.01
    assert found.spread[0].mean() > found.spread[1].mean()


@pytest.mark.parametrize(
    ("method", "own", "message"),
    [
        ("gamma", lambda c, whose: Subjects(whose, own=True), "own laws need normal scores"),
        ("normal", lambda c, whose: Subjects(np.char.add(whose, c), own=True), "several classes"),
        ("normal", lambda c, whose: Subjects(whose, beliefs=np.ones((len(c), 3)) / 3), "of shape"),
    ],
)
def test_subjects_that_cannot_be_fitted_are_refused(method, own, message):
    # one shape of gamma, so that the method itself is content
    rng = np.random.default_rng(0)
    _, c, whose = meals(1)
    X = np.round(rng.gamma(4, np.where(c == "after", 30, 20)) + 1)
    with pytest.raises(RequestError, match=message):
        PrivacyMap(method).fit(X, c, own(c, whose))


def test_beliefs_and_weights_say_what_the_barycentre_is():
    X, c, whose = meals(2)
    beliefs = np.tile([0.9, 0.1], (len(X), 1))
    means = [X[c == name].mean() for name in ("after", "before")]
    for subjects, chance in ((None, (c == "after").mean()), (Subjects(whose, None, beliefs), 0.9)):
        fitted = PrivacyMap("normal").fit(X, c, subjects).fitted_
        expected = chance * means[0] + (1 - chance) * means[1]
        assert fitted.barycentre().shift[0] == pytest.approx(expected)


def test_the_audit_counts_from_what_the_adversary_believes():
    """At strength 0 of readings that say it all, she who knows half of it gains the other half."""
    rng = np.random.default_rng(5)
    c = rng.integers(0, 2, 800)
    X = np.round(60 + 40 * c + rng.normal(0, 4, 800), 1)
    sure = rng.random(800) < 0.5
    beliefs = np.where(sure[:, None], np.eye(2)[c], 0.5)
    subjects = Subjects(np.arange(800), beliefs=beliefs)
    map = PrivacyMap("normal", strength=0.0, random_state=0).fit(X, c)
    found = audit(map, X, c, subjects, permutations=0)
    assert found.information.entropy == pytest.approx(1 - sure.mean(), abs=1e-9)
    assert found.information.bits == pytest.approx(found.information.entropy, abs=0.03)
    forest = next(each for each in found.attackers if each.name == "random forest")
    assert forest.bits == pytest.approx(0.5, abs=0.08)
    assert found.majority.value == pytest.approx(0.75, abs=0.06)


def test_the_audit_of_own_laws_is_for_who_knows_the_subject():
    X, c, whose = meals(6)
    subjects = Subjects(whose, own=True)
    common = PrivacyMap("normal", random_state=0).fit(X, c, whose)
    own = PrivacyMap("normal", random_state=0).fit(X, c, subjects)
    told = [audit(map, X, c, subjects, permutations=0).information for map in (common, own)]
    assert told[1].bits < told[0].bits / 2
    assert told[0].entropy == pytest.approx(told[1].entropy)


def test_the_learned_map_lowers_what_is_believed_of_subjects():
    """Beliefs that are everyone's change nothing of the search; others lead elsewhere.

    With halves, which are exact: a search takes rounding far.
    """
    X, c, whose = meals(8)
    few = min((c == name).sum() for name in ("after", "before"))
    rows = np.sort(np.concatenate([np.flatnonzero(c == n)[:few] for n in ("after", "before")]))
    X, c, whose = X[rows], c[rows], whose[rows]
    shares = [0.5, 0.5]
    frames = [
        PrivacyMap(LearnedAffine(evaluations=150), random_state=0)
        .fit(X, c, subjects)
        .fitted_.frames
        for subjects in (
            whose,
            Subjects(whose, None, np.tile(shares, (len(X), 1))),
            Subjects(whose, None, np.tile([0.99, 0.01], (len(X), 1))),
        )
    ]
    shifts = [[one.shift[0] for one in each] for each in frames]
    assert shifts[1] == pytest.approx(shifts[0])
    assert shifts[2] != pytest.approx(shifts[0], rel=1e-5)
