"""Sessions given side columns: exact with those of the other end, refused with any others."""

from __future__ import annotations

import functools
import json
import warnings

import numpy as np
import pytest
from tests.signals.channel.ends import COLUMNS, DEVICES, SECRET, enrolled, reply_of, written

from voile.core.errors import RequestError
from voile.signals import SequenceCodec, SequenceMap, Session, SignalsWarning
from voile.signals.channel import Outgoing, Recipient, Sender
from voile.signals.channel.recipient import ClinicSubject
from voile.signals.fitting.methods.layers import LayerChain
from voile.signals.fitting.overhear import OverheardSessions
from voile.signals.model.sequences.state import KnownColumns

KEY = b"k" * 32
CALM = (7.0, "f")


def visits(n=400, length=5, seed=0):
    """Height and weight of children, which follow age and sex; a third are ill, and the lighter."""
    rng = np.random.default_rng(seed)
    whose = np.repeat(np.arange(n), length)
    known = np.empty((n, 2), dtype=object)
    known[:, 0] = rng.integers(2, 18, n).astype(float)
    known[:, 1] = rng.choice(["f", "m"], n)
    age, ill = known[:, 0].astype(float), np.arange(n) % 3 == 0
    height = 80 + 5 * age + 4 * rng.normal(size=n)
    weight = 10 + 3 * age + (1 + age / 4) * (rng.normal(size=n) - 1.5 * ill)
    X = np.stack([height[whose], weight[whose] + rng.normal(0, 0.4, n * length)], axis=1)
    return np.round(X, 1), np.where(ill, "yes", "no")[whose], whose, known[whose]


@functools.cache
def codec(*invariants, memory=True):
    X, c, whose, known = visits(length=5 if memory else 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SignalsWarning)
        quick = LayerChain(degree=3, spread=1)
        map = SequenceMap(invariants, settings=quick, random_state=0, memory=memory)
        return SequenceCodec.from_arrays(map.fit(X, c, whose, known=known).codec_.to_arrays())


def session(of, cells=CALM, *, key=KEY, label="yes", **options):
    return Session(of, label, "a", known=KnownColumns.of(of, cells, key), **options)


@pytest.mark.parametrize("invariants", [(), (0,)])
@pytest.mark.parametrize("memory", [True, False])
def test_readings_of_everybody_come_exactly_also_through_ends_saved_and_loaded(invariants, memory):
    of = codec(*invariants, memory=memory)
    X, c, whose, known = visits(30, 4, 3)
    known[0::5, 0] = None
    known[1::7, 1] = "of another sex"
    for one in range(30):
        rows = np.flatnonzero(whose == one)
        cells = tuple(known[rows[0]])
        device, clinic = (session(of, cells, label=c[rows[0]]) for _ in range(2))
        for x in X[rows].tolist():
            device.send(x)
            (message,) = device.pending()
            assert clinic.receive(message).values == tuple(x)
            device.acknowledge(clinic.receipt())
            device, clinic = (
                Session.from_json(of, json.loads(json.dumps(end.to_json())))
                for end in (device, clinic)
            )


@pytest.mark.parametrize(
    ("cells", "key"),
    [((8.0, "f"), KEY), ((7.0, "m"), KEY), ((None, "f"), KEY), ((7.0, None), KEY), (CALM, b"x")],
)
def test_other_side_columns_or_another_key_are_refused_and_no_number_is_decoded(cells, key):
    of = codec()
    device, clinic = session(of), session(of, cells, key=key)
    for x in ((120.0, 30.0), (120.0, 31.0)):
        device.send(x)
        (message,) = device.pending()
        with pytest.raises(RequestError):
            clinic.receive(message)
        device.acknowledge(device.expect_receipt())
    assert session(of, (7, "f")).differs(message) is False  # 7 is 7.0


def test_what_is_public_of_a_session_does_not_follow_the_side_columns_alone():
    of = codec()
    begun = [Session(of, "yes", name, known=KnownColumns.of(of, CALM, KEY)) for name in ("a", "b")]
    for one in begun:
        one.send((120.0, 30.0))
    checks = {one.pending()[0].check for one in begun}
    other = session(of, key=b"another's")
    other.send((120.0, 30.0))
    assert len(checks | {other.pending()[0].check}) == 3


@pytest.mark.parametrize("cells", [(), (7.0,), ("seven", "f"), (float("inf"), "f")])
def test_side_columns_that_the_map_does_not_take_are_refused_at_once(cells):
    with pytest.raises(RequestError):
        session(codec(), cells)


def test_readings_in_part_beside_side_columns_are_refused():
    X, c, whose, known = visits()
    X[::3, 0] = np.nan
    with pytest.raises(RequestError, match="known columns"):
        SequenceMap(random_state=0).fit(X, c, whose, known=known)


def ends(folder, of, known=CALM):
    device = Sender(folder / "spool", of, enrolled(of, *DEVICES))
    subjects = {
        "A": ClinicSubject("yes", "p1", known=known),
        "B": ClinicSubject("no", "p2", known=CALM),
    }
    return device, Recipient(folder / "clinic", of, subjects, COLUMNS, SECRET)


def settle(device, clinic):
    back, refused = [], set()
    for _ in range(40):
        posts = device.turn(back) or device.again()
        back = clinic.turn(posts)
        refused |= {reply_of(post).refused for post in back} - {""}
        if not device.has_waiting():
            break
    return refused


def of_age(age, weight, who="A"):
    return Outgoing(who, "yes" if who == "A" else "no", (120.0, weight), known=(age, "f"))


def test_a_birthday_ends_the_session_and_the_next_waits_until_the_clinic_knows_of_it(tmp_path):
    of = codec()
    device, clinic = ends(tmp_path, of)
    device.take([of_age(7.0, 30.0), of_age(7.0, 30.4), of_age(8.0, 31.0), of_age(7.0, 40.0, "B")])
    assert settle(device, clinic) == {"known"}
    assert device.refused == {"A": "known"}
    assert [line["weight"] for line in written(tmp_path)] == [30.0, 40.0, 30.4]
    for end in (device, clinic):
        end.close()
    device, clinic = ends(tmp_path, of, known=(8.0, "f"))
    assert not settle(device, clinic)
    lines = written(tmp_path)
    assert [line["weight"] for line in lines] == [30.0, 40.0, 30.4, 31.0]
    assert len({line["session"] for line in lines if line["subject"] == "p1"}) == 2
    device.begin_again()  # of B nothing is left, and it begins again with what it had
    device.take([of_age(7.0, 41.0, "B"), of_age(8.0, 31.5)])
    assert not settle(device, clinic)
    assert sorted(line["weight"] for line in written(tmp_path)) == [30.0, 30.4, 31.0, 31.5, 40, 41]
    for end in (device, clinic):
        end.close()


def test_a_session_goes_on_with_what_it_began_with_whatever_the_clinic_learns(tmp_path):
    of = codec()
    device, clinic = ends(tmp_path, of)
    device.take([of_age(7.0, 30.0)])
    assert not settle(device, clinic)
    clinic.close()
    device.close()
    device, clinic = ends(tmp_path, of, known=(8.0, "f"))
    device.take([of_age(7.0, 30.2)])
    assert not settle(device, clinic)
    assert [line["weight"] for line in written(tmp_path)] == [30.0, 30.2]
    device.close()
    clinic.close()


def test_a_session_is_judged_beside_what_known_columns_reveal_alone():
    plain = OverheardSessions(30, 500, "a forest", "yes", 0.7, 0.66, 0.74, 0.9)
    assert plain.reveals
    assert not OverheardSessions(*list(vars(plain).values())[:9], 0.69).reveals
