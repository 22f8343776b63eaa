"""The visits, their kit and a release of it, made once: no test writes to them."""

from __future__ import annotations

import pytest
from tests.tables.verbs.apply.visits import fitted, run, visits


@pytest.fixture(scope="session")
def patients():
    return visits()


@pytest.fixture(scope="session")
def key_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("key") / "key"
    path.write_bytes(b"k" * 32)
    path.chmod(0o600)
    return path


@pytest.fixture(scope="session")
def kit(patients):
    return fitted(patients, hold_out=0.1)


@pytest.fixture(scope="session")
def release(kit, patients, key_file, tmp_path_factory):
    return run(kit, patients, tmp_path_factory.mktemp("out") / "out.csv", key_file=key_file)
