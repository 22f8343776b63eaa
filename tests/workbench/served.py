"""A workbench at work on a project, and a client that sends it what its page sends."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class Workbench:
    """A command that serves the page, and a browser as far as the server can see."""

    def __init__(self, process: subprocess.Popen[str], address: str, *others: str) -> None:
        self.process, self.address, self.others = process, address, others
        self.origin, self.token = address.split("/#")
        self.host = self.origin.removeprefix("http://")
        self.cookie = ""

    def enter(self) -> None:
        status, _, headers = self.ask("POST", "/session", self.token)
        assert status == 204
        self.cookie = headers["set-cookie"].split(";")[0]

    def ask(
        self, method: str, path: str, body: str = "", **headers: str
    ) -> tuple[int, str, Mapping[str, str]]:
        connection = http.client.HTTPConnection(self.host, timeout=120)
        given = {"Host": self.host, "Origin": self.origin, "Cookie": self.cookie} | headers
        connection.request(method, path, body, {n: x for n, x in given.items() if x})
        answer = connection.getresponse()
        found = {name.lower(): value for name, value in answer.getheaders()}
        return answer.status, answer.read().decode(), found

    def get(self, path: str) -> Any:
        status, text, _ = self.ask("GET", path)
        assert status == 200, text
        return json.loads(text)

    def post(self, path: str, **given: Any) -> tuple[int, Any]:
        status, text, _ = self.ask("POST", path, json.dumps(given))
        return status, json.loads(text) if text else None

    def act(self, act: str, **form: Any) -> dict[str, Any]:
        """Press a button, wait for the end of its verb, and return the state."""
        status, said = self.post("/act", act=act, form=form)
        assert status in (200, 204), said
        state = self.wait()
        assert state["job"] is None or state["job"]["state"] == "done", state["job"]
        return state

    def wait(self) -> dict[str, Any]:
        end = time.monotonic() + 300
        while True:
            state: dict[str, Any] = self.get("/state")
            if state["job"] is None or state["job"]["state"] not in ("running", "stopping"):
                return state
            assert time.monotonic() < end, state["job"]
            time.sleep(0.05)

    def screen(self, step: str) -> dict[str, Any]:
        return dict(self.get(f"/screen/{step}"))

    def form(self, step: str) -> dict[str, Any]:
        """Return the values of a step's form, as the page shows them."""
        blocks = [one for one in self.screen(step)["blocks"] if one["block"] == "form"]
        groups = [group for block in blocks for group in block["groups"]]
        return {one["name"]: str(one["value"]) for group in groups for one in group["fields"]}

    def block(self, step: str, kind: str) -> dict[str, Any]:
        return next(one for one in self.screen(step)["blocks"] if one["block"] == kind)


@contextmanager
def opened(*given: str | Path, cwd: Path | None = None) -> Iterator[Workbench]:
    """Run `voile open` while the block runs."""
    command = [sys.executable, "-m", "voile", "open", *map(str, given), "--no-browser"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=cwd)
    assert process.stderr is not None
    addresses = []
    for _ in range(1 + [*given].count("--person")):
        said = process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/#\S+", said)
        assert found, said + process.stderr.read()
        addresses.append(found[0])
    try:
        yield Workbench(process, *addresses)
    finally:
        process.kill()
        process.communicate()
