"""Stores that speak no S3, on loopback: an emulator of Google's, and Azurite."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlencode

import pyarrow.fs
import pytest
from tests.data.stores.google import ASKED, DENIED

from voile.data.stores.systems import file_system

AZURITE = Path(sys.prefix) / "azurite/node_modules/.bin/azurite-blob"
SECRET = "canary of the account's own key"
ACCOUNT, KEY = "county", base64.b64encode(SECRET.encode()).decode()
WAIT = 30  # seconds for a server to answer


@dataclass
class Store:
    """A store with an empty bucket, or container, named `clinic`.

    environment : what finds it. files : Arrow's own view of it, past voile's.
    deny : makes it refuse what would write there ("write"), or everything ("all").
    log : a file of what it was asked, a line each.
    """

    scheme: str
    environment: Mapping[str, str]
    files: pyarrow.fs.FileSystem
    deny: Callable[[str], object]
    log: Path

    @property
    def address(self) -> str:
        return f"{self.scheme}://clinic"

    def put(self, key: str, body: bytes) -> str:
        with self.files.open_output_stream(f"clinic/{key}", compression=None) as file:
            file.write(body)
        return f"{self.address}/{key}"

    def read(self, key: str) -> bytes:
        with self.files.open_input_stream(f"clinic/{key}", compression=None) as file:
            body: bytes = file.read()
        return body

    def objects(self) -> list[str]:
        selector = pyarrow.fs.FileSelector("clinic", recursive=True)
        found = self.files.get_file_info(selector)
        return sorted(one.path.partition("/")[2] for one in found if one.is_file)

    def empty(self) -> None:
        """Remove all of it: of Azure as a whole, since Arrow takes seconds for some files."""
        if self.scheme == "abfs":
            self.files.delete_dir("clinic")
            self.files.create_dir("clinic")
        for key in self.objects():
            self.files.delete_file(f"clinic/{key}")

    @contextmanager
    def found(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        """Set the environment that finds it; empty the bucket afterwards."""
        for name, value in self.environment.items():
            monkeypatch.setenv(name, value)
        file_system.cache_clear()
        try:
            yield
        finally:
            monkeypatch.undo()
            self.deny("")
            self.empty()
            file_system.cache_clear()


@contextmanager
def google() -> Iterator[Store]:
    """Serve Google's protocol by the emulator in `google`."""
    with (
        TemporaryDirectory() as place,
        subprocess.Popen(
            [sys.executable, Path(__file__).with_name("google.py"), place],
            stdout=subprocess.PIPE,
            text=True,
        ) as server,
    ):
        denied = Path(place) / DENIED
        denied.touch()
        assert server.stdout is not None
        host = f"127.0.0.1:{server.stdout.readline().strip()}"
        files = pyarrow.fs.GcsFileSystem(anonymous=True, scheme="http", endpoint_override=host)
        variables = {"STORAGE_EMULATOR_HOST": host}
        try:
            yield Store("gs", variables, files, denied.write_text, Path(place) / ASKED)
        finally:
            server.terminate()


@contextmanager
def azure() -> Iterator[Store]:
    """Serve Azure's protocol by Azurite, which checks keys and rights itself."""
    if not AZURITE.exists():
        if "azurite" in os.environ.get("VOILE_REQUIRE", ""):
            pytest.fail(f"{AZURITE} is not there: make azurite")
        pytest.skip("no Azurite: make azurite")
    words = ["--blobHost", "127.0.0.1", "--blobPort", "0", "--inMemoryPersistence"]
    with (
        TemporaryDirectory() as place,
        (log := Path(place) / ASKED).open("w") as said,
        subprocess.Popen(
            [AZURITE, *words, "--skipApiVersionCheck", "--disableTelemetry"],
            env={**os.environ, "AZURITE_ACCOUNTS": f"{ACCOUNT}:{KEY}"},
            cwd=place,
            stdout=said,
        ) as server,
    ):
        try:
            yield _azurite(_address(log), log)
        finally:
            server.terminate()


def _address(log: Path) -> str:
    """Wait for Azurite to say where it listens."""
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        if found := re.search("successfully listens on http://(.*)", log.read_text()):
            return found[1]
        time.sleep(0.05)
    pytest.fail("Azurite did not start")


def _azurite(host: str, log: Path) -> Store:
    where = {
        f"{kind}_storage_{what}": value
        for kind in ("blob", "dfs")
        for what, value in (("authority", host), ("scheme", "http"))
    }
    files: Any = pyarrow.fs.AzureFileSystem(ACCOUNT, account_key=KEY, **where)
    files.create_dir("clinic")
    environment = {
        "AZURE_STORAGE_ACCOUNT": ACCOUNT,
        "AZURE_STORAGE_ENDPOINT": f"http://{host}/{ACCOUNT}",
        "AZURE_STORAGE_KEY": KEY,
    }

    def deny(what: str) -> None:
        rights = {"write": "rl", "all": "t"}.get(what)
        for name in ("AZURE_STORAGE_KEY", "AZURE_STORAGE_SAS_TOKEN"):
            os.environ.pop(name, None)
        if rights is not None:
            os.environ["AZURE_STORAGE_SAS_TOKEN"] = signed(rights)
        file_system.cache_clear()

    return Store("abfs", environment, files, deny, log)


def signed(rights: str) -> str:
    """Sign a token that gives some rights to all of the account's blobs, and no others."""
    said = {"sp": rights, "ss": "b", "srt": "sco", "se": "2099-01-01", "spr": "https,http"}
    version = "2021-06-08"
    order = [ACCOUNT, rights, "b", "sco", "", said["se"], "", said["spr"], version, "", ""]
    digest = hmac.digest(base64.b64decode(KEY), "\n".join(order).encode(), hashlib.sha256)
    return urlencode({**said, "sv": version, "sig": base64.b64encode(digest).decode()})
