"""What the tests of releases share."""

from __future__ import annotations

import pytest
from tests.documents.attacked import OTHERS, attacked
from tests.documents.flow import applied


@pytest.fixture(scope="session")
def secret(tmp_path_factory):
    path = tmp_path_factory.mktemp("secret") / "key"
    path.write_bytes(bytes(range(48)))
    path.chmod(0o600)
    return str(path)


@pytest.fixture(scope="session")
def release(tmp_path_factory):
    """The longest committee at the higher cost, which is a local optimum."""
    out = tmp_path_factory.mktemp("r") / "r.jsonl"
    return applied(OTHERS, out, patterns=["all"], record=["MRN-######"])


@pytest.fixture(scope="session")
def evidence(release):
    return attacked(release)
