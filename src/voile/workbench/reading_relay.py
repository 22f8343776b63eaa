"""Relay the requests and answers of a reader to the verb that serves the reading."""

from __future__ import annotations

import http.client
from threading import Lock

from voile.core.errors import RequestError
from voile.workbench.verb_jobs import VerbJob

PATIENCE = 120  # seconds, since a verb may first select its next lines
PATHS = {"screen": "GET", "stroke": "POST", "end": "POST"}
OVER = "this reading has ended; every answer is saved"


class ReadingRelay:
    """The workbench's own session with a verb's page. The browser never receives that address."""

    def __init__(self) -> None:
        self._cookies: dict[str, str] = {}
        self._lock = Lock()

    def ask(self, job: VerbJob | None, path: str, body: bytes) -> tuple[int, bytes]:
        """Return the verb's answer to a request, with its status.

        Raises
        ------
        RequestError : no verb is serving a reading.
        """
        address = None if job is None else job.reading_address
        if address is None or path not in PATHS:
            raise RequestError(OVER)
        origin, _, token = address.partition("/#")
        try:
            with self._lock:
                if address not in self._cookies:
                    headers = _send(origin, "POST", "session", token.encode(), "")[2]
                    self._cookies[address] = headers.get("set-cookie", "").partition(";")[0]
            return _send(origin, PATHS[path], path, body, self._cookies[address])[:2]
        except (OSError, http.client.HTTPException):
            raise RequestError(OVER) from None


def _send(
    origin: str, method: str, path: str, body: bytes, cookie: str
) -> tuple[int, bytes, dict[str, str]]:
    host = origin.removeprefix("http://")
    connection = http.client.HTTPConnection(host, timeout=PATIENCE)
    try:
        headers = {"Origin": origin, "Cookie": cookie}
        connection.request(method, f"/{path}", body or None, headers)
        answer = connection.getresponse()
        found = {name.lower(): value for name, value in answer.getheaders()}
        return answer.status, answer.read(), found
    finally:
        connection.close()
