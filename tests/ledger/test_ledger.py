"""A ledger is extended by one run at a time, and never forgets."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from tests.ledger.conftest import INTENT, START

from voile.core.errors import RequestError, TamperedError
from voile.ledger.ledger import Ledger, LedgerKeys, create, open_ledger
from voile.ledger.promise import JointFigures, LedgerPromise


def extend(place: Path, key_file: Path, clock, *acts: tuple[str, dict[str, object]]) -> Ledger:
    with open_ledger(place, key_file, clock=clock) as opened:
        for act, content in acts:
            opened.append(act, content)
        return opened.ledger


def test_an_intent_counts_as_released_until_it_is_void(place, key_file, clock):
    found = extend(place, key_file, clock, *[("intent", INTENT)] * 3, ("done", {"of": 1}))
    assert [line.number for line in found.open] == [2, 3]
    found = extend(place, key_file, clock, ("void", {"of": 3}))
    assert [line.number for line in found.released_lines] == [1, 2]
    assert [line.number for line in Ledger.read_file(place).open] == [2]


def test_a_second_writer_is_refused(place, key_file, clock):
    with (
        open_ledger(place, key_file, clock=clock),
        pytest.raises(RequestError, match="another run uses this ledger"),
        open_ledger(place, key_file, clock=clock),
    ):
        pass
    extend(place, key_file, clock)
    assert not list(place.parent.glob(".*"))


def test_another_secret_is_refused(place, key_file, clock):
    other = key_file.with_name("other")
    other.write_text("another key that tests have")
    other.chmod(0o600)
    shutil.copy(f"{key_file}.ledgers", f"{other}.ledgers")
    with pytest.raises(RequestError, match="under another secret"), open_ledger(place, other):
        pass
    with pytest.raises(RequestError, match="--key-file"), open_ledger(place, None):
        pass


def test_an_older_copy_and_a_fork_are_refused(place, key_file, clock):
    older = place.read_bytes()
    extend(place, key_file, clock, ("intent", INTENT))
    place.write_bytes(older)
    with pytest.raises(TamperedError, match="ends before line 1"), open_ledger(place, key_file):
        pass
    heads = key_file.with_name("key.ledgers")
    newest = heads.read_bytes()
    heads.write_bytes(older_heads(place, key_file))
    extend(place, key_file, clock, ("intent", {**INTENT, "folder": "d"}))
    heads.write_bytes(newest)
    with pytest.raises(TamperedError, match="line 1 is not the one"), open_ledger(place, key_file):
        pass


def older_heads(place: Path, key_file: Path) -> bytes:
    ledger = Ledger.read_file(place)
    LedgerKeys.of(key_file, ledger.id).heads.keep(ledger.id, ledger.chain)
    return key_file.with_name("key.ledgers").read_bytes()


def test_a_ledger_that_the_secret_does_not_know_is_refused(place, key_file):
    key_file.with_name("key.ledgers").unlink()
    with pytest.raises(RequestError, match=r"bring key\.ledgers"), open_ledger(place, key_file):
        pass


def test_a_clock_before_the_last_line_is_refused(place, key_file):
    before = lambda: START - timedelta(days=1)  # noqa: E731
    raw = place.read_bytes()
    with (
        pytest.raises(RequestError, match="clock is before"),
        open_ledger(place, key_file, clock=before) as opened,
    ):
        opened.append("intent", INTENT)
    assert place.read_bytes() == raw


def test_a_ledger_is_never_replaced(place, key_file):
    raw = place.read_bytes()
    with pytest.raises(RequestError, match="never replaced"):
        create(place, LedgerPromise(k=3), key_file)
    assert place.read_bytes() == raw


def test_no_ledger_another_file_and_another_version(place, key_file, tmp_path):
    with pytest.raises(RequestError, match="no such ledger"):
        Ledger.read_file(tmp_path / "none")
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(RequestError, match="not a ledger"):
        Ledger.read_file(tmp_path / "empty")


def test_two_ledgers_of_one_secret_share_no_hash(place, key_file, clock, tmp_path):
    other = create(tmp_path / "other", LedgerPromise(k=5), key_file, clock=clock)
    one = LedgerKeys.of(key_file, Ledger.read_file(place).id)
    assert one.hash("zip", "37201") != LedgerKeys.of(key_file, other.id).hash("zip", "37201")
    assert one.hash("zip", "37201") == one.hash("zip", "37201")
    assert one.hash("a", "b") != one.hash("a\x00b")


KILLED = """
import os, signal, sys
from pathlib import Path
import voile.ledger.ledger as ledger
{patch}
with ledger.open_ledger(Path(sys.argv[1]), Path(sys.argv[2])) as opened:
    opened.append("intent", {intent!r})
"""
DIE = "os.kill(os.getpid(), signal.SIGKILL)"
STEPS = {
    "before the line": f"ledger.write_line = lambda *_: {DIE}",
    "half a line": "def half(path, line):\n"
    "    with path.open('ab', buffering=0) as file: file.write(line.encode_line()[:40])\n"
    f"    {DIE}\nledger.write_line = half",
    "before the head": f"ledger.KeptHeads.keep = lambda *_: {DIE}",
}


@pytest.mark.parametrize("step", STEPS)
def test_a_run_killed_at_any_step_leaves_a_ledger_that_goes_on(step, place, key_file, clock):
    code = KILLED.format(patch=STEPS[step], intent=INTENT)
    ended = subprocess.run(
        [sys.executable, "-c", code, place, key_file], env=os.environ, check=False
    )
    assert ended.returncode == -signal.SIGKILL
    with open_ledger(place, key_file) as opened:
        assert len(opened.ledger.released_lines) == (step == "before the head")
        opened.append("intent", INTENT)
    again = Ledger.read_file(place)
    assert again.chain.torn == 0
    assert len(again.released_lines) == 1 + (step == "before the head")


@pytest.mark.parametrize(
    ("found", "broken"),
    [
        (JointFigures(84.0, 0.068, 5), []),
        (JointFigures(101.0, 0.068, 5), ["101 expected matches of 100 promised"]),
        (JointFigures(84.0, 0.11, 5), ["a relative risk of 0.11 of 0.1 promised"]),
        (JointFigures(84.0, 0.068, 4), ["a group of fewer than the 5 people promised"]),
    ],
)
def test_a_promise_names_each_limit_that_is_exceeded(found, broken):
    assert list(LedgerPromise(100, 0.1, 5).broken_by(found)) == broken


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "refuses nothing"),
        ({"joint_risk": 0.0}, "--joint-risk"),
        ({"joint_risk": 1.5}, "--joint-risk"),
        ({"expected_matches": -1.0}, "--expected-matches"),
        ({"k": 0}, "--k"),
    ],
)
def test_a_promise_that_promises_nothing_is_refused(given, said):
    with pytest.raises(RequestError, match=said):
        LedgerPromise(**given)
