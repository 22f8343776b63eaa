"""Test two tables that once had suppressed people in the public files of the command line."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from tests.hostile.public_bytes import leaks

from voile.cli.run import run
from voile.data import open_source

ROLES = """subject = "pid"
[columns]
pid = "identifier"
age = "quasi"
city = "quasi"
job = "quasi"
dx = "sensitive"
"""


def people() -> list[str]:
    """Return 3,000 people of 20 to 59, whom nobody could tell by their town or work."""
    rng = random.Random(1)
    return [
        f"{i},{rng.randint(20, 59)},{rng.choice(['Ada', 'Bo', 'Cy', 'Dee'])},"
        f"{rng.choice(['clerk', 'cook', 'nurse'])},{rng.choice('ab')}"
        for i in range(3_000)
    ]


def released(folder: Path, capfd: Any, rows: list[str], k: int, choice: list[str]) -> Path:
    """Fit, choose, apply and report, and return the folder of what may be given away."""
    lines = "\n".join(["pid,age,city,job,dx", *rows, ""])
    (folder / "tx.csv").write_text(lines, encoding="utf-8")
    (folder / "roles.toml").write_text(ROLES, encoding="utf-8")
    out = folder / "out"
    out.mkdir()

    def voile(*words: object) -> None:
        assert run([str(word) for word in words]) == 0

    fit = ["--k", k, "--suppress", 0.02, "--method", "steepest", "--seed", 1]
    source, kit, policy = folder / "tx.csv", folder / "kit", folder / "policy.toml"
    voile("tables", "fit", source, "--roles", folder / "roles.toml", *fit, "--out", kit)
    voile("tables", "choose", kit, *choice, "--out", policy)
    capfd.readouterr()
    for suffix in (".csv", ".parquet", ".arrow", ".duckdb"):
        release = out / f"r{suffix}"
        options = ["--policy", policy, "--no-pseudonyms", "--out", release]
        voile("tables", "apply", kit, source, *options)
        voile("report", release, "--out", out / f"r{suffix}.html")
    voile("report", kit, "--out", out / "kit.html")
    said = "".join(capfd.readouterr()).replace(str(folder), "")
    (out / "said.txt").write_text(said, encoding="utf-8")
    voile("tables", "frontier", kit)
    assert "CANARY" not in "".join(capfd.readouterr())  # its figures may be any number
    return out


@pytest.mark.parametrize("choice", [["--max-loss", 0.6], ["--knee"]])
def test_a_suppressed_mayor_is_in_no_public_file(
    tmp_path: Path, capfd: Any, choice: list[str]
) -> None:
    two = ['9001,108,CANARYTOWN,"Mayor of CANARYTOWN",a', "9002,33,Ada,CANARY_ASTRONAUT,b"]
    out = released(tmp_path, capfd, [*people(), *two], 11, choice)
    assert not list(leaks(out, ["CANARY", 108]))
    towns = {row["city"] for b in open_source(out / "r.csv").batches() for row in b.to_pylist()}
    assert not any("CANARY" in town for town in towns)


def test_single_ages_of_suppressed_people_are_in_no_public_file(tmp_path: Path, capfd: Any) -> None:
    old = [f"{9000 + i},{97 + i},Ada,clerk,a" for i in range(3)]
    out = released(tmp_path, capfd, [*people(), *old], 20, ["--max-loss", 0.6])
    labels = {row["age"] for b in open_source(out / "r.csv").batches() for row in b.to_pylist()}
    ages = [f"-{age}" for age in (97, 98, 99)] + [f'"{age}"' for age in (97, 98, 99)]
    assert not [label for label in labels if any(age[1:] in label for age in ages)]
    assert not list(leaks(out, ages))
