"""What is refused, what warns, and what a fit keeps."""

from __future__ import annotations

import numpy as np
import pytest
from tests.signals.made_up import METHODS, fitted, readings

from voile.core.errors import RequestError
from voile.signals import PrivacyMap, SignalsWarning, mutual_information
from voile.signals.fitting.methods.layers import LayerChain
from voile.signals.fitting.methods.transport import TransportMethod

QUICK = TransportMethod(LayerChain(degree=3))


def changed(X, at, value):
    X = X.copy()
    X[at] = value
    return X


X, C = readings(600, 3)
SMALL = np.where(np.arange(600) < 19, "rare", C)


@pytest.mark.parametrize(
    ("settings", "X", "c", "message"),
    [
        ({"method": "transprt"}, X, C, "no method 'transprt'; did you mean transport"),
        ({"base": "gaussian"}, X, C, "no base 'gaussian'"),
        ({"strength": 1.5}, X, C, "between 0 and 1"),
        ({"strength": float("nan")}, X, C, "between 0 and 1"),
        ({}, X, C[1:], "600 readings and 599 classes"),
        ({}, X, SMALL, "a class has 19 subjects, fewer than 20; merge it"),
        ({}, X, np.arange(600), "a class of its own"),
        ({}, X, np.where(C == "low", None, C), "neither text nor a whole number"),
        ({}, X, np.random.default_rng(0).normal(size=600), "neither text nor a whole number"),
        ({}, changed(X, (4, 1), np.nan), C, "column 1, row 5: a reading is missing"),
        ({}, changed(X, (4, 1), np.inf), C, "column 1, row 5: a reading is missing"),
        ({}, changed(X, (C == "top", 0), 3.0), C, "column 0: the readings of a class are all"),
        ({}, X + np.random.default_rng(0).normal(size=X.shape), C, "no resolution was found"),
        ({"resolution": 0.2}, X, C, "contradict the resolution 0.2"),
        ({"resolution": [0.1]}, X, C, "1 resolutions for 2 columns"),
        ({"resolution": "fine"}, X, C, "no resolution 'fine'"),
        ({}, np.empty((0, 2)), np.empty(0, str), "no readings"),
        ({"method": "gamma"}, X - 3, C, "not above 0; use another method"),
        ({"method": "exponential"}, X - 3, C, "below 0; use another method"),
    ],
)
def test_a_wrong_request_is_refused(settings, X, c, message):
    with pytest.raises(RequestError, match=message):
        PrivacyMap(**settings).fit(X, c)


def test_an_unfitted_map_says_so():
    with pytest.raises(RequestError, match="call fit first"):
        PrivacyMap().encode(X, C)


def test_a_small_class_warns():
    few = np.where(np.arange(600) < 60, "rare", "rest")
    with pytest.warns(SignalsWarning, match="only 60 subjects"):
        PrivacyMap(method="normal").fit(X, few)


def test_classes_are_counted_in_subjects():
    whose = np.where(C == "low", np.arange(600) % 7, np.arange(600) + 10)
    with pytest.raises(RequestError, match="a class has 7 subjects"):
        PrivacyMap(method="normal").fit(X, C, subjects=whose)


@pytest.mark.parametrize("method", METHODS)
def test_one_class_has_nothing_to_hide_and_comes_back(method):
    map = PrivacyMap(method=METHODS[method], random_state=0).fit(X, np.ones(600, int))
    assert (map.decode(map.encode(X, 1), 1) == X).all()


def test_the_constructor_only_stores():
    map = PrivacyMap("nonsense", "nowhere", 7, "odd", "seed", "many")
    assert vars(map) == {
        "method": "nonsense",
        "base": "nowhere",
        "strength": 7,
        "resolution": "odd",
        "random_state": "seed",
        "places": "many",
        "side_resolution": None,
        "in_clear": False,
        "relations": {},
    }


def test_the_seed_gives_the_fit_and_never_the_dither():
    one, same = (PrivacyMap(QUICK, random_state=4).fit(X, C) for _ in range(2))
    first, second = (map.codec_.to_arrays() for map in (one, same))
    assert all((first[key] == second[key]).all() for key in first)
    assert not (one.encode(X, C) == one.encode(X, C)).any()


@pytest.mark.parametrize("shape", ["one column", "float32", "integers", "list"])
def test_kinds_of_input(shape):
    given = {
        "one column": X[:, 0],
        "float32": X.astype(np.float32),
        "integers": np.rint(X * 10).astype(int),
        "list": X.tolist(),
    }[shape]
    map = PrivacyMap(QUICK).fit(given, C.tolist())
    back = map.decode(map.encode(given, C), C)
    wanted = X if shape == "float32" else given  # 70.1 comes back as 70.1, not as 70.0999985
    assert np.array_equal(back, wanted)


def test_mixed_columns():
    rng = np.random.default_rng(1)
    skewed = np.where(C == "low", rng.choice(["a", "b"], 600, p=[0.9, 0.1]), "b")
    table = np.empty((600, 3), dtype=object)
    table[:, 0], table[:, 1], table[:, 2] = X[:, 0], skewed, rng.integers(0, 5, 600)
    map = PrivacyMap(QUICK, resolution=[0.1, None, 1]).fit(table, C)
    Z = map.encode(table, C)
    assert (map.decode(Z, C) == table).all()
    assert (Z[:, 1] == "a").sum() < (skewed == "a").sum()
    plain = map.codec(base="normal", strength=0.0)
    assert (plain.encode(table, C) == table).all()


def test_nominal_columns_alone():
    words = np.where(C == "low", "x", "y")
    words[:30] = "z"
    map = PrivacyMap().fit(words, C)
    assert (map.decode(map.encode(words, C), C) == words).all()


def test_coarse_ordinals_are_hidden_as_well():
    """Five levels, of other frequencies in each class."""
    rng = np.random.default_rng(2)
    c = rng.integers(0, 2, 4000)
    level = np.where(c == 1, rng.binomial(4, 0.7, 4000), rng.binomial(4, 0.3, 4000)).astype(float)
    map = PrivacyMap(random_state=0).fit(level[:2000], c[:2000])
    Z = map.encode(level[2000:], c[2000:])
    assert (map.decode(Z, c[2000:]) == level[2000:]).all()
    assert mutual_information(level, c, permutations=0).bits > 0.3
    # dithered anew in each run: .02 on average, with a deviation of .02
    assert mutual_information(Z, c[2000:], permutations=0).bits < 0.12


@pytest.mark.parametrize("base", ["normal", "uniform", "barycentre"])
def test_the_base_is_what_is_seen(base):
    codec = fitted("transport").codec(base=base, strength=1.0)
    Z = codec.encode(X, C)
    if base == "normal":
        assert np.abs(Z.mean(axis=0)).max() < 0.2
        assert np.abs(Z.std(axis=0) - 1).max() < 0.2
    elif base == "uniform":
        assert np.abs(np.quantile(Z, [0.25, 0.5, 0.75], axis=0).T - [0.25, 0.5, 0.75]).max() < 0.1
    else:  # a reading still looks like one
        assert np.abs(Z.mean(axis=0) / X.mean(axis=0) - 1).max() < 0.2
        assert (Z > -0.1).mean() > 0.99


def test_risk_falls_with_strength_and_no_base_changes_it():
    fresh, c = readings(4000, 9)
    bits = {}
    for base in ("normal", "barycentre"):
        codecs = [fitted("transport").codec(base=base, strength=s) for s in (0, 0.5, 1)]
        bits[base] = [
            mutual_information(codec.encode(fresh, c), c, permutations=0).bits for codec in codecs
        ]
        assert bits[base][0] > 2 * bits[base][1] > 4 * bits[base][2]
    assert bits["normal"] == pytest.approx(bits["barycentre"], abs=0.03)


@pytest.mark.parametrize("method", METHODS)
def test_a_message_that_decodes_to_what_no_reading_can_be_is_refused_where_a_bound_is_given(method):
    (own, c), map = readings(600, 1), fitted(method)  # those that it was fitted to
    sent = map.encode(own, c)
    assert (map.decode(sent, c, farthest=8.0) == own).all()
    far = map.encode([[9000.0, 3.0]], "middle")
    forged = np.concatenate([sent[c == "middle"][:3], far])
    message = "column 0, row 4: 1 messages decode to readings that are impossible in"
    with pytest.raises(RequestError, match=message) as refused:
        map.decode(forged, "middle", farthest=8.0)
    assert "9000" not in str(refused.value)
    assert (map.decode(far, "middle") == [[9000.0, 3.0]]).all()


def test_a_message_of_one_column_is_held_to_the_bound_too():
    map = PrivacyMap("normal", random_state=0).fit(X[:, 0], C)
    sent = map.encode(X[:5, 0], C[:5])
    assert (map.decode(sent, C[:5], farthest=8.0) == X[:5, 0]).all()
    with pytest.raises(RequestError, match="column 0, row 2: 1 messages decode"):
        map.decode([0.0, 1e6], "low", farthest=8.0)
