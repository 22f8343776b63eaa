"""`voile documents review`, as a person starts, kills and starts it again."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.documents.reviewing.made import TYPES, summers

import voile.documents
from voile.core.errors import RequestError
from voile.documents.reviewing.store import Store

pytestmark = pytest.mark.whole
Make = Callable[..., Path]


@contextmanager
def begun(work: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start the command, and give its process and the first address that it prints."""
    command = [sys.executable, "-m", "voile", "documents", "review", str(work)]
    process = subprocess.Popen(
        [*command, "--no-browser", *options],
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

    def confirm(self) -> int:
        line = json.loads(self.ask("GET", "/screen")[0])["line"]
        stroke = {"act": "confirm", "line": line["number"], "key": line["key"]}
        self.ask("POST", "/stroke", json.dumps(stroke))
        return int(line["number"])


@pytest.fixture
def work(made: Make) -> Path:
    return made(*summers(500), types=",".join(TYPES)).parent


def answered(work: Path) -> list[int]:
    with Store.open(work / "review.sqlite") as store:
        return [one.line for one in store.answers()]


def test_every_answer_survives_a_kill_and_the_review_goes_on(work: Path) -> None:
    done: list[int] = []
    for _ in range(3):
        with begun(work) as (process, address):
            client = Client(address)
            done += [client.confirm() for _ in range(5)]
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        assert answered(work) == done
    assert done == [*range(1, 16)]


def test_ctrl_c_ends_it_and_says_what_was_done(work: Path) -> None:
    with begun(work, "--json", "--reviewer", "Eva") as (process, address):
        client = Client(address)
        assert json.loads(client.ask("GET", "/screen")[0])["reviewer"] == "Eva"
        client.confirm()
        process.send_signal(signal.SIGINT)
        said, heard = process.communicate(timeout=60)
    assert process.returncode == 0
    assert json.loads(said) == {
        "work": str(work), "lines": 500, "answered": 1, "compared": 0, "agreed": 0,
    }  # fmt: skip
    assert "Summer" not in heard


def test_two_servers_on_one_folder_are_refused(work: Path) -> None:
    with begun(work):
        assert "another voile serves this review; use its page, or end it first" in wrong(work)


def wrong(work: Path, *options: str) -> str:
    command = [sys.executable, "-m", "voile", "documents", "review", str(work), *options]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    return ended.stderr


def test_what_cannot_be_reviewed_is_refused_in_one_sentence(work: Path, tmp_path: Path) -> None:
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    assert "there is no review; make one with voile documents init" in wrong(nothing)
    named = wrong(work, "--reviewer", "Eva", "--reviewer", "Eva")
    assert "--reviewer: give each reviewer a name of their own" in named
    (work / "review.sqlite").write_bytes(b"nothing that SQLite knows" * 100)
    assert "review.sqlite: is damaged or no review; put a backup" in wrong(work)


def test_without_its_libraries_the_extra_is_named(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "voile.documents.reviewing.server", raising=False)
    monkeypatch.delitem(sys.modules, "voile.documents.reviewing.page", raising=False)
    monkeypatch.setitem(sys.modules, "starlette.applications", None)
    with pytest.raises(RequestError, match=r"pip install 'voile\[review\]'"):
        voile.documents.review(work, browser=False)


def test_from_python_the_options_are_those_of_the_command(work: Path) -> None:
    with pytest.raises(RequestError, match="no such option: revewer; did you mean reviewer"):
        voile.documents.review(work, revewer="Eva")
    with pytest.raises(RequestError, match="port"):
        voile.documents.review(work, port=99_999)
