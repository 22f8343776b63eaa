"""Files at addresses of the web, from servers on loopback that answer as good and bad ones do."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from voile.core.errors import VoileError
from voile.data import open_source

ROWS = pa.table({"zip": [f"{i:05}" for i in range(50_000)], "age": range(50_000)})
CSV = b"zip,age\n00501,1\n"


class Handler(BaseHTTPRequestHandler):
    """`/ranges/` answers ranges, `/whole/` does not; `/NNN/` is a status; `/to/` goes elsewhere."""

    protocol_version = "HTTP/1.1"
    files: ClassVar[dict[str, bytes]] = {}

    def do_HEAD(self) -> None:
        self._answer(is_head=True)

    def do_GET(self) -> None:
        self._answer(is_head=False)

    def _answer(self, *, is_head: bool) -> None:
        _, way, name = self.path.partition("?")[0].split("/", 2)
        body, status, headers = self.files.get(name, b""), 200, {}
        asked = self.headers.get("Range")
        if way.isdigit():
            status, body = int(way), b"canary"
        elif way == "to":
            status, headers = 302, {"Location": f"http://h.example/{name}?canary"}
        elif way == "uri":
            status, headers = 302, {"URI": f"http://h.example/{name}?canary"}
        elif name not in self.files:
            status = 404
        elif way == "ranges" and asked:
            first, last = asked.removeprefix("bytes=").split("-")
            status, total = 206, len(body)
            body = body[int(first) : int(last) + 1]
            headers = {"Content-Range": f"bytes {first}-{int(first) + len(body) - 1}/{total}"}
        self.send_response(status)
        for key, value in {**headers, "Content-Length": str(len(body)), "ETag": '"1"'}.items():
            self.send_header(key, value)
        self.end_headers()
        if not is_head:
            self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    sink = io.BytesIO()
    pq.write_table(ROWS, sink, compression="none", use_dictionary=False)
    Handler.files = {
        "v.parquet": sink.getvalue(),
        "v.csv": CSV,
        "a%20b.csv": CSV,
        "cut.parquet": sink.getvalue()[:-9],
    }
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()


@pytest.mark.parametrize("way", ["ranges", "whole"])
def test_parquet_where_the_server_gives_ranges_and_where_it_does_not(url: str, way: str) -> None:
    source = open_source(f"{url}/{way}/v.parquet?X-Amz-Signature=canary")
    assert (source.name, source.about_rows()) == ("v.parquet", 50_000)
    assert source.read().equals(ROWS)
    assert open_source(f"{url}/{way}/v.parquet").fingerprint() == source.fingerprint()


def test_text_and_names(url: str) -> None:
    for name in ("v.csv", "a%20b.csv"):
        source = open_source(f"{url}/whole/{name}")
        assert source.read().to_pydict() == {"zip": ["00501"], "age": ["1"]}
    assert source.name == "a b.csv"


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("whole/none.csv", "there is no such file"),
        ("403/v.csv", "the server does not allow it"),
        ("401/v.parquet", "the server asks for a user and a password"),
        ("500/v.csv", "the server answers 500"),
        (
            "to/v.csv",
            "http://h.example/v.csv: the address would be sent unencrypted; write https://",
        ),
        (
            "uri/v.csv",
            "http://h.example/v.csv: the address would be sent unencrypted; write https://",
        ),
        ("ranges/cut.parquet", "the parquet file is damaged or truncated"),
        ("whole/visits/", "there is no such file"),
    ],
)
def test_what_cannot_be_read_is_said_without_the_query(url: str, place: str, said: str) -> None:
    with pytest.raises(VoileError) as caught:
        open_source(f"{url}/{place}?key=canary")
    assert said in str(caught.value)
    assert "canary" not in str(caught.value)
    assert caught.value.exit_code == 2


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(VoileError, match=r"http://127\.0\.0\.1:9/v\.csv: the server cannot be re"):
        open_source("http://127.0.0.1:9/v.csv?canary")
