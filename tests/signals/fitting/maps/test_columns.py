"""Ten columns, mixed kinds, whole numbers and scales of few steps: each comes back, and hides."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from tests.signals.days import fitted as fitted_days

from voile.core.errors import RequestError
from voile.signals import PrivacyMap, SignalsWarning, mutual_information
from voile.signals.fitting.maps.registry import METHODS

HEAVY = ("scipy", "pandas", "pydantic", "numba", "sklearn", "pyarrow", "duckdb")


def ten(n, seed):
    """Draw ten correlated columns of unlike sizes and resolutions; two classes."""
    laws = np.random.default_rng(99)
    c = np.random.default_rng(seed).integers(0, 2, n)
    mix = [laws.normal(0, 1, (10, 10)) / 4 + np.eye(10) for _ in range(2)]
    shift = laws.normal(0, 0.4, (2, 10))
    draws = np.random.default_rng(seed + 1).normal(size=(n, 10))
    Y = np.einsum("nij,nj->ni", np.stack(mix)[c], draws) + shift[c]
    resolution = np.array([0.1, 1, 0.01, 0.5, 0.1, 5, 0.1, 0.001, 0.1, 2])
    X = np.rint((40 + 9 * Y) / resolution) * resolution
    return np.round(X, 3), c


@pytest.mark.whole
@pytest.mark.parametrize("method", ["transport", "normal"])
def test_ten_columns_come_back_and_tell_less(method):
    X, c = ten(1500, 1)
    map = PrivacyMap(METHODS[method], random_state=0).fit(X, c)
    fresh, d = ten(1500, 7)
    Z = map.encode(fresh, d)
    assert (map.decode(Z, d) == fresh).all()
    before = mutual_information(fresh, d, permutations=0).bits
    assert mutual_information(Z, d, permutations=0).bits < 0.15 * before
    assert before > 0.3


@pytest.mark.parametrize("method", ["transport", "normal", "exponential", "uniform"])
def test_whole_numbers_and_scales_of_few_steps_come_back(method):
    """A pain score of 0 to 4 and a pulse: cells as wide as the readings are far apart."""
    rng = np.random.default_rng(3)
    c = rng.integers(0, 3, 2000)
    pain = rng.binomial(4, np.array([0.2, 0.5, 0.7])[c])
    pulse = rng.poisson(np.array([60, 75, 90])[c])
    X = np.stack([pain, pulse], axis=1)
    map = PrivacyMap(METHODS[method], random_state=0).fit(X, c)
    assert [lattice.resolution for lattice in map.codec_.columns] == [1.0, 1.0]
    Z = map.encode(X, c)
    assert (map.decode(Z, c) == X).all()
    plain, sent = (mutual_information(V, c, permutations=0).bits for V in (X, Z))
    assert sent < plain
    assert method != "transport" or sent < 0.1 * plain


def test_mixed_columns_keep_their_kinds():
    """A number, a whole number, an ordinal declared in steps of 5, and a nominal column."""
    rng = np.random.default_rng(4)
    c = np.array(["a", "b"])[rng.integers(0, 2, 800)]
    ill = c == "a"
    table = np.column_stack(
        [
            np.round(rng.normal(np.where(ill, 60, 80), 9), 1).astype(object),
            rng.poisson(np.where(ill, 4, 9)).astype(object),
            (5 * rng.binomial(6, np.where(ill, 0.3, 0.6))).astype(object),
            np.where(rng.random(800) < np.where(ill, 0.7, 0.2), "yes", "no").astype(object),
        ]
    )
    map = PrivacyMap(resolution=[None, 1, 5, "nominal"], random_state=0).fit(table, c)
    Z = map.encode(table, c)
    assert (map.decode(Z, c) == table).all()
    numbers = mutual_information(Z[:, :3].astype(float), c, permutations=20)
    assert numbers.bits < 0.06
    common = [Z[c == name, 3] for name in ("a", "b")]
    assert [(part == "no").mean() > 0.5 for part in common] == [True, True]


@pytest.mark.parametrize(
    ("size", "refused", "warned"), [(19, 1, 0), (20, 0, 1), (99, 0, 1), (100, 0, 0)]
)
@pytest.mark.filterwarnings("error")
def test_small_classes_are_refused_then_warned_of(size, refused, warned):
    rng = np.random.default_rng(5)
    X = np.round(rng.normal(70, 9, 400 + size), 1)
    c = np.repeat(["rest", "rare"], [400, size])
    if refused:
        with pytest.raises(RequestError, match="19 subjects, fewer than 20; merge it"):
            PrivacyMap("normal").fit(X, c)
    elif warned:
        with pytest.warns(SignalsWarning, match=f"only {size} subjects"):
            PrivacyMap("normal").fit(X, c)
    else:
        PrivacyMap("normal").fit(X, c)  # a warning is an error here
    merged = np.where(c == "rare", "rest", c)
    assert len(PrivacyMap("normal").fit(X, merged).classes_) == 1


def test_a_session_s_device_needs_numpy_alone(tmp_path):
    np.savez(tmp_path / "map.npz", **fitted_days().codec_.to_arrays())
    code = f"""
import json, sys, numpy as np
from voile.signals import SequenceCodec, Session
codec = SequenceCodec.from_arrays(dict(np.load({str(tmp_path / "map.npz")!r})))
device, clinic = (Session(codec, "wild", "s") for _ in range(2))
for reading in ((170.1, 80.2), (170.1, 80.9), (170.2, 79.5)):
    device.send(reading)
    (message,) = device.pending()
    assert clinic.receive(message).values == reading
    device.acknowledge(clinic.receipt())
    device = Session.from_json(codec, json.loads(json.dumps(device.to_json())))
print(*(name for name in {HEAVY} if name in sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_a_recipient_needs_numpy_alone(tmp_path):
    X, c = ten(300, 1)
    map = PrivacyMap("normal", random_state=0, places=6).fit(X[:, :2], c)
    for name, strength in (("map", 0.6), ("model", 1.0)):
        codec = map.codec(base="normal", strength=strength)
        np.savez(tmp_path / f"{name}.npz", **codec.to_arrays())
    code = f"""
import sys, numpy as np
from pathlib import Path
from voile.signals import Codec
where = Path({str(tmp_path)!r})
codec, model = (Codec.from_arrays(dict(np.load(where / f"{{n}}.npz"))) for n in ("map", "model"))
found = codec.posterior(codec.encode([[40.1, 42.0]], 1), [0.5, 0.5], model)
assert found.readings[1].tolist() == [[40.1, 42.0]]
assert abs(found.chances.sum() - 1) < 1e-12
print(*(name for name in {HEAVY} if name in sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
