"""A real broker: MQTT 5 as it is, processes killed at any moment, a broker away."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
from tests.signals.channel.clinic import Clinic, link
from tests.signals.channel.ends import (
    ONE,
    SECRET_BYTES,
    check_all_came,
    enrolled,
    of_days,
    recipient,
    sender,
    written,
)
from tests.signals.days import fitted

from voile.signals.channel import Broker, Link, Outgoing, forward, live
from voile.signals.channel.envelope import LONGEST
from voile.signals.channel.link import HELD, ROOM, BrokerUp
from voile.signals.channel.live import EndOfReadings
from voile.signals.channel.posts import EnvelopePost
from voile.signals.channel.recipient import READINGS

AN_END = Path(__file__).with_name("an_end.py")


def test_readings_go_over_mqtt_5_on_a_topic_a_pseudonym_at_quality_1_in_a_lasting_session(
    tmp_path, broker
):
    """Overheard by another client, which sees the packets' own properties."""
    import paho.mqtt.client as mqtt

    heard = []
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, protocol=mqtt.MQTTv5)
    ready = threading.Event()
    client.on_subscribe = lambda *_: ready.set()
    client.on_message = lambda _, __, message: heard.append((message.topic, message.qos))
    client.connect("127.0.0.1", broker.port)
    client.subscribe("#", qos=1)
    client.loop_start()
    assert ready.wait(5)
    where = Broker.parse(broker.url)
    ward = {"topic": "ward/7"}
    with sender(tmp_path, **ward) as device, Clinic(tmp_path, where, **ward) as clinic:
        device.take([ONE, Outgoing("B", "wild", (160.0, 60.0))])
        with link(device, where) as line:
            forward(device, line, wait=20)
        assert not device.has_waiting()
    client.loop_stop()
    assert clinic.received == 2
    assert {topic for topic, _ in heard} == {
        f"ward/7/{one}/{box}" for one in "AB" for box in ("readings", "receipts")
    }
    assert {quality for _, quality in heard} == {1}
    assert {line["subject"]: line["weight"] for line in written(tmp_path)} == {
        "Anna's": 70.0,
        17: 60.0,
    }


def test_what_is_sent_while_the_other_end_is_away_waits_at_the_broker(tmp_path, broker):
    """Each end is known again: the two are never there at the same time."""
    where = Broker.parse(broker.url)
    with sender(tmp_path) as device:
        device.take([ONE])
        with Clinic(tmp_path, where) as clinic:
            time.sleep(0.5)  # long enough to subscribe
        assert not clinic.received
        with link(device, where) as line:
            forward(device, line, wait=0.8)
        assert device.has_waiting()
        with Clinic(tmp_path, where) as clinic:
            await_that(lambda: written(tmp_path))
            time.sleep(0.2)
        with link(device, where) as line:
            forward(device, line, wait=4)
        assert not device.has_waiting()


def await_that(holds, seconds=10):
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_while_a_broker_is_down_readings_are_spooled_and_go_when_it_is_back(tmp_path, make_broker):
    broker = make_broker()
    where, told = Broker.parse(broker.url), []
    with sender(tmp_path) as device:
        device.take([ONE])
        with link(device, where) as line:
            forward(device, line, wait=0.6, notify=told.append)
        assert told == ["the broker is away, it cannot be reached: trying again"]
        assert device.counts()["spooled"] == 1
        starter = threading.Timer(1, broker.start)
        starter.start()
        with Clinic(tmp_path, where) as clinic, link(device, where) as line:
            forward(device, line, wait=20)
        starter.join()
        assert not device.has_waiting()
    assert clinic.received == 1


def test_a_post_that_is_lost_is_handed_on_again(tmp_path, broker, monkeypatch):
    """Neither end nor broker dies: the message is just gone, and so is the first receipt."""
    monkeypatch.setattr(live, "PATIENCE", 0.3)
    lost = []

    def lossy(self, posts, real=Link.hand_on):
        posts = list(posts)
        if posts and len(lost) < 2 and self._sealer.posts not in lost:
            lost.append(self._sealer.posts)
            posts = []
        real(self, posts)

    monkeypatch.setattr(Link, "hand_on", lossy)
    where = Broker.parse(broker.url)
    with sender(tmp_path) as device, Clinic(tmp_path, where) as clinic:
        device.take([ONE])
        with link(device, where) as line:
            forward(device, line, wait=20)
        assert not device.has_waiting()
    assert sorted(lost) == ["readings", "receipts"]
    assert clinic.received == 1


def test_live_readings_are_sent_as_they_come_and_a_wrong_one_is_left_out(tmp_path, broker):
    where, told = Broker.parse(broker.url), []
    with sender(tmp_path) as device, Clinic(tmp_path, where) as clinic:
        with link(device, where) as line:
            for weight in (70.0, 70.05, 71.0):
                line.events.put(Outgoing("A", "calm", (170.0, weight)))
            threading.Timer(0.5, line.events.put, [Outgoing("A", "calm", (170.0, 72.0))]).start()
            threading.Timer(1, line.events.put, [EndOfReadings()]).start()
            forward(device, line, live=True, wait=20, notify=told.append)
        assert not device.has_waiting()
    assert clinic.received == 3
    assert [line["weight"] for line in written(tmp_path)] == [70.0, 71.0, 72.0]
    assert len(told) == 1
    assert "a reading is left out: row 1, column 1: a reading contradicts" in told[0]


def test_a_recipient_tells_whose_messages_it_refuses(tmp_path, broker):
    where, told = Broker.parse(broker.url), []
    with sender(tmp_path) as device, Clinic(tmp_path, where) as clinic:
        device.take([Outgoing("stranger", "calm", (170.0, 70.0)), ONE])
        with link(device, where) as line:
            forward(device, line, wait=20, notify=told.append)
        assert device.refused == {"stranger": "pseudonym"}
        assert device.counts()["spooled"] == 1
    (said,) = clinic.told
    assert said == "stranger: messages of an unknown pseudonym are refused; the first is number 1"
    assert told == ["stranger: the recipient does not know the pseudonym"]


def await_lines(path, n):
    await_that(lambda: path.exists() and path.read_bytes().count(b"\n") >= n, 40)


def kill_by_turns(folder, broker, readings, rng):
    """Run both ends, and kill one, the other and the broker while readings come, twice each."""
    ends = {}

    def start(which):
        words = [sys.executable, AN_END, which, folder, broker.url]
        ends[which] = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    output = folder / "clinic" / READINGS
    start("send")
    start("receive")
    try:
        for kill, victim in enumerate(2 * ("send", "broker", "receive"), 1):
            come = int(readings * kill / 8 * rng.uniform(0.8, 1))
            await_lines(output, come)
            assert ends["send"].poll() is None
            if victim == "broker":
                broker.kill()
                broker.start()
            else:
                ends[victim].kill()
                ends[victim].wait()
                start(victim)
        assert ends["send"].wait(60) == 0
    finally:
        for end in ends.values():
            end.kill()
            end.wait()


def test_whatever_is_killed_nothing_is_lost_and_nothing_comes_twice(tmp_path, broker):
    taken, subjects = of_days(12, 60, 3)
    np.savez(tmp_path / "map.npz", **fitted().codec_.to_arrays())
    rows = [(one.pseudonym, one.label, one.values, dict(one.beside)) for one in taken]
    (tmp_path / "readings.json").write_text(json.dumps(rows))
    known = {name: (subject.label, subject.name) for name, subject in subjects.items()}
    (tmp_path / "subjects.json").write_text(json.dumps(known))
    (tmp_path / "key").write_bytes(SECRET_BYTES)
    (tmp_path / "key").chmod(0o600)
    enrolled(fitted().codec_, *subjects).write(tmp_path / "enrolment")
    kill_by_turns(tmp_path, broker, len(taken), np.random.default_rng(1))
    check_all_came(written(tmp_path), taken)
    with sender(tmp_path) as device:
        assert device.counts() == {"spooled": 0, "unfit": 0}


def test_a_topic_that_is_no_text_does_not_end_the_line(tmp_path):
    """The broker is in other hands: mosquitto itself would refuse such a topic."""
    accepted, nonsense = b"\x20\x03\x00\x00\x00", b"\x32\x09\x00\x03\xff\xfe\xfd\x00\x01\x00x"
    good = b"\x32\x16\x00\x10voile/A/readings\x00\x02\x00x"
    with socket.create_server(("127.0.0.1", 0)) as server, recipient(tmp_path) as clinic:
        server.settimeout(10)
        with link(clinic, Broker("127.0.0.1", server.getsockname()[1])) as line:
            other, _ = server.accept()
            with other:
                other.sendall(accepted + nonsense + good)
                assert isinstance(line.events.get(timeout=10), BrokerUp)
                assert line.events.get(timeout=10) == EnvelopePost("A", b"x")


def test_a_flood_fills_no_memory_and_what_is_let_go_is_sent_again(tmp_path, broker):
    """Nobody works on what comes for a while; packets larger than any message never come at all."""
    import paho.mqtt.client as mqtt

    where = Broker.parse(broker.url)
    flood = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, protocol=mqtt.MQTTv5)
    with sender(tmp_path) as device, recipient(tmp_path) as clinic:
        device.take([ONE])
        with link(clinic, where) as line:
            line.listen("+")
            flood.connect("127.0.0.1", broker.port)
            flood.loop_start()
            assert isinstance(line.events.get(timeout=10), BrokerUp)
            time.sleep(0.5)  # long enough to subscribe
            flood.publish("voile/A/readings", b"x" * (LONGEST + 2 * ROOM))
            most = HELD // (LONGEST + ROOM)
            for _ in range(most + 100):
                flood.publish("voile/A/readings", b"x" * LONGEST)
            await_that(lambda: line.events.qsize() == most)
            time.sleep(0.5)
            assert line.events.qsize() == most
            assert {len(event.payload) for event in line.take(1)} == {LONGEST}
            for _ in range(most):  # what was taken made room
                flood.publish("voile/A/readings", b"x" * LONGEST)
            await_that(lambda: line.events.qsize() == most)
        flood.loop_stop()
    with sender(tmp_path) as device, Clinic(tmp_path, where) as clinic:
        with link(device, where) as line:
            forward(device, line, wait=20)
        assert not device.has_waiting()
    assert clinic.received == 1
