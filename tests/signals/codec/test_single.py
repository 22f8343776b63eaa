"""One reading alone is encoded and decoded to the very bits that a batch gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.signals.made_up import METHODS, Draws, fitted, readings

from voile.core.errors import RequestError
from voile.signals.codec.codec import Codec
from voile.signals.maps.bases import BASES


def in_a_batch(codec, X, c, draws):
    """Encode a reading in company: of two, the first."""
    # the batch draws for the first column's rows, then for the second's
    both = [draw for draw in draws for _ in range(2)]
    return codec.encode(np.stack([X, X]), [c, c], protective=Draws(both))[:1]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("base", BASES)
@given(
    x=st.tuples(st.integers(-300, 6000), st.integers(-300, 6000)),
    draws=st.lists(st.integers(0, 2**64 - 1), min_size=2, max_size=2),
    c=st.sampled_from(["low", "middle", "top"]),
    strength=st.sampled_from([0.0, 0.3, 1.0]),
)
@settings(max_examples=60, deadline=None)
def test_a_reading_alone_has_the_bits_that_it_has_in_a_batch(method, base, x, draws, c, strength):
    codec = fitted(method).codec(base=base, strength=strength)
    X = np.array(x) / 10
    alone = codec.encode(X[None], c, protective=Draws(draws))
    assert alone.tobytes() == in_a_batch(codec, X, c, draws).tobytes()
    together = codec.decode(np.concatenate([alone, alone]), c)[:1]
    assert codec.decode(alone, c).tobytes() == together.tobytes() == X[None].tobytes()


@given(z=st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=2))
@settings(max_examples=200, deadline=None)
def test_any_message_decodes_alone_as_in_a_batch(z):
    codec = fitted("transport").codec_
    alone, both = codec.decode([z], "low"), codec.decode([z, z], "low")
    assert alone.tobytes() == both[:1].tobytes()


@pytest.mark.parametrize("x", [[[1.0, np.nan]], [[1.0, -np.inf]], [[1.0, 2.05]], [[4e14, 2.0]]])
def test_what_is_refused_in_a_batch_is_refused_alone_in_the_same_words(x):
    codec = fitted("transport").codec_
    with pytest.raises(RequestError) as alone:
        codec.encode(x, "low")
    with pytest.raises(RequestError) as together:
        codec.encode([*x, [1.0, 2.0]], "low")
    assert str(alone.value) == str(together.value)


def test_one_reading_takes_the_short_way(monkeypatch):
    """Else it takes 600 microseconds: nothing of a batch is called."""
    X, c = readings(5, 3)
    codec = fitted("transport").codec_
    Z = codec.encode(X, c)
    monkeypatch.delattr(Codec, "_by_class")
    for i in range(5):
        sent = codec.encode(X[[i]], c[[i]])
        assert codec.decode(sent, c[i]).tobytes() == codec.decode(Z[[i]], c[i]).tobytes()
