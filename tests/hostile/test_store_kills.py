"""Kill commands at requests to an object store: a published release is complete or absent.

One apply counts the requests that it makes. Others are killed at six of these requests: half before
the server processes the request, and half after it did but before it answers.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.data.stores.server import Server, served
from tests.hostile.test_kills import Flow
from tests.hostile.tracing import Tracer

from voile.opening import open_release

pytestmark = pytest.mark.slow
KILLS = 6
TO = "s3://clinic/2024/visits.csv"
KEYS = ["2024/visits.csv", "2024/visits.csv.manifest.json"]


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.chdir(tmp_path)
    with served() as server, server.bucket(monkeypatch):
        yield server


class Killing:
    """A server that kills a process at a request, before or after it acts on it."""

    def __init__(self, server: Server, tracer: Tracer) -> None:
        self._server, self._tracer = server, tracer

    def run(self, words: list[object], at: int | None = None, *, after: bool = False) -> int:
        """Run a command; return its exit code."""
        self._server.asked.clear()

        def kill(method: str, path: str) -> None:
            if len(self._server.asked) == at:
                os.kill(child, signal.SIGKILL)

        def answer(method: str, path: str) -> tuple[str, bytes] | None:
            if after:
                return None
            kill(method, path)
            return ("500 Gone", b"") if len(self._server.asked) == at else None

        self._server.answer = answer
        self._server.after = kill if after else lambda method, path: None
        child = self._tracer.start(words)
        try:
            return self._tracer.ended()
        finally:
            self._server.answer = lambda method, path: None
            self._server.after = lambda method, path: None


def is_whole() -> bool:
    """Whether what is published there verifies."""
    return all(check.holds is not False for check in open_release(TO).verify())


@pytest.mark.parametrize("force", [False, True])
def test_a_killed_apply_publishes_a_whole_release_or_none(
    server: Server, tmp_path: Path, force: bool
) -> None:
    tracer = Tracer(tmp_path, working=tmp_path)
    try:
        killing, flow = Killing(server, tracer), Flow("tables", tmp_path)
        for verb in ("fit", "choose"):
            assert tracer.run(flow.words(verb)) == 0
        apply = [*flow.commands["apply"], "--out", TO, "--quiet"]
        over = [*apply, "--force"]
        assert killing.run(apply) == 0
        assert killing.run(over if force else apply) == (0 if force else 2)
        if not force:
            remove(server)
            assert killing.run(apply) == 0
        requests = len(server.asked)
        for turn in range(KILLS):
            if not force:
                remove(server)
            last = requests - turn * requests // KILLS  # the last, at which the manifest is sent
            ended = killing.run(over if force else apply, last, after=bool(turn % 2))
            assert ended == -signal.SIGKILL
            published = server.objects()
            assert KEYS[1] not in published or (published == KEYS and is_whole())
            assert server.uploads() == []
            assert killing.run(over if force or KEYS[1] in published else apply) == 0
            assert server.objects() == KEYS
            assert is_whole()
            assert not [one.name for one in tmp_path.iterdir() if one.name.startswith(".visits")]
    finally:
        tracer.close()


def remove(server: Server) -> None:
    """Remove what was released, there and here, as the data holder would."""
    for name in server.objects():
        server.client.delete_object(Bucket="clinic", Key=name)
    private = Path("visits.csv.private")
    for one in private.iterdir() if private.is_dir() else ():
        one.unlink()
    if private.is_dir():
        private.rmdir()
