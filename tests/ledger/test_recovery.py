"""A ledger recovers from a killed run by itself, and recovery gives an attacker nothing."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.ledger.conftest import INTENT

from voile.core.errors import RequestError, TamperedError
from voile.core.warn import RecoveryWarning
from voile.ledger.ledger import Clock, Ledger, LedgerKeys, create, open_ledger, write_line
from voile.ledger.promise import LedgerPromise


def check(place: Path, key_file: Path) -> None:
    """Check a ledger as every command with its key does."""
    ledger = Ledger.read_file(place)
    LedgerKeys.of(key_file, ledger.id).check(ledger)


@pytest.fixture
def half_replaced(place: Path, key_file: Path, clock: Clock) -> Path:
    """Leave what a run leaves that moved the old heads away and was killed then."""
    heads, staging = key_file.with_name("key.ledgers"), key_file.with_name(".key.ledgers.voile")
    with open_ledger(place, key_file, clock=clock) as opened:
        opened.append("intent", INTENT)
        old = heads.read_bytes()
        opened.append("done", {"of": 1})
    for part in ("new", "old"):
        (staging / part).mkdir(parents=True, mode=0o700)
    staging.chmod(0o700)
    (staging / "old" / heads.name).write_bytes(old)
    heads.rename(staging / "new" / heads.name)
    (staging / "names").write_text(heads.name)
    (staging / "lock").touch()
    return staging


def test_half_replaced_heads_recover_before_they_are_checked(place, key_file, half_replaced):
    with pytest.warns(RecoveryWarning, match=r"key\.ledgers: a run was killed") as warned:
        check(place, key_file)
    assert len(warned) == 1
    assert not half_replaced.exists()
    with open_ledger(place, key_file) as opened:
        assert [line.number for line in opened.ledger.released_lines] == [1]
        assert opened.ledger.open == []


@pytest.mark.usefixtures("half_replaced")
def test_another_ledger_of_the_secret_keeps_its_head(place, key_file, clock, tmp_path):
    """The first command after the kill may write heads, of another ledger."""
    with pytest.warns(RecoveryWarning):
        create(tmp_path / "other", LedgerPromise(k=5), key_file, clock=clock)
    for path in (place, tmp_path / "other"):
        check(path, key_file)


@pytest.mark.usefixtures("half_replaced")
def test_recovery_rolls_no_ledger_back(place, key_file):
    first, *_ = place.read_bytes().splitlines(keepends=True)
    place.write_bytes(first)
    with pytest.warns(RecoveryWarning), pytest.raises(TamperedError, match="ends before line 1"):
        check(place, key_file)


def test_heads_that_came_since_are_not_taken_for_the_ones_away(place, key_file, half_replaced):
    forged = key_file.with_name("key.ledgers")
    shutil.copy(half_replaced / "old" / forged.name, forged)
    with pytest.raises(
        RequestError, match="another program wrote this file after a killed run, and"
    ):
        check(place, key_file)


@pytest.mark.parametrize("gone", [("new",), ("old",), ("new", "old"), ("names",)])
def test_who_removes_what_the_run_left_removes_no_line(place, key_file, half_replaced, gone):
    for name in gone:
        path = half_replaced / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    with pytest.warns(RecoveryWarning), pytest.raises(RequestError, match=r"bring key\.ledgers"):
        check(place, key_file)


def test_a_line_that_came_without_its_head_cannot_be_cut_off_later(place, key_file):
    """Its run was killed in between; a rerun may have nothing more to write."""
    whole = place.read_bytes()
    chain = Ledger.read_file(place).chain
    content = {"act": "erase", "who": "0" * 16, "reason": "asked", "time": "2026-01-01T00:00:01Z"}
    write_line(place, chain.next(content))
    with pytest.warns(RecoveryWarning, match="line 1 is in it"), open_ledger(place, key_file):
        pass
    with open_ledger(place, key_file) as opened:
        assert opened.ledger.erased_hashes == {"0" * 16}
    place.write_bytes(whole)
    with pytest.raises(TamperedError, match="ends before line 1"):
        check(place, key_file)


@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_a_folder_that_others_may_open_is_not_recovered_from(place, key_file, half_replaced, mode):
    half_replaced.chmod(mode)
    with pytest.raises(RequestError, match="another user may write to this temporary folder"):
        check(place, key_file)
    assert (half_replaced / "new" / "key.ledgers").exists()


HOLDING = """
import sys, time
from pathlib import Path
from voile.ledger.ledger import open_ledger
with open_ledger(Path(sys.argv[1]), Path(sys.argv[2])) as opened:
    print("held", flush=True)
    while True:
        opened.append("intent", {intent!r})
        print("written", flush=True)
"""


@pytest.mark.filterwarnings("ignore::voile.core.warn.RecoveryWarning")
def test_a_killed_run_lets_go_of_its_ledger_and_of_the_heads(place, key_file, clock, tmp_path):
    """Another ledger of the secret is written meanwhile: each head stays the last."""
    other = tmp_path / "other"
    create(other, LedgerPromise(k=5), key_file, clock=clock)
    words = [sys.executable, "-c", HOLDING.format(intent=INTENT), place, key_file]
    written = []
    for turn in range(4):
        with subprocess.Popen(words, stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            for _ in range(2 + turn):
                child.stdout.readline()
            with pytest.raises(RequestError, match="another run uses this ledger"):
                open_ledger(place, key_file).__enter__()
            with open_ledger(other, key_file, clock=clock) as opened:
                for _ in range(3):
                    opened.append("intent", INTENT)
            os.kill(child.pid, signal.SIGKILL)
        with open_ledger(place, key_file) as opened:
            written.append(len(opened.ledger.intents))
        check(other, key_file)
    assert written == sorted(set(written))
    assert len(Ledger.read_file(other).intents) == 12
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(".")]
