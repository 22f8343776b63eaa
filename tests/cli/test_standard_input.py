"""Standard input and pipes are sources; addresses of the web are refused as they were written."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from voile.io import open_writer

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
        "import os, sys, stat; from voile.io import open_source; p = open_source('-').path;"
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


def test_an_empty_standard_input_is_said_to_be_empty(tmp_path: Path) -> None:
    ran = given(b"", "inspect", "-", folder=tmp_path)
    assert (ran.returncode, ran.stderr) == (2, b"voile: standard input: is empty\n")


@pytest.mark.parametrize("more", [(), ("--kind", "documents")])
@pytest.mark.parametrize(
    "address", ["https://example.org/a/b.csv?key=1", "s3://bucket/x.parquet", "ftp://h/a.json"]
)
def test_an_address_of_the_web_is_refused_whole(voile: Any, address: str, more: Any) -> None:
    ran = voile("inspect", address, *more)
    assert ran.code == 2
    scheme = address.partition(":")[0]
    said = f"{scheme} addresses are not read; download the file first"
    assert ran.err == f"voile: {address}: {said}\n"
