"""What the tests of releases share."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def secret(tmp_path_factory):
    path = tmp_path_factory.mktemp("secret") / "key"
    path.write_bytes(bytes(range(48)))
    path.chmod(0o600)
    return str(path)
