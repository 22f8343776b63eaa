"""The rounding lattice, tried on what Python's end sends after a reset, as a clone, or restored.

An adversary has the map and all messages of a session, decodes them by every class, and names the
class whose readings lie nearest to the lattice.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.signals.days import NAMES, days, fitted

from voile.keys.secret import Secret
from voile.signals import Session
from voile.signals.model.codec.scalar import place
from voile.signals.model.sequences.state import nearest_of

LENGTH, SUBJECTS = 5, 500


SECRET = Secret(b"a device's, of no clinic")


def through_json(session, secret=None):
    data = json.loads(json.dumps(session.to_json()))
    return Session.from_json(session.codec, data, secret=secret)


def sent(session, readings):
    """Send readings, each acknowledged; return the messages."""
    found = []
    for reading in readings:
        session.send(reading)
        found += session.pending()
        session.acknowledge(session.expect_receipt())
    return found


def reset(codec, label, readings):
    """Everything is lost: a new session."""
    sent(Session(codec, label, "before"), readings[:2])
    return sent(Session(codec, label, "after"), readings[2:])


def cloned(codec, label, readings):
    """Of two devices with one saved state, the second sends what the first sent."""
    first = Session(codec, label, "a")
    before = sent(first, readings[:-1])
    second = through_json(first)
    sent(first, readings[-1:])
    return before + sent(second, readings[-1:])


def restored(codec, label, readings):
    """The state of two readings ago is loaded, and both are sent again."""
    session = Session(codec, label, "a")
    before = sent(session, readings[:2])
    saved = through_json(session)
    sent(session, readings[2:])
    return before + sent(saved, readings[2:])


def away(codec, which, messages):
    """How far from the lattice a class's map puts each message's readings, in cells: its sum."""
    law, total = codec.law(which), 0.0
    state = law.begin()
    for message in messages:
        outlook = law.outlook(state, message.moment)
        found = law.path.inverse(law.show(outlook, message.values))
        near = nearest_of(codec, found)
        total += sum(
            abs(place(lattice, v) - round(place(lattice, v)))
            for v, lattice in zip(found, codec.lattices, strict=True)
        )
        state = law.learn(state, message.moment, outlook, law.path.forward(near))
    return total


@pytest.mark.parametrize("how", [reset, cloned, restored])
def test_the_lattice_reveals_nothing_whatever_became_of_the_device(how):
    codec = fitted().codec_
    X, c, _ = days(SUBJECTS, LENGTH, 11)
    right = []
    for one in range(SUBJECTS):
        rows = slice(one * LENGTH, (one + 1) * LENGTH)
        messages = how(codec, c[rows.start], [tuple(x) for x in X[rows].tolist()])
        guess = int(np.argmin([away(codec, which, messages) for which in range(2)]))
        right.append(NAMES[guess] == c[rows.start])
    weigh = [np.mean([r for r, own in zip(right, c[::LENGTH], strict=True) if own == name])
             for name in NAMES]  # fmt: skip
    assert abs(np.mean(weigh) - 0.5) < 0.07


def test_the_attack_finds_the_class_where_no_dither_hides_the_lattice():
    codec = fitted().codec_
    X, c, _ = days(60, 1, 12)
    right = 0
    for x, label in zip(X.tolist(), c, strict=True):
        law = codec.law(codec.which(label))
        values = [x[j] for j in codec.order]
        z = law.hide(law.outlook(law.begin(), 0), law.path.forward(values))
        message = sent(Session(codec, label, "a"), [tuple(x)])[0]
        bare = type(message)(message.session, 1, 0, message.check, tuple(z), message.time)
        guess = int(np.argmin([away(codec, which, [bare]) for which in range(2)]))
        right += NAMES[guess] == label
    assert right > 55


def test_an_end_with_a_secret_sends_the_same_bits_again():
    """Restored or cloned, it must not encode a reading anew; another reading, or place, it does."""
    codec = fitted().codec_
    readings = [(170.0, 70.1), (170.0, 70.4), (170.0, 70.4)]
    device = Session(codec, "calm", "a", secret=SECRET)
    first = sent(device, readings[:1])
    clone = through_json(device, SECRET)
    rest = sent(device, readings[1:])
    assert sent(clone, readings[1:]) == rest
    again = sent(Session(codec, "calm", "a", secret=SECRET), readings)
    assert again == first + rest
    assert rest[0].values != rest[1].values
    # another session sends it by the same map, where nothing went before: it must not differ
    other = sent(Session(codec, "calm", "b", secret=SECRET), readings)
    assert [one.values for one in other] == [one.values for one in again]
    later = Session(codec, "calm", "b", secret=SECRET, before=1)
    for other in (later, Session(codec, "calm", "a")):
        assert sent(other, readings[:1])[0].values != first[0].values


def test_dither_is_never_the_same_by_another_map():
    """It would cancel: the readings that two messages stand for would be whole cells apart."""
    codec = fitted().codec_
    session = Session(codec, "calm", "a", secret=SECRET)
    sent(session, [(170.0, 70.1), (170.0, 70.4)])
    begun = Session(codec, "calm", "b", secret=SECRET, before=1)

    ends = session, begun
    for end in ends:
        end.send((170.0, 70.9))
    messages = [end.pending()[0] for end in ends]
    points = []
    for end, message in zip(ends, messages, strict=True):
        base = end._bases[-1]
        points.append(
            end._decode_point(base, end._outlook(base, message.moment, end._all), message.values)
        )
    assert abs(np.subtract(*points)).min() > 1e-6


def test_two_messages_of_one_reading_reveal_the_class_where_dither_is_fresh():
    """Outside the guarantee: only the right class's map puts both into one cell always."""
    codec = fitted().codec_
    X, c, _ = days(200, 1, 13)

    def cell(which, message):
        law = codec.law(which)
        return nearest_of(
            codec, law.path.inverse(law.show(law.outlook(law.begin(), 0), message.values))
        )

    alike = []
    for x, label in zip(X.tolist(), c, strict=True):
        both = [sent(Session(codec, label, "a"), [tuple(x)])[0] for _ in range(2)]
        own = codec.which(label)
        alike.append([cell(which, both[0]) == cell(which, both[1]) for which in (own, 1 - own)])
    right, wrong = np.mean(alike, axis=0)
    assert right == 1
    assert 0.2 < wrong < 0.7
