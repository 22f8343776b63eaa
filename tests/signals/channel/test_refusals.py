"""What an end refuses to take from the other: it decodes nothing, and loses nothing."""

from __future__ import annotations

import json
import secrets
import shutil

import pytest
from tests.signals.channel.ends import (
    ONE,
    SECRET,
    recipient,
    reply_of,
    sealed,
    sealer,
    sender,
    written,
)
from tests.signals.days import fitted

from voile.signals import Session
from voile.signals.channel import Outgoing
from voile.signals.channel import recipient as recipient_module
from voile.signals.channel.envelope import FORMAT, LEAST, LONGEST, EnvelopeHeader
from voile.signals.channel.keys import DeviceKey
from voile.signals.channel.posts import EnvelopePost, ReadingLetter, ReceiptReply
from voile.signals.channel.recipient import (
    AT_HAND,
    READINGS,
    SET_ASIDE,
    ClinicSubject,
    ReadingLimits,
)
from voile.signals.model.sequences.messages import MessageReceipt, ReadingMessage, beginning


def refusal(device, clinic, posts):
    """Post what is refused; return the reason, once both ends know it and nothing is lost."""
    replies = clinic.turn(posts)
    assert written_nothing(clinic)
    device.turn(replies)
    assert device.counts()["spooled"]
    assert not device.has_waiting()
    device.close()
    clinic.close()
    (((_, reason), refused),) = clinic.refused.items()
    assert (refused.first, refused.count) == (1, 1)
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
    (post,) = device.turn()
    assert refusal(device, clinic, [sealed(post, format=FORMAT + 1)]) == "version"


def test_messages_of_an_unknown_pseudonym_are_refused_and_stay_spooled(tmp_path):
    device, clinic = sender(tmp_path), recipient(tmp_path, subjects={})
    device.take([ONE])
    assert refusal(device, clinic, device.turn()) == "pseudonym"


def test_an_end_loaded_from_a_backup_is_found_out_and_begins_again(tmp_path):
    """The clinic lost a reading that the device was told had come: refused, until asked to."""
    device, clinic = sender(tmp_path), recipient(tmp_path)
    device.take([Outgoing("A", "calm", (170.0, 70.0 + t)) for t in range(3)])
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
    device.take([ONE, Outgoing("A", "calm", (170.0, 71.0))])
    posts = device.turn()
    state = json.loads(device.store.run("SELECT state FROM ends")[0][0])
    # the same session, another dither: as if the first message had been made anew
    waiting = [(None, (170.0, 70.0), (0, 1))]
    twin = Session.from_json(fitted().codec_, {**state, "out": [], "waiting": waiting})
    other = ReadingLetter(1, twin.pending()[0])
    replies = clinic.turn([sealed(posts[0], other.pack_content())])
    assert device.turn(replies) == []
    assert device.refused == {"A": "step"}
    assert device.again() == []
    device.begin_again()
    assert device.turn() != posts
    device.close()
    clinic.close()


def packed(**changes):
    """The content of a message, but for some of it."""
    content = {"ahead": 1, "after": 0, "check": "0" * 16, "values": [0.0, 0.0], "beside": {}}
    return json.dumps({**content, **changes}).encode()


HUGE = b'{"ahead":1,"after":0,"check":"0000000000000000","values":[%b],"beside":{}}'
MALFORMED = [
    b"",
    b"\xff\xfe",
    b"[]",
    b"{}",
    b"[" * 30000,
    packed(ahead=0),
    packed(ahead=True),
    packed(ahead=1 << 70),
    packed(after=-1),
    packed(after=1.0),
    packed(check=5),
    packed(check="\ud800"),
    packed(check="0" * 17),
    packed(values={"0": 0.0}),
    packed(values="12"),
    packed(values=[True, False]),
    packed(values=["1", "2"]),
    packed(values=[float("nan"), 0.0]),
    packed(beside=[]),
    packed(beside={"a": {}}),
    packed(beside={"a": float("nan")}),
    packed(beside={"a": "\ud800"}),
    packed(beside={"\ud800": 1}),
    packed(beside={"a": 1 << 64}),
    packed(other=1),
    packed(session="\ud800"),
    packed().replace(b'"beside"', b'"ahead"'),
    packed().replace(b'{"ahead": 1', b'{"ahead": 1, "ahead": 1'),
    HUGE % (b"1" + b"0" * 400),
    HUGE % (b"1" + b"0" * 5000),
    HUGE % b"1e999,0",
]


@pytest.mark.parametrize("content", MALFORMED)
def test_what_a_device_writes_that_is_no_message_is_refused_and_the_next_is_taken(
    tmp_path, content
):
    device, clinic = sender(tmp_path), recipient(tmp_path)
    device.take([ONE])
    (post,) = device.turn()
    (reply,) = clinic.turn([sealed(post, content)])
    assert reply_of(reply).refused == "content"
    assert clinic.refused["A", "content"].count == 1
    assert written_nothing(clinic)
    clinic.turn([post])
    assert [line["weight"] for line in written(tmp_path)] == [70.0]
    device.close()
    clinic.close()


@pytest.mark.parametrize("values", [(1e308, 1e308), (2.0**53, 0.0), (0.0,), (0.0, 0.0, 0.0), ()])
def test_values_that_no_map_sends_are_refused_whatever_they_would_mean(tmp_path, values):
    device, clinic = sender(tmp_path), recipient(tmp_path)
    device.take([ONE])
    (post,) = device.turn()
    check = json.loads(post.payload[LEAST:])["check"]
    (reply,) = clinic.turn([sealed(post, packed(values=values, check=check))])
    assert reply_of(reply).refused == "step"
    assert written_nothing(clinic)
    assert clinic.turn([post])
    assert [line["weight"] for line in written(tmp_path)] == [70.0]
    device.close()
    clinic.close()


def test_a_reading_outside_the_range_is_set_aside_and_its_receipt_says_nothing_of_it(tmp_path):
    """Of a device that is broken or in other hands: 1e15 on the line is weights of 10^15 kg."""
    device, clinic = sender(tmp_path), recipient(tmp_path)
    device.take([ONE, Outgoing("A", "calm", (170.0, 71.0))])
    (post,) = device.turn()
    check = json.loads(post.payload[LEAST:])["check"]
    (reply,) = clinic.turn([sealed(post, packed(values=[0.0, 1e15], check=check))])
    receipt = reply_of(reply)
    assert (receipt.receipt.number, receipt.again, receipt.refused) == (1, False, "")
    assert written_nothing(clinic)
    assert (clinic.received, clinic.set_aside) == (0, 1)
    (line,) = (clinic.store.folder / SET_ASIDE).read_text().splitlines()
    assert json.loads(line)["weight"] > 1e12
    assert not clinic.refused
    device.close()
    clinic.close()


def test_a_reading_outside_the_bounds_or_words_of_its_column_is_set_aside(tmp_path):
    columns = [
        ReadingLimits("height", bounds=(100, 180)),
        ReadingLimits("weight", words=["low"] * 71),
    ]
    device, clinic = sender(tmp_path, ahead=9), recipient(tmp_path, columns=columns)
    points = ((170.0, 70.0), (180.1, 70.0), (170.0, 71.0), (170.0, -1.0), (180.0, 65.0))
    device.take([Outgoing("A", "calm", point) for point in points])
    clinic.turn(device.turn())
    assert [line["number"] for line in written(tmp_path)] == [1, 5]
    assert [line["weight"] for line in written(tmp_path)] == ["low"] * 2
    lines = (clinic.store.folder / SET_ASIDE).read_text().splitlines()
    assert [json.loads(line)["number"] for line in lines] == [2, 3, 4]
    device.close()
    clinic.close()


@pytest.mark.parametrize(
    "payload", [b"", b"x" * 67, b"x" * 200, b"x" * (LONGEST + 1), b"[" * 30000]
)
def test_what_has_no_mac_is_counted_and_not_answered(tmp_path, payload):
    device, clinic = sender(tmp_path), recipient(tmp_path)
    device.take([ONE])
    posts = device.turn()
    assert clinic.turn([EnvelopePost("A", payload), EnvelopePost("nobody", payload)]) == []
    assert (clinic.unauthenticated, clinic.refused) == (2, {})
    assert written_nothing(clinic)
    assert device.turn([EnvelopePost("A", payload), EnvelopePost("nobody", payload)]) == []
    assert device.unauthenticated == 2
    assert device.turn(clinic.turn(posts)) == []
    assert not device.has_waiting()
    device.close()
    clinic.close()


def test_replies_to_nobody_or_of_an_old_session_change_nothing(tmp_path):
    device = sender(tmp_path)
    device.take([ONE])
    posts = device.turn()
    old = ReceiptReply(MessageReceipt("", 0, ""), refused="step").pack_content()
    other = {"session": "0" * 32, "number": 1}
    replies = [
        sealed(EnvelopePost(who, posts[0].payload), old, hears="receipts", **other)
        for who in ("A", "B")
    ]
    assert device.turn(replies) == []
    assert device.again() == posts
    assert not device.refused
    assert not device.unauthenticated
    device.close()


@pytest.mark.parametrize("encrypt", [False, True])
def test_a_refusal_said_again_stops_nothing_once_its_message_was_taken(tmp_path, encrypt):
    device = sender(tmp_path)
    device.take([ONE, ONE])
    with recipient(tmp_path, subjects={}, encrypt=encrypt) as stranger:
        refusals = stranger.turn(device.turn())
        device.turn(refusals)
    assert device.refused == {"A": "encryption" if encrypt else "pseudonym"}
    shutil.rmtree(tmp_path / "clinic")
    device.close()
    device, clinic = sender(tmp_path), recipient(tmp_path)
    (second,) = device.turn(clinic.turn(device.again()))
    assert device.turn(refusals) == []
    assert not device.refused
    assert device.again() == [second]
    device.close()
    clinic.close()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[]".ljust(96),
        ReceiptReply(MessageReceipt("", 0, "0" * 16)).pack_content() + b" ",
        ReceiptReply(MessageReceipt("", 0, "0" * 16)).pack_content().replace(b"false", b"1    "),
        ReceiptReply(MessageReceipt("", 0, "no digest")).pack_content(),
        b'{"check":"","again":true,"refused":5}'.ljust(96),
    ],
)
def test_what_is_no_reply_changes_nothing(tmp_path, content):
    device = sender(tmp_path)
    device.take([ONE])
    (post,) = device.turn()
    assert device.turn([sealed(post, content, hears="receipts")]) == []
    assert device.again() == [post]
    assert not device.refused
    device.close()


def test_the_other_ends_words_are_never_shown():
    content = ReceiptReply(MessageReceipt("", 0, ""), refused="\x1b[31m any words").pack_content()
    assert ReceiptReply.unpack_content("", 0, content).refused == "unknown"


def test_all_answers_have_one_length(tmp_path):
    """A receipt, one that asks for more, and each refusal."""
    device, clinic = sender(tmp_path, ahead=3), recipient(tmp_path)
    device.take([Outgoing("A", "calm", (170.0, 70.0 + t)) for t in range(3)])
    first, _, third = device.turn()
    hostile = [sealed(first, b""), sealed(first, map="0" * 16), sealed(first, encrypt=True)]
    hostile += [sealed(EnvelopePost("stranger", first.payload)), sealed(first, format=9)]
    replies = [clinic.turn([post]) for post in (first, third, *hostile)]
    assert {len(one.payload) for (one,) in replies} == {len(replies[0][0].payload)}
    assert len({reply_of(one).refused for (one,) in replies}) == 6
    device.close()
    clinic.close()


@pytest.mark.parametrize("name", ["subject", "session", "number", "weight", "ward ", "", "Time"])
def test_columns_that_the_kit_does_not_keep_are_refused(tmp_path, name):
    """A device in other hands writes no name of its own into the clinic's file."""
    device, clinic = sender(tmp_path), recipient(tmp_path, kept=["time", "ward"])
    device.take([Outgoing("A", "calm", (170.0, 70.0), {"time": "now", name: "a text of its own"})])
    assert refusal(device, clinic, device.turn()) == "kept"


def test_kept_columns_come_beside_the_reading_or_are_left_out(tmp_path):
    device, clinic = sender(tmp_path, ahead=2), recipient(tmp_path, kept=["time", "ward"])
    device.take([Outgoing("A", "calm", (170.0, 70.0), one) for one in ({"time": "now"}, {})])
    clinic.turn(device.turn())
    assert [line.get("time") for line in written(tmp_path)] == ["now", None]
    device.close()
    clinic.close()


def beginning_of(codec, *, generation=1, session=None):
    """A device's first message of a session, made without an end that keeps any."""
    name = session or secrets.token_hex(16)
    message = ReadingMessage(name, 1, 0, beginning(name, codec.mark), (0.0, 0.0))
    key = DeviceKey.derive(SECRET, "A", generation)
    on = EnvelopeHeader(generation, codec.mark, name, 1)
    return sealer("receipts").seal("A", key, on, ReadingLetter(1, message).pack_content())


def test_sessions_without_end_fill_no_disk_or_memory_and_none_is_forgotten(tmp_path, monkeypatch):
    """A device in other hands begins session after session; a patient's other one goes on."""
    monkeypatch.setattr(recipient_module, "MOST", 20)
    codec = fitted().codec_
    device, clinic = sender(tmp_path), recipient(tmp_path)
    device.take([Outgoing("A", "calm", (170.0, 70.0 + t)) for t in range(3)])
    (second,) = device.turn(clinic.turn(device.turn()))
    flood = [beginning_of(codec) for _ in range(50)]
    assert len(clinic.turn([*flood[:30], second, *flood[30:]])) == 51
    assert clinic.refused["A", "sessions"].count == 31
    assert clinic.received == 21
    clinic.turn(flood)
    clinic.close()
    clinic = recipient(tmp_path)
    clinic.turn([*flood, second])
    assert (clinic.received, clinic.refused["A", "sessions"].count) == (0, 31)
    assert clinic.store.run("SELECT count(*) FROM sessions") == [(20,)]
    assert sum(map(len, clinic._sessions.values())) <= AT_HAND
    while device.has_waiting():
        device.turn(clinic.turn(device.again()))
    assert [line["weight"] for line in written(tmp_path)][-1] == 72.0
    device.close()
    clinic.close()


def test_another_generation_of_the_key_begins_sessions_again(tmp_path, monkeypatch):
    monkeypatch.setattr(recipient_module, "MOST", 3)
    codec = fitted().codec_
    for generation, count in ((1, 3), (2, 6)):
        subjects = {"A": ClinicSubject("calm", "Anna's", generation)}
        with recipient(tmp_path, subjects=subjects) as clinic:
            clinic.turn([beginning_of(codec, generation=generation) for _ in range(5)])
            assert clinic.refused["A", "sessions"].count == 2
            assert clinic.store.run("SELECT count(*) FROM sessions") == [(count,)]
