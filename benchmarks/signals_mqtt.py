"""Messages a second from a device's spool to the clinic's disk and back, over a real broker."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np
from benchmarks.signals_data import sequences
from benchmarks.tables import save

from voile.keys.secret import Secret
from voile.signals import SequenceCodec, SequenceMap, SignalsWarning
from voile.signals.channel import (
    Broker,
    Enrolment,
    Link,
    Outgoing,
    Recipient,
    Sender,
    collect,
    forward,
)
from voile.signals.channel.recipient import READINGS, ClinicSubject, ReadingLimits

CHILDREN, LENGTH = 200, 40
CASES = ((200, 1), (200, 4), (20, 1), (1, 1), (1, 50))  # children, messages of each under way
AGAIN = 3  # runs, of which the middle one counts
COLUMNS = ("weight", "BMI")
SECRET = bytes(range(32))


def enrolment(codec: SequenceCodec) -> Enrolment:
    """The keys of all children."""
    return Enrolment.of(Secret(SECRET), codec.mark, {f"P{n}": 1 for n in range(CHILDREN)})


def taken(children: int, names: dict[str, str]) -> list[Outgoing]:
    """Readings of so many children, in turns."""
    X, c, whose = sequences(children, LENGTH, 3)
    order = np.argsort(np.tile(np.arange(LENGTH), children), kind="stable")
    return [Outgoing(names[f"P{whose[n]}"], int(c[n]), tuple(X[n].tolist())) for n in order]


def clinic(folder: Path, url: str, subjects: dict[str, ClinicSubject], ready, stop) -> None:
    """Receive in a process of its own."""
    with np.load(folder / "map.npz") as arrays:
        codec = SequenceCodec.from_arrays(arrays)
    columns = [ReadingLimits(name) for name in COLUMNS]
    recipient = Recipient(folder / "clinic", codec, subjects, columns, Secret(SECRET))
    with recipient, Link(Broker.parse(url), None, recipient) as link:
        link.listen("+")
        time.sleep(1)
        ready.set()
        collect(recipient, link, stop=stop.is_set)


def ours(url: str, codec: SequenceCodec, readings: list[Outgoing], ahead: int) -> tuple[float, int]:
    """Send all; return messages a second until the last receipt, and how many came wrong."""
    subjects = {one.pseudonym: ClinicSubject(one.label, one.pseudonym) for one in readings}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        np.savez(folder / "map.npz", **codec.to_arrays())
        own = multiprocessing.get_context("spawn")
        ready, stop = own.Event(), own.Event()
        other = own.Process(target=clinic, args=(folder, url, subjects, ready, stop))
        other.start()
        ready.wait()
        with Sender(folder / "spool", codec, enrolment(codec), ahead=ahead) as sender:
            sender.take(readings)
            with Link(Broker.parse(url), None, sender) as link:
                began = time.perf_counter()
                forward(sender, link)
                spent = time.perf_counter() - began
        stop.set()
        other.join()
        return len(readings) / spent, wrong(folder / "clinic" / READINGS, readings)


def wrong(path: Path, readings: list[Outgoing]) -> int:
    """Count what is lost, came twice or is other than what was sent."""
    sent = {who: [] for who in {one.pseudonym for one in readings}}
    for one in readings:
        sent[one.pseudonym].append(one.values)
    came = {}
    twice = 0
    for line in path.read_text().splitlines():
        one = json.loads(line)
        key = one["subject"], one["number"]
        twice += key in came
        came[key] = tuple(one[name] for name in COLUMNS)
    expected = {(who, n): x for who, own in sent.items() for n, x in enumerate(own, 1)}
    return twice + sum(came.get(key) != x for key, x in expected.items())


def listener(port: int, number: int, ready, done) -> None:
    """Count plain messages in a process of its own."""
    from paho.mqtt import client as mqtt

    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, protocol=mqtt.MQTTv5)
    all_came = threading.Event()
    came = []

    def heard(_, __, message) -> None:
        came.append(json.loads(message.payload))
        if len(came) == number:
            all_came.set()

    client.on_message = heard
    client.on_subscribe = lambda *_: ready.set()
    client.connect("127.0.0.1", port)
    client.subscribe("plain/+", qos=1)
    client.loop_start()
    all_came.wait()
    done.set()
    client.loop_stop()


def rival(port: int, readings: list[Outgoing]) -> float:
    """Publish the readings as they are, kept nowhere; return messages a second."""
    from paho.mqtt import client as mqtt

    own = multiprocessing.get_context("spawn")
    ready, done = own.Event(), own.Event()
    other = own.Process(target=listener, args=(port, len(readings), ready, done))
    other.start()
    ready.wait()
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, protocol=mqtt.MQTTv5)
    client.connect("127.0.0.1", port)
    client.loop_start()
    began = time.perf_counter()
    for one in readings:
        client.publish(f"plain/{one.pseudonym}", json.dumps(one.values), qos=1)
    done.wait()
    spent = time.perf_counter() - began
    client.disconnect()
    client.loop_stop()
    other.join()
    return len(readings) / spent


def broker(folder: Path) -> tuple[subprocess.Popen, int]:
    """Start a mosquitto of our own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = shutil.which("mosquitto") or "/usr/sbin/mosquitto"
    # the rival leaves all to the broker's queue, which is a thousand messages long by itself
    queue = "max_queued_messages 0\nset_tcp_nodelay true\n"
    settings = f"listener {port} 127.0.0.1\nallow_anonymous true\nlog_dest none\n{queue}"
    (folder / "mosquitto.conf").write_text(settings)
    running = subprocess.Popen([program, "-c", str(folder / "mosquitto.conf")])
    while True:
        with socket.socket() as line:
            if line.connect_ex(("127.0.0.1", port)) == 0:
                return running, port
        time.sleep(0.02)


def middle(rates: list[float]) -> float:
    return sorted(rates)[len(rates) // 2]


def main() -> None:
    warnings.simplefilter("ignore", SignalsWarning)
    codec = SequenceMap(random_state=0).fit(*sequences(1_500, 10, 2)).codec_
    rows, lost, busy, names = [], 0, os.getloadavg()[0], enrolment(codec).pseudonyms
    with tempfile.TemporaryDirectory() as place:
        running, port = broker(Path(place))
        try:
            plain = middle([rival(port, taken(CHILDREN, names)) for _ in range(AGAIN)])
            for children, ahead in CASES:
                url, readings = f"mqtt://127.0.0.1:{port}", taken(children, names)
                found = [ours(url, codec, readings, ahead) for _ in range(AGAIN)]
                rate = middle([one for one, _ in found])
                lost += sum(one for _, one in found)
                share = f"{rate / plain:.2f}"
                rows.append(
                    (f"{children}", f"{ahead}", f"{len(readings):,}", f"{rate:,.0f}", share)
                )
        finally:
            running.terminate()
            running.wait()
    save(
        "signals_mqtt",
        "Messages a second on loopback, from the device's spool through mosquitto to the\n"
        "clinic's disk, until the last receipt is back. Two processes and the broker ran on\n"
        f"two cores, the median of {AGAIN} runs. The rival publishes the same readings as\n"
        "plain JSON with paho at the same quality of service. It stores them on no disk,\n"
        f"and nobody answers: {plain:,.0f} a second.",
        ("children", "under way of each", "messages", "messages/s", "of the rival's"),
        rows,
        f"{lost} readings lost, doubled or wrong. Other work kept {busy:.0f} processes busy\n"
        "meanwhile.",
    )


if __name__ == "__main__":
    main()
