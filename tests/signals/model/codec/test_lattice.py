"""Resolutions are found or declared, and contradicted ones refused."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.keys.random import ProtectiveRandom
from voile.signals.model.codec.lattice import MARGIN, ValueLattice, dither
from voile.signals.model.codec.place import ReadingPlace


@given(st.integers(1, 300), st.integers(0, 6), st.integers(-(10**6), 10**6), st.data())
def test_found_is_the_coarsest_lattice_and_values_are_exact(step, places, start, data):
    numbers = data.draw(
        st.lists(st.integers(-500, 500), min_size=3, max_size=30).filter(
            lambda n: np.gcd.reduce(np.abs(np.array(n) - n[0])) == 1
        )
    )
    exact = [Fraction(start + step * k, 10**places) for k in numbers]
    x = np.array([float(value) for value in exact])
    lattice = ValueLattice.find_coarsest(x, ReadingPlace(0))
    assert lattice.resolution == pytest.approx(step / 10**places)
    assert (lattice.nearest(x) == x).all()
    assert (lattice.values(lattice.positions(x, ReadingPlace(0))) == x).all()


@given(st.floats(-0.49, 0.49), st.integers(-(10**6), 10**6))
def test_a_point_in_a_cell_rounds_to_its_value(u, k):
    lattice = ValueLattice.from_resolution(0.1, np.array([0.1, 0.2, 0.5]), ReadingPlace(0))
    assert lattice.nearest(lattice.values(np.array([k + u])))[0] == float(f"{k / 10:.1f}")


def test_arithmetic_noise_is_taken_off():
    x = np.array([701, 702, 705]) * 0.1  # 70.10000000000001 and so on
    lattice = ValueLattice.find_coarsest(x, ReadingPlace(0))
    assert lattice.nearest(x).tolist() == [70.1, 70.2, 70.5]


@pytest.mark.parametrize(
    ("resolution", "x", "message"),
    [
        (0.1, [1.0, 1.25, 1.3], "contradict the resolution 0.1, the first of them here"),
        (0.01, [1.0, 1.1, 1.3], "10 times as coarse"),
        (0.0, [1.0, 1.1, 1.3], "more than 0"),
        (-1.0, [1.0, 1.1, 1.3], "more than 0"),
        (1e-12, [1.0, 1.1, 1.3], "more than 9 decimal places"),
        (0.1, [1.0, 1.1, 1e16], "contradict"),
    ],
)
def test_a_resolution_that_the_data_contradicts_is_refused(resolution, x, message):
    with pytest.raises(RequestError, match=message):
        ValueLattice.from_resolution(resolution, np.array(x), ReadingPlace(0))


def test_no_resolution_is_made_up_for_continuous_readings():
    with pytest.raises(RequestError, match="no resolution was found; declare one"):
        ValueLattice.find_coarsest(np.random.default_rng(0).normal(size=50), ReadingPlace(0))


def test_half_steps_off_nought_are_a_lattice_of_their_own():
    lattice = ValueLattice.find_coarsest(np.array([0.5, 1.5, 4.5]), ReadingPlace(0))
    assert (lattice.resolution, lattice.values(np.array([0, 1])).tolist()) == (1.0, [0.5, 1.5])


def test_dither_fills_the_cell_evenly_and_no_seed_repeats_it():
    u = dither(1, 200_000, ProtectiveRandom())[0]
    assert np.abs(u).max() < 0.5 - MARGIN / 2
    counts = np.histogram(u, 20, (-0.5, 0.5))[0]
    assert ((counts - 10_000) ** 2 / 10_000).sum() < 55  # chi-square of 19, one in 25,000
    assert not np.array_equal(u, dither(1, 200_000, ProtectiveRandom())[0])
