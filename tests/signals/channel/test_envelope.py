"""MACs, encryption and keys: what nobody without the device's own key can read, forge or move."""

from __future__ import annotations

import hashlib
import hmac
import json
import pickle
import stat
import struct
import sys
from datetime import date

import pytest
from tests.signals.channel.ends import (
    ONE,
    SECRET,
    SECRET_BYTES,
    enrolled,
    recipient,
    reply_of,
    sealer,
    sender,
    written,
)
from tests.signals.days import fitted

from voile.core.errors import RequestError
from voile.keys.pseudonyms import pseudonym
from voile.keys.secret import Secret
from voile.signals.channel import Enrolment, Outgoing, Sender
from voile.signals.channel.envelope import LEAST, EnvelopeHeader
from voile.signals.channel.keys import MAC, DeviceKey, EnrolledSubject
from voile.signals.channel.posts import EnvelopePost, ReadingLetter
from voile.signals.channel.recipient import ClinicSubject
from voile.signals.model.sequences.messages import chain

DAYS = [Outgoing("A", "calm", (170.0, 70.0 + t), {"time": f"day {t}"}) for t in range(4)]


def talk(device, clinic):
    """Let the ends work until nothing is left; return all that was on the line."""
    posts, heard = device.turn(), []
    while posts:
        replies = clinic.turn(posts)
        heard += [*posts, *replies]
        posts = device.turn(replies)
    return heard


def flipped(payload, at):
    return payload[:at] + bytes([payload[at] ^ 1]) + payload[at + 1 :]


@pytest.mark.parametrize("encrypt", [False, True])
def test_no_byte_of_a_message_or_receipt_can_be_changed(tmp_path, encrypt):
    device, clinic = sender(tmp_path, encrypt=encrypt), recipient(tmp_path, encrypt=encrypt)
    device.take(DAYS)
    (post,) = device.turn()
    forged = [EnvelopePost("A", flipped(post.payload, at)) for at in range(len(post.payload))]
    forged += [EnvelopePost("A", post.payload[:-1]), EnvelopePost("A", post.payload + b" ")]
    assert clinic.turn(forged) == []
    assert clinic.unauthenticated == len(forged)
    (reply,) = clinic.turn([post])
    forged = [EnvelopePost("A", flipped(reply.payload, at)) for at in range(len(reply.payload))]
    assert device.turn(forged) == []
    assert device.unauthenticated == len(forged)
    assert device.again() == [post]
    assert len(device.turn([reply])) == 1
    device.close()
    clinic.close()


def test_no_message_can_be_moved_to_another_topic_or_direction(tmp_path):
    ward = {"topic": "ward/7"}
    device, clinic = sender(tmp_path, **ward), recipient(tmp_path, **ward)
    device.take([ONE])
    (post,) = device.turn()
    assert clinic.turn([EnvelopePost("B", post.payload)]) == []
    (reply,) = clinic.turn([post])
    assert clinic.turn([reply]) == []  # an echo
    assert clinic.unauthenticated == 2
    assert device.turn([post]) == []
    assert device.unauthenticated == 1
    other = recipient(tmp_path / "clinic", topic="ward/70")
    assert other.turn([post]) == []
    for end in (device, clinic, other):
        end.close()


@pytest.mark.parametrize("topic", ["", "ward/+", "ward/#", "ward\0"])
def test_a_topic_that_no_broker_takes_is_refused(topic):
    with pytest.raises(RequestError, match="a topic holds"):
        sealer("receipts", topic=topic)


def test_the_mac_is_as_written_so_that_others_can_make_it(tmp_path):
    """By hashlib and hmac alone, for a device that has no Python."""
    device = sender(tmp_path)
    device.take([ONE])
    (post,) = device.turn()
    mac, header, content = (post.payload[a:b] for a, b in ((0, 32), (32, 68), (68, None)))
    own = hmac.digest(SECRET_BYTES, b"voile channel", hashlib.sha256)
    for part in (b"A", b"1"):
        own = hmac.digest(own, part, hashlib.sha256)
    place = b"voile/A/readings"
    said = struct.pack(">I", len(place)) + place + header + content
    assert mac == hmac.digest(hmac.digest(own, b"voile mac", hashlib.sha256), said, hashlib.sha256)
    format, encrypted, generation, map, _, number = struct.unpack(">BBH8s16sQ", header)
    assert (format, encrypted, generation, number) == (2, 0, 1, 1)
    assert map.hex() == fitted().codec_.mark
    assert json.loads(content).keys() == {"ahead", "after", "check", "values", "beside"}
    device.close()


def test_a_header_is_36_bytes_and_says_what_is_sealed():
    header = EnvelopeHeader(7, "a" * 16, "b" * 32, 2**64 - 1)
    names = bytes.fromhex("a" * 16 + "b" * 32)
    assert header.pack_bytes() == bytes([2, 0, 0, 7]) + names + b"\xff" * 8
    closed = header._replace(sealed=True)
    assert closed.pack_bytes()[1] == 1
    assert [EnvelopeHeader.unpack_bytes(one.pack_bytes()) for one in (header, closed)] == [
        header,
        closed,
    ]


def test_an_envelope_is_whole_and_of_at_most_64_kib():
    own, hears = sealer("receipts"), sealer("readings")
    key, on = DeviceKey.derive(SECRET, "A"), EnvelopeHeader(1, "0" * 16, "0" * 32, 1)
    empty, full, over = (own.seal("A", key, on, bytes(n)) for n in (0, 65_468, 65_469))
    assert [len(post.payload) for post in (empty, full)] == [68, 65_536]
    taken = [hears.authenticate(post) is not None for post in (empty, full, over)]
    assert taken == [True, True, False]
    assert not any(hears.authenticate(EnvelopePost("A", empty.payload[:n])) for n in range(68))


def test_broker_access_alone_forges_no_reading(tmp_path):
    """From overheard traffic: the digest continued, the next number, a value of one's own."""
    device, clinic = sender(tmp_path), recipient(tmp_path)
    device.take([Outgoing("A", "calm", (170.0, 70.0 + t % 3)) for t in range(20)])
    heard = [post for post in talk(device, clinic) if len(post.payload) != LEAST + 96]
    on, last = (
        EnvelopeHeader.unpack_bytes(heard[-1].payload[MAC:LEAST]),
        json.loads(heard[-1].payload[LEAST:]),
    )
    check = chain(
        last["check"],
        ReadingLetter.unpack_content(on.session, 20, heard[-1].payload[LEAST:]).message,
    )
    content = json.dumps({**last, "after": 20, "check": check, "values": [0.0, 2.5]}).encode()
    header = on._replace(number=21).pack_bytes()
    thief = DeviceKey(bytes(32), 1)
    macs = (bytes(32), heard[-1].payload[:MAC], thief.mac(b"voile/A/readings", header + content))
    forged = [EnvelopePost("A", mac + header + content) for mac in macs]
    assert clinic.turn(forged) == []
    assert (clinic.unauthenticated, clinic.received) == (3, 20)
    assert len(written(tmp_path)) == 20
    device.close()
    clinic.close()


def test_a_first_message_tampered_with_is_noticed_at_once_and_the_true_one_taken(tmp_path):
    device, clinic = sender(tmp_path), recipient(tmp_path)
    device.take([Outgoing("A", "calm", (170.0, 88.7))])
    (post,) = device.turn()
    content = json.loads(post.payload[LEAST:])
    values = [content["values"][0], content["values"][1] + 0.5]
    tampered = json.dumps({**content, "values": values}, separators=(",", ":")).encode()
    assert clinic.turn([EnvelopePost("A", post.payload[:LEAST] + tampered)]) == []
    assert clinic.unauthenticated == 1
    device.turn(clinic.turn([post]))
    assert [line["weight"] for line in written(tmp_path)] == [88.7]
    assert not device.has_waiting()
    device.close()
    clinic.close()


def test_what_was_overheard_can_be_said_again_and_changes_nothing_whatever_is_restarted(tmp_path):
    device, clinic = sender(tmp_path), recipient(tmp_path)
    device.take(DAYS)
    heard = talk(device, clinic)
    device.begin_again()
    device.take([ONE])
    heard += talk(device, clinic)
    lines = written(tmp_path)
    assert len(lines) == 5
    device.close()
    clinic.close()
    device, clinic = sender(tmp_path), recipient(tmp_path)
    assert len(clinic.turn(heard)) == 2  # a receipt of each session, as ever
    assert device.turn(heard) == []
    assert written(tmp_path) == lines
    assert (clinic.received, device.has_waiting(), device.refused) == (0, False, {})
    device.close()
    clinic.close()


def test_encryption_hides_all_but_the_heading_and_both_ends_must_say_so(tmp_path):
    device, clinic = sender(tmp_path, encrypt=True), recipient(tmp_path, encrypt=True)
    device.take(DAYS)
    heard = talk(device, clinic)
    assert [line["weight"] for line in written(tmp_path)] == [70.0, 71.0, 72.0, 73.0]
    assert [line["time"] for line in written(tmp_path)] == [f"day {t}" for t in range(4)]
    for word in (b"values", b"beside", b"time", b"check", b"again", b"day 0"):
        assert not any(word in post.payload[LEAST:] for post in heard)
    device.close()
    clinic.close()


@pytest.mark.parametrize("encrypt", [False, True])
def test_one_end_that_encrypts_alone_is_told(tmp_path, encrypt):
    device, clinic = sender(tmp_path, encrypt=encrypt), recipient(tmp_path, encrypt=not encrypt)
    device.take([ONE])
    replies = clinic.turn(device.turn())
    assert {reason for _, reason in clinic.refused} == {"encryption"}
    assert device.turn(replies) == []
    assert device.refused == {"A": "encryption"}
    assert device.counts()["spooled"] == 1
    device.close()
    clinic.close()


def test_two_contents_of_one_number_share_no_key_stream(tmp_path):
    """A device loaded from a backup makes its message anew: the same number, another dither."""
    contents = [b'{"values":[%d]}' % n for n in (1, 2)]
    key, on = DeviceKey.derive(SECRET, "A"), EnvelopeHeader(1, "0" * 16, "0" * 32, 1)
    own = sealer("receipts", encrypt=True)
    first, second, again = (
        own.seal("A", key, on, each).payload[LEAST:] for each in (*contents, contents[0])
    )
    assert first == again  # the same to the last bit, so that saying it again tells nothing
    apart = bytes(a ^ b for a, b in zip(first[16:], second[16:], strict=True))
    assert apart != bytes(a ^ b for a, b in zip(*contents, strict=True))
    assert sum(bit.bit_count() for bit in apart) > len(apart)  # of two streams half the bits differ


def test_an_encrypted_content_cannot_be_moved_even_by_who_has_the_mac_key(tmp_path):
    """Topic and header are its associated data, not the MAC's alone."""
    device, clinic = sender(tmp_path, encrypt=True), recipient(tmp_path, encrypt=True)
    device.take([ONE])
    (post,) = device.turn()
    rest, place = post.payload[MAC:], b"voile/A/readings"
    moved = rest[:35] + b"\2" + rest[36:]  # the number
    mac = DeviceKey.derive(SECRET, "A").mac(place, moved)
    (reply,) = clinic.turn([EnvelopePost("A", mac + moved)])
    assert reply_of(reply, encrypt=True).refused == "content"
    device.close()
    clinic.close()


def test_without_cryptography_encryption_is_refused_in_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers.aead", None)
    with pytest.raises(
        RequestError,
        match=r"cryptography is not installed; .* 'voile\[send\]'",
    ):
        sender(tmp_path, encrypt=True)
    sender(tmp_path).close()


def test_a_key_is_replaced_with_an_overlap_and_the_old_one_ends_with_it(tmp_path):
    days = [date(2026, 3, 1)]
    renewed = {"A": ClinicSubject("calm", "Anna's", 2)}
    how = {"subjects": renewed, "overlap": date(2026, 3, 7), "today": lambda: days[0]}
    device, clinic = sender(tmp_path), recipient(tmp_path, **how)
    device.take(DAYS)
    posts = device.turn(clinic.turn(device.turn()))
    assert clinic.received == 1
    days[0] = date(2026, 3, 7)
    posts = device.turn(clinic.turn(posts))
    assert clinic.received == 2
    days[0] = date(2026, 3, 8)
    device.turn(clinic.turn(posts))
    assert device.refused == {"A": "key"}
    assert {reason for _, reason in clinic.refused} == {"key"}
    device.close()
    device = sender(tmp_path, generation=2)  # enrolled anew, in the midst of a session
    device.turn(clinic.receipts())
    posts = device.again()
    while posts:
        posts = device.turn(clinic.turn(posts))
    assert [line["weight"] for line in written(tmp_path)] == [70.0, 71.0, 72.0, 73.0]
    assert not device.has_waiting()
    device.close()
    clinic.close()


def test_a_stolen_key_is_shut_out_at_once_overlap_or_not(tmp_path):
    """Raised by two, the key before it was never given to anyone."""
    subjects = {"A": ClinicSubject("calm", "Anna's", 3), "B": ClinicSubject("wild", 17, 2)}
    how = {"subjects": subjects, "overlap": date.max}
    device, clinic = sender(tmp_path), recipient(tmp_path, **how)
    device.take([ONE, Outgoing("B", "wild", (160.0, 60.0))])
    device.turn(clinic.turn(device.turn()))
    assert device.refused == {"A": "key"}
    assert [line["subject"] for line in written(tmp_path)] == [17]
    device.close()
    clinic.close()


def test_a_stolen_device_speaks_for_no_other_subject(tmp_path):
    """The thief has all of the enrolment file of A, and tries it on B."""
    clinic = recipient(tmp_path)
    enrolled(fitted().codec_, "A").write(tmp_path / "device.key")
    stolen = Enrolment.read_file(tmp_path / "device.key")
    text = (tmp_path / "device.key").read_text()
    assert SECRET_BYTES.hex() not in text
    assert DeviceKey.derive(SECRET, "B").hex() not in text
    with Sender(tmp_path / "spool", fitted().codec_, stolen) as device:
        with pytest.raises(RequestError, match="a subject is not enrolled"):
            device.take([Outgoing("B", "wild", (160.0, 60.0))])
        device.take([ONE])
        (post,) = device.turn()
    own = sealer("receipts")
    on = EnvelopeHeader.unpack_bytes(post.payload[MAC:LEAST])
    forged = own.seal("B", stolen.keys["A"], on, post.payload[LEAST:])
    assert clinic.turn([forged]) == []
    assert clinic.unauthenticated == 1
    clinic.close()


def test_an_enrolment_is_read_as_written_and_no_part_of_it_can_be_changed(tmp_path):
    path = tmp_path / "device.key"
    Enrolment.of(SECRET, "0" * 16, {"Zoë": 1, "17": 65535}).write(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    read, text = Enrolment.read_file(path), path.read_text()
    assert read.pseudonyms == {"Zoë": pseudonym(SECRET, "Zoë"), "17": pseudonym(SECRET, 17)}
    content = json.loads(text)
    wrong = [{**content, "version": 2}, {**content, "map": "1" * 16}, {**content, "devices": {}}]
    wrong.append({**content, "map": 5, "devices": []})
    first, second = content["devices"]
    for name in first:
        wrong.append({**content, "devices": [{**first, name: second[name]}, second]})
        wrong.append({**content, "devices": [{**first, name: 1e999}]})
        wrong.append({**content, "devices": [{k: v for k, v in first.items() if k != name}]})
    texts = [*map(json.dumps, wrong), "", "[]", text[:-9], "[" * 90_000, '{"format": 1}']
    for each in texts:
        path.write_text(each)
        with pytest.raises(RequestError, match="not an enrolment file, or it is damaged"):
            Enrolment.read_file(path)
    path.write_text(text)
    path.chmod(0o640)
    with pytest.raises(RequestError, match="other users may read or write the enrolment file"):
        Enrolment.read_file(path)


def test_an_enrolment_cannot_name_a_topic_of_its_own_choosing(tmp_path):
    """Whoever writes the file has the key, and so the MAC, of every entry."""
    path, key = tmp_path / "device.key", DeviceKey(bytes(32), 1)
    for name in ("a/b", "+", "#", ""):
        forged = EnrolledSubject("Anna", name, key)
        Enrolment("0" * 16, (forged,)).write(path, force=True)
        with pytest.raises(RequestError, match="not an enrolment file, or it is damaged"):
            Enrolment.read_file(path)


@pytest.mark.parametrize(
    ("size", "generation"), [(31, 1), (33, 1), (32, 0), (32, 65536), (32, True), (32, 1.0)]
)
def test_what_is_no_key_of_a_generation_is_refused(size, generation):
    assert DeviceKey(bytes(32), 65535).generation == 65535
    with pytest.raises(RequestError, match="no generation from 1 to 65535"):
        DeviceKey(bytes(size), generation)


def test_keys_do_not_show_themselves_and_differ_by_subject_generation_and_use():
    key = DeviceKey.derive(SECRET, "A")
    assert "hidden" in repr(key)
    assert key.hex() not in repr(Enrolment.of(SECRET, "0" * 16, {"Anna": 1}))
    assert "Anna" not in repr(Enrolment.of(SECRET, "0" * 16, {"Anna": 1}))
    with pytest.raises(TypeError, match="a key is not copied"):
        pickle.dumps(key)
    keys = {DeviceKey.derive(SECRET, who, n).hex() for who in "AB" for n in (1, 2)}
    keys |= {SECRET.derive("channel").hex(), SECRET.derive("pseudonym", "A", "1").hex()}
    keys |= {DeviceKey.derive(Secret(bytes(32)), "A").hex(), key.mac(b"", b"").hex()}
    keys |= {key.encryption(place, session).hex() for place in (b"p", b"q") for session in "ab"}
    assert len(keys) == 12
