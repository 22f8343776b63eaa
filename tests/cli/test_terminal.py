"""Progress and Ctrl-C as one sees them: processes on terminals, at which keys are pressed."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Files
from tests.cli.terminal import CTRL_C, Terminal

from voile import open_kit
from voile.cli.interrupt import INTERRUPTED
from voile.core.interruption import CUT_SHORT, STOPPING

HIDDEN, SHOWN = "\x1b[?25l", "\x1b[?25h"
DEAF = """
import time
from voile.cli.run import _leave
from voile.cli.screen import CommandScreen, tell
from voile.core.interruption import acknowledge_interruption
with acknowledge_interruption(tell, _leave), CommandScreen().progress() as progress:
    progress("working", 0)
    while True:
        try:
            print("deaf", flush=True)
            time.sleep(60)
        except KeyboardInterrupt:
            pass
"""
WORKERS = """
import signal
from joblib import Parallel, delayed
from voile.core.workers import begin_worker, starting_workers
with starting_workers():
    found = Parallel(2, return_as="generator", initializer=begin_worker)(
        delayed(pow)(2, 3) for _ in range(2)
    )
signal.signal(signal.SIGINT, signal.SIG_IGN)
print("they start", flush=True)
print(*found, "is what they found", flush=True)
"""


def test_an_interrupted_fit_says_so_and_writes_what_it_has(files: Files) -> None:
    words = ["-m", "voile", "tables", "fit", files.patients, "--roles", files.roles]
    more = ["--method", "random-chain", "--evaluations", 10**9, "--out", files.folder / "cut.kit"]
    with Terminal(*words, *more) as terminal:
        terminal.wait_for("searching")
        terminal.wait_for(" left")
        terminal.press(CTRL_C)
        assert terminal.end() == 130
    assert CUT_SHORT in terminal.text
    assert "Traceback" not in terminal.text
    assert terminal.text.rfind(SHOWN) > terminal.text.rfind(HIDDEN)
    kit = open_kit(files.folder / "cut.kit")
    assert kit.facts["stopped"] == "interrupted"
    assert kit.policies > 1


def test_ctrl_c_is_acknowledged_and_the_second_ends_at_once() -> None:
    with Terminal("-c", DEAF) as terminal:
        terminal.wait_for("deaf")
        terminal.press(CTRL_C)
        terminal.wait_for(STOPPING)
        terminal.press(CTRL_C)
        assert terminal.end() == 130
    assert INTERRUPTED in terminal.text
    assert terminal.text.rfind(SHOWN) > terminal.text.rfind(HIDDEN)


def test_ctrl_c_is_acknowledged_while_compiled_code_runs(tmp_path: Path) -> None:
    kernel = tmp_path / "spin.py"
    kernel.write_text(
        "from voile.core.compiled import compile_kernel\n"
        "@compile_kernel\n"
        "def spin(n):\n"
        "    x = 1\n"
        "    for i in range(n):\n"
        "        x = (x * 6364136223846793005 + i) % 1000003\n"
        "    return x\n"
    )
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from spin import spin; spin(1)\n"
    with Terminal("-c", code + DEAF.replace("time.sleep(60)", "spin(10**11)")) as terminal:
        terminal.wait_for("deaf")
        terminal.press(CTRL_C)
        terminal.wait_for(STOPPING)
        terminal.press(CTRL_C)
        assert terminal.end() == 130


def test_workers_that_start_are_deaf_to_ctrl_c() -> None:
    with Terminal("-c", WORKERS) as terminal:
        terminal.wait_for("they start")
        for _ in range(20):
            terminal.press(CTRL_C)
            terminal.read(0.02)
        assert terminal.end() == 0
    assert "8 8 is what they found" in terminal.text
    assert "Traceback" not in terminal.text
