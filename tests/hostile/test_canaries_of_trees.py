"""Test that no public byte of a tree's release contains a value of a person who is not released."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.hostile.canaries import strange
from tests.hostile.test_canaries import SECRET, Flown, fly, hidden, leaks
from tests.hostile.test_canaries import (
    test_no_command_prints_and_no_report_shows_somebody_who_was_not_released as _commands,
)


@pytest.fixture(scope="module")
def flown(case: Any) -> Flown:
    if case.kind != "tables":
        pytest.skip("only tables have trees")
    source = strange(case)
    fit = {"k": 5, "hold_out": 0.2, "family": "tree"}
    return fly(case, replace(source, fit=fit))


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOILE_SECRET", SECRET)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("bounds", [False, True])
def test_no_public_byte_is_of_somebody_who_was_not_released(
    flown: Flown, tmp_path: Path, suffix: str, bounds: bool
) -> None:
    release = flown.apply(tmp_path / f"r{suffix}", bounds=bounds)
    assert not list(leaks(tmp_path, hidden(flown, release)))


test_no_command_prints_and_no_report_shows_somebody_who_was_not_released = _commands
