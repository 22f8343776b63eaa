"""Not one wrong: millions of random readings, and thousands of sessions over a bad line."""

from __future__ import annotations

import numpy as np
import pytest
from tests.signals.days import days
from tests.signals.days import fitted as fitted_days
from tests.signals.made_up import NAMES, fitted

from voile.signals import Session
from voile.signals.model.maps.bases import BASES

BATCH = 1_000_000
LOSS = 0.1
AHEAD = 4


def wrong(n, seed):
    """Send and read n random points of the lattice, near and far, by all bases; count the wrong."""
    rng = np.random.default_rng(seed)
    lost = 0
    for part, base in zip(range(0, n, BATCH), np.resize(list(BASES), -(-n // BATCH)), strict=True):
        size = min(BATCH, n - part)
        codec = fitted("transport").codec(base=base, strength=rng.choice([0.3, 0.7, 1.0]))
        c = NAMES[rng.integers(0, 3, size)]
        reach = rng.choice([400, 2_000, 100_000], (size, 1), p=[0.8, 0.19, 0.01])
        X = rng.integers(-reach // 8, reach, (size, 2)) / 10
        lost += int((codec.decode(codec.encode(X, c), c) != X).any(axis=1).sum())
    return lost


def test_of_300_000_random_readings_none_is_wrong():
    assert wrong(300_000, 1) == 0


@pytest.mark.slow
def test_of_10_million_random_readings_none_is_wrong():
    assert wrong(10_000_000, 2) == 0


def over_a_bad_line(subjects, length, seed):
    """Lose a tenth, double all, mix what is under way; count what came and what came wrong."""
    rng = np.random.default_rng(seed)
    codec = fitted_days(0).codec_
    X, c, _ = days(subjects, length, seed)
    came = bad = 0
    for one in range(subjects):
        readings = [tuple(x) for x in X[one * length : (one + 1) * length].tolist()]
        device, clinic = (Session(codec, c[one * length], str(one), ahead=AHEAD) for _ in range(2))
        for reading in readings:
            device.send(reading)
        line, got = [], {}
        while device.pending():
            line += [m for m in device.pending() for _ in range(2) if rng.random() > LOSS]
            rng.shuffle(line)
            while len(line) > AHEAD:
                reading = clinic.receive(line.pop())
                if reading is not None:
                    assert reading.number not in got  # a double is known
                    got[reading.number] = reading.values
            if rng.random() > LOSS:
                device.acknowledge(clinic.receipt())
        came += len(got)
        bad += sum(got[number] != reading for number, reading in enumerate(readings, 1))
    return came, bad


def test_of_30_sessions_over_a_bad_line_nothing_is_wrong_or_missing():
    assert over_a_bad_line(30, 30, 5) == (900, 0)


@pytest.mark.slow
def test_of_2_000_sessions_over_a_bad_line_nothing_is_wrong_or_missing():
    assert over_a_bad_line(2_000, 30, 6) == (60_000, 0)
