from __future__ import annotations

from pathlib import Path

import pytest

from voile.ledger.ledger import create
from voile.ledger.promise import LedgerPromise


@pytest.fixture
def how(tmp_path: Path) -> dict[str, object]:
    key = tmp_path / "key"
    key.write_text("a key known to the tests alone")
    key.chmod(0o600)
    create(tmp_path / "l", LedgerPromise(expected_matches=1000), key)
    return {"ledger": tmp_path / "l", "key_file": key, "releases": tmp_path}
