"""A server of S3's protocol on loopback, in this process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.data.stores.server import Server, served


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with served() as server:
        yield server


@pytest.fixture
def bucket(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """The server with an empty bucket of versions, and an environment that finds it."""
    with server.bucket(monkeypatch):
        yield server
