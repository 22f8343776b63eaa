"""One end as a process of its own, to be killed: `an_end.py send|receive FOLDER BROKER`.

FOLDER holds map.npz, readings.json, subjects.json, enrolment and key.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from voile.keys.secret import Secret
from voile.signals import SequenceCodec
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
from voile.signals.channel.recipient import ClinicSubject, ReadingLimits

COLUMNS = (ReadingLimits("height"), ReadingLimits("weight"))


def codec_of(folder: Path) -> SequenceCodec:
    with np.load(folder / "map.npz", allow_pickle=False) as arrays:
        return SequenceCodec.from_arrays(arrays)


def send(folder: Path, broker: Broker) -> None:
    readings = json.loads((folder / "readings.json").read_text())
    taken = [Outgoing(who, label, tuple(point), beside) for who, label, point, beside in readings]
    enrolment = Enrolment.read_file(folder / "enrolment")
    with Sender(folder / "spool", codec_of(folder), enrolment, ahead=4) as sender:
        sender.take(taken, once="readings")
        with Link(broker, None, sender, longest=1) as link:
            forward(sender, link)


def receive(folder: Path, broker: Broker) -> None:
    known = json.loads((folder / "subjects.json").read_text())
    subjects = {pseudonym: ClinicSubject(*both) for pseudonym, both in known.items()}
    secret = Secret.from_file(folder / "key")
    recipient = Recipient(
        folder / "clinic", codec_of(folder), subjects, COLUMNS, secret, kept=["time"]
    )
    with recipient, Link(broker, None, recipient, longest=1) as link:
        collect(recipient, link)


if __name__ == "__main__":
    which, place, url = sys.argv[1:]
    {"send": send, "receive": receive}[which](Path(place), Broker.parse(url))
