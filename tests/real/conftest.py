"""Real public data, where there is any: VOILE_DATA, else ../shared/data beside the checkout."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.real_data import DATA


@pytest.fixture(scope="session")
def data_set():
    """Return a data set's folder by its name; the test is skipped, by that name, without it."""

    def folder(name: str) -> Path:
        if not (DATA / name).is_dir():
            pytest.skip(f"there is no data set {name}")
        return DATA / name

    return folder
