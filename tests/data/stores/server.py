"""An S3 server of moto's on loopback: what it was asked, and what it is made to answer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from wsgiref.types import StartResponse, WSGIEnvironment

import boto3
import pytest
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

from voile.data.stores.systems import file_system

KEY, SECRET = "AKIACANARYCANARYCAN1", "canary/secret/of/the/bucket"
DENIED = b"<Error><Code>AccessDenied</Code><Message>canary-of-the-server</Message></Error>"
Answer = tuple[str, bytes]


class _Quiet(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, *_: object) -> None:
        """Say nothing."""


class Server:
    """`asked` has each request's method and path; `answer` may give another answer than moto's."""

    def __init__(self) -> None:
        self.app = DomainDispatcherApplication(create_backend_app)
        self.asked: list[tuple[str, str]] = []
        self.sent = 0
        self.answer: Callable[[str, str], Answer | None] = lambda method, path: None
        self.after: Callable[[str, str], None] = lambda method, path: None
        self.http = make_server("127.0.0.1", 0, self, threaded=True, request_handler=_Quiet)
        self.url = f"http://127.0.0.1:{self.http.server_port}"

    def __call__(self, environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        method = environ["REQUEST_METHOD"]
        query = environ.get("QUERY_STRING", "")
        path = environ["PATH_INFO"] + (f"?{query}" if query else "")
        self.asked.append((method, path))
        other = self.answer(method, path)
        if other is None:
            body = b"".join(self.app(environ, start))
        else:
            status, body = other
            headers = [("Content-Type", "application/xml"), ("Content-Length", str(len(body)))]
            start(status, headers)
        if method == "GET":
            self.sent += len(body)
        self.after(method, path)
        return [body]

    @property
    def client(self) -> Any:
        return boto3.client(
            "s3",
            endpoint_url=self.url,
            region_name="us-east-1",
            aws_access_key_id=KEY,
            aws_secret_access_key=SECRET,
        )

    @contextmanager
    def bucket(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        """Keep a bucket of versions named `clinic`, and the environment that finds it."""
        client = self.client
        client.create_bucket(Bucket="clinic")
        client.put_bucket_versioning(Bucket="clinic", VersioningConfiguration={"Status": "Enabled"})
        for name, value in self.environment().items():
            monkeypatch.setenv(name, value)
        file_system.cache_clear()
        self.asked.clear()
        self.sent = 0
        try:
            yield
        finally:
            self.answer, self.after = lambda method, path: None, lambda method, path: None
            for one in self.versions():
                client.delete_object(Bucket="clinic", Key=one[0], VersionId=one[1])
            client.delete_bucket(Bucket="clinic")
            file_system.cache_clear()

    def environment(self) -> dict[str, str]:
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def put(self, key: str, body: bytes) -> str:
        self.client.put_object(Bucket="clinic", Key=key, Body=body)
        return f"s3://clinic/{key}"

    def objects(self) -> list[str]:
        """The objects that anyone sees, but for empty ones that stand for folders."""
        found = self.client.list_objects_v2(Bucket="clinic").get("Contents", [])
        return [one["Key"] for one in found if not one["Key"].endswith("/")]

    def read(self, key: str) -> bytes:
        body: bytes = self.client.get_object(Bucket="clinic", Key=key)["Body"].read()
        return body

    def versions(self) -> list[tuple[str, str]]:
        found = self.client.list_object_versions(Bucket="clinic")
        every = [*found.get("Versions", []), *found.get("DeleteMarkers", [])]
        return [(one["Key"], one["VersionId"]) for one in every]

    def uploads(self) -> list[str]:
        """The multipart uploads that are open."""
        found = self.client.list_multipart_uploads(Bucket="clinic").get("Uploads", [])
        return [one["Key"] for one in found]


@contextmanager
def served() -> Iterator[Server]:
    server = Server()
    thread = threading.Thread(target=server.http.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.http.shutdown()
        thread.join()
