"""Sensors with their own rates: a message holds the columns that were read, and no others."""

from __future__ import annotations

import functools
import json
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.signals.channel.ends import ClinicSubject, recipient, sender, written

import voile
from voile.core.errors import RequestError
from voile.data import open_source
from voile.signals import SequenceCodec, SequenceMap, Session, SignalsWarning
from voile.signals.attack.breaks import send_readings
from voile.signals.channel.recipient import ReadingLimits
from voile.signals.fitting.methods.layers import LayerChain
from voile.signals.fitting.overhear import OverheardSessions, overheard
from voile.signals.model.content import SignalsContent
from voile.signals.model.sequences.messages import ReadingMessage
from voile.signals.model.sessions import SessionFacts
from voile.signals.verbs.send import _SendRows

LENGTH = 12
NAMES = np.array(["calm", "wild"])


def rates(n, seed):
    """A scale every third day, a cuff every other: (n, T, 2) with NaN, classes, and days."""
    rng = np.random.default_rng(seed)
    c = np.arange(n) % 2
    level = rng.normal(size=(n, 2)) + 0.8 * c[:, None]
    level[:, 1] += np.where(c == 1, 0.7, -0.3) * level[:, 0]
    swing = np.array([0.3, 0.8])[c][:, None, None] * rng.normal(size=(n, LENGTH, 2))
    swing[:, :, 1] += 0.6 * swing[:, :, 0]
    X = [80, 120] + [9, 12] * (level[:, None] + swing)
    X[:, 1::3, 0] = np.nan
    X[:, 2::3, 1] = np.nan
    days = np.cumsum(rng.integers(1, 3, (n, LENGTH)), axis=1)
    return np.round(X, 0), c, days


@functools.cache
def fitted(subjects=260):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SignalsWarning)
        X, c, days = rates(subjects, 1)
        whose = np.repeat(np.arange(len(c)), LENGTH)
        map = SequenceMap(resolution=1.0, settings=LayerChain(), random_state=0, period=0)
        return map.fit(X.reshape(-1, 2), NAMES[c[whose]], whose, days.ravel()).codec_


def through_json(codec, session):
    return Session.from_json(codec, json.loads(json.dumps(session.to_json())))


def exchange(codec, label, readings, days, seed=0):
    """Send with losses, doubles and restarts; return the messages and what came."""
    rng = np.random.default_rng(seed)
    device, clinic = (Session(codec, label, "a", ahead=3) for _ in range(2))
    for x, day in zip(readings, days, strict=True):
        device.send(x, day)
    came, heard = {}, []
    while pending := device.pending():
        for message in pending:
            heard.append(message)
            if rng.random() < 0.3:
                continue
            read = clinic.receive(
                ReadingMessage.from_json(json.loads(json.dumps(message.to_json())))
            )
            if read is not None:
                came[read.number] = read.values
        device.acknowledge(clinic.receipt())
        device, clinic = through_json(codec, device), through_json(codec, clinic)
    return heard, [came[n] for n in sorted(came)]


def test_every_reading_comes_back_with_the_columns_that_it_has():
    codec = SequenceCodec.from_arrays(fitted().to_arrays())
    assert {one.columns for one in codec.parts} == {(0,), (1,), (0, 1)}
    X, c, days = rates(8, 2)
    for one in range(8):
        given = [[None if v != v else v for v in x] for x in X[one].tolist()]
        heard, came = exchange(codec, NAMES[c[one]], given, days[one].tolist(), one)
        assert np.array_equal(came, X[one], equal_nan=True)
        for message in heard:
            here = tuple(np.flatnonzero(~np.isnan(X[one, message.number - 1])).tolist())
            assert message.columns == (None if here == (0, 1) else here)
            assert len(message.values) == len(here)


def test_what_is_sent_is_new_and_normal_in_every_class():
    """Of a map fitted to 1,000: a map of 260 leaves two to three times as much."""
    X, c, days = rates(900, 3)
    Z = send_readings(fitted(1000), X, c, days)[1]
    for which in range(2):
        own = Z[c == which]
        for j in range(2):
            there = own[:, :, j][~np.isnan(own[:, :, j])]
            assert abs(there.mean()) < 0.08
            assert abs(there.std() - 1) < 0.08
        both = own.reshape(-1, 2)[~np.isnan(own.reshape(-1, 2)).any(axis=1)]
        assert abs(np.corrcoef(both.T)[0, 1]) < 0.1  # .6 of readings
        level = np.nanmean(own, axis=1)  # of subjects: what no session would hide without a memory
        assert level.std(axis=0).max() < 0.42  # 8 new scores: 8 ** -.5
        assert abs(np.corrcoef(level.T)[0, 1]) < 0.25


def test_columns_that_are_never_read_alone_are_not_sent_alone():
    codec = fitted()
    some = replace(codec, parts=tuple(one for one in codec.parts if one.columns != (1,)))
    device = Session(some, "calm", "a")
    with pytest.raises(RequestError, match="does not know of readings of these columns alone"):
        device.send([None, 120.0], 1)
    with pytest.raises(RequestError, match="does not know of readings of these columns alone"):
        device.send([None, None], 1)
    device.send([80.0, None], 1)
    whole = Session(replace(codec, parts=codec.parts[:1]), "calm", "a")
    with pytest.raises(RequestError, match="a reading is missing or infinite"):
        whole.send([80.0, None], 1)


def test_columns_that_few_people_read_together_are_dropped_and_said():
    """However many their readings are: a kit holds no curve of a few people's."""
    X, c, days = rates(60, 6)
    X = np.where(np.isnan(X), [80.0, 120.0], X)
    X[:, ::2, 0] = np.nan
    X[:24, ::3, 1] = np.where(np.isnan(X[:24, ::3, 0]), X[:24, ::3, 1], np.nan)
    whose = np.repeat(np.arange(60), LENGTH)
    map = SequenceMap(resolution=1.0, settings=LayerChain(), random_state=0, period=0)
    with pytest.warns(SignalsWarning, match="fewer than 100, or 20 people, of a class hold"):
        map.fit(X.reshape(-1, 2), c[whose], whose, days.ravel())
    assert {one.columns for one in map.codec_.parts} == {(1,), (0, 1)}


def first(codec, **changes):
    device = Session(codec, "calm", "a")
    device.send([80.0, None], 1)
    return device.pending()[0]._replace(**changes)


@pytest.mark.parametrize(
    "columns", [None, (), (1, 0), (0, 1), (0, 0), (2,), (-1,), "0", [0.0], [True], 0, {"0": 1}]
)
def test_a_message_with_other_columns_than_its_values_is_refused(columns):
    message = {**first(fitted()).to_json(), "columns": columns}
    with pytest.raises(RequestError):
        Session(fitted(), "calm", "a").receive(ReadingMessage.from_json(message))


def test_the_digest_covers_which_columns_a_message_holds():
    codec = fitted()
    clinic = Session(codec, "calm", "a")
    clinic.receive(first(codec, columns=(1,)))
    device = Session(codec, "calm", "a")
    device.send([80.0, None], 1)
    device.pending()
    with pytest.raises(RequestError, match="never sent"):
        device.acknowledge(clinic.receipt())


def test_a_column_that_is_read_in_one_class_alone_reveals_it_and_that_is_said():
    X, c, days = rates(80, 4)
    rare = X.copy()
    rare[c == 1, ::3, 1] = np.nan  # the cuff, every third day, is left out by one class
    found = overheard(fitted(), rare, c, days, 1)
    assert found.held > 0.95
    said = SessionFacts(None, None, (found,)).summary_sentence
    assert "Which columns readings hold reveals an AUC of 1.00." in said
    assert OverheardSessions(30, 9, "forest", "a", 0.5, 0.4, 0.6, 0.9).held is None


def table(n, seed):
    X, c, days = rates(n, seed)
    return pd.DataFrame(
        {
            "id": np.repeat([f"p{i}" for i in range(n)], LENGTH),
            "state": np.repeat(NAMES[c], LENGTH),
            "day": days.ravel(),
            "weight": X[:, :, 0].ravel(),
            "pressure": X[:, :, 1].ravel(),
        }
    )


ROLES = {
    "subject": "id",
    "columns": {
        "id": {"role": "identifier"},
        "state": {"role": "private"},
        "day": {"role": "keep"},
        "weight": {"role": "reading", "resolution": 1.0},
        "pressure": {"role": "reading", "resolution": 1.0},
    },
}


def test_a_table_of_sensors_with_their_own_rates_goes_to_the_clinics_file(tmp_path):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SignalsWarning)
        options = {"time": "day", "strength": [1.0], "base": ["normal"], "period": 0}
        kit = voile.signals.fit(table(100, 1), roles=ROLES, seed=0, leaky_sessions=True, **options)
    said = " ".join(str(one.message) for one in caught)
    assert (
        "800 rows lack a class, a subject or a reading, and were left out, 800 of them but" in said
    )
    content = SignalsContent.of(kit)
    codec = SequenceCodec.from_arrays(content.sequence)
    assert codec.partial
    rows = _SendRows(content, {f"p{i}": f"S{i}" for i in range(4)})
    given = table(4, 9)
    given.loc[5, ["weight", "pressure"]] = np.nan
    subjects = {f"S{i}": ClinicSubject(str(NAMES[i % 2]), f"p{i}") for i in range(4)}
    columns = [ReadingLimits("weight"), ReadingLimits("pressure")]
    with (
        sender(tmp_path, codec=codec) as device,
        recipient(tmp_path, codec=codec, subjects=subjects, columns=columns, kept=("day",)) as at,
    ):
        device.take(rows.of(open_source(given)))
        posts = device.turn()
        while posts:
            posts = device.turn(at.turn(posts))
        assert (at.refused, at.set_aside, device.unfit) == ({}, 0, [])
    assert rows.lost == [6]
    came = pd.DataFrame(written(tmp_path)).rename(columns={"subject": "id"})
    assert len(came) == 4 * LENGTH - 1
    names = ["id", "day", "weight", "pressure"]
    expected = given.drop(index=5)[names].sort_values(["id", "day"]).reset_index(drop=True)
    found = came[names].sort_values(["id", "day"]).reset_index(drop=True)
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ("row", {}, "a reading has no column"),
        ("class", {}, "a class has no reading of a column"),
        ("nothing", {"invariants": [0]}, "a column that is called invariant changes"),
        ("nothing", {"memory": False}, "some readings lack a column, and each is sent by itself"),
        ("rare", {}, "in one way only"),
    ],
)
def test_what_cannot_be_fitted_in_part_is_refused_in_a_sentence(change, options, message):
    X, c, days = rates(60, 1)
    if change == "row":
        X[3, 1] = np.nan
    if change == "class":
        X[c == 1, :, 0] = np.nan
        X[c == 1, :, 1] = 120.0
    if change == "rare":
        X = np.where(np.isnan(X), [80.0, 120.0], X)
        X[0, 0, 0] = np.nan
    whose = np.repeat(np.arange(60), LENGTH)
    map = SequenceMap(resolution=1.0, settings=LayerChain(), random_state=0, period=0, **options)
    with pytest.raises(RequestError, match=message):
        map.fit(X.reshape(-1, 2), c[whose], whose, days.ravel())
