"""What the tests of releases share."""

from __future__ import annotations

import pytest
from tests.documents.attacked import OTHERS, attacked
from tests.documents.flow import applied
from tests.documents.reader import tiny

from voile.documents.reader.install import install_reader
from voile.documents.reader.installed import find_reader, open_reader
from voile.documents.reader.sources import read_source


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


@pytest.fixture(scope="session")
def encoder_folder(tmp_path_factory):
    return tiny.write_folder(tmp_path_factory.mktemp("encoder") / "tiny")


@pytest.fixture(scope="session")
def reader_place(tmp_path_factory, encoder_folder):
    """The folder of an installed reader; `reader` is the way to it."""
    place = tmp_path_factory.mktemp("data") / "reader"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VOILE_READER", str(place))
        install_reader(read_source(encoder_folder, allow_unlisted=True))
    return place


@pytest.fixture
def reader(reader_place, monkeypatch):
    """What is installed, and found."""
    monkeypatch.setenv("VOILE_READER", str(reader_place))
    return find_reader()


@pytest.fixture
def encoder(reader):
    return open_reader(reader.sha256, reader.layer)
