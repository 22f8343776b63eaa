"""A real mosquitto of our own on a free port, and an empty line between the two ends."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

KEEP = "persistence true\nautosave_interval 1\nautosave_on_changes true\n"
OPEN = "allow_anonymous true\n"


def missing(reason: str) -> None:
    """Skip, or fail where a broker is required."""
    if "mosquitto" in os.environ.get("VOILE_REQUIRE", ""):
        pytest.fail(f"a broker's test cannot run: {reason}")
    pytest.skip(reason)


def program() -> str:
    """Find mosquitto, which Debian keeps where only root looks."""
    found = shutil.which("mosquitto", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
    if not found:
        missing("there is no mosquitto")
    return str(found)


@dataclass
class Mosquitto:
    """A broker that may be killed and started again at its port."""

    folder: Path
    settings: str
    port: int = 0
    running: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        kept = f"persistence_location {self.folder}/\n{KEEP}"
        own = f"listener {self.port} 127.0.0.1\nuser root\nlog_dest none\n"
        (self.folder / "mosquitto.conf").write_text(own + kept + self.settings)

    def start(self) -> None:
        words = [program(), "-c", str(self.folder / "mosquitto.conf")]
        self.running = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(200):
            with socket.socket() as line:
                if line.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.02)
        raise RuntimeError("mosquitto did not start")

    def kill(self) -> None:
        assert self.running is not None
        self.running.kill()
        self.running.wait()
        self.running = None

    @property
    def url(self) -> str:
        return f"mqtt://127.0.0.1:{self.port}"


@pytest.fixture
def make_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Mosquitto]]:
    """Make brokers; those that run at the end are stopped."""
    made = []

    def make(settings: str = OPEN, *, folder: Path | None = None) -> Mosquitto:
        made.append(Mosquitto(folder or tmp_path_factory.mktemp("broker"), settings))
        return made[-1]

    yield make
    for broker in made:
        if broker.running:
            broker.kill()


@pytest.fixture
def broker(make_broker: Callable[..., Mosquitto]) -> Mosquitto:
    """A broker that runs."""
    one = make_broker()
    one.start()
    return one
