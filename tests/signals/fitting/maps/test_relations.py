"""Relations are found, lifted and decoded exactly; no decoding under a wrong class shows them."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import pytest
from tests.signals.related import KINDS, MORE, related

from voile.core.errors import RequestError
from voile.signals import PrivacyMap, SequenceMap, Session
from voile.signals.attack.consistency import DecodedMessages, infer_by_consistency
from voile.signals.fitting.maps.relations import find_lift
from voile.signals.model.codec.codec import Codec
from voile.signals.model.codec.formula import ColumnFormula
from voile.signals.model.codec.lattice import ValueLattice
from voile.signals.model.codec.lift import EIGHTHS
from voile.signals.model.sequences.sequence_codec import SequenceCodec


@functools.cache
def fitted(seed, known=False, **settings):
    X, K, c = related(seed, known=known)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return PrivacyMap(random_state=0, **settings).fit(X[:700], c[:700], known=part(K, 700))


def part(K, n):
    return None if K is None else K[:n]


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("seed", range(len(KINDS)))
def test_each_kind_is_found_and_decoded_exactly(seed, known):
    X, K, c = related(seed, known=known)
    map = fitted(seed, known)
    assert len(map.lift_.lifted) == 1
    Z = map.encode(X, c, known=K)
    assert (map.decode(Z, c, known=K) == X).all()
    again = Codec.from_arrays(map.codec_.to_arrays())
    assert (again.decode(Z, c, known=K) == X).all()


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("seed", range(len(KINDS)))
def test_one_reading_alone_has_the_bits_of_a_batch(seed, known):
    X, K, c = related(seed, known=known)
    codec = fitted(seed, known).codec_
    Z = codec.encode(X[:40], c[:40], known=part(K, 40))
    for i in range(40):
        side = None if K is None else K[i : i + 1]
        assert (codec.decode(Z[i : i + 1], int(c[i]), known=side) == X[i]).all()
        single = codec._single(Z[i : i + 1], int(c[i]), side)
        at = codec.levels(side, 1)
        plain = codec.inverse(Z[i : i + 1].T.copy(), int(c[i]), at)[:, 0]
        assert list(single.path.inverse(Z[i].tolist())) == plain.tolist()
        there = codec.forward(plain[:, None], int(c[i]), at)[:, 0]
        assert list(single.path.forward(plain.tolist())) == there.tolist()


def test_readings_that_break_a_relation_are_carried_or_refused_never_changed():
    X, _, c = related(0)
    X = X[:300] + np.random.default_rng(1).integers(-60, 60, (300, 1)) * [0, 0, 1]
    map = fitted(0)
    carried = 0
    for x, label in zip(X, c, strict=False):
        try:
            z = map.encode(x[None], label)
        except RequestError as error:
            assert "too far out" in str(error)  # noqa: PT017 - others are carried
        else:
            carried += 1
            assert (map.decode(z, label) == x).all()
    assert 0 < carried < 300


@pytest.mark.parametrize("seed", [1, 5])
def test_who_decodes_under_every_class_finds_nothing(seed):
    X, _, c = related(seed, 3000)
    people = np.arange(2000)
    balanced = {}
    for name, relations in (("lifted", {}), ("plain", None)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            map = PrivacyMap(random_state=0, relations=relations).fit(X[:1000], c[:1000])
        Z = map.encode(X[1000:], c[1000:])
        heard = DecodedMessages.of(
            map.codec_, Z, map.codec_.levels(None, 2000), np.zeros((2000, 0))
        )
        halves = people[:1000], [people[1000:]]
        (balanced[name],) = infer_by_consistency(heard, c[1000:], *halves, 0)
    assert balanced["lifted"].low < balanced["lifted"].permuted + 0.02
    assert balanced["plain"].low > balanced["lifted"].high


def attack(seed, **made):
    """Return what an adversary who decodes under every class finds in messages of a new map."""
    X, K, c = related(seed, 3000, **made)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        map = PrivacyMap(random_state=0).fit(X[:1500], c[:1500], known=part(K, 1500))
    Z = map.encode(X[1500:], c[1500:])
    assert (map.decode(Z, c[1500:]) == X[1500:]).all()
    at, people = map.codec_.levels(None, 1500), np.arange(1500)
    heard = DecodedMessages.of(map.codec_, Z, at, np.zeros((1500, 0)))
    (found,) = infer_by_consistency(heard, c[1500:], people[:900], [people[900:]], 0)
    return map, found


@pytest.mark.parametrize(
    ("kind", "noise"), [("mean", 1.5), ("product", 0.5), ("unit", 0.5), ("cube", 0.5)]
)
def test_a_relation_that_holds_to_a_few_cells_is_solved_for_the_right_column(kind, noise):
    """Solved for a coarse column it holds exactly, and the others have few plausible pairs."""
    map, found = attack(7001 * len(MORE) + MORE.index(kind), noise=noise, kinds=MORE)
    assert len(map.lift_.lifted) == 1
    assert found.low < found.permuted + 0.02


@pytest.mark.parametrize("kind", MORE[len(KINDS) :])
def test_percentages_surfaces_logarithms_and_cubes_are_found(kind):
    X, _, c = related(7002 * len(MORE) + MORE.index(kind), kinds=MORE)
    map = PrivacyMap(random_state=0).fit(X, c)
    assert len(map.lift_.lifted) == 1
    assert (map.decode(map.encode(X, c), c) == X).all()


def test_tables_have_a_row_for_each_eighth_of_a_cell_where_that_shows_more():
    X, _, c = related(7001 * len(MORE) + MORE.index("product"), noise=0.5, kinds=MORE)
    map = PrivacyMap(random_state=0).fit(X, c)
    (one,) = map.lift_.lifted
    assert len(one.widths) == EIGHTHS
    Z = map.encode(X[:40], c[:40])
    again = Codec.from_arrays(map.codec_.to_arrays())
    for i in range(40):
        single = again._single(Z[i : i + 1], int(c[i]), None)
        plain = again.inverse(Z[i : i + 1].T.copy(), int(c[i]), again.levels(None, 1))[:, 0]
        assert list(single.path.inverse(Z[i].tolist())) == plain.tolist()
        there = again.forward(plain[:, None], int(c[i]), again.levels(None, 1))[:, 0]
        assert list(single.path.forward(plain.tolist())) == there.tolist()


def of_each_class(kind, n=1500, known=False):
    """Return readings with a relation with another constant, factor or shape in each class."""
    X, K, c = related(1, n, known=known)
    a, b = X[:, 0], X[:, 1] if K is None else K[:, 0]
    made = {
        "constant": a + b + 6 * c,
        "factor": 100 * a / b * (1 + 0.1 * c),
        "slope": (1 + c) * a + b,
        "form": np.where(c == 1, a + b, a * b / 100),
        "difference": np.abs(2.4 * a - b),
        "maximum": np.maximum(2.4 * a, b),
        "own maximum": np.maximum((2.4 + 0.1 * c) * a, b),
    }[kind]
    X[:, -1] = np.round(made, 1)
    return X, K, c


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize(
    ("kind", "formulas"),
    [
        ("constant", 2),
        ("factor", 2),
        ("slope", 2),
        ("form", 2),
        ("difference", 1),
        ("maximum", 1),
        ("own maximum", 2),
    ],
)
def test_each_class_has_its_own_formula_where_they_differ(kind, formulas, known):
    X, K, c = of_each_class(kind, known=known)
    map = PrivacyMap(random_state=0).fit(X, c, known=K)
    (one,) = map.lift_.lifted
    assert len(one.formulas) == formulas
    arrays = map.codec_.to_arrays()
    assert int(arrays["format"]) == (4 if formulas > 1 else 3)
    again = Codec.from_arrays(arrays)
    Z = map.encode(X, c, known=K)
    assert (again.decode(Z, c, known=K) == X).all()
    for i in range(20):
        side = None if K is None else K[i : i + 1]
        assert (again.decode(Z[i : i + 1], int(c[i]), known=side) == X[i]).all()
        single = again._single(Z[i : i + 1], int(c[i]), side)
        at = again.levels(side, 1)
        plain = again.inverse(Z[i : i + 1].T.copy(), int(c[i]), at)[:, 0]
        assert list(single.path.inverse(Z[i].tolist())) == plain.tolist()


def test_a_wrong_class_gives_the_relation_of_that_class():
    X, _, c = of_each_class("constant")
    map = PrivacyMap(random_state=0).fit(X, c)
    Z = map.encode(X, c)
    for which in (0, 1):
        wrong = map.decode(Z, np.full(len(X), which))
        assert np.median(np.abs(wrong[:, 2] - wrong[:, 0] - wrong[:, 1] - 6 * which)) < 0.1


def test_a_map_with_a_formula_of_each_class_is_refused_with_other_classes():
    X, _, c = of_each_class("constant")
    arrays = PrivacyMap(random_state=0).fit(X, c).codec_.to_arrays()
    arrays["lift.0.formula"] = np.repeat(arrays["lift.0.formula"][:1], 3)
    with pytest.raises(RequestError, match="are not a map"):
        Codec.from_arrays(arrays)


@pytest.mark.parametrize("text", ["max(x0, k0)", "min(k0, x0)", "abs(x0 - k0)", "sqrt(abs(k0))"])
def test_a_formula_has_the_same_value_in_a_row_as_in_a_column(text):
    formula = ColumnFormula(text)
    x, k = np.array([1.0, 3.0, -2.0, 2.0, 5.0]), np.array([2.0, -1.0, np.nan, 2.0, np.inf])
    rows = [
        formula.evaluate_one({"x0": a, "k0": b})
        for a, b in zip(x.tolist(), k.tolist(), strict=True)
    ]
    assert np.array_equal(formula.evaluate({"x0": x, "k0": k}), rows, equal_nan=True)


@pytest.mark.parametrize("text", ["max(x0)", "abs(x0, x1)", "min(x0, x1, x2)", "exp(x0)"])
def test_a_function_takes_its_number_of_arguments(text):
    with pytest.raises(RequestError, match=r"is no relation.*abs\(\), max\(\) and min\(\)"):
        ColumnFormula(text)


@pytest.mark.parametrize("correlation", [0.9, 0.99, 0.999])
def test_no_relation_is_found_where_there_is_none(correlation):
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(2, 2000))
    b = correlation * a + np.sqrt(1 - correlation**2) * b
    X = np.round(np.stack([100 + 15 * a, 70 + 10 * b], axis=1), 1)
    assert find_lift(X, np.zeros(2000, int), [ValueLattice(1, 10)] * 2) is None


def test_heaped_digits_become_as_wide_as_they_are_frequent():
    rng = np.random.default_rng(3)
    x = np.round(rng.normal(70, 12, 4000), 1)
    x[::2] = np.round(x[::2])
    lift = find_lift(x[:, None], np.zeros(4000, int), [ValueLattice(1, 10)])
    assert not lift.lifted
    u = rng.uniform(-0.5, 0.5, 4000) * 0.1
    spread = lift.widen(0, x + u)
    share = np.mod(np.rint(spread * 10), 10) == 0
    assert abs(share.mean() - 0.1) < 0.03
    assert np.allclose(lift.inverse(lift.forward((x + u)[None], None), None), (x + u)[None])


@pytest.mark.parametrize(
    ("relations", "message"),
    [
        ({2: "x0 - x1"}, "1,500 of 1,500 rows break the declared relation"),
        ({2: "x0 + x1", 1: "x2 - x0"}, "form a cycle"),
        ({2: "x0 + x1 +"}, "is no relation"),
        ({2: "__import__('os').getcwd()"}, "is no relation"),
        ({2: "x0 ** x1"}, "no whole number"),
        ({2: "1 + 2"}, "contains no column"),
    ],
)
def test_a_wrong_relation_is_refused(relations, message):
    X, _, c = related(0)
    with pytest.raises(RequestError, match=message):
        PrivacyMap(random_state=0, relations=relations).fit(X, c)


def test_a_finer_resolution_than_the_parts_allow_is_refused():
    X, _, c = related(4)
    X[:, 2] = np.round(100 * X[:, 0] / X[:, 1] + np.random.default_rng(0).uniform(0, 1, 1500), 4)
    with pytest.raises(RequestError, match=r"finer than the relation's parts allow.*declare"):
        PrivacyMap(random_state=0, relations={2: "100 * x0 / x1"}).fit(X, c)


def days(invariant):
    """Return weight and a derived index day by day, and the height that stays."""
    rng = np.random.default_rng(5)
    whose = np.repeat(np.arange(120), 6)
    c = (np.arange(120) % 2)[whose]
    height = np.round(rng.normal(165, 9, 120))[whose]
    weight = np.round(rng.normal(62, 8, 120)[whose] + 6 * c + rng.normal(size=720), 1)
    index = np.round(1e4 * weight / height**2, 1)
    return np.stack([index, weight, height], axis=1), c, whose


@pytest.mark.parametrize("invariants", [(2,), ()])
def test_sessions_lift_relations_and_decode_exactly(invariants):
    X, c, whose = days(invariants)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        map = SequenceMap(invariants, random_state=0).fit(X, c, whose)
    codec = SequenceCodec.from_arrays(map.codec_.to_arrays())
    assert codec.derived_count == 1
    assert codec.mark == map.codec_.mark
    for subject in range(6):
        ends = [Session(one, int(c[whose == subject][0]), "s") for one in (codec, map.codec_)]
        for place, x in enumerate(X[whose == subject].tolist()):
            ends[0].send(x)
            (message,) = ends[0].pending()
            ends[1] = Session.from_json(codec, ends[1].to_json())
            assert list(ends[1].receive(message).values) == x
            ends[0].acknowledge(ends[1].receipt())
            assert len(message.values) == 3 - len(invariants) * (place > 0)


def test_sessions_use_the_formula_of_each_class():
    X, c, whose = days(())
    X[:, 0] = np.round(X[:, 1] + X[:, 2] + 5 * c, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        map = SequenceMap((2,), random_state=0).fit(X, c, whose)
    assert any(one.own for one in map.codec_.codec.lift.lifted)
    codec = SequenceCodec.from_arrays(map.codec_.to_arrays())
    for subject in range(4):
        ends = [Session(one, int(c[whose == subject][0]), "s") for one in (codec, map.codec_)]
        for x in X[whose == subject].tolist():
            ends[0].send(x)
            (message,) = ends[0].pending()
            assert list(ends[1].receive(message).values) == x
            ends[0].acknowledge(ends[1].receipt())
