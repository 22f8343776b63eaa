"""The tests of this folder need gcc and node."""

from __future__ import annotations

import os
import shutil

import pytest


@pytest.fixture(scope="session", autouse=True)
def compilers():
    missing = [name for name in ("gcc", "node") if shutil.which(name) is None]
    if missing and "compilers" in os.environ.get("VOILE_REQUIRE", ""):
        pytest.fail(f"there is no {' and no '.join(missing)}")
    if missing:
        pytest.skip(f"needs {' and '.join(missing)}")
