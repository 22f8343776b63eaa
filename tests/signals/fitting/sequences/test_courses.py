"""What scores follow over time: fitted, chosen and taken off, and what whole sessions reveal."""

from __future__ import annotations

import json
import warnings
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.signals.fitting.sequences.courses import KINDS, courses

from voile.core.errors import RequestError
from voile.signals import SequenceCodec, SequenceMap, Session, SignalsWarning
from voile.signals.attack.breaks import send_readings
from voile.signals.fitting.methods.layers import LayerChain
from voile.signals.fitting.overhear import overhear
from voile.signals.fitting.sequences.courses import SubjectCourses, fit_direction, forecasts
from voile.signals.model.sequences.basis import TimeBasis
from voile.signals.model.sequences.direction import CLEAR, DirectionLaw, power, share_of

LENGTH = 30


@cache
def rows(kind, n, seed):
    X, c, days = courses(kind, n, LENGTH, seed)
    return X.reshape(-1, 1), np.repeat(c, LENGTH), np.repeat(np.arange(n), LENGTH), days.ravel()


def fit(X, c, whose, days, **more):
    quick = LayerChain(degree=3, spread=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SignalsWarning)
        return SequenceMap(settings=quick, resolution=0.1, random_state=0, **more).fit(
            X, c, whose, days
        )


@cache
def fitted(kind):
    return fit(*rows(kind, 300, 1))


@pytest.mark.parametrize("kind", KINDS)
def test_the_structure_is_what_some_class_follows(kind):
    basis = fitted(kind).codec_.basis
    assert (basis.slope > 0) == (kind == "trend")
    assert len(basis.season) == (7 if kind == "week" else 1)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_sent_is_new_noise_in_every_class(kind):
    """Level, trend, week and succession of messages are those of independent normal numbers."""
    X, c, days = courses(kind, 200, LENGTH, 2)
    Z = send_readings(fitted(kind).codec_, X[:, :, None], c, days)[1]
    for which in (0, 1):
        z = Z[c == which, 1:, 0]
        trend = np.arange(LENGTH - 1) - (LENGTH - 2) / 2
        assert abs(z.mean()) < 0.1
        assert z.std() == pytest.approx(1, abs=0.15)
        assert abs((z[:, 1:] * z[:, :-1]).mean()) < 0.12
        assert abs((z[:, 7:] * z[:, :-7]).mean()) < 0.12
        assert abs(z @ trend).mean() / np.sqrt(trend @ trend) == pytest.approx(0.8, abs=0.25)


def test_readings_come_back_whenever_they_were_taken():
    codec = fitted("week").codec_
    rng = np.random.default_rng(3)
    device, clinic = (Session(codec, 1, "a", ahead=3) for _ in range(2))
    days = np.cumsum(rng.integers(1, 400, 40)).tolist()
    weights = np.round(rng.normal(80, 9, 40), 1).tolist()
    came = []
    for day, weight in zip(days, weights, strict=True):
        device.send([weight], day)
        device = Session.from_json(codec, through_json(device))
        for message in device.pending():
            got = clinic.receive(message)
            came += [(got.time, *got.values)] if got else []
        device.acknowledge(clinic.receipt())
    assert came == list(zip(days, weights, strict=True))


def through_json(session):
    return json.loads(json.dumps(session.to_json()))


def test_a_time_that_does_not_go_on_is_one_unit_later():
    device = Session(fitted("swings").codec_, 0, "a", ahead=9)
    for time in (None, 5, 5, 3, None, 20):
        device.send([70.0], time)
    assert [message.time for message in device.pending()] == [0, 5, 6, 7, 8, 20]
    device.send([70.0], 1 << 53)
    for time in (1.5, True, 1 << 60, None):
        with pytest.raises(RequestError, match="a time is not a whole number of units"):
            device.send([70.0], time)


def test_a_map_fitted_without_times_counts_readings_and_its_messages_say_none():
    X, c, whose, _ = rows("swings", 100, 1)
    counted = Session(fit(X, c, whose, None).codec_, 0, "a")
    with pytest.raises(RequestError, match="the map counts readings, and takes no times"):
        counted.send([70.0], 3)
    counted.send([70.0])
    (message,) = counted.pending()
    assert "time" not in message.to_json()
    with pytest.raises(RequestError, match="another map, or out of step"):
        Session(counted.codec, 0, "a").receive(message._replace(time=0))
    device = Session(fitted("swings").codec_, 0, "a")
    device.send([70.0])
    with pytest.raises(RequestError, match="another map, or out of step"):
        Session(device.codec, 0, "a").receive(device.pending()[0]._replace(time=None))


def test_a_message_that_is_earlier_than_the_one_before_is_refused():
    device, clinic = (Session(fitted("swings").codec_, 0, "a", ahead=4) for _ in range(2))
    for time in (1, 2, 3):
        device.send([70.0], time)
    first, second, third = device.pending()
    assert clinic.receive(third)
    assert clinic.receive(second._replace(time=3))
    with pytest.raises(RequestError, match="not later than the one before"):
        clinic.receive(first)
    assert clinic.receipt().number == 0


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 10.0]), st.sampled_from([0, 3]))
def test_many_subjects_at_once_are_each_alone(seed, slope, period):
    """`forecasts` against `DirectionLaw`, gross surprises, gaps, drift and short courses
    included.
    """
    rng = np.random.default_rng(seed)
    basis = TimeBasis.of(slope, period, 1)
    root = rng.normal(size=(basis.size, basis.size))
    covariance = tuple(map(tuple, (root @ root.T).tolist()))
    law = DirectionLaw(tuple(rng.normal(size=basis.size)), covariance, 0.3, 0.5, 0.01)
    whose = rng.permutation(np.repeat(np.arange(4), [1, 6, 3, 6]))
    times = np.zeros(len(whose), dtype=np.int64)
    for one in range(4):
        times[whose == one] = np.cumsum(rng.integers(1, 9, (whose == one).sum()))
    y = rng.normal(size=len(whose)) * np.where(rng.random(len(whose)) < 0.3, 9, 1)
    many = SubjectCourses.of(whose, times)
    values = many.of_rows(y)
    found = forecasts(law, many, many.over(basis), values, values)
    surprises = np.full(len(y), np.nan)
    many.to_rows(found.surprise, surprises)
    for one in range(4):
        state, before = None, [0.0] * basis.size
        for row in np.flatnonzero(whose == one):
            now = basis.at(int(times[row]), int(times[whose == one][0]))
            forecast = law.forecast(state, int(times[row]), now, before)
            assert surprises[row] == pytest.approx((y[row] - forecast.mean) / forecast.spread)
            state, before = law.learn(state, int(times[row]), forecast, float(y[row])), now


def test_a_fit_finds_the_law_that_made_the_scores():
    rng = np.random.default_rng(0)
    n, T = 800, 25
    slope = rng.normal(0.8, 0.3, n)
    swing = rng.normal(size=(n, T))
    for t in range(1, T):
        swing[:, t] = 0.6 * swing[:, t - 1] + 0.8 * swing[:, t]
    time = np.arange(T)
    y = rng.normal(0.2, 0.9, n)[:, None] + slope[:, None] * time / 10 + 0.3 * swing
    law = fit_direction(
        SubjectCourses.of(np.repeat(np.arange(n), T), np.tile(time, n)), TimeBasis.of(10.0, 0, 0), y
    )
    assert law.mean == pytest.approx((0.2, 0.8), abs=0.1)
    assert np.sqrt(np.diag(law.covariance)) == pytest.approx([0.9, 0.3], abs=0.05)
    assert (law.kept, law.swing, law.drift) == pytest.approx((0.6, 0.09, 0), abs=0.03)


def test_a_spike_is_not_learnt_and_a_shift_is_at_its_second_reading():
    law = DirectionLaw((0.0,), ((1.0,),), 0.05, 0.3, 0.0)

    def forecast_after(*scores):
        state = None
        for time, score in enumerate(scores):
            forecast = law.forecast(state, time, [1.0], [1.0])
            state = law.learn(state, time, forecast, score)
        return law.forecast(state, len(scores), [1.0], [1.0]).mean

    calm = forecast_after(0, 0, 0, 0, 0)
    assert forecast_after(0, 0, 0, 0, 9) == pytest.approx(calm, abs=0.1)
    assert forecast_after(0, 0, 0, 0, 9, 9) > 2
    assert forecast_after(9.0) > 5  # a first reading says where the level is
    assert share_of(CLEAR) == 1


@given(st.floats(-0.99, 0.99), st.integers(0, 500))
def test_a_power_by_products_is_a_power(base, exponent):
    assert power(base, exponent) == pytest.approx(base**exponent, rel=1e-9, abs=1e-300)


def test_what_sessions_reveal_is_found_by_subjects_held_out():
    X, c, whose, days = rows("swings", 240, 4)

    def half(own):
        return fit(X[own], c[own], whose[own], days[own])

    found = overhear(half, X, c, whose, days, np.random.default_rng(0))
    assert [one.messages for one in found] == [10, 30]
    assert [one.subjects for one in found] == [120, 120]
    for one in found:
        assert one.low < one.auc < one.high
        assert one.without > 0.7
        assert one.auc < 0.7
    raw = overhear(lambda own: fit(X, c, whose, days, memory=False), X, c, whose, days,
                   np.random.default_rng(0))  # fmt: skip
    assert not raw[1].hides
    assert raw[1].auc > 0.7


def test_too_few_subjects_are_not_spared():
    X, c, whose, days = rows("swings", 60, 4)

    def half(own):
        return fit(X[own], c[own], whose[own], days[own])

    assert overhear(half, X, c, whose, days, np.random.default_rng(0)) == []


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ([1.5] * 60, "times are not a whole number for each reading"),
        ([1] * 59, "times are not a whole number for each reading"),
        ([2, 1] * 30, "a reading is earlier than the subject's one before"),
    ],
)
def test_times_that_cannot_be_are_refused(times, message):
    X, c, whose, _ = rows("swings", 60, 4)
    take = slice(0, 60)
    with pytest.raises(RequestError, match=message):
        fit(np.tile(X[take], (30, 1))[:1800], c, whose, np.tile(times, 30)[: len(times) * 30])


def test_a_map_of_an_earlier_voile_is_refused_in_a_sentence():
    arrays = fitted("swings").codec_.to_arrays()
    del arrays["part.0.columns"]
    with pytest.raises(RequestError, match="of an earlier voile; fit it again"):
        SequenceCodec.from_arrays(arrays)
