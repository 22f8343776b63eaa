"""Maps given side columns: exact, blind to them without them, and refused where they differ."""

from __future__ import annotations

import functools
import warnings
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.signals import PrivacyMap, SignalsWarning, mutual_information
from voile.signals.fitting.maps.side_columns import side_of
from voile.signals.fitting.methods.layers import LayerChain
from voile.signals.fitting.methods.transport import TransportMethod
from voile.signals.model.codec.codec import Codec
from voile.signals.model.codec.conditional import UNIT
from voile.signals.model.maps.stored import StoredMap, from_table, to_table

QUICK = TransportMethod(LayerChain(degree=1, spread=0))


def growing(n, seed, classes=("high", "low", "middle")):
    """Draw two columns that grow with age, by sex; classes are parts of what is left."""
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(2, 19, n), rng.choice(["f", "m"], n)
    c = rng.choice(classes, n, p=[0.2, 0.5, 0.3])
    shift = np.select([c == "high", c == "low"], [1.2, -1.0], 0.0)
    w = shift + 0.5 * rng.normal(size=n)
    spread = 0.2 + age / 4  # what classes differ by grows too: no shift of a class takes it off
    x = 40 + 0.6 * age + np.where(sex == "m", 0.2 * age, 0) + spread * w
    y = 10 + age + x / 4 + spread * rng.normal(size=n)
    known = np.stack([age.astype(object), sex.astype(object)], axis=1)
    return np.round(np.stack([x, y], axis=1), 1), c, known


@functools.cache
def fitted(base="normal", strength=1.0, *, in_clear=False):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SignalsWarning)
        map = PrivacyMap(QUICK, base, strength, random_state=0, in_clear=in_clear)
        X, c, known = growing(1500, 1)
        return map.fit(X, c, known=known)


@functools.cache
def plain_map():
    return PrivacyMap(QUICK, random_state=0).fit(*growing(1500, 1)[:2])


def recall(F, c, G, d):
    """Return the balanced accuracy of a booster that learns from one half."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import balanced_accuracy_score

    booster = HistGradientBoostingClassifier(max_iter=40, learning_rate=0.1, random_state=0)
    return balanced_accuracy_score(d, booster.fit(F, c).predict(G))


def as_numbers(known):
    return np.stack([known[:, 0].astype(float), known[:, 1] == "m"], axis=1).astype(float)


@given(
    st.sampled_from(["normal", "uniform", "barycentre"]),
    st.sampled_from([0.0, 0.3, 1.0]),
    st.booleans(),
    st.integers(0, 1000),
)
@settings(max_examples=8, deadline=None)
def test_every_reading_comes_back(base, strength, in_clear, seed):
    map = fitted(base, strength, in_clear=in_clear)
    X, c, known = growing(40, seed)
    known[seed % 40, seed % 2] = None  # missing is a level of its own
    Z = map.encode(X, c, known=known)
    assert (map.decode(Z, c, known=known) == X).all()
    again = Codec.from_arrays(map.codec_.to_arrays())
    assert (again.decode(Z, c, known=known) == X).all()


def test_a_kit_keeps_the_map():
    map = fitted("barycentre", 0.5, in_clear=True)
    stored = StoredMap(map.classes_, map.codec_.columns, map.fitted_, map.codec_.side)
    back = StoredMap.from_arrays(from_table(to_table({"m": stored.to_arrays()}))["m"])
    X, c, known = growing(100, 3)
    Z = map.encode(X, c, known=known)
    assert (back.at("barycentre", 0.5).codec_.decode(Z, c, known=known) == X).all()


def test_the_class_is_hidden_from_whoever_knows_the_side_columns():
    X, c, known = growing(3000, 2)
    K, half = as_numbers(known), slice(1500)
    rest = slice(1500, None)
    for map, beside, low, high in ((plain_map(), None, 0.39, 1), (fitted(), known, 0, 0.37)):
        F = np.concatenate([map.encode(X, c, known=beside), K], axis=1)
        assert low < recall(F[half], c[half], F[rest], c[rest]) < high


@pytest.mark.parametrize("base", ["normal", "uniform", "barycentre"])
def test_messages_reveal_no_side_column_unless_it_travels(base):
    """I(Z; C, K): who lacks age and sex learns neither from messages, nor the class with them."""
    X, c, known = growing(2000, 4)
    K = as_numbers(known)
    rest = np.stack([np.ones(2000), *K.T, K[:, 0] * K[:, 1]], axis=1)

    def explained(Z):
        left = Z - rest @ np.linalg.lstsq(rest, Z, rcond=None)[0]
        return 1 - left.var(axis=0) / Z.var(axis=0)

    assert (explained(fitted(base).encode(X, c, known=known)) < 0.02).all()
    if base == "barycentre":
        follows = fitted(base, in_clear=True).encode(X, c, known=known)
        assert (explained(follows) > 0.5).all()


@pytest.mark.parametrize("base", ["normal", "uniform", "barycentre"])
def test_messages_have_no_information_on_class_and_side_columns_together(base):
    """I(Z; C, K) by neighbours: in no shape, where the test above looks for lines alone."""
    X, c, known = growing(3000, 12)
    cells = [f"{own} {sex} {age // 6}" for own, (age, sex) in zip(c, known, strict=True)]
    heard = mutual_information(fitted(base).encode(X, c, known=known), cells, permutations=0)
    plain = mutual_information(X, cells, permutations=0)
    assert heard.bits < 0.08
    assert plain.bits > 0.5
    if base == "barycentre":
        follows = fitted(base, in_clear=True).encode(X, c, known=known)
        assert mutual_information(follows, cells, permutations=0).bits > 0.3


def test_without_side_columns_a_codec_is_of_the_format_that_it_was():
    X, c, _ = growing(1500, 5)
    arrays = PrivacyMap(QUICK, random_state=3).fit(X, c).codec_.to_arrays()
    assert int(arrays["format"]) == 1
    assert not any("side" in key or "conditional" in key for key in arrays)


def test_a_codec_with_side_columns_says_that_it_is_of_another_format():
    assert int(fitted().codec_.to_arrays()["format"]) == 2


def test_a_recipient_without_a_side_column_is_refused():
    X, c, known = growing(50, 6)
    Z = fitted().encode(X, c, known=known)
    with pytest.raises(RequestError, match="takes 2 side columns, and none are given"):
        fitted().decode(Z, c)
    with pytest.raises(RequestError, match="takes no side columns, and 2 are given"):
        plain_map().encode(X, c, known=known)


def test_a_class_that_never_occurs_with_a_value_is_pooled_and_said():
    X, c, known = growing(1200, 7)
    there = ~((c == "high") & (known[:, 1] == "m"))
    with pytest.warns(SignalsWarning, match="1 of 3 classes never occur with some value"):
        map = PrivacyMap(QUICK, random_state=0).fit(X[there], c[there], known=known[there])
    assert (map.decode(map.encode(X, c, known=known), c, known=known) == X).all()


@pytest.mark.parametrize("method", ["normal", "affine", "uniform"])
def test_other_methods_refuse_side_columns(method):
    X, c, known = growing(800, 8)
    with pytest.raises(RequestError, match="only transport is conditional"):
        PrivacyMap(method).fit(X, c, known=known)


def test_many_side_columns_and_names_of_one_person():
    """Eight columns of which two count; a name that one person has gets no level of its own."""
    X, c, known = growing(1000, 9)
    rng = np.random.default_rng(9)
    others = rng.integers(0, 5, (1000, 6)).astype(object)
    others[:, 0] = [f"town {i}" for i in others[:, 0]]
    others[0, 0] = "NOBODYELSE"
    many = np.concatenate([known, others], axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SignalsWarning)
        map = PrivacyMap(QUICK, random_state=0).fit(X, c, known=many)
    arrays = map.codec_.to_arrays()
    assert not any("NOBODYELSE" in a.tolist() for a in arrays.values() if a.dtype.kind == "U")
    assert (map.decode(map.encode(X, c, known=many), c, known=many) == X).all()
    Z = map.encode(X, c, known=many)
    assert abs(np.corrcoef(Z[:, 0], known[:, 0].astype(float))[0, 1]) < 0.1


@functools.cache
def thin():
    """Return the cells of class, age and sex that one person is in, a map, and their readings."""
    X, c, known = growing(900, 10)
    rng = np.random.default_rng(10)
    cells = [*product(("high", "low"), (2, 9, 18), ("f", "m")), ("low", None, "m")]
    for label, age, sex in cells:
        others = (known[:, 1] != sex) | (c != label) | np.array([k != age for k in known[:, 0]])
        one = np.round(rng.uniform([41, 71], [70, 100]), 4)
        X, c = np.concatenate([X[others], one[None]]), np.append(c[others], label)
        known = np.concatenate([known[others], np.array([[age, sex]], dtype=object)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SignalsWarning)
        map = PrivacyMap(QUICK, resolution=1e-4, random_state=0).fit(X, c, known=known)
    return cells, map, X[-len(cells) :]


def test_no_entry_is_a_reading_of_the_only_person_of_a_cell():
    from tests.signals.test_canary import holds

    _, map, planted = thin()
    units = {"side": np.ravel(map.fitted_.side.shared.tables) * UNIT}
    for base, values in product(("normal", "barycentre"), planted):
        arrays = map.codec(base=base, strength=0.5).to_arrays()
        assert not holds({**arrays, **units}, tuple(values))


def test_the_centre_of_a_cell_is_not_the_only_person_in_it():
    """Tables are summed: what a map makes of a cell must not lead to its person either."""
    cells, map, planted = thin()
    labels = np.array([cell[0] for cell in cells])
    known = np.array([cell[1:] for cell in cells], dtype=object)
    codec = map.codec_
    for which, label in enumerate(codec.classes):
        own = np.flatnonzero(labels == label)
        at = codec.levels(known[own], len(own))
        centre = codec.inverse(np.zeros((2, len(own))), which, at)
        spread = np.ptp([codec.inverse(np.full((2, len(own)), v), which, at) for v in (-1, 1)], 0)
        assert (np.abs(centre - planted[own].T) > 0.05 * spread).all()


def test_the_ends_of_a_grid_are_nobodys_value():
    """A grid that began at the twentieth person would hold that person's height."""
    tall = np.round(np.random.default_rng(11).normal(170, 10, 500), 4)
    (grid,) = side_of(tall.astype(object)[:, None], np.arange(500), [1e-4], 0)
    ends = np.array([grid.first, grid.first + (grid.nodes - 1) * grid.width])
    low, high = np.rint(np.sort(tall)[[19, -20]] * 1e4)
    assert not np.isin(ends, np.rint(tall * 1e4)).any()
    assert low - grid.width < ends[0] < low
    assert high < ends[1] < high + grid.width
