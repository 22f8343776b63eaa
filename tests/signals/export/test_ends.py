"""A small device's end sends to a clinic in Python, whatever stops, is stolen or comes back."""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from tests.signals.channel.ends import SECRET, recipient
from tests.signals.export.an_end import ALL, EndError
from tests.signals.export.exported import codec, in_python, write
from tests.signals.made_up import readings

from voile.keys.secret import Secret
from voile.signals.adversary.breaks import lattice
from voile.signals.channel.keys import DeviceKey, Enrolled
from voile.signals.channel.posts import Post
from voile.signals.channel.recipient import READINGS, ReadingLimits, Subject
from voile.signals.export.record import device_record

COLUMNS = [ReadingLimits("long"), ReadingLimits("broad")]
ROWS = [(4.2, 1.3), (7.7, 2.0), (5.1, 0.9), (6.0, 3.3)]


@pytest.fixture(scope="module", params=ALL)
def made(request, tmp_path_factory):
    one = ALL[request.param](write(tmp_path_factory.mktemp("kit"), codec()))
    yield one
    one.close()


@pytest.fixture
def end(made):
    made.set()
    return made


def record(label="middle", pseudonym="A", generation=1, of=None):
    key = DeviceKey.derive(SECRET, pseudonym, generation)
    enrolled = Enrolled(pseudonym, pseudonym, key)
    return device_record(enrolled, of or codec(), codec().which(label))


def clinic(folder, generation=1, **options):
    subjects = {"A": Subject("middle", "Anna", generation)}
    return recipient(folder, codec=codec(), subjects=subjects, columns=COLUMNS, **options)


def came(folder):
    lines = (folder / "clinic" / READINGS).read_text().splitlines()
    return [(one["long"], one["broad"]) for one in map(json.loads, lines)]


def exchange(end, name, at):
    """Hand the message under way to the clinic, and its reply back."""
    for reply in at.turn([Post("A", end.post(name))]):
        end.hear(name, reply.payload)


def test_readings_come_once_each_though_messages_are_lost_doubled_and_the_device_restarts(
    end, tmp_path
):
    with clinic(tmp_path) as at:
        end.open("one", record())
        assert end.topics("one") == ["voile/A/readings", "voile/A/receipts"]
        for row in ROWS:
            end.send("one", row, {"a": 'a "b"'})
            post = end.post("one")
            with pytest.raises(EndError, match="waiting"):
                end.send("one", row)
            at.turn([Post("A", post)])  # its reply is lost
            end.open("one", record(), end.stored)
            assert end.post("one") == post
            exchange(end, "one", at)
            assert end.post("one") is None
        assert not at.refused
    assert came(tmp_path) == ROWS


def test_what_it_sends_is_what_pythons_end_would(end, tmp_path):
    """Session, number and digest; and the values are those of a map that Python decodes."""
    end.open("one", record())
    with clinic(tmp_path) as at:
        check = None
        for number, row in enumerate(ROWS, 1):
            end.send("one", row)
            post = end.post("one")
            header, letter = post[32:68], json.loads(post[68:])
            assert header[:4] == bytes([2, 0, 0, 1])
            assert header[4:12].hex() == codec().mark
            assert int.from_bytes(header[28:], "big") == number
            session = header[12:28].hex()
            first = hashlib.sha256(f"{codec().mark} {session}".encode()).hexdigest()[:16]
            assert letter["check"] == (check or first)
            assert letter["after"] == number - 1
            values = np.array(letter["values"])
            assert (codec().codec.decode(values[None], "middle") == [row]).all()
            check = hashlib.sha256(letter["check"].encode() + values.tobytes()).hexdigest()[:16]
            exchange(end, "one", at)


def test_keys_are_rotated_without_a_new_session_and_the_old_one_ends(end, tmp_path):
    end.open("one", record())
    with clinic(tmp_path) as at:
        end.send("one", ROWS[0])
        exchange(end, "one", at)
        end.send("one", ROWS[1])
    with clinic(tmp_path, 2, overlap=date(2026, 12, 1), today=lambda: date(2026, 11, 30)) as at:
        exchange(end, "one", at)  # the old key still holds
        end.open("one", record(generation=2), end.stored)
        end.send("one", ROWS[2])
        exchange(end, "one", at)
    with clinic(tmp_path, 2) as at:
        end.open("old", record(), end.stored)
        end.send("old", ROWS[3])
        with pytest.raises(EndError, match="refused"):
            exchange(end, "old", at)
    assert came(tmp_path) == ROWS[:3]
    sessions = {json.loads(one)["session"] for one in (tmp_path / "clinic" / READINGS).open()}
    assert len(sessions) == 1


def test_a_lost_device_is_shut_out_at_once_and_its_successor_begins_anew(end, tmp_path):
    end.open("lost", record())
    with clinic(tmp_path) as at:
        end.send("lost", ROWS[0])
        exchange(end, "lost", at)
    # two generations on: no overlap takes the lost one's key
    with clinic(tmp_path, 3, overlap=date(2026, 12, 1), today=lambda: date(2026, 11, 30)) as at:
        end.send("lost", ROWS[1])
        with pytest.raises(EndError, match="refused"):
            exchange(end, "lost", at)
        end.open("new", record(generation=3))
        end.send("new", ROWS[2])
        exchange(end, "new", at)
    assert came(tmp_path) == [ROWS[0], ROWS[2]]


@pytest.mark.parametrize("entropy", ["none", "0", "absent"])
def test_without_entropy_no_session_begins(end, entropy):
    end.open("one", record())
    before = end.stored
    end.set(entropy=entropy)
    if entropy == "absent":
        end.open("one", record(), before)
    for begin in (lambda: end.again("one"), lambda: end.open("two", record())):
        with pytest.raises(EndError, match="entropy"):
            begin()
    assert end.stored == before


def test_one_reading_has_the_same_bits_whatever_became_of_the_device(end, tmp_path):
    """Begun again, restored or cloned it encodes nothing anew; another reading it does."""
    with clinic(tmp_path) as at:
        end.open("one", record())
        end.send("one", ROWS[0])
        exchange(end, "one", at)
        saved = end.stored
        end.send("one", ROWS[1])
        sent = values(end, "one")
        end.again("one")
        end.again("one")
        end.send("one", [v + 1e-12 for v in ROWS[1]])
        assert values(end, "one") == sent
        end.open("clone", record(), saved)
        end.send("clone", ROWS[1])
        assert values(end, "clone") == sent
        exchange(end, "one", at)
        end.send("one", ROWS[1])  # the patient's next reading is the same
        later = values(end, "one")
    other = {}
    for name, made in {
        "reading": lambda: end.open("x", record(), saved),
        "class": lambda: end.open("x", record("low")),
        "subject": lambda: end.open("x", record(pseudonym="B")),
        "generation": lambda: end.open("x", record(generation=2)),
    }.items():
        made()
        end.send("x", ROWS[2] if name == "reading" else ROWS[1])
        other[name] = values(end, "x")
    every = [sent, later, *other.values()]
    assert len({v for one in every for v in one}) == 2 * len(every)


@pytest.mark.parametrize("store", ["full", "absent"])
def test_nothing_is_sent_that_is_not_stored(end, store, tmp_path):
    end.open("one", record())
    before = end.stored
    end.set(store=store)
    if store == "absent":
        end.open("one", record(), before)
    with pytest.raises(EndError, match="store"):
        end.send("one", ROWS[0])
    assert end.post("one") is None
    with pytest.raises(EndError, match="store"):
        end.open("two", record())


def test_the_receipt_that_cannot_be_stored_leaves_the_message_under_way(end, tmp_path):
    with clinic(tmp_path) as at:
        end.open("one", record())
        end.send("one", ROWS[0])
        end.set(store="full")
        with pytest.raises(EndError, match="store"):
            exchange(end, "one", at)
        end.set()
        exchange(end, "one", at)
        assert end.post("one") is None
    assert came(tmp_path) == ROWS[:1]


def test_a_damaged_record_or_one_of_another_kit_is_refused(end):
    good = record()
    for wrong in (
        *(bytes([*good[:i], good[i] ^ 1, *good[i + 1 :]]) for i in range(len(good))),
        record(of=replace(codec(), timed=True)),
    ):
        with pytest.raises(EndError, match="record"):
            end.open("one", wrong)


def test_a_state_of_another_class_or_subject_is_refused(end):
    end.open("one", record())
    state = end.stored
    for other in (record("low"), record(pseudonym="B")):
        with pytest.raises(EndError, match="state"):
            end.open("other", other, state)


def test_replies_that_are_forged_old_or_of_another_session_change_nothing(end, tmp_path):
    with clinic(tmp_path) as at:
        end.open("one", record())
        end.send("one", ROWS[0])
        (reply,) = at.turn([Post("A", end.post("one"))])
        for i in range(len(reply.payload)):
            forged = bytearray(reply.payload)
            forged[i] ^= 1
            end.hear("one", bytes(forged))
        end.hear("one", reply.payload[:-1])
        assert end.post("one") is not None
        end.hear("one", reply.payload)
        end.send("one", ROWS[1])
        end.hear("one", reply.payload)
        assert end.post("one") is not None
        exchange(end, "one", at)
    assert came(tmp_path) == ROWS[:2]


def test_an_end_restored_from_before_its_last_message_is_found_out_and_begins_again(end, tmp_path):
    with clinic(tmp_path) as at:
        end.open("one", record())
        old = end.stored
        end.send("one", ROWS[0])
        exchange(end, "one", at)
        end.open("one", record(), old)
        end.send("one", ROWS[1])
        with pytest.raises(EndError, match="step"):
            exchange(end, "one", at)
        end.again("one")
        end.send("one", ROWS[1])
        exchange(end, "one", at)
    assert came(tmp_path) == ROWS[:2]


def test_it_hashes_as_the_standard_says(end):
    """The standard's own vectors are hashlib's; every length around a block's end is tried."""
    for n in (*range(140), 1000, 5000):
        data = bytes(i * 7 % 256 for i in range(n))
        assert end.sha256(data) == hashlib.sha256(data).digest()
        assert end.hmac(data[:64], data) == hmac.digest(data[:64], data, "sha256")


def values(end, name):
    return json.loads(end.post(name)[68:])["values"]


def test_the_lattice_attack_finds_no_class_after_reset_clone_or_restored_snapshot(end):
    """A device sends a reading first, a clone of it another, and from a snapshot it sends again."""
    X, c = readings(240, 5)
    other = np.empty_like(X)
    for label in np.unique(c):
        other[c == label] = np.roll(X[c == label], 1, axis=0)
    numbers = np.array([codec().which(label) for label in c])
    Z = np.empty((3, *X.shape))
    for i, (x, y, label) in enumerate(zip(X, other, c, strict=True)):
        end.open("one", record(label))
        snapshot = end.stored
        end.open("clone", record(label), snapshot)
        end.send("one", x)
        end.send("clone", y)
        Z[0, i], Z[1, i] = values(end, "one"), values(end, "clone")
        end.open("one", record(label), snapshot)
        end.send("one", x)
        Z[2, i] = values(end, "one")
    assert (Z[2] == Z[0]).all()
    map = codec().codec
    for readings_sent, sent in zip((X, other, X), Z, strict=True):
        found = lattice(map, readings_sent, sent, numbers)
        assert found.without.value > 0.9
        assert found.rate.value < 0.5  # chance is 1/3, and this 4 standard errors above
    # two messages of one number: a dither drawn twice alike cancels between them
    assert of_a_pair(map, Z[0], Z[1], numbers) < 0.5
    alike = [in_python(map, numbers, V, np.full(X.shape, 2**60, np.uint64)) for V in (X, other)]
    assert of_a_pair(map, *alike, numbers) > 0.9


def of_a_pair(map, one, other, c):
    """Decode two messages of each device by every class; name the class that keeps them apart
    by whole cells."""
    off = []
    for which in range(len(map.classes)):
        apart = map.inverse(one.T.copy(), which) - map.inverse(other.T.copy(), which)
        cells = apart / np.array([[column.resolution] for column in map.columns])
        off.append(np.abs(cells - np.rint(cells)).sum(axis=0))
    return (np.argmin(off, axis=0) == c).mean()


def test_the_secret_of_another_clinic_opens_nothing(end, tmp_path):
    key = DeviceKey.derive(Secret(b"another clinic's, 32 bytes or so"), "A", 1)
    end.open("one", device_record(Enrolled("A", "A", key), codec(), 1))
    end.send("one", ROWS[0])
    with clinic(tmp_path) as at:
        assert at.turn([Post("A", end.post("one"))]) == []
        assert at.unauthenticated == 1
