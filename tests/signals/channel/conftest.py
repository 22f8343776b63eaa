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
from tests.signals.channel.ward import COLUMNS, MOODS, ROLES, command, table
from tests.signals.days import days

from voile.cli.run import run

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


def fitted(folder, source, kit):
    """Fit a kit of sessions to a table of the ward."""
    fit = ["--roles", folder / "roles.toml", "--out", kit, "--time", "day", "--quiet"]
    quick = ["--strength", "1", "--base", "normal", "--seed", "1"]
    assert run(["signals", "fit", *map(str, [folder / source, *fit]), *quick]) == 0


@pytest.fixture(scope="session")
def ward(tmp_path_factory):
    """A kit, readings not in the order of time, the classes, and a key."""
    folder = tmp_path_factory.mktemp("ward")
    X, c, whose = days(90, 6, 1)
    rows = [
        (f"p{s}", label, 4 * (t % 6), *x, MOODS[(t + s) % 3])
        for t, (x, label, s) in enumerate(zip(X.tolist(), c, whose.tolist(), strict=True))
    ]
    table(folder / "days.csv", COLUMNS, rows[::-1])
    table(folder / "classes.csv", COLUMNS[:2], sorted({row[:2] for row in rows}))
    (folder / "roles.toml").write_text(ROLES)
    (folder / "key").write_text("k" * 32)
    (folder / "key").chmod(0o600)
    fitted(folder, "days.csv", folder / "kit")
    known = ["--classes", folder / "classes.csv", "--key-file", folder / "key"]
    assert not command("enrol", folder / "kit", *known, "--out", folder / "enrolment", "--quiet")
    return folder, rows


@pytest.fixture(scope="session")
def dated(ward):
    """A kit of the same readings, whose days are dates."""
    folder, rows = ward
    dates = [(*row[:2], f"2024-01-{1 + row[2]:02}", *row[3:]) for row in rows]
    table(folder / "dates.csv", COLUMNS, dates)
    fitted(folder, "dates.csv", folder / "dated")
    return folder / "dated"
