"""A ledger with a secret beside which its last head is kept."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest

from voile.ledger.ledger import Clock, create
from voile.ledger.promise import LedgerPromise

START = datetime(2026, 1, 1, tzinfo=UTC)
FIGURES = {"matches": 84.0, "relative": 0.068}
INTENT = {
    "kind": "tables",
    "release": "a" * 64,
    "manifest": "b" * 64,
    "disclosed": {},
    "folder": "c",
    "alone": FIGURES,
    "joint": FIGURES,
}


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "keys" / "key"
    path.parent.mkdir()
    path.write_text("a key known to the tests alone")
    path.chmod(0o600)
    return path


@pytest.fixture
def clock() -> Clock:
    ticks = count()
    return lambda: START + timedelta(seconds=next(ticks))


@pytest.fixture
def place(tmp_path: Path, key_file: Path, clock: Clock) -> Path:
    path = tmp_path / "county.ledger"
    create(path, LedgerPromise(joint_risk=0.1, k=5), key_file, clock=clock)
    return path
