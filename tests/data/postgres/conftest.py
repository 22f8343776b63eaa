"""A real PostgreSQL of our own on a socket in a folder of its own, and psql to look into it."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.cli.conftest import voile  # noqa: F401, a fixture

OWNERS = ("postgres", "nobody")  # initdb refuses root
SETTINGS = {
    "fsync": "off",
    "listen_addresses": "",
    "shared_buffers": "16MB",
    "shared_preload_libraries": "pg_stat_statements",
}
DOORS = "local all guarded scram-sha-256\nlocal all locked reject\nlocal all all trust\n"


def missing(reason: str) -> None:
    """Skip, or fail where a server is required."""
    if "postgres" in os.environ.get("VOILE_REQUIRE", ""):
        pytest.fail(f"a PostgreSQL test cannot run: {reason}")
    pytest.skip(reason)


@dataclass(frozen=True)
class Server:
    """A running server, and one database in it."""

    programs: Path
    folder: Path
    database: str = "steward"

    def address(self, table: str = "", *, user: str = "steward", database: str = "") -> str:
        """Where a table is, as a user writes it."""
        end = f"::{table}" if table else ""
        where = f"host={self.folder}&user={user}&application_name=voile"
        return f"postgresql:///{database or self.database}?{where}{end}"

    def sql(self, text: str, *, database: str = "") -> str:
        """Run SQL with psql, and return what it prints: values separated by bars."""
        words = ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-h", self.folder, "-U", "steward"]
        done = subprocess.run(
            [self.programs / words[0], *words[1:], "-d", database or self.database],
            input=text,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert not done.returncode, done.stderr
        return done.stdout.strip()

    def sessions(self) -> int:
        """Count the sessions of voile's that are open."""
        found = self.sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'voile'")
        return int(found)


def find_programs() -> Path:
    """Find initdb and postgres, which Debian keeps off the PATH."""
    places = [*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]
    on_path = shutil.which("initdb")
    places += [Path(on_path).resolve().parent] if on_path else []
    for place in places:
        if all((place / name).exists() for name in ("initdb", "postgres", "psql")):
            return place
    missing("there is no initdb")
    raise AssertionError


def owner() -> dict[str, int | list[int]]:
    """Whom the server runs as: us, unless we are root."""
    if os.geteuid():
        return {}
    known = [user for user in pwd.getpwall() if user.pw_name in OWNERS]
    if not known:
        missing(f"root has none of {OWNERS} to run a server as")
    return {"user": known[0].pw_uid, "group": known[0].pw_gid, "extra_groups": []}


@pytest.fixture(scope="session")
def running() -> Iterator[Server]:
    """Start a server, and stop it at the end."""
    programs, who = find_programs(), owner()
    folder = Path(tempfile.mkdtemp(prefix="voile-postgres-"))
    if who:
        os.chown(folder, who["user"], who["group"])  # type: ignore[arg-type]
    data = folder / "data"
    made = ["-D", data, "-U", "steward", "--no-sync", "-E", "UTF8", "--locale=C", "-A", "trust"]
    subprocess.run([programs / "initdb", *made], check=True, capture_output=True, cwd=folder, **who)  # type: ignore[call-overload]
    (data / "pg_hba.conf").write_text(DOORS)
    told = [word for name, value in SETTINGS.items() for word in ("-c", f"{name}={value}")]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [programs / "postgres", "-D", data, "-k", folder, *told],
            stdout=log, stderr=log, cwd=folder, **who,
        )  # type: ignore[call-overload]  # fmt: skip
    try:
        await_ready(programs, folder)
        yield Server(programs, folder)
    finally:
        server.send_signal(signal.SIGQUIT)  # at once: nothing in it is kept
        server.wait(timeout=30)
        shutil.rmtree(folder, ignore_errors=True)


def await_ready(programs: Path, folder: Path) -> None:
    ready = [programs / "pg_isready", "-q", "-h", folder]
    for _ in range(300):
        if subprocess.run(ready, check=False).returncode == 0:
            return
        time.sleep(0.05)
    raise RuntimeError(f"PostgreSQL did not start: {(folder / 'log').read_text()[-500:]}")


@pytest.fixture(scope="module")
def server(running: Server) -> Iterator[Server]:
    """Give an empty database, and a user whose own settings are not read."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("PG")]:
            patch.delenv(name)
        patch.setenv("PGPASSFILE", str(running.folder / "no passwords"))
        for part in ("DROP DATABASE IF EXISTS steward WITH (FORCE)", "CREATE DATABASE steward"):
            running.sql(part, database="postgres")
        yield running
