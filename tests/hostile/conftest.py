"""One process for all damaged files."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.hostile.children import Child


@pytest.fixture(scope="session")
def child() -> Iterator[Child]:
    one = Child()
    yield one
    one.end()
