"""What is sent comes back exactly, from any fit, on a device with NumPy alone."""

from __future__ import annotations

import io
import subprocess
import sys

import numpy as np
import pytest
from tests.signals.made_up import METHODS, NAMES, fitted, readings

from voile.core.errors import RequestError
from voile.keys.random import ProtectiveRandom
from voile.signals import Codec, PrivacyMap
from voile.signals.model.maps.bases import BASES

EVERY = pytest.mark.parametrize("method", METHODS)
HEAVY = ("scipy", "pandas", "pydantic", "numba", "sklearn", "pyarrow", "duckdb")


@EVERY
@pytest.mark.parametrize("base", BASES)
def test_every_reading_comes_back_at_every_strength(method, base):
    """12 x 18 x 2,500 readings in all, far-out ones and ones below 0 among them."""
    rng = np.random.default_rng(7)
    for strength in np.linspace(0, 1, 12):
        codec = fitted(method).codec(base=base, strength=strength)
        X, c = readings(2500, int(1000 * strength))
        X[:200] = np.round(X[:200] * rng.uniform(-3, 20, (200, 2)), 1)
        Z = codec.encode(X, c)
        assert np.isfinite(Z).all()
        assert (codec.decode(Z, c) == X).all()


@pytest.mark.whole
@EVERY
@pytest.mark.parametrize("base", BASES)
def test_columns_rise_and_the_whole_is_injective(method, base):
    """Nothing dithered: neighbouring points of a column stay apart and in their order."""
    codec = fitted(method).codec(base=base, strength=0.6)
    for which in range(3):
        line = np.linspace(-20, 60, 4001)
        for j in range(2):
            V = np.full((2, len(line)), 5.0)
            V[j] = line
            Z = codec.forward(V, which)
            assert np.linalg.norm(np.diff(Z, axis=1), axis=0).min() > 0
            assert codec.inverse(Z, which) == pytest.approx(V, abs=1e-7)


@EVERY
def test_strength_nought_sends_the_readings_themselves(method):
    X, c = readings(300, 5)
    assert (fitted(method).codec(base="normal", strength=0.0).encode(X, c) == X).all()


def test_one_row_and_many_rows_are_the_same_points():
    X, c = readings(3000, 6)
    codec = fitted("transport").codec_
    many = codec.encode(X, c)
    one = np.concatenate([codec.encode(X[[i]], c[[i]]) for i in range(50)])
    assert np.abs(one - many[:50]).max() < 2  # dithered anew, so near but not equal
    assert all((codec.decode(many[[i]], c[i]) == X[i]).all() for i in range(50))


def test_arrays_hold_the_whole_codec_and_no_objects():
    X, c = readings(500, 8)
    for method in METHODS:
        codec = fitted(method).codec_
        file = io.BytesIO()
        np.savez(file, **codec.to_arrays())
        file.seek(0)
        with np.load(file, allow_pickle=False) as arrays:
            again = Codec.from_arrays(dict(arrays))
        first, second = (
            one.encode(X, c, protective=ProtectiveRandom.for_tests(1)) for one in (codec, again)
        )
        assert (first == second).all()
        assert (again.decode(first, c) == X).all()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda a: a.pop("classes"),
        lambda a: a.update(format=np.array(99)),
        lambda a: a.update(classes=a["classes"][:1]),
        lambda a: a.update({"class.0.1.affine.matrix": np.zeros((3, 3))}),
        lambda a: a.update({"class.0.0.bend.x": -a["class.0.0.bend.x"]}),
        lambda a: a.update({"class.0.9.virus.code": np.zeros(1)}),
    ],
)
def test_arrays_that_are_no_map_are_refused(spoil):
    arrays = fitted("transport").codec_.to_arrays()
    spoil(arrays)
    with pytest.raises(RequestError):
        Codec.from_arrays(arrays)


@pytest.mark.parametrize(
    ("X", "c", "message"),
    [
        ([[1.0, 2.0]], "lov", "c, row 1: the map has not seen a class"),
        ([[1.0, np.nan]], "low", "column 1, row 1: a reading is missing or infinite"),
        ([[1.0, np.inf]], "low", "column 1, row 1: a reading is missing or infinite"),
        ([[1.0, 2.05]], "low", "contradict the resolution 0.1"),
        ([[1.0, 2.0, 3.0]], "low", "3 columns where the map has 2"),
        ([[1.0, 2.0]], ["low", "low"], "1 readings and 2 classes"),
        ([[4e14, 2.0]], "low", "too far out"),
        ([[1e300, 2.0]], "low", "contradict"),
    ],
)
def test_what_cannot_be_sent_is_refused_without_its_value(X, c, message):
    with pytest.raises(RequestError, match=message) as refused:
        fitted("transport").codec_.encode(X, c)
    assert "2.05" not in str(refused.value)


def test_an_empty_batch_is_an_empty_batch():
    assert fitted("normal").codec_.encode(np.empty((0, 2)), np.empty(0, str)).shape == (0, 2)


@EVERY
@pytest.mark.parametrize("strength", [0.0, 0.5, 1.0])
def test_readings_beyond_the_fit_are_flagged_and_come_back(method, strength):
    """By their scores, whatever the strength and base: few of the fit, and all far-out ones."""
    map = PrivacyMap(METHODS[method], "barycentre", strength, random_state=1)
    X, c = readings(600, 1)
    assert map.fit(X, c).outside(X, c).mean() < 0.005
    far = np.array([[8.0, 3.0], [9000.0, 3.0], [-50.0, 3.0]])
    outside = map.outside(far, "middle")
    assert outside[:, 0].tolist() == [False, True, True]
    assert (map.decode(map.encode(far, "middle"), "middle") == far).all()


def test_nominal_values_are_never_outside():
    words = np.array(["yes", "no", "no", "maybe"] * 50)
    map = PrivacyMap().fit(words, np.arange(200) // 100)
    assert not map.outside(words, np.arange(200) // 100).any()


def test_a_device_needs_numpy_alone(tmp_path):
    np.savez(tmp_path / "map.npz", **fitted("transport").codec_.to_arrays())
    code = f"""
import sys, numpy as np
from voile.signals import Codec, PrivacyMap
codec = Codec.from_arrays(dict(np.load({str(tmp_path / "map.npz")!r})))
X = np.array([[4.2, 1.3], [7.7, 2.0]])
assert (codec.decode(codec.encode(X, "low"), "low") == X).all()
print(*(name for name in {HEAVY} if name in sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_classes_come_out_in_their_order():
    assert fitted("normal").classes_.tolist() == sorted(NAMES)
