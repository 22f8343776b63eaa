"""What every test stands on."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

HERE = Path(__file__).parent
WHOLE = tuple(
    HERE / name
    for name in (
        "cli",
        "contracts",
        "data/postgres",
        "demo",
        "docs",
        "hostile",
        "real",
        "signals/channel",
    )
)
"""Where tests run whole commands, servers or wings, rather than a part."""

# A runner in the background starts its children with Ctrl-C ignored; tests that press it hang.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The same cases in every run, so that a failure is of the change that is tested; to look for new
# ones, HYPOTHESIS_PROFILE=explore.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `make test` leaves to `.ci/run`."""
    for item in items:
        if any(item.path.is_relative_to(folder) for folder in WHOLE):
            item.add_marker("whole")
