"""Test that client and server continue or report one sentence for any message or file.

Messages are derived from a device's true ones. In some, bytes are changed before the MAC, so that
it fails. In others, the contents are changed within the MAC, as by a malicious device with a key.
Folders are truncated, damaged and forged.
"""

from __future__ import annotations

import json
import math
import random
import shutil
import sqlite3
import string
import threading
import time
from contextlib import suppress

import pytest
from tests.hostile.cases import cases
from tests.signals.channel.conftest import broker, make_broker  # noqa: F401, fixtures
from tests.signals.channel.ends import (
    SECRET,
    recipient,
    reply_of,
    sealed,
    sealer,
    sender,
    written,
)
from tests.signals.days import fitted

from voile.core.errors import VoileError
from voile.signals.channel import Broker, Enrolment, Link, Outgoing, collect, forward
from voile.signals.channel.envelope import LEAST, LONGEST, EnvelopeHeader
from voile.signals.channel.keys import DeviceKey
from voile.signals.channel.posts import HEARD, EnvelopePost, ReadingLetter
from voile.signals.channel.recipient import READINGS, SET_ASIDE, ClinicSubject, ReadingLimits
from voile.signals.channel.store import FILE
from voile.signals.model.sequences.messages import MessageReceipt, ReadingMessage, beginning, chain

A_TURN = 40  # posts that come together
WHO = {"A": ClinicSubject("calm", "Anna's"), "B": ClinicSubject("wild", 17)}
COLUMNS = [ReadingLimits("height", bounds=(50, 250)), ReadingLimits("weight")]
ODD: tuple[object, ...] = (
    *(None, True, False, 0, 1, -1, 1 << 31, 1 << 63, 1 << 64, -(1 << 64), 10**400),
    *(0.0, -0.0, 5e-324, 2.0**52, 2.0**53, 1e15, 1e300, 1.7e308, math.nan, math.inf, -math.inf),
    *("", "0" * 16, "x" * 5000, "\ud800", "\0", "A", "../A", "NaN", "12", "'; DROP TABLE sessions"),
    *([], {}, [[]], [0.0], {"a": 1}, [1e308, 1e308], {"0": 1.0}, [None], ["1"], [True]),
)


def odd_bytes(rng, data):
    """Change some bytes: turned, cut, doubled, or all of them."""
    at = rng.randrange(len(data) + 1)
    match rng.randrange(5):
        case 0:
            return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
        case 1:
            return data[:at]
        case 2:
            return data[:at] + data
        case 3:
            return data + rng.randbytes(rng.choice((1, 100, LONGEST)))
    return rng.randbytes(rng.choice((0, 1, LEAST - 1, LEAST, 200)))


def odd_content(rng, data):
    """Change a part of a JSON text, or the text."""
    if rng.random() < 0.15:
        return odd_bytes(rng, data)
    if rng.random() < 0.05:
        return b"[" * rng.choice((10, 1000, 60_000))
    content = json.loads(data)
    name = rng.choice([*content, "other", "session", "number", "class"])
    part = content.get(name)
    if isinstance(part, list) and part and rng.random() < 0.5:
        part[rng.randrange(len(part))] = rng.choice(ODD)
    elif isinstance(part, dict) and rng.random() < 0.5:
        part[rng.choice(["a", "weight", "\ud800", "x" * 3000])] = rng.choice(ODD)
    elif rng.random() < 0.1:
        content.pop(name, None)
    else:
        content[name] = rng.choice(ODD)
    text = json.dumps(content).encode()
    return text[:-1] + b"," + text[1:] if rng.random() < 0.05 else text  # every name twice


def odd_heading(rng):
    """Change what stands on an envelope."""
    return rng.choice(
        [
            {"number": rng.choice((0, 2, 3, 1 << 31, 1 << 63, (1 << 64) - 1))},
            {"session": rng.randbytes(16).hex()},
            {"map": rng.randbytes(8).hex()},
            {"format": rng.randrange(256)},
        ]
    )


def far_values(rng, data):
    """Values that are right in form, of any size: the device sends what it likes."""
    content = json.loads(data)
    size = rng.choice((1.0, 10.0, 1e3, 1e9, 2.0**52))
    content["values"] = [rng.uniform(-size, size) for _ in content["values"]]
    return json.dumps(content).encode()


def content_of(post, **how):
    """What is in a true envelope."""
    return sealer(how.pop("hears", "readings"), **how).authenticate(post).open()


def hostile(rng, post, *, encrypt=False, hears="readings"):
    """Make one hostile post of a true one."""
    kind, content = rng.random(), content_of(post, encrypt=encrypt, hears=hears)
    to = {"hears": hears, "encrypt": encrypt if rng.random() < 0.95 else not encrypt}
    if kind < 0.3:
        return EnvelopePost(rng.choice((post.pseudonym, "nobody")), odd_bytes(rng, post.payload))
    if kind < 0.4:
        generation = rng.choice((1, 1, 2, 65535))
        return sealed(post, content, generation=generation, **to, **odd_heading(rng))
    if kind < 0.6 and hears == "readings":
        return sealed(post, far_values(rng, content), **to)
    return sealed(post, odd_content(rng, content), **to)


def strict(line):
    """Read a line of the output as a strict reader would."""

    def no_number(_):
        raise AssertionError("NaN or an infinity was written")

    return json.loads(line, parse_constant=no_number)


@pytest.mark.parametrize("encrypt", [False, True])
def test_no_message_ends_the_recipient_or_keeps_another_device_s_readings_from_it(
    tmp_path, encrypt
):
    """A's device has its key and sends what it likes; B's readings all come, once and right."""
    rng, how, seen, replies = random.Random(16), {"encrypt": encrypt}, [], []
    (tmp_path / "ill").mkdir()
    ill, good = sender(tmp_path / "ill", **how), sender(tmp_path, **how)
    clinic = recipient(tmp_path, columns=COLUMNS, **how)
    turns = cases(1000) // A_TURN
    weights = [80.0 + t % 7 for t in range(turns)]
    ill.take([Outgoing("A", "calm", (170.0, 70.0 + t % 9), {"a": t}) for t in range(turns)])
    good.take([Outgoing("B", "wild", (160.0, weight)) for weight in weights])
    for turn in range(turns):
        if ill.refused:
            ill.begin_again()
        true = ill.turn(replies) or ill.again()
        seen = [*seen, *true][-20:]
        posts = [hostile(rng, rng.choice(seen), **how) for _ in range(A_TURN)]
        posts += true + (good.turn(replies) or good.again())
        rng.shuffle(posts)
        before = clinic.unauthenticated
        replies = clinic.turn(posts)
        assert len(replies) <= len(posts) - (clinic.unauthenticated - before)
        assert len({len(reply.payload) for reply in replies}) <= 1
        if turn % 10 == 9:
            reasons = {reason for _, reason in clinic.refused}
            assert reasons <= HEARD.keys()
            clinic.close()
            clinic = recipient(tmp_path, columns=COLUMNS, **how)
    while good.has_waiting():
        good.turn(clinic.turn(good.again()))
    lines = [strict(line) for line in (tmp_path / "clinic" / READINGS).read_text().splitlines()]
    assert [line["weight"] for line in lines if line["subject"] == 17] == weights
    assert all(50 <= line["height"] <= 250 and abs(line["weight"]) < 1e4 for line in lines)
    assert (tmp_path / "clinic" / SET_ASIDE).read_text()
    for end in (ill, good, clinic):
        end.close()


@pytest.mark.parametrize("invariants", [(), (0,)])
def test_no_values_in_step_end_the_recipient_or_what_it_keeps_of_the_session(tmp_path, invariants):
    """Long sessions of a device that keeps in step and sends numbers of every size."""
    rng, codec = random.Random(9), fitted(*invariants).codec_
    clinic, own, key = (
        recipient(tmp_path, codec=codec),
        sealer("receipts"),
        DeviceKey.derive(SECRET, "A"),
    )
    for turn in range(cases(30)):
        session, posts = rng.randbytes(16).hex(), []
        check, size = beginning(session, codec.mark), 2.0 ** rng.choice((0, 4, 12, 30, 51, 52))
        for number in range(50):
            width = 2 - (codec.invariants if number else 0)
            values = [rng.choice((rng.uniform(-size, size), size, -size)) for _ in range(width)]
            message = ReadingMessage(session, number + 1, number, check, tuple(values))
            on = EnvelopeHeader(1, codec.mark, session, number + 1)
            posts.append(own.seal("A", key, on, ReadingLetter(1, message).pack_content()))
            check = chain(check, message)
        (reply,) = clinic.turn(posts)
        assert reply_of(reply).receipt == MessageReceipt(session, 50, check)
        if turn % 5 == 4:
            clinic.close()
            clinic = recipient(tmp_path, codec=codec)
            assert clinic.receipts()
    for name in (READINGS, SET_ASIDE):
        lines = [strict(line) for line in (tmp_path / "clinic" / name).read_text().splitlines()]
        assert lines
        assert all(math.isfinite(line["weight"]) for line in lines)
    clinic.close()


def test_no_reply_ends_the_sender_or_takes_a_reading_from_its_spool(tmp_path):
    """The clinic is in other hands: it may refuse all, but what it has no receipt of stays."""
    rng = random.Random(7)
    device, clinic = sender(tmp_path), recipient(tmp_path)
    turns = cases(750) // A_TURN
    device.take([Outgoing("A", "calm", (170.0, 70.0 + t % 9)) for t in range(turns)])
    seen = []
    for turn in range(turns):
        if device.refused:
            device.begin_again()
        seen = [*seen, *clinic.turn(device.turn() or device.again())][-20:]
        before = device.counts()["spooled"]
        posts = [hostile(rng, rng.choice(seen), hears="receipts") for _ in range(A_TURN)]
        device.turn(posts)
        assert device.counts()["spooled"] >= before - 1
        if turn % 10 == 9:
            device.close()
            device = sender(tmp_path)
    received = {line["weight"] for line in written(tmp_path)}
    assert received
    device.close()
    clinic.close()


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Both ends' folders in the midst of their work: messages under way, readings that wait."""
    folder = tmp_path_factory.mktemp("ends")
    with sender(folder, ahead=3) as device, recipient(folder) as clinic:
        device.take([Outgoing("A", "calm", (170.0, 70.0 + t), {"time": f"t{t}"}) for t in range(9)])
        device.take([Outgoing("B", "wild", (160.0, 60.0))])
        posts = device.turn(clinic.turn(device.turn()))
        clinic.turn([*posts[::2], *posts[:0:-2]])
    return folder


def work(folder):
    """Open both ends and let them work; say what each said."""
    said = []
    for make in (sender, recipient):
        try:
            with make(folder) as end:
                posts = end.turn(()) if make is recipient else [*end.turn(), *end.again()]
                said += [end.counts()] if make is sender else end.receipts()
                with (
                    recipient(folder / "other") if make is sender else sender(folder / "other") as o
                ):
                    end.turn(o.turn(posts))
        except VoileError as error:
            said.append(error)
    return said


def broken(path, rng):
    """Cut a database short, turn some of its bytes, or leave some of it out."""
    data = path.read_bytes()
    match rng.randrange(3):
        case 0:
            data = data[: rng.randrange(len(data))]
        case 1:
            for at in rng.choices(range(len(data)), k=rng.choice((1, 5, 200))):
                data = data[:at] + rng.randbytes(1) + data[at + 1 :]
        case 2:
            at = rng.randrange(0, len(data), 4096)
            data = data[:at] + data[at + 4096 :]
    path.write_bytes(data)


def forged(path, rng):
    """Write something else into a cell of a database."""
    with sqlite3.connect(path) as database:
        tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        table = rng.choice([name for (name,) in tables if not name.startswith("sqlite")])
        column = rng.choice([row[1] for row in database.execute(f"PRAGMA table_info({table})")])
        cells = [row[0] for row in database.execute(f"SELECT {column} FROM {table}")]
        text = rng.choice(cells)
        if isinstance(text, str) and text.startswith("{") and rng.random() < 0.9:
            other: object = odd_state(rng, json.loads(text))
        else:
            odd = [one for one in ODD if isinstance(one, str | int | float | None)]
            other = rng.choice([*odd, b"\xff\xfe", "[" * 90_000, "[1e999, 0]", '{"a": NaN}'])
        with suppress(OverflowError, UnicodeEncodeError, sqlite3.IntegrityError):
            database.execute(f"UPDATE OR IGNORE {table} SET {column} = ?", [other])
    database.close()


def odd_state(rng, state):
    """Change one part of a saved session, however deep."""
    part = state
    while True:
        keys = list(part) if isinstance(part, dict) else range(len(part))
        at = rng.choice(list(keys))
        if not isinstance(part[at], dict | list) or not part[at] or rng.random() < 0.2:
            part[at] = rng.choice([one for one in ODD if one != "\ud800"])
            return json.dumps(state)
        part = part[at]


@pytest.mark.parametrize("harm", [broken, forged])
def test_a_folder_that_is_damaged_or_forged_is_said_to_be_in_a_sentence(folders, tmp_path, harm):
    rng, errors = random.Random(3), 0
    for case in range(cases(50)):
        folder = tmp_path / str(case)
        shutil.copytree(folders, folder)
        (folder / "other").mkdir()
        harm(folder / rng.choice(("spool", "clinic")) / FILE, rng)
        said = work(folder)
        errors += any(isinstance(one, VoileError) for one in said)
        shutil.rmtree(folder)
    assert errors > cases(50) / 4


def test_a_damaged_enrolment_file_is_refused_in_a_sentence(tmp_path):
    rng, path = random.Random(5), tmp_path / "device.key"
    Enrolment.of(SECRET, "0" * 16, {"Zoë": 1, "17": 65535}).write(path)
    data, true = path.read_bytes(), Enrolment.read_file(path).pseudonyms
    for _ in range(cases(500)):
        path.write_bytes(rng.choice((odd_bytes, odd_content))(rng, data))
        with suppress(VoileError):
            assert Enrolment.read_file(path).pseudonyms.items() <= true.items()


def test_a_clinic_at_a_real_broker_lives_through_hostile_messages_that_the_broker_retains(
    tmp_path,
    broker,  # noqa: F811
):
    """On the topics of enrolled devices and of nobody, and again at each start."""
    import paho.mqtt.client as mqtt

    rng, where = random.Random(11), Broker.parse(broker.url)
    (tmp_path / "ill").mkdir()
    with sender(tmp_path) as device, sender(tmp_path / "ill") as ill:
        device.take([Outgoing("B", "wild", (160.0, 70.0 + t % 9)) for t in range(30)])
        ill.take([Outgoing("A", "calm", (170.0, 70.0))])
        (template,) = ill.turn()
        client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, protocol=mqtt.MQTTv5)
        client.connect("127.0.0.1", broker.port)
        client.loop_start()
        reproduction = {"session": "s", "number": 1, "after": 0, "check": "c", "values": [10**400]}
        old = {"format": 1, "map": "x", "ahead": 1, "message": reproduction, "beside": {}}
        payloads = [json.dumps(old).encode(), b"x" * (1 << 20), b""]
        payloads += [hostile(rng, template).payload for _ in range(cases(150))]
        topics = [
            "A",
            "B",
            "NOBODY",
            "a b",
            "x" * 2000,
            *string.punctuation.translate({35: None, 43: None, 47: None}),
        ]
        for n, payload in enumerate(payloads):
            topic = f"voile/{rng.choice(topics[:3]) if n % 4 else rng.choice(topics)}/readings"
            last = client.publish(topic, payload, qos=n % 3, retain=bool(n % 2))
        last.wait_for_publish(20)
        for _ in range(2):
            at_work(tmp_path, where, device)
        client.loop_stop()
    weights = [line["weight"] for line in written(tmp_path) if line["subject"] == 17]
    assert weights == [70.0 + t % 9 for t in range(30)]


def at_work(folder, where, device):
    """Let the clinic and the device work at a broker; the clinic must end as it is asked to."""
    ended, wrong = threading.Event(), []

    def clinic():
        try:
            with recipient(folder) as end, Link(where, None, end) as line:
                collect(end, line, stop=ended.is_set)
                assert end.unauthenticated
        except BaseException as error:
            wrong.append(error)

    thread = threading.Thread(target=clinic)
    thread.start()
    with Link(where, None, device) as line:
        forward(device, line, wait=20)
    time.sleep(1)
    ended.set()
    thread.join()
    assert not wrong
