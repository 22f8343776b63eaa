"""Both ends without a network: what is lost, doubled, reordered, killed."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys

import numpy as np
import pytest
from tests.signals.channel.ends import (
    COLUMNS,
    ONE,
    SECRET,
    WHO,
    check_all_came,
    enrolled,
    of_days,
    recipient,
    reply_of,
    sender,
    written,
)
from tests.signals.days import fitted

from voile.core.errors import RequestError
from voile.signals.channel import Outgoing, Recipient, Sender
from voile.signals.channel.posts import EnvelopePost
from voile.signals.channel.recipient import READINGS, ClinicSubject
from voile.signals.channel.store import FILE


@pytest.mark.parametrize("invariants", [(), (0,)])
@pytest.mark.parametrize("ahead", [1, 4])
def test_a_bad_line_and_ends_that_die_bring_every_reading_once_and_right(
    tmp_path, invariants, ahead
):
    """Ends are killed by leaving them: opened again, they know what is on disk alone."""
    codec, rng = fitted(*invariants).codec_, np.random.default_rng(ahead)
    taken, subjects = of_days(6, 12, 7)
    device = sender(tmp_path, ahead=ahead, codec=codec)
    clinic = recipient(tmp_path, codec=codec, subjects=subjects)
    device.take(taken[:40])
    line, back = [], []
    for turn in range(2000):
        if turn == 20:
            device.take(taken[40:])
        heard = [post for post in back if rng.random() < 0.9]
        back = []
        line += device.turn(heard) + (device.again() if rng.random() < 0.3 else [])
        line = [post for post in line for _ in range(2) if rng.random() < 0.7]
        rng.shuffle(line)
        arrived, line = (
            [EnvelopePost(*post) for post in line[:5]],
            [EnvelopePost(*post) for post in line[5:60]],
        )
        back = clinic.turn(arrived)
        if rng.random() < 0.1:
            device.close()
            device = sender(tmp_path, ahead=ahead, codec=codec)
        if rng.random() < 0.1:
            clinic.close()
            clinic = recipient(tmp_path, codec=codec, subjects=subjects)
        if not device.has_waiting() and turn > 20:
            break
    assert not device.has_waiting()
    assert not device.refused
    assert not clinic.refused
    check_all_came(written(tmp_path), taken)
    device.close()
    clinic.close()


def test_what_is_on_disk_is_its_owners_alone_and_gone_after_the_receipt(tmp_path):
    old = os.umask(0)
    try:
        device, clinic = sender(tmp_path), recipient(tmp_path)
        device.take([Outgoing("A", "calm", (170.0, 123.4), {"time": "needle"})])
        clinic.turn(device.turn())
    finally:
        os.umask(old)
    for folder in ("spool", "clinic"):
        assert stat.S_IMODE((tmp_path / folder).stat().st_mode) == 0o700
        for path in (tmp_path / folder).iterdir():
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
    spool = tmp_path / "spool"

    def held(needle):
        return any(needle in path.read_bytes() for path in spool.iterdir())

    assert held(b"needle")
    assert held(b"123.4")
    device.turn(clinic.receipts())
    assert not held(b"needle")
    assert device.counts() == {"spooled": 0, "unfit": 0}
    clinic.close()
    device.close()


def test_a_reading_is_on_disk_before_it_is_handed_on(tmp_path):
    """The process dies between the turn and the line: the same bytes are handed on again."""
    device = sender(tmp_path)
    device.take([ONE])
    posts = device.turn()
    device.close()
    device = sender(tmp_path)
    assert device.turn() == []
    assert device.again() == posts
    device.close()


def test_a_turn_that_fails_leaves_both_ends_as_they_were(tmp_path, monkeypatch):
    device, clinic = sender(tmp_path), recipient(tmp_path)
    device.take([ONE, Outgoing("A", "calm", (170.0, 70.5))])
    posts = device.turn()
    with monkeypatch.context() as patch:
        patch.setattr(clinic.store, "note", None)
        with pytest.raises(TypeError):
            clinic.turn(posts)
    assert written(tmp_path) == []
    replies = clinic.turn(posts)
    with monkeypatch.context() as patch:
        patch.setattr(device, "_save", None)
        with pytest.raises(TypeError):
            device.turn(replies)
    assert device.again() == posts
    clinic.turn(device.turn(replies))
    device.turn(clinic.receipts())
    assert [line["weight"] for line in written(tmp_path)] == [70.0, 70.5]
    assert not device.has_waiting()
    device.close()
    clinic.close()


def test_there_is_no_receipt_of_what_a_full_disk_did_not_take(tmp_path, monkeypatch):
    device, clinic = sender(tmp_path), recipient(tmp_path)
    device.take([ONE])
    posts, write = device.turn(), os.write

    def full(file, data):
        if len(data) < 20:
            raise OSError(errno.ENOSPC, "no space left")
        return write(file, data[: len(data) // 2])

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(OSError, match="no space"):
            clinic.turn(posts)
    assert (written(tmp_path), clinic.receipts(), clinic.received) == ([], [], 0)
    device.turn(clinic.turn(posts))
    assert ([line["weight"] for line in written(tmp_path)], device.has_waiting()) == ([70.0], False)
    device.close()
    clinic.close()


def test_a_reading_is_synced_to_the_disk_whole_before_its_session_is(tmp_path, monkeypatch):
    device, clinic = sender(tmp_path), recipient(tmp_path)
    device.take([ONE])
    synced, sync = [], os.fsync

    def fsync(file):
        synced.append((os.fstat(file).st_size, clinic.store.in_transaction))
        sync(file)

    monkeypatch.setattr(os, "fsync", fsync)
    assert len(clinic.turn(device.turn())) == 1
    assert synced == [((tmp_path / "clinic" / READINGS).stat().st_size, True)]
    device.close()
    clinic.close()


def test_what_was_written_of_a_turn_that_did_not_end_is_taken_off(tmp_path):
    device, clinic = sender(tmp_path), recipient(tmp_path)
    device.take([ONE])
    clinic.turn(device.turn())
    clinic.close()
    path = tmp_path / "clinic" / READINGS
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"subject": "cut of')
    recipient(tmp_path).close()
    assert path.read_bytes() == whole
    path.write_bytes(whole[:-5])
    with pytest.raises(RequestError, match="shorter than its recorded length"):
        recipient(tmp_path)
    device.close()


def test_a_gap_asks_again_and_what_is_there_is_not_sent_twice(tmp_path):
    device, clinic = sender(tmp_path, ahead=3), recipient(tmp_path)
    device.take([Outgoing("A", "calm", (170.0, 70.0 + t)) for t in range(3)])
    first, second, third = device.turn()
    (reply,) = clinic.turn([first, third])
    assert reply_of(reply).again
    assert device.turn([reply]) == [second, third]
    (reply,) = clinic.turn([second, third])
    assert not reply_of(reply).again
    assert [line["weight"] for line in written(tmp_path)] == [70.0, 72.0, 71.0]
    assert device.turn([reply]) == []
    assert not device.has_waiting()
    device.close()
    clinic.close()


def test_a_subject_that_is_enrolled_no_more_keeps_its_readings_and_stops_nobody(tmp_path):
    with sender(tmp_path) as device:
        device.take([ONE, Outgoing("B", "wild", (160.0, 60.0))])
        device.turn()
    codec = fitted().codec_
    device = Sender(tmp_path / "spool", codec, enrolled(codec, "B"))
    clinic = recipient(tmp_path)
    device.begin_again()
    assert device.refused == {"A": "enrolment"}
    assert device.pseudonyms() == ["B"]
    device.turn(clinic.turn(device.turn() + device.again()))
    assert [line["subject"] for line in written(tmp_path)] == [17]
    assert not device.has_waiting()
    assert device.counts()["spooled"] == 1
    device.close()
    clinic.close()


def test_a_file_is_taken_once(tmp_path):
    device = sender(tmp_path)
    assert device.take([ONE], once="digest")
    assert not device.take([ONE], once="digest")
    assert device.take([ONE], once="other")
    assert device.counts()["spooled"] == 2
    device.close()


@pytest.mark.parametrize(
    ("reading", "message"),
    [
        (Outgoing("A", "calm", (170.0,)), "row 2: a reading has 1 columns, not 2"),
        (
            Outgoing("A", "calm", (170.0, float("nan"))),
            "row 2, column 1: a reading is missing",
        ),
        (Outgoing("A", "calm", (170.05, 70.0)), "row 2, column 0: a reading contradicts"),
        (Outgoing("A", "calm", (1e308, 70.0)), "row 2, column 0: a reading contradicts"),
        (
            Outgoing("A", "odd", (170.0, 70.0)),
            "row 2, its class: the map has not seen a class",
        ),
        (
            Outgoing("A", "wild", (170.0, 70.0)),
            "row 2, its class: a subject is of another class",
        ),
        (
            Outgoing("a/b", "calm", (170.0, 70.0)),
            "row 2, pseudonym: a subject is not enrolled",
        ),
        (Outgoing("", "calm", (170.0, 70.0)), "row 2, pseudonym: a subject is not enrolled"),
        (Outgoing("A", "calm", (170.0, 70.0), {"a": [1]}), "row 2: a kept column"),
        (
            Outgoing("A", "calm", (170.0, 70.0), {"a": float("inf")}),
            "row 2: a kept column",
        ),
        (Outgoing("A", "calm", (170.0, 70.0), {"a": "\ud800"}), "row 2: a kept column"),
        (Outgoing("A", "calm", (170.0, 70.0), {"a": "x" * 40_000}), "row 2: .* too long"),
    ],
)
def test_of_readings_with_a_wrong_one_none_is_taken(tmp_path, reading, message):
    with sender(tmp_path) as device:
        with pytest.raises(RequestError, match=message):
            device.take([ONE, reading])
        assert device.counts()["spooled"] == 0
        assert device.turn() == []


def test_a_reading_that_its_session_refuses_is_set_aside_and_the_rest_goes_on(tmp_path):
    codec = fitted(0).codec_
    device, clinic = sender(tmp_path, codec=codec), recipient(tmp_path, codec=codec)
    points = ((170.0, 70.0), (171.0, 70.0), (170.0, 71.0))
    device.take([Outgoing("A", "calm", point) for point in points])
    posts = device.turn()
    while posts:
        posts = device.turn(clinic.turn(posts))
    assert device.unfit == ["an invariant has changed"]
    assert device.counts() == {"spooled": 0, "unfit": 1}
    assert not device.has_waiting()
    assert [line["weight"] for line in written(tmp_path)] == [70.0, 71.0]
    device.close()
    clinic.close()


def test_a_folder_is_of_one_process_one_end_one_map_and_closed_to_others(tmp_path):
    device = sender(tmp_path)
    with pytest.raises(RequestError, match="another process uses this folder"):
        sender(tmp_path)
    device.close()
    spool = tmp_path / "spool"
    with pytest.raises(RequestError, match="of another end, map or version"):
        sender(tmp_path, codec=fitted(0).codec_)
    with pytest.raises(RequestError, match="of another end, map or version"):
        Recipient(spool, fitted().codec_, WHO, COLUMNS, SECRET)
    spool.chmod(0o750)
    with pytest.raises(RequestError, match="others may open the folder"):
        sender(tmp_path)
    spool.chmod(0o700)
    (spool / FILE).write_bytes(b"no state" * 1000)
    with pytest.raises(RequestError, match="damaged or no state"):
        sender(tmp_path)
    with pytest.raises(RequestError, match="there is no folder"):
        sender(tmp_path / "absent")


def test_a_wrong_request_for_an_end_is_refused(tmp_path):
    codec = fitted().codec_
    with pytest.raises(RequestError, match="under way"):
        Sender(tmp_path / "a", codec, enrolled(codec), ahead=0)
    with pytest.raises(RequestError, match="1 names of 2 columns"):
        Recipient(tmp_path / "b", codec, WHO, COLUMNS[:1], SECRET)
    with pytest.raises(RequestError, match="has not seen a class"):
        Recipient(tmp_path / "b", codec, {"A": ClinicSubject("odd", 1)}, COLUMNS, SECRET)
    with pytest.raises(RequestError, match="the enrolment is for another map"):
        Sender(tmp_path / "a", codec, enrolled(fitted(0).codec_))
    assert list(tmp_path.iterdir()) == []


DEVICE = """
import sys
BARRED = ("scipy", "sklearn", "pandas", "pyarrow", "numba", "pydantic", "click", "duckdb")

class Barrier:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in BARRED:
            raise ImportError(name)

sys.meta_path.insert(0, Barrier())
import numpy as np
from voile.signals import Codec, SequenceCodec
from voile.signals.channel import Broker, Enrolment, Link, Sender, Outgoing
from voile.signals.fhir.files import encode
from voile.signals.fhir.schemes import SequenceScheme

with np.load(sys.argv[1], allow_pickle=False) as arrays:
    codec = SequenceCodec.from_arrays(arrays)
single = codec.codec
assert single.decode(single.encode([[170.0, 70.0]], ["calm"]), ["calm"]).tolist() == [[170.0, 70.0]]
with Sender(sys.argv[2], codec, Enrolment.read_file(sys.argv[3])) as sender:
    Link(Broker("127.0.0.1", 1), None, sender)
    sender.take([Outgoing("A", "calm", (170.0, 70.0))])
    sys.stdout.buffer.write(sender.turn()[0].payload)
"""


def test_a_device_needs_numpy_alone_and_paho_for_the_line(tmp_path):
    np.savez(tmp_path / "map.npz", **fitted().codec_.to_arrays())
    enrolled(fitted().codec_, "A").write(tmp_path / "enrolment")
    places = [tmp_path / name for name in ("map.npz", "spool", "enrolment")]
    words = [sys.executable, "-c", DEVICE, *places]
    done = subprocess.run(words, capture_output=True, check=False)
    assert not done.returncode, done.stderr.decode()
    clinic = recipient(tmp_path)
    clinic.turn([EnvelopePost("A", done.stdout)])
    assert written(tmp_path)[0]["weight"] == 70.0
    clinic.close()
