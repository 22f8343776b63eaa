"""Lines of made-up notes, and a server of them for as long as a test needs."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any

from voile.core.errors import VoileError
from voile.documents.reviewing.line import ReviewLine, ShownSpan
from voile.documents.reviewing.server import serve
from voile.documents.reviewing.store import ReviewStore

TYPES = ("NAME", "DATE", "PHONE", "ADDRESS")
LETTER = "Seen by Dr. Amara Osei with her daughter Summer; call 020 7946 0123 before 12/03/2024."
CLOSER = "closer"  # ends the server when a test is over


def found(text: str, words: str, label: str, by: str = "", doubt: float = 0.0) -> ShownSpan:
    start = text.index(words)
    return ShownSpan(start, start + len(words), label, by, doubt)


def line(text: str, *shown: ShownSpan, purpose: str = "review", **more: Any) -> ReviewLine:
    given = {"before": "Discharge letter\n", "after": "\nNo oedema.\n", "why": "Near the cut."}
    return ReviewLine(
        0, 0, purpose, 3, 0, len(text), text=text, proposals=tuple(sorted(shown)), **given | more
    )  # type: ignore[arg-type]


def letter() -> ReviewLine:
    return line(
        LETTER,
        found(LETTER, "Amara Osei", "NAME", "known staff.surname"),
        found(LETTER, "Summer", "NAME", "pass 1, consensus", 0.7),
        found(LETTER, "12/03/2024", "DATE", "rule date", 0.1),
    )


def summers(n: int = 3) -> list[ReviewLine]:
    texts = [f"Summer is better on day {day}." for day in range(n)]
    return [line(text, found(text, "Summer", "NAME", "starter", 0.6)) for text in texts]


class Served:
    """A server at work on a store, and a client that sends it what a browser or a rogue would."""

    def __init__(self, store: ReviewStore, said: Queue[str], addresses: Mapping[str, str]) -> None:
        self.store, self.said, self.addresses = store, said, addresses
        self.port = int(re.search(r":(\d+)/", addresses[CLOSER])[1])  # type: ignore[index]
        self.cookies: dict[str, str] = {}

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(
        self, method: str, path: str, body: str = "", **headers: str
    ) -> tuple[int, str, Mapping[str, str]]:
        given = {"host": f"127.0.0.1:{self.port}", "origin": self.origin, "content-length": ""}
        given |= {"content-length": str(len(body.encode()))}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in given.items():
            if value:
                connection.putheader(name, value)
        connection.endheaders(body.encode())
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), dict(answer.getheaders())

    def enter(self, name: str) -> str:
        """Exchange a reviewer's token for a cookie."""
        status, _, headers = self.ask("POST", "/session", self.addresses[name].split("#")[1])
        assert status == 204
        self.cookies[name] = headers["set-cookie"].split(";")[0]
        return self.cookies[name]

    def screen(self, name: str) -> dict[str, Any]:
        cookie = self.cookies.get(name) or self.enter(name)
        status, said, _ = self.ask("GET", "/screen", cookie=cookie)
        assert status == 200
        return dict(json.loads(said))

    def stroke(self, name: str, act: str, *words: int, label: str = "") -> dict[str, Any]:
        line = self.screen(name)["line"] or {"number": 0, "key": 0}
        sent = {"act": act, "line": line["number"], "key": line["key"], "label": label}
        sent |= {"words": list(words) or [0, 0]}
        status, said, _ = self.ask("POST", "/stroke", json.dumps(sent), cookie=self.cookies[name])
        assert status == 200, said
        return dict(json.loads(said))

    def end(self) -> None:
        assert self.ask("POST", "/end", cookie=self.enter(CLOSER))[0] == 204


@contextmanager
def served(path: Path, *reviewers: str, **options: Any) -> Iterator[Served]:
    """Serve the store at a path, as `voile documents review` does, while the block runs."""
    said: Queue[str] = Queue()
    store = ReviewStore.open(path)
    given = {"reviewers": [*reviewers, CLOSER], "types": TYPES, "browser": False} | options

    def run() -> None:
        try:
            serve(store, notify=said.put, **given)
        except VoileError as error:
            said.put(str(error))

    thread = Thread(target=run)
    thread.start()
    addresses: dict[str, str] = {}
    while len(addresses) <= len(reviewers):
        name, _, address = said.get(timeout=60).partition(": ")
        addresses |= {name: address} if address else {}
    serving = Served(store, said, addresses)
    try:
        yield serving
    finally:
        with suppress(ConnectionError):  # the page ended it
            serving.end()
        thread.join(60)
        store.close()


def everything(said: Queue[str]) -> list[str]:
    lines: list[str] = []
    try:
        while True:
            lines.append(said.get_nowait())
    except Empty:
        return lines
