"""A reading's cells, written out, are those of each value by itself, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.signals.model.codec.cells import ReadingCells
from voile.signals.model.codec.lattice import MARGIN, ValueLattice
from voile.signals.model.codec.scalar import at, is_on, place


@st.composite
def lattices(draw):
    step, per = draw(st.integers(1, 60)), draw(st.sampled_from([1, 2, 4, 10, 1000, 10**9]))
    return ValueLattice(step, per, draw(st.integers(0, step - 1)))


@settings(max_examples=300, deadline=None)
@given(st.lists(lattices(), min_size=1, max_size=4), st.data())
def test_each_value_is_placed_as_by_itself(drawn, data):
    cells = ReadingCells(drawn)
    whole = [
        data.draw(st.one_of(st.integers(-999, 999), st.integers(-(2**53), 2**53))) for _ in drawn
    ]
    apart = data.draw(st.sampled_from([0.0, 1e-7, 1e-6, 2e-6, 0.3, 0.5 - MARGIN / 2, 0.5]))
    v = [at(one, k + apart) for one, k in zip(drawn, whole, strict=True)]
    k = cells.rounded(v)
    assert k == tuple(round(place(one, x)) for one, x in zip(drawn, v, strict=True))
    alone = [at(one, n) for one, n in zip(drawn, k, strict=True)]
    assert np.array(cells.values(k)).tobytes() == np.array(alone).tobytes()
    within = [at(one, n + apart) for one, n in zip(drawn, k, strict=True)]
    assert np.array(cells.moved(k, [apart] * len(k))).tobytes() == np.array(within).tobytes()
    assert cells.on(k, v) == all(is_on(*one) for one in zip(drawn, map(int, k), v, strict=True))
    near = (
        abs(place(one, x) - n) < 0.5 - MARGIN / 2 for one, n, x in zip(drawn, k, v, strict=True)
    )
    assert cells.hold(k, v) == all(near)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, 1e308])
def test_what_is_missing_or_infinite_has_no_place(wrong):
    with pytest.raises((ValueError, OverflowError)):
        ReadingCells([ValueLattice(1, 1), ValueLattice(1, 10)]).rounded([1.0, wrong])
