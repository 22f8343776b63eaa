"""The ends in C and JavaScript send and read the very bits that Python does."""

from __future__ import annotations

import numpy as np
import pytest
from tests.signals.export.exported import (
    ENDS,
    codec,
    in_python,
    packed,
    unpacked,
    write,
)
from tests.signals.made_up import NAMES, readings

from voile.core.errors import RequestError

EACH = pytest.mark.parametrize("end", ENDS)


def given(n, seed):
    """Readings, some of them far out, the numbers of their classes, and draws."""
    rng = np.random.default_rng(seed)
    X, c = readings(n, seed)
    few = rng.random(n) < 0.02
    X[few] = np.round(X[few] * rng.uniform(-3, 20, (few.sum(), 2)), 1) + 0.0  # no -0.0
    draws = rng.integers(0, 2**64, (n, 2), dtype=np.uint64)
    draws[:4] = [[0, 0], [2**64 - 1, 0], [2**63, 2**63], [2**63 - 1, 2**11]]
    return np.searchsorted(np.sort(NAMES), c), X, draws


@EACH
@pytest.mark.parametrize("n", [20_000, pytest.param(1_000_000, marks=pytest.mark.whole)])
def test_every_reading_has_the_bits_that_it_has_in_python(end, n, tmp_path):
    which, X, draws = given(n, n)
    made = ENDS[end](write(tmp_path / "kit", codec()), packed(which, X, draws))
    sent, Z, read, back = unpacked(made, 2)
    assert not sent.any()
    assert Z.tobytes() == in_python(codec().codec, which, X, draws).tobytes()
    # a plausible reading comes back; one beyond 8 normal scores is refused
    labels = codec().codec.classes[which]
    beyond = codec().codec.outside(X, labels, farthest=8.0).any(axis=1)
    assert 0 < beyond.sum() < n / 50
    assert ((read == 5) == beyond).all()
    assert back[~beyond].tobytes() == X[~beyond].tobytes()


REFUSED = [
    (3, [1.0, 2.0], 1),
    (-1, [1.0, 2.0], 1),
    (0, [np.nan, 2.0], 2),
    (0, [1.0, np.inf], 2),
    (0, [1.0, -np.inf], 2),
    (0, [1.0, 2.05], 3),
    (0, [1e300, 2.0], 3),
    (0, [4e14, 2.0], 4),
]


@EACH
def test_what_python_refuses_each_end_refuses(end, tmp_path):
    which, X, codes = map(np.array, zip(*REFUSED, strict=True))
    draws = np.full(X.shape, 2**40, dtype=np.uint64)
    made = ENDS[end](write(tmp_path / "kit", codec()), packed(which, X, draws))
    sent, Z, read, _ = unpacked(made, 2)
    assert sent.tolist() == codes.tolist()
    assert (read == -1).all()
    assert not Z.any()
    for x in X[2:]:
        with pytest.raises(RequestError):
            codec().codec.encode([x], codec().codec.classes[0])
