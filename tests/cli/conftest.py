"""A small county on disk, and voile run on it as a user would."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from voile.cli.run import run
from voile.demo.county import ROLES, make_county, write_county


@dataclass(frozen=True)
class Ran:
    """What a command left: its exit code and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one object on standard output."""
        (line,) = self.out.splitlines()
        found: dict[str, Any] = json.loads(line)
        return found


Voile = Callable[..., Ran]


@pytest.fixture
def voile(capsys: pytest.CaptureFixture[str]) -> Voile:
    def ran(*words: object) -> Ran:
        capsys.readouterr()
        code = run([str(word) for word in words])
        return Ran(code, *capsys.readouterr())

    return ran


@dataclass(frozen=True)
class Files:
    """A county of 3,000 people, and what the commands made of it."""

    folder: Path

    @property
    def patients(self) -> Path:
        return self.folder / "county" / "patients.csv"

    @property
    def population(self) -> Path:
        return self.folder / "county" / "population.parquet"

    @property
    def register(self) -> Path:
        return self.folder / "county" / "register-adversary.csv"

    @property
    def roles(self) -> Path:
        return self.folder / "roles.toml"

    @property
    def kit(self) -> Path:
        return self.folder / "kit"

    @property
    def policy(self) -> Path:
        return self.folder / "policy.toml"

    def fit(self, out: Path) -> list[object]:
        roles = ["--roles", self.roles, "--population", self.population]
        return ["tables", "fit", self.patients, *roles, "--method", "steepest", "--out", out]

    def apply(self, out: Path) -> list[object]:
        given = ["--policy", self.policy, "--no-pseudonyms"]
        return ["tables", "apply", self.kit, self.patients, *given, "--out", out]


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """Return a county with a kit and a policy; commands that write, write elsewhere."""
    files = Files(tmp_path_factory.mktemp("a county"))
    write_county(make_county(people=3000), files.folder / "county")
    files.roles.write_text(ROLES)
    hold_out = ["--hold-out", "0.1", "--seed", "5", "--quiet"]
    assert run([str(word) for word in (*files.fit(files.kit), *hold_out)]) == 0
    choose = ["tables", "choose", files.kit, "--knee", "--out", files.policy, "--quiet"]
    assert run([str(word) for word in choose]) == 0
    return files
