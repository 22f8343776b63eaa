"""Ctrl-C while voile starts: exit code 130 and one sentence, whatever it cuts short."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from voile.cli.interrupt import INTERRUPTED
from voile.core.interruption import ctrl_c

SAID = f"voile: {INTERRUPTED}\n".encode()
STARTING = """
import sys
from voile.cli import main
print(flush=True)
main()
"""


@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.1, 0.2, 0.4, 0.8])
def test_ctrl_c_while_voile_starts(tmp_path: Path, seconds: float) -> None:
    """From its first line on, while modules load, and while the command waits for its source."""
    words = ["inspect", "-", "--out", str(tmp_path / "roles.toml"), "--json"]
    process = subprocess.Popen(
        [sys.executable, "-c", STARTING, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    time.sleep(max(seconds, 0.02))
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    said = {"what": INTERRUPTED, "where": None, "instead": None}
    assert json.loads(process.stdout.read()) == {"error": said}
    assert process.stderr.read().lstrip() == SAID  # click ends a line that it was reading
    for pipe in (process.stdin, process.stdout, process.stderr):
        assert pipe is not None
        pipe.close()


def half_loaded() -> None:
    """Press Ctrl-C while a module loads that makes another error of it."""
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        raise AttributeError("partially initialized module") from None


def test_what_ctrl_c_breaks_is_an_interruption() -> None:
    with pytest.raises(KeyboardInterrupt), ctrl_c():
        half_loaded()


def test_an_error_without_ctrl_c_stays_itself() -> None:
    with pytest.raises(AttributeError), ctrl_c():
        raise AttributeError("of our own making")
