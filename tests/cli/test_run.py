"""Exit codes, and one sentence for every error."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

from voile.cli.run import _explain
from voile.core.errors import RequestError, TamperedError


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["reprot"], "voile: no such command 'reprot'; did you mean report?"),
        (["edit"], "voile: no such command 'edit'; did you mean voile tables edit?"),
        (
            ["documents", "verify"],
            "voile documents: no such command 'verify'; did you mean voile verify?",
        ),
        (["tables", "fti"], "voile tables: no such command 'fti'; did you mean fit?"),
        (
            ["tables", "choose", "kit", "--polcy", "1"],
            "voile tables choose: no such option: --polcy; did you mean --policy?",
        ),
        (
            ["tables", "fit", "x.csv", "--hold-uot", ".1"],
            "voile tables fit: no such option: --hold-uot; did you mean --hold-out or --out?",
        ),
        (
            ["completion"],
            "voile completion: missing argument '{bash|zsh|fish}', choose from: bash, zsh, fish; "
            "see voile completion --help",
        ),
        (["verify"], "voile verify: missing argument 'RELEASE|FOLDER'; see voile verify --help"),
        (
            ["report", "kit"],
            "voile report: missing option '--out'; see voile report --help",
        ),
    ],
)
def test_a_wrong_request_is_one_sentence(voile: Any, words: list[str], said: str) -> None:
    ran = voile(*words)
    assert (ran.code, ran.out, ran.err) == (2, "", f"{said}\n")


def test_voile_alone_shows_its_help_and_is_no_success(voile: Any) -> None:
    ran = voile()
    assert ran.code == 2
    assert "Commands:" in ran.err


def test_version(voile: Any) -> None:
    import voile as package

    assert voile("--version").out == f"voile {package.__version__}\n"


@pytest.mark.parametrize("module", ["voile", "voile.cli"])
def test_it_runs_as_a_module(module: str) -> None:
    import voile as package

    words = [sys.executable, "-m", module]
    ran = subprocess.run([*words, "--version"], capture_output=True, text=True, check=True)
    assert ran.stdout == f"voile {package.__version__}\n"
    wrong = subprocess.run([*words, "reprot"], capture_output=True, text=True, check=False)
    assert (wrong.returncode, "did you mean report?" in wrong.stderr) == (2, True)


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (RequestError("no", where="here", instead="try"), 2, "voile: here: no; try"),
        (TamperedError("bytes differ"), 1, "voile: bytes differ"),
        (click.Abort(), 130, "voile: interrupted; no output is half-written"),
        (ValueError("CANARY"), 1, "voile: unexpected ValueError; run with --debug to see where"),
        (OSError(errno.ENOSPC, "CANARY"), 1, "voile: the disk is full; no output is half-written"),
        (OSError(errno.EACCES, "CANARY", "kit"), 1, "voile: kit: permission denied"),
        (OSError("CANARY"), 1, "voile: unexpected OSError; run with --debug to see where"),
        (MemoryError(), 1, "voile: out of memory; no output is half-written"),
    ],
)
def test_an_error_never_shows_a_value(
    error: Exception, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _explain(error) == code
    assert capsys.readouterr() == ("", f"{said}\n")


def test_an_option_that_was_renamed_is_named(voile: Any, files: Any) -> None:
    ran = voile("tables", "fit", files.patients, "--strategy", "best")
    assert (ran.code, "--strategy; it is now --method" in ran.err) == (2, True)


def test_a_new_name_is_named_where_the_command_has_it(voile: Any, files: Any) -> None:
    start = ["fit", files.patients, "--resume", "kit"]
    assert "it is now --start-from" in voile("tables", *start).err
    assert "--start-from" not in voile("itemsets", *start).err


def test_a_traceback_only_for_debug(voile: Any, tmp_path: Path) -> None:
    asked = ["verify", tmp_path / "none.csv"]
    assert "Traceback" not in voile(*asked).err
    assert "Traceback" in voile(*asked, "--debug").err


def test_a_closed_pipe_is_silent(files: Any) -> None:
    command = [sys.executable, "-c", "from voile.cli import main; main()"]
    reader, writer = os.pipe()
    os.close(reader)
    frontier = [*command, "tables", "frontier", str(files.kit)]
    done = subprocess.run(frontier, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert done.stderr == b""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(voile: Any, shell: str) -> None:
    assert "_VOILE_COMPLETE" in voile("completion", shell).out


def test_completion_knows_a_wings_options() -> None:
    words = {"COMP_WORDS": "voile tables fit --pop", "COMP_CWORD": "3"}
    done = subprocess.run(
        [sys.executable, "-c", "from voile.cli import main; main()"],
        env={**os.environ, **words, "_VOILE_COMPLETE": "bash_complete"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["plain,--population", "plain,--population-gap"]


TWELVE = """
import os
from voile.cli import main
import voile.release.kit_files, voile.tables.verbs.choose, voile.tables.verbs.options
for _ in range(12):
    child = os.fork()
    if not child:
        break
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
else:
    raise SystemExit
main()
"""
"""Twelve commands in processes that have imported what is slow to import."""


@pytest.mark.slow
def test_a_command_that_ends_soon_after_it_read_a_kit_ends_with_its_own_code(tmp_path):
    """Reading a kit must start no thread that is still at work when the process ends."""
    import pyarrow as pa

    from voile.release.kit import StoredKit

    table = pa.table({"risk": [i / 9 for i in range(10)], "loss": [1 - i / 9 for i in range(10)]})
    tables = dict.fromkeys(("frontier", "domains", "counts"), table)
    StoredKit("tables", "private", {"policies": 10}, tables).save(tmp_path / "kit")
    words = [sys.executable, "-c", TWELVE, "tables", "choose", tmp_path / "kit"]
    words += ["--policy", "99", "--out", tmp_path / "policy.toml"]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    assert done.stdout.split() == [b"2"] * 12  # the kit lacks a part: said at once


@pytest.mark.parametrize(
    "words",
    [
        ["--json", "verify", "nothing.csv"],
        ["verify", "--json", "nothing.csv"],
        ["verify", "nothing.csv", "--json", "--quiet"],
    ],
)
def test_general_options_stand_anywhere(voile: Any, words: list[str]) -> None:
    ran = voile(*words)
    assert ran.code == 2
    assert "nothing.csv" in ran.json["error"]["what"] + ran.json["error"]["where"]


def test_a_general_option_is_proposed(voile: Any) -> None:
    ran = voile("verify", "r.csv", "--jsno")
    assert ran.err == "voile verify: no such option: --jsno; did you mean --json?\n"


def test_a_word_after_two_dashes_is_no_general_option(voile: Any) -> None:
    ran = voile("verify", "--", "--json")
    assert ran.code == 2
    assert ran.out == ""


def test_each_command_refers_to_the_general_options(voile: Any) -> None:
    ran = voile("tables", "choose", "--help")
    assert ran.out.rstrip().endswith(
        "General options: --json, --quiet, --debug (see voile --help)."
    )
    assert ran.out.count("--json") == 1
