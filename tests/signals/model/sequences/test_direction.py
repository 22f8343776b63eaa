"""A direction goes on to the bits that plain loops over its coefficients give."""

from __future__ import annotations

import json
import struct
from math import sqrt

from hypothesis import given, settings
from hypothesis import strategies as st

from voile.signals.model.sequences.direction import CLEAR, DirectionLaw, power, read_state, share_of
from voile.signals.model.sequences.written_out import LARGEST, times


def bits(*values):
    """Return what distinguishes -0.0 from 0.0 too."""
    return [struct.pack(f"<{len(one)}d", *one) for one in values]


def dot(a, b):
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += x * y
    return total


class Looped:
    """The naive twin: what is known of one direction, by loops over lists."""

    def __init__(self, law):
        self.law, self.known = law, None

    def forecast(self, time, functions, before):
        law, known = self.law, self.known
        doubt, parts, noise = [list(row) for row in law.covariance], list(functions), law.swing
        self.mean = dot(parts, law.mean)
        if known:
            gap = time - known["time"]
            kept = power(law.kept, gap)
            parts = [now - kept * then for now, then in zip(functions, before, strict=True)]
            self.mean = kept * known["last"] + dot(parts, known["coefficients"])
            doubt, share = known["doubt"], law.drift * gap
            if share:
                pairs = zip(doubt, law.covariance, strict=True)
                doubt = [[p + share * q for p, q in zip(*rows, strict=True)] for rows in pairs]
            noise = law.swing * (1 - kept * kept)
        self.doubt, self.gain = doubt, [dot(row, parts) for row in doubt]
        self.spread = sqrt(dot(self.gain, parts) + noise)

    def learn(self, time, score):
        known, gain = self.known, self.gain
        surprise = (score - self.mean) / self.spread
        whole = known is None or abs(known["surprise"]) > CLEAR
        share = 1.0 if whole else share_of(surprise)
        moved, less = share * surprise / self.spread, share / (self.spread * self.spread)
        before = known["coefficients"] if known else self.law.mean
        self.known = {
            "coefficients": [b + g * moved for b, g in zip(before, gain, strict=True)],
            "doubt": [
                [p - (g * less) * h for p, h in zip(row, gain, strict=True)]
                for row, g in zip(self.doubt, gain, strict=True)
            ],
            "last": self.mean + share * surprise * self.spread,
            "surprise": surprise if known else 0.0,
            "time": time,
        }


@st.composite
def laws(draw):
    """Draw a law of some coefficients, and functions of time."""
    size = draw(st.integers(1, 8))
    numbers = st.sampled_from([0.0, -0.0, 1.0, -1.0]) | st.floats(-4, 4)

    def vector():
        return tuple(draw(st.lists(numbers, min_size=size, max_size=size)))

    root = [vector() for _ in range(size)]
    covariance = tuple(tuple(dot(a, b) for b in root) for a in root)
    kept, drift = draw(st.floats(-0.98, 0.98)), draw(st.sampled_from([0.0, 1e-4, 1e-2]))
    law = DirectionLaw(vector(), covariance, draw(st.floats(0.5, 2)), kept, drift)
    steps = st.tuples(st.integers(1, 9), st.sampled_from([-3.5, 0.0, 5.0]) | st.floats(-6, 6))
    readings = draw(st.lists(steps, min_size=1, max_size=7))
    return law, [(*each, vector()) for each in readings]


@settings(max_examples=200, deadline=None)
@given(laws())
def test_a_direction_goes_on_to_the_bits_of_plain_loops(drawn):
    law, readings = drawn
    twin, state, time, before = Looped(law), None, 0, None
    for gap, surprise, functions in readings:
        time += gap
        forecast = law.forecast(state, time, functions, before or functions)
        twin.forecast(time, functions, before or functions)
        assert bits(forecast[:2], forecast.gain) == bits((twin.mean, twin.spread), twin.gain)
        assert bits(forecast.doubt) == bits([p for row in twin.doubt for p in row])
        score = forecast.mean + surprise * forecast.spread
        if state is not None:
            part = law.forecast(state, time, functions, before, held=False)
            assert bits(part[:1]) == bits(forecast[:1])
        state, before = law.learn(state, time, forecast, score), functions
        twin.learn(time, score)
        coefficients, doubt, last, known, *when = json.loads(json.dumps(state.to_json()))
        expected = twin.known
        assert bits(coefficients, *doubt) == bits(expected["coefficients"], *expected["doubt"])
        assert bits((last, known)) == bits((expected["last"], expected["surprise"]))
        assert when == [time, readings[0][0]]
        if all(doubt[k][k] >= 0 for k in range(len(doubt))):
            assert read_state(json.loads(json.dumps(state.to_json())), len(law.mean)) == state


def test_directions_are_written_out_for_any_size_that_a_map_may_have():
    for size in range(1, LARGEST + 1):
        a, b = [1.0 / (k + 1) for k in range(size)], [-0.0] * size
        rows = tuple(tuple(float(j == k) for k in range(size)) for j in range(size))
        law = DirectionLaw(tuple(a), rows, swing=1.0, kept=0.5, drift=0.0)
        assert bits([law.forecast(None, 0, b, b).mean]) == bits([0.0])
        first = law.forecast(None, 0, a, a)
        assert bits(first[:2]) == bits([dot(a, a), sqrt(dot(a, a) + 1.0)])
        assert bits(law.learn(None, 0, first, first.mean).coefficients) == bits(a)
        matrix = [value for row in rows for value in row]
        assert bits(times(size)(matrix, a)) == bits(a)
