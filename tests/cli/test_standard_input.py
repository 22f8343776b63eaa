"""Standard input and pipes are sources; addresses of the web are refused as they were written."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from voile.data import open_writer

VOILE = [sys.executable, "-c", "from voile.cli import main; main()"]
PEOPLE = pa.table({"zip": ["00501", "00502"], "age": [1, 2]})


def given(text: bytes, *words: str, folder: Path) -> subprocess.CompletedProcess[bytes]:
    """Run voile with this on standard input, its temporary files in a folder."""
    return subprocess.run(
        [*VOILE, *words], input=text, capture_output=True, env={**os.environ, "TMPDIR": str(folder)}
    )


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
@pytest.mark.parametrize("end", [".csv", ".jsonl", ".parquet", ".arrow", ".duckdb", ".csv.gz"])
def test_standard_input_is_a_source_of_any_format(tmp_path: Path, name: str, end: str) -> None:
    path = tmp_path / f"people{end.removesuffix('.gz')}"
    with open_writer(path, PEOPLE.schema) as writer:
        writer.write(PEOPLE.to_batches()[0])
    raw = path.read_bytes()
    pipes = tmp_path / "pipes"
    pipes.mkdir()
    ran = given(gzip.compress(raw) if end.endswith("gz") else raw, "inspect", name, folder=pipes)
    assert ran.returncode == 0, ran.stderr
    assert b'age = "quasi"' in ran.stdout
    assert list(pipes.iterdir()) == []


def test_what_is_kept_of_standard_input_is_open_to_its_owner_alone(tmp_path: Path) -> None:
    look = (
        "import os, sys, stat; from voile.data import open_source; p = open_source('-').path;"
        "print(*(oct(stat.S_IMODE(os.stat(q).st_mode)) for q in (p, p.parent)))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", look],
        input=b"age\n1\n",
        capture_output=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert ran.stdout.split() == [b"0o600", b"0o700"]
    assert list(tmp_path.iterdir()) == []


EMPTY = b"voile: standard input: the input is empty; pipe a file with rows into the command\n"


def test_an_empty_standard_input_is_said_to_be_empty(tmp_path: Path) -> None:
    ran = given(b"", "inspect", "-", folder=tmp_path)
    assert (ran.returncode, ran.stderr) == (2, EMPTY)


def test_what_is_kept_is_removed_when_voile_is_ended(tmp_path: Path) -> None:
    ran = subprocess.Popen(
        [*VOILE, "inspect", "-"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert ran.stdin is not None
    ran.stdin.write(b"age\n" + b"1\n" * (1 << 16))  # more than is read at first
    ran.stdin.flush()
    end = time.monotonic() + 60
    while not list(tmp_path.glob("*/*.csv")) and time.monotonic() < end:
        time.sleep(0.05)
    assert list(tmp_path.glob("*/*.csv"))
    ran.terminate()
    assert ran.communicate()[1] == b""
    assert (ran.returncode, list(tmp_path.iterdir())) == (128 + signal.SIGTERM, [])


def test_a_device_is_no_source(voile: Any) -> None:
    ran = voile("inspect", "/dev/zero")
    assert (ran.code, ran.err) == (
        2,
        "voile: zero: the path is a device, which may never end; name a file\n",
    )


def test_a_list_of_objects_is_no_csv(tmp_path: Path) -> None:
    """Its first line would name the columns, and could be told."""
    ran = given(b'[{"name": "CANARY", "x": "CANARY"}]', "inspect", "-", folder=tmp_path)
    assert ran.returncode == 2
    assert ran.stderr.startswith(b"voile: standard input.json: .json files are not known")
    assert b"CANARY" not in ran.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("tables", "frontier", "https://h/r.csv"),
        ("tables", "fit", "t.csv", "--roles", "https://h/r.csv", "--out", "kit"),
    ],
)
def test_an_address_is_refused_wherever_a_path_is_read(voile: Any, words: Any) -> None:
    said = "https addresses cannot be read here; download the file first"
    ran = voile(*words)
    assert (ran.code, ran.err) == (2, f"voile: https://h/r.csv: {said}\n")


def test_an_address_is_no_output(voile: Any) -> None:
    ran = voile("inspect", "t.csv", "--out", "https://h/roles.toml")
    said = "https addresses cannot be written here; write a file, and upload that"
    assert (ran.code, ran.err) == (2, f"voile: https://h/roles.toml: {said}\n")


def test_the_address_of_a_file_is_its_path(voile: Any) -> None:
    ran = voile("inspect", "file:///data/t.csv")
    said = "file addresses cannot be read here; give the path alone"
    assert (ran.code, ran.err) == (2, f"voile: file:///data/t.csv: {said}\n")


@pytest.mark.parametrize("more", [(), ("--kind", "documents")])
def test_an_address_of_another_scheme_is_refused_without_its_secrets(voile: Any, more: Any) -> None:
    ran = voile("inspect", "ftp://ann:canary@h/a.json?canary", *more)
    said = "ftp addresses cannot be read here; download the file first"
    assert (ran.code, ran.err) == (2, f"voile: ftp://h/a.json: {said}\n")
