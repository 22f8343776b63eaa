"""Provide one process for all damaged files, and the tiny cases of the contract tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.contracts.conftest import case as case
from tests.hostile.children import Child


@pytest.fixture(scope="session")
def child() -> Iterator[Child]:
    one = Child()
    yield one
    one.end()
