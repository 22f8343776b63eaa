"""A small release with its evidence, contexts for it, and keys that ssh-keygen made."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.contracts.conftest import Case, case  # noqa: F401
from tests.contracts.tables import ordinary, roles

import voile.tables as tables
from voile.face.release import Release
from voile.opening import open_release

DAY = date(2030, 5, 1)
NOON = datetime(2030, 5, 1, 12, tzinfo=UTC)
OFFICER = {"at_most": 1.0, "source": "The privacy officer"}
CONTEXT: dict[str, Any] = {
    "recipient": "An institute of public health",
    "purpose": "Planning of clinics",
    "legal_basis": "Public interest, as counsel states it",
    "expires": date(2031, 4, 30),
    "renewal": ["a new release of these people"],
    "decisions": {"thresholds": "The privacy officer"},
    "attacker": {"assumed": "An employee with a public register", "why": "It is for sale"},
    "controls": {"contract": "No linking", "access": "Two analysts", "audit": "Each month"},
    "thresholds": {
        "re-identification": OFFICER,
        "singling-out": OFFICER,
        "linkability": {"accept": "There is no register of these people"},
        "inference": OFFICER,
        "kept-columns": OFFICER,
        "joint-risk": {"accept": "Nothing else of these people is out"},
    },
}


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """Release 240 people, attack the release, and leave the evidence where report looks for it."""
    folder = tmp_path_factory.mktemp("release")
    kit = tables.fit(ordinary(), roles=roles(), seed=1)
    made = kit.apply(kit.choose(max_loss=0.9), ordinary(), no_pseudonyms=True)
    path = folder / "release.csv"
    population = folder / "population.parquet"
    known = ordinary().group_by(["age", "sex", "zip"]).aggregate([([], "count_all")])
    pq.write_table(known.rename_columns(["age", "sex", "zip", "people"]), population)
    made.save(path, made.attack(ordinary(), population=population, seed=1))
    return open_release(path)


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make keys of a, b and an outsider; `allowed` names the first two."""
    folder = tmp_path_factory.mktemp("keys")
    for name in ("a", "b", "outsider"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", name]
        subprocess.run(words, cwd=folder, check=True)
    lines = [f"{name}@x.org {(folder / f'{name}.pub').read_text()}" for name in ("a", "b")]
    (folder / "allowed").write_text("".join(lines))
    return folder


@pytest.fixture
def context() -> Callable[..., dict[str, Any]]:
    """Return the context with other values; `thresholds` by keyword replaces single ones."""

    def make(thresholds: dict[str, Any] | None = None, **other: Any) -> dict[str, Any]:
        return {
            **CONTEXT,
            "thresholds": {**CONTEXT["thresholds"], **(thresholds or {})},
            **other,
        }

    return make
