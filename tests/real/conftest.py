"""Real public data, where there is any: VOILE_DATA, else ../shared/data beside the checkout."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("VOILE_DATA") or ROOT.parent / "shared" / "data")


@pytest.fixture(scope="session")
def data_set():
    """Return a data set's folder by its name; the test is skipped, by that name, without it."""

    def folder(name: str) -> Path:
        if not (DATA / name).is_dir():
            pytest.skip(f"there is no data set {name}")
        return DATA / name

    return folder
