"""What an end refuses to take from the other: it decodes nothing, and loses nothing."""

from __future__ import annotations

import json

import pytest
from tests.signals.channel.ends import (
    ONE,
    recipient,
    sender,
    written,
)
from tests.signals.days import fitted

from voile.signals import Session
from voile.signals.channel import Taken
from voile.signals.channel.posts import LONGEST, Letter, Post, Reply
from voile.signals.channel.recipient import READINGS
from voile.signals.sequences import Receipt


def refusal(device, clinic, posts):
    """Post what is refused; return the reason, once both ends know it and nothing is lost."""
    replies = clinic.turn(posts)
    assert written_nothing(clinic)
    device.turn(replies)
    assert device.counts()["spooled"]
    assert not device.left()
    device.close()
    clinic.close()
    ((_, reason),) = clinic.refused
    assert device.refused == {"A": reason}
    return reason


def written_nothing(clinic):
    return not (clinic.store.folder / READINGS).read_bytes()


def test_messages_of_another_map_are_refused_and_stay_spooled(tmp_path):
    device, clinic = sender(tmp_path), recipient(tmp_path, codec=fitted(0).codec_)
    device.take([ONE])
    assert refusal(device, clinic, device.turn()) == "map"


def test_messages_of_another_version_are_refused_and_stay_spooled(tmp_path):
    device, clinic = sender(tmp_path), recipient(tmp_path)
    device.take([ONE])
    ((pseudonym, payload),) = device.turn()
    other = json.dumps({**json.loads(payload), "format": 2}).encode()
    assert refusal(device, clinic, [Post(pseudonym, other)]) == "version"


def test_messages_of_an_unknown_pseudonym_are_refused_and_stay_spooled(tmp_path):
    device, clinic = sender(tmp_path), recipient(tmp_path, subjects={})
    device.take([ONE])
    assert refusal(device, clinic, device.turn()) == "pseudonym"


def test_an_end_loaded_from_a_backup_is_found_out_and_begins_again(tmp_path):
    """The clinic lost a reading that the device was told had come: refused, until asked to."""
    device, clinic = sender(tmp_path), recipient(tmp_path)
    device.take([Taken("A", "calm", (170.0, 70.0 + t)) for t in range(3)])
    posts = device.turn(clinic.turn(device.turn()))
    clinic.close()
    (tmp_path / "clinic").rename(tmp_path / "lost")
    clinic = recipient(tmp_path)
    assert device.turn(clinic.turn(posts)) == []
    assert device.refused == {"A": "step"}
    device.begin_again()
    posts = device.turn()
    while posts:
        posts = device.turn(clinic.turn(posts))
    assert [line["weight"] for line in written(tmp_path)] == [71.0, 72.0]
    assert len({line["session"] for line in written(tmp_path)}) == 1
    device.close()
    clinic.close()


def test_a_device_loaded_from_a_backup_is_found_out(tmp_path):
    device, clinic = sender(tmp_path), recipient(tmp_path)
    device.take([ONE, Taken("A", "calm", (170.0, 71.0))])
    posts = device.turn()
    state = json.loads(device.store.run("SELECT state FROM ends")[0][0])
    # the same session, another dither: as if the first message had been made anew
    twin = Session.from_json(fitted().codec_, {**state, "out": [], "waiting": [(170.0, 70.0)]})
    other = Letter(fitted().codec_.mark, 1, twin.pending()[0])
    replies = clinic.turn([Post("A", other.packed())])
    assert device.turn(replies) == []
    assert device.refused == {"A": "step"}
    assert device.again() == []
    device.begin_again()
    assert device.turn() != posts
    device.close()
    clinic.close()


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"{}",
        b"[" * 30000,
        b"x" * (LONGEST + 1),
        b'{"format":1}',
        b'{"format":1,"map":"a","ahead":0,"message":{},"beside":{}}',
        b'{"format":1,"map":"a","ahead":1,"message":5,"beside":{}}',
        b'{"format":1,"map":"a","ahead":1,"message":{"number":1},"beside":{"a":{}}}',
        b'{"format":1,"receipt":{"session":"","number":-1,"check":""}}',
    ],
)
def test_what_is_no_envelope_changes_nothing(tmp_path, payload):
    device, clinic = sender(tmp_path), recipient(tmp_path)
    device.take([ONE])
    posts = device.turn()
    clinic.turn([Post("A", payload)])
    assert written_nothing(clinic)
    assert device.turn([Post("A", payload), Post("nobody", payload)]) == []
    assert device.turn(clinic.turn(posts)) == []
    assert not device.left()
    device.close()
    clinic.close()


def test_replies_to_nobody_or_of_an_old_session_change_nothing(tmp_path):
    device = sender(tmp_path)
    device.take([ONE])
    posts = device.turn()
    old = Reply(Receipt("A.old", 1, "0" * 16), refused="step").packed()
    assert device.turn([Post("A", old), Post("B", old)]) == []
    assert device.again() == posts
    assert not device.refused
    device.close()


def test_the_other_ends_words_are_never_shown():
    reply = Reply.unpacked(Reply(Receipt("", 0, ""), refused="\x1b[31m any words").packed())
    assert reply.refused == "unknown"


def test_what_goes_beside_cannot_stand_for_what_was_decoded(tmp_path):
    device, clinic = sender(tmp_path), recipient(tmp_path)
    device.take([Taken("A", "calm", (170.0, 70.0), {"subject": 17, "weight": 1, "time": "now"})])
    clinic.turn(device.turn())
    (line,) = written(tmp_path)
    assert (line["subject"], line["weight"], line["time"]) == ("Anna's", 70.0, "now")
    device.close()
    clinic.close()
