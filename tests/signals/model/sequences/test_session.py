"""Whatever gets lost, doubled, reordered or restarted, nothing is decoded wrong."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.signals.days import NAMES, days, fitted

from voile.core.errors import RequestError
from voile.keys.random import ProtectiveRandom
from voile.signals import PrivacyMap, SequenceCodec, SequenceMap, Session, SignalsWarning
from voile.signals.model.codec.written_steps import WrittenSteps
from voile.signals.model.sequences.basis import TimeBasis
from voile.signals.model.sequences.direction import DirectionLaw
from voile.signals.model.sequences.messages import MessageReceipt, ReadingMessage

MAPS = pytest.mark.parametrize("invariants", [(), (0,)])


def ends(codec, c="wild", **options):
    return tuple(Session(codec, c, "name", **options) for _ in range(2))


def restarted(session):
    """Save and load, through text."""
    return Session.from_json(session.codec, json.loads(json.dumps(session.to_json())))


def through(text):
    return type(text).from_json(json.loads(json.dumps(text.to_json())))


def over_a_bad_line(codec, c, X, ahead, seed):
    """Send readings over a line that loses a tenth, doubles, reorders; return what came."""
    rng = np.random.default_rng(seed)
    device, clinic = ends(codec, c, ahead=ahead)
    came, line, back, left = {}, [], [], [tuple(x) for x in X.tolist()]
    for _ in range(10_000):
        if left and rng.random() < 0.5:
            device.send(left.pop(0))
        line += [through(m) for m in device.pending() for _ in range(2) if rng.random() < 0.9]
        rng.shuffle(line)
        while line and rng.random() < 0.7:
            reading = clinic.receive(line.pop())
            if reading:
                assert reading.number not in came
                came[reading.number] = reading.values
            back.append(through(clinic.receipt()))
        rng.shuffle(back)
        while back and rng.random() < 0.7:
            receipt = back.pop()
            if rng.random() < 0.9:
                device.acknowledge(receipt)
        if rng.random() < 0.1:
            device, clinic = restarted(device), restarted(clinic)
        if len(came) == len(X) and not device.pending():
            break
        line = line[-40:]
    return [came[number] for number in sorted(came)]


@MAPS
@pytest.mark.parametrize("ahead", [1, 4])
def test_a_bad_line_brings_every_reading_once_and_right(invariants, ahead):
    codec = fitted(*invariants).codec_
    X, c, whose = days(20, 15, 7)
    for one in range(20):
        own = whose == one
        got = over_a_bad_line(codec, c[own][0], X[own], ahead, one)
        assert got == [tuple(x) for x in X[own].tolist()]


@MAPS
def test_who_overhears_a_session_hears_noise_of_one_law(invariants):
    """Mean, spread and what one message says of the next, in each class: of new normal scores."""
    codec = fitted(*invariants).codec_
    X, c, _ = days(300, 20, 8)
    for name in NAMES:
        scores = []
        for x in X[c == name].reshape(-1, 20, 2):
            device = Session(codec, name, "name")
            sent = []
            for reading in x.tolist():
                device.send(reading)
                sent.append(device.pending()[0].values[-1])
                device.acknowledge(device.expect_receipt())
            scores.append(sent)
        Z = np.array(scores)[:, 1:]
        assert abs(Z.mean()) < 0.1
        assert Z.std() == pytest.approx(1, abs=0.1)
        assert np.abs((Z[:, 1:] * Z[:, :-1]).mean()) < 0.1
        assert Z.mean(axis=1).std() * np.sqrt(19) == pytest.approx(1, abs=0.25)


@settings(max_examples=30, deadline=None)
@given(
    st.floats(-0.95, 0.95),
    st.lists(st.tuples(st.floats(-2, 2), st.integers(1, 9)), min_size=1, max_size=6),
    st.integers(1, 9),
    st.sampled_from([0.0, 10.0]),
    st.sampled_from([0, 5]),
)
def test_a_forecast_is_the_conditional_law(kept, read, ahead, slope, period):
    """The naive twin: the whole covariance of the process, conditioned by linear algebra."""
    basis = TimeBasis.of(slope, period, 1)
    rng = np.random.default_rng(basis.size)
    root = rng.normal(size=(basis.size, basis.size))
    covariance, mean = root @ root.T + np.eye(basis.size), rng.normal(size=basis.size)
    rows = tuple(map(tuple, covariance.tolist()))
    direction = DirectionLaw(tuple(mean.tolist()), rows, 0.5, kept, 0.0)
    times = np.cumsum([3, *(gap for _, gap in read[1:]), ahead])
    functions = [basis.at(int(time), 3) for time in times]
    state, before, scores = None, functions[0], []
    for time, now, (surprise, _) in zip(times.tolist(), functions, read, strict=False):
        forecast = direction.forecast(state, time, now, before)
        scores.append(forecast.mean + surprise * forecast.spread)
        state, before = direction.learn(state, time, forecast, scores[-1]), now
    F = np.array(functions)
    apart = np.abs(times[:, None] - times)
    whole = F @ covariance @ F.T + 0.5 * np.where(apart == 0, 1.0, kept**apart)
    weights = np.linalg.solve(whole[:-1, :-1], whole[:-1, -1])
    forecast = direction.forecast(state, int(times[-1]), functions[-1], before)
    expected = F[-1] @ mean + weights @ (np.array(scores) - F[:-1] @ mean)
    assert forecast.mean == pytest.approx(expected, abs=1e-6)
    assert forecast.spread**2 == pytest.approx(
        whole[-1, -1] - weights @ whole[:-1, -1], rel=1e-6, abs=1e-9
    )


@MAPS
def test_one_reading_at_a_time_is_the_map_of_many(invariants):
    codec = fitted(*invariants).codec_
    X, _, _ = days(60, 1, 5)
    X = np.concatenate([X, [[20.0, 900.0], [400.0, 0.1]]])[:, list(codec.order)]
    for which, steps in enumerate(codec.codec.steps):
        path = WrittenSteps(steps, 2)
        many = codec.codec.forward(np.ascontiguousarray(X.T), which)
        ones = np.array([path.forward(x) for x in X.tolist()])
        assert ones == pytest.approx(many.T, abs=1e-9)
        assert np.array([path.inverse(z) for z in ones.tolist()]) == pytest.approx(X, abs=1e-6)


def test_an_invariant_is_sent_once():
    codec = fitted(0).codec_
    device, clinic = ends(codec)
    sizes = []
    for weight in (70.1, 70.4, 71.0):
        device.send([170.0, weight])
        (message,) = device.pending()
        sizes.append(len(message.values))
        assert clinic.receive(message).values == (170.0, weight)
        device.acknowledge(clinic.receipt())
    assert sizes == [2, 1, 1]
    with pytest.raises(RequestError, match="an invariant has changed"):
        device.send([170.1, 70.0])


def test_what_is_sent_again_is_the_same_to_the_last_bit():
    device, _ = ends(fitted().codec_)
    device.send([170.0, 70.0])
    assert device.pending() == restarted(device).pending() == device.pending()


def test_messages_under_way_together_carry_the_same_invariants():
    device, clinic = ends(fitted(0).codec_, ahead=3)
    for weight in (70.1, 70.4, 71.0):
        device.send([170.0, weight])
    messages = device.pending()
    assert len({message.values[0] for message in messages}) == 1
    assert [clinic.receive(one).values[1] for one in reversed(messages)] == [71.0, 70.4, 70.1]
    device.acknowledge(clinic.receipt())
    assert device.pending() == ()


def test_a_reading_far_out_comes_back():
    device, clinic = ends(fitted().codec_)
    for reading in ([20.0, 5000.0], [900.0, 0.1], [170.0, 70.0]):
        device.send(reading)
        assert clinic.receive(device.pending()[0]).values == tuple(reading)
        device.acknowledge(clinic.receipt())


def test_a_reading_too_far_out_is_refused_or_right_and_the_rest_goes_on():
    refused = 0
    readings = np.round(np.geomspace(1e9, 4e14, 60), 1).tolist()
    readings += np.round(np.linspace(7e12, 9e12, 240), 1).tolist()
    for far in readings:
        device, clinic = ends(fitted().codec_)
        device.send([170.0, far])
        device.send([170.0, 70.0])
        try:
            assert clinic.receive(device.pending()[0]).values == (170.0, far)
        except RequestError as error:
            refused += "too far out to be carried exactly" in error.what
            assert clinic.receive(device.pending()[0]).values == (170.0, 70.0)
    assert 0 < refused < len(readings)


@pytest.mark.parametrize(
    ("reading", "message"),
    [
        ([170.0], "a reading has 1 columns, not 2"),
        ([170.0, float("nan")], "column 1: a reading is missing or infinite"),
        ([170.0, float("inf")], "column 1: a reading is missing or infinite"),
        ([170.05, 70.0], "column 0: a reading contradicts the resolution 0.1"),
        ([170.0, 1e300], "column 1: a reading contradicts"),
        ([170.0, -1e308], "column 1: a reading contradicts"),
    ],
)
def test_a_wrong_reading_is_not_taken(reading, message):
    device, _ = ends(fitted().codec_)
    with pytest.raises(RequestError, match=message):
        device.send(reading)
    assert device.pending() == ()


def one_sent(**options):
    device, clinic = ends(fitted().codec_, **options)
    device.send([170.0, 70.0])
    return device, clinic, device.pending()[0]


def test_an_end_loaded_from_too_long_ago_is_found_out():
    """The device forgot its first message; the clinic has it, and says so by its digest."""
    device, clinic, first = one_sent()
    forgetful, _, other = one_sent()
    assert first.number == other.number
    clinic.receive(first)
    assert clinic.receive(other) is None
    with pytest.raises(RequestError, match="never sent; begin a new session"):
        forgetful.acknowledge(clinic.receipt())
    device.acknowledge(clinic.receipt())


def test_a_clinic_loaded_from_too_long_ago_decodes_nothing():
    device, clinic, first = one_sent()
    old = restarted(clinic)
    clinic.receive(first)
    device.acknowledge(clinic.receipt())
    device.send([170.0, 71.0])
    with pytest.raises(RequestError, match="readings that are not here"):
        old.receive(device.pending()[0])
    assert clinic.receive(device.pending()[0]).values == (170.0, 71.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"session": "other"}, "of another session"),
        ({"check": "0" * 16}, "out of step"),
        ({"after": 3, "number": 4}, "not here"),
        ({"number": 9}, "not here"),
        ({"values": (0.0,)}, "out of step"),
        ({"values": (0.0, float("nan"))}, "out of step"),
    ],
)
def test_a_message_that_does_not_fit_is_refused(change, message):
    _, clinic, sent = one_sent()
    with pytest.raises(RequestError, match=message):
        clinic.receive(sent._replace(**change))
    assert clinic.receipt().number == 0


def test_another_map_is_refused():
    _, _, sent = one_sent()
    other = Session(fitted(0).codec_, "wild", "name")
    with pytest.raises(RequestError, match="of another map"):
        other.receive(sent)
    with pytest.raises(RequestError, match="of another map"):
        Session.from_json(other.codec, one_sent()[0].to_json())


def test_an_unknown_class_and_broken_files_are_refused():
    codec = fitted().codec_
    with pytest.raises(RequestError, match="has not seen a class"):
        Session(codec, "odd", "name")
    with pytest.raises(RequestError, match="under way"):
        Session(codec, "wild", "name", ahead=0)
    saved = one_sent()[0].to_json()
    for key in saved:
        with pytest.raises(RequestError):
            Session.from_json(codec, {k: v for k, v in saved.items() if k != key})
    for kind in (ReadingMessage, MessageReceipt):
        with pytest.raises(RequestError, match="of a session"):
            kind.from_json({"session": "a", "number": -1})


@MAPS
def test_the_map_is_plain_arrays(invariants, tmp_path):
    codec = fitted(*invariants).codec_
    np.savez(tmp_path / "map.npz", **codec.to_arrays())
    with np.load(tmp_path / "map.npz", allow_pickle=False) as arrays:
        again = SequenceCodec.from_arrays(arrays)
    assert again.mark == codec.mark
    device, clinic = Session(codec, "calm", "a"), Session(again, "calm", "a")
    device.send([170.0, 70.0])
    assert clinic.receive(device.pending()[0]).values == (170.0, 70.0)
    with pytest.raises(RequestError, match="not a map of sequences"):
        SequenceCodec.from_arrays(codec.codec.to_arrays())


def test_a_session_needs_numpy_alone():
    loaded = "'scipy' in sys.modules, 'numpy' in sys.modules"
    code = f"import sys, voile.signals.model.sequences.session; print({loaded})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


X, C, WHOSE = days(120, 3, 3)


@pytest.mark.parametrize(
    ("invariants", "X", "c", "whose", "message"),
    [
        ((1,), X, C, WHOSE, "called invariant changes"),
        ((2,), X, C, WHOSE, "none of the 2 columns"),
        ((0, 1), X, C, WHOSE, "no column changes"),
        ((), X, C, np.arange(360), "no subject with two readings"),
        ((), X, np.where(np.arange(360) == 0, "odd", "even"), WHOSE, "1 subject, fewer than 20"),
        ((), X, np.where(np.arange(360) % 2, "odd", "even"), WHOSE, "a subject is of two classes"),
        ((), X, C[1:], WHOSE, "360 readings and 359 classes"),
        ((), X.astype(str), C, WHOSE, "a column is nominal"),
    ],
)
def test_a_wrong_request_for_sequences_is_refused(invariants, X, c, whose, message):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SignalsWarning)
        with pytest.raises(RequestError, match=message):
            SequenceMap(invariants, random_state=0).fit(X, c, whose)


def test_a_second_reading_of_a_subject_warns_where_each_is_sent_by_itself(recwarn):
    map = PrivacyMap(method="normal", random_state=0).fit(X, C)
    recwarn.clear()
    map.encode(X[::3], C[::3], WHOSE[::3])
    map.encode(X[:9], C[:9])
    assert not recwarn.list
    with pytest.warns(SignalsWarning, match="3 readings are not their subject's first"):
        map.encode(X[1:9:3], C[1:9:3], WHOSE[1:9:3])


def test_a_map_without_memory_sends_each_reading_as_if_it_were_the_first():
    """Said of the law itself: dither makes no two messages alike."""
    rng = np.random.default_rng(5)
    c = np.arange(200) % 2
    X = np.round(rng.normal(70 + 8 * c[:, None], 5, (200, 2)), 1)
    codec = SequenceMap(random_state=0, memory=False).fit(X, c, np.arange(200)).codec_
    assert codec.forgets
    assert not fitted().codec_.forgets
    law = codec.law(0)
    state = law.begin()
    for number, scores in enumerate(rng.normal(0, 3, (20, 2)).tolist()):
        outlook = law.outlook(state, number)
        np.testing.assert_allclose(law.hide(outlook, scores), scores, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(law.show(outlook, scores), scores, rtol=1e-12, atol=1e-12)
        state = law.learn(state, number, outlook, scores)
    read = SequenceCodec.from_arrays(codec.to_arrays())
    device, clinic = (Session(one, 0, "a") for one in (codec, read))
    for reading in X[:20].tolist():
        device.send(reading)
        assert clinic.receive(device.pending()[0]).values == tuple(reading)
        device.acknowledge(clinic.receipt())
    device = Session(codec, 0, "a", protective=ProtectiveRandom.for_tests(3))
    again = ProtectiveRandom.for_tests(3)
    for reading in X[:20].tolist():  # with the bits that the map of single readings gives
        device.send(reading)
        sent = codec.codec.encode([reading], 0, protective=again)
        assert np.array([device.pending()[0].values]).tobytes() == sent.tobytes()
        device.acknowledge(device.expect_receipt())
