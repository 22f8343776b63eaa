"""The release that is verified, and the secret that it was sealed under."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.verify.home import (
    KEY,
    Home,
    write_home,
)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return write_home(tmp_path)


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOILE_SECRET", KEY)
