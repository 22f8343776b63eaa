"""Two ends without a network, for the tests: how they are made, and what came."""

from __future__ import annotations

import json

import numpy as np
from tests.signals.days import days, fitted

from voile.keys.secret import Secret
from voile.signals.channel import Enrolment, Outgoing, Recipient, Sender
from voile.signals.channel.envelope import LEAST, EnvelopeHeader, EnvelopeSealer
from voile.signals.channel.keys import MAC, DeviceKey, EnrolledSubject
from voile.signals.channel.posts import ReceiptReply
from voile.signals.channel.recipient import READINGS, ClinicSubject, ReadingLimits

COLUMNS = [ReadingLimits("height"), ReadingLimits("weight")]
KEPT = ("time", "a")
SECRET_BYTES = b"the clinic's, 32 bytes or longer"
SECRET = Secret(SECRET_BYTES)
DEVICES = ("A", "B", "stranger", *(f"S{one}" for one in range(20)))
WHO = {"A": ClinicSubject("calm", "Anna's"), "B": ClinicSubject("wild", 17)}
ONE = Outgoing("A", "calm", (170.0, 70.0))


def enrolled(codec, *pseudonyms, generation=1):
    """An enrolment of subjects who are called as their pseudonyms."""
    keys = [(one, DeviceKey.derive(SECRET, one, generation)) for one in pseudonyms]
    return Enrolment(codec.mark, tuple(EnrolledSubject(one, one, key) for one, key in keys))


def sender(folder, *, codec=None, generation=1, **options):
    codec = codec or fitted().codec_
    enrolment = enrolled(codec, *DEVICES, generation=generation)
    return Sender(folder / "spool", codec, enrolment, **options)


def recipient(folder, *, codec=None, subjects=WHO, columns=COLUMNS, **options):
    codec = codec or fitted().codec_
    options = {"kept": KEPT, **options}
    return Recipient(folder / "clinic", codec, subjects, columns, SECRET, **options)


def sealer(hears, *, topic="voile", encrypt=False):
    """What an end that hears this seals and proves with, for tests to write and read envelopes."""
    boxes = ("readings", "receipts")
    posts = boxes[boxes.index(hears) - 1]

    def key_of(pseudonym, generation):
        return DeviceKey.derive(SECRET, pseudonym, generation)

    return EnvelopeSealer(hears, posts, key_of, topic, encrypt)


def reply_of(post, **options):
    """What a receipt says."""
    envelope = sealer("receipts", **options).authenticate(post)
    on = envelope.header
    return ReceiptReply.unpack_content(on.session, on.number, envelope.open())


def sealed(post, content=None, *, hears="readings", generation=1, encrypt=False, **changes):
    """The envelope of a device that has its key and writes what it likes into it."""
    on = EnvelopeHeader.unpack_bytes(post.payload[MAC:LEAST])._replace(**changes)
    key = DeviceKey.derive(SECRET, post.pseudonym, generation)
    own = sealer("receipts" if hears == "readings" else "readings", encrypt=encrypt)
    return own.seal(post.pseudonym, key, on, post.payload[LEAST:] if content is None else content)


def written(folder):
    lines = (folder / "clinic" / READINGS).read_text().splitlines()
    return [json.loads(line) for line in lines]


def of_days(n, length, seed):
    """Readings of several subjects, in turns, with the time beside them."""
    X, c, whose = days(n, length, seed)
    rows = np.argsort(np.tile(np.arange(length), n), kind="stable")
    subjects = {f"S{one}": ClinicSubject(str(c[whose == one][0]), int(one)) for one in range(n)}
    taken = [
        Outgoing(f"S{whose[row]}", str(c[row]), tuple(X[row].tolist()), {"time": f"t{row}"})
        for row in rows
    ]
    return taken, subjects


def check_all_came(lines, taken):
    """Each once, in each subject's order, with its values and what was sent beside."""
    assert len(lines) == len(taken)
    for pseudonym in {one.pseudonym for one in taken}:
        sent = [(one.values, one.beside["time"]) for one in taken if one.pseudonym == pseudonym]
        own = [line for line in lines if f"S{line['subject']}" == pseudonym]
        own.sort(key=lambda line: line["number"])
        assert [line["number"] for line in own] == list(range(1, len(own) + 1))
        assert [((line["height"], line["weight"]), line["time"]) for line in own] == sent
