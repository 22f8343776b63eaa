"""One reading alone is encoded and decoded to the very bits that a batch gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.signals.fitting.maps import test_conditional_map as conditional
from tests.signals.made_up import METHODS, Draws, fitted, readings

from voile.core.errors import RequestError
from voile.signals.model.codec.codec import Codec
from voile.signals.model.maps.bases import BASES


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


CELLS = st.tuples(
    st.one_of(st.none(), st.integers(-5, 40), st.just("7"), st.just(float("nan"))),
    st.sampled_from(["f", "m", "m\0", "unseen", None, " ", 1]),
)


@pytest.mark.parametrize("base", BASES)
@given(
    x=st.tuples(st.integers(-300, 6000), st.integers(-300, 6000)),
    draws=st.lists(st.integers(0, 2**64 - 1), min_size=2, max_size=2),
    c=st.sampled_from(["high", "low", "middle"]),
    cells=CELLS,
    strength=st.sampled_from([0.3, 1.0]),
    in_clear=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_with_side_columns_too_alone_is_as_in_a_batch(base, x, draws, c, cells, strength, in_clear):
    codec = conditional.fitted(base, strength, in_clear=in_clear).codec_
    X, row = np.array(x) / 10, np.array([cells], dtype=object)
    both = np.concatenate([row, row])
    alone = codec.encode(X[None], c, known=row, protective=Draws(draws))
    drawn = Draws([draw for draw in draws for _ in range(2)])
    together = codec.encode(np.stack([X, X]), c, known=both, protective=drawn)
    assert alone.tobytes() == together[:1].tobytes()
    assert codec.decode(alone, c, known=row).tobytes() == X[None].tobytes()
    assert codec.decode(together, c, known=both)[:1].tobytes() == X[None].tobytes()


def test_one_reading_takes_the_short_way(monkeypatch):
    """Else it takes 600 microseconds: nothing of a batch is called."""
    X, c = readings(5, 3)
    codec = fitted("transport").codec_
    Z = codec.encode(X, c)
    monkeypatch.delattr(Codec, "_by_class")
    for i in range(5):
        sent = codec.encode(X[[i]], c[[i]])
        assert codec.decode(sent, c[i]).tobytes() == codec.decode(Z[[i]], c[i]).tobytes()


def test_one_reading_with_side_columns_takes_the_short_way_too(monkeypatch):
    X, c, known = conditional.growing(5, 3)
    codec = conditional.fitted().codec_
    Z = codec.encode(X, c, known=known)
    monkeypatch.delattr(Codec, "_by_class")
    for i in range(5):
        row = known[[i]]
        sent = codec.encode(X[[i]], c[[i]], known=row)
        back = codec.decode(Z[[i]], c[i], known=row)
        assert codec.decode(sent, c[i], known=row).tobytes() == back.tobytes()


@pytest.mark.parametrize(
    ("known", "said"),
    [
        (None, "takes 2 side columns, and none are given"),
        ([[3.5, "f"]], "contradict the resolution"),
        ([["young", "f"]], "numbers holds text"),
        ([[np.inf, "f"]], "infinite"),
        ([[3]], "takes 2 side columns, and 1 are given"),
    ],
)
def test_side_columns_that_a_batch_refuses_are_refused_alone(known, said):
    codec = conditional.fitted().codec_
    table = None if known is None else np.array(known, dtype=object)
    with pytest.raises(RequestError, match=said):
        codec.encode([[50.0, 20.0]], "low", known=table)
