"""A command that serves the page, and a client of its server."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def started(verb: str, *given: str | Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start a verb that serves the page, and give its process and the first address it prints."""
    command = [sys.executable, "-m", "voile", "documents", verb, *map(str, given)]
    process = subprocess.Popen(
        [*command, "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    found = None
    while not found:
        said = process.stderr.readline()
        assert said, process.wait()
        found = re.search(r"http://127\.0\.0\.1:\d+/#\S+", said)
    try:
        yield process, found[0]
    finally:
        process.kill()
        process.communicate()


class Client:
    """A browser, as far as the server can see."""

    def __init__(self, address: str) -> None:
        origin, token = address.split("/#")
        self.host = origin.removeprefix("http://")
        self.headers = {"Origin": origin}
        self.headers["Cookie"] = self.ask("POST", "/session", token)[1]["set-cookie"].split(";")[0]

    def ask(self, method: str, path: str, body: str = "") -> tuple[str, dict[str, str]]:
        connection = http.client.HTTPConnection(self.host, timeout=30)
        connection.request(method, path, body, self.headers)
        answer = connection.getresponse()
        return answer.read().decode(), {k.lower(): v for k, v in answer.getheaders()}

    @property
    def waits(self) -> bool:
        """Say whether there is a line, now or once what was answered is learnt."""
        return self.screen()["state"] == "line"

    def screen(self) -> dict[str, Any]:
        while (screen := json.loads(self.ask("GET", "/screen")[0]))["state"] == "learning":
            time.sleep(0.05)
        return dict(screen)

    def stroke(self, act: str, words: Sequence[int] = (0, 0), label: str = "") -> int:
        line = self.screen()["line"]
        stroke = {"act": act, "line": line["number"], "key": line["key"], "words": list(words)}
        said, _ = self.ask("POST", "/stroke", json.dumps({**stroke, "label": label}))
        assert "error" not in json.loads(said), said
        return int(line["number"])

    def confirm(self) -> int:
        return self.stroke("confirm")
