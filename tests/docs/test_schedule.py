"""The script that the page gives to schedulers releases one day after another."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from voile.cli.run import run

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "schedule.md").read_text("utf-8")
PEOPLE, COMING = 300, 40


def test_the_script_releases_day_after_day(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    everybody = pa.table(
        {
            "person": [f"CANARY{i}" for i in range(PEOPLE + COMING)],
            "age": rng.integers(2, 6, PEOPLE + COMING) * 10,
            "sex": rng.choice(["F", "M"], PEOPLE + COMING),
        }
    )
    for people, day in ((PEOPLE, "2026-11-24"), (PEOPLE + COMING, "2026-11-25")):
        place = tmp_path / "patients" / f"day={day}"
        place.mkdir(parents=True)
        pq.write_table(everybody.slice(0, people), place / "0.parquet")
    (tmp_path / "roles.toml").write_text(
        'subject = "person"\n[columns]\nperson = "identifier"\nage = "quasi"\nsex = "quasi"\n'
    )
    for name in ("released", "bin"):
        (tmp_path / name).mkdir()
    (tmp_path / "key").touch(mode=0o600)
    (tmp_path / "key").write_text("a secret that is long enough for anybody")
    command = tmp_path / "bin" / "voile"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m voile "$@"\n')
    command.chmod(0o755)
    once = re.findall(r"^    (voile .+)$", PAGE, re.MULTILINE)
    assert [line.split()[1] for line in once] == ["ledger", "tables", "tables"]
    (script,) = re.findall(r"```sh\n(.+?)```", PAGE, re.DOTALL)

    def sh(script: str, *words: str) -> subprocess.CompletedProcess[str]:
        path = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
        return subprocess.run(
            ["sh", "-c", script, "daily", *words],
            cwd=tmp_path,
            env={**os.environ, **path},
            capture_output=True,
            text=True,
            check=False,
        )

    for line in once:
        begun = sh(line)
        assert begun.returncode == 0, begun.stderr
    for day in ("2026-11-24", "2026-11-25", "2026-11-25"):
        done = sh(script, day)
        assert done.returncode == 0, done.stderr
        assert "CANARY" not in done.stderr
    for day in ("2026-11-24", "2026-11-25"):
        out = tmp_path / "released" / f"{day}.parquet"
        assert 0 < pq.read_metadata(out).num_rows <= PEOPLE + COMING
        assert run(["verify", str(out), "--quiet"]) == 0
    lines = (tmp_path / "patients.ledger").read_text().splitlines()
    assert sum('"done"' in line for line in lines) == 2
    assert sh(script, "2026-11-26").returncode == 2
