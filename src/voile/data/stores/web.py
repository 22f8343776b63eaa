"""Files at web addresses, read with fsspec, in ranges if the server supports them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from voile.core.errors import RequestError, SourceError, VoileError, install
from voile.data.stores.address import check_web, hide_secrets

CHUNK = 1 << 20
CONNECT, ANSWER = 10, 60
"""The number of seconds to wait for a connection, and for the next bytes."""
STATUS = {
    401: "the server asks for a user and a password",
    403: "the server does not allow it",
    404: "there is no such file",
    410: "there is no such file",
}


@lru_cache(maxsize=1)
def _system() -> Any:
    try:
        import aiohttp
        import yarl
        from fsspec.implementations.http import HTTPFileSystem
    except ImportError:
        raise RequestError(
            "the reader for web addresses is not installed", instead=install("https")
        ) from None

    async def redirected(session: object, context: object, given: Any) -> None:
        said = given.response.headers
        to = said.get("Location") or said.get("URI") or ""  # aiohttp goes to either
        check_web(str(given.url.join(yarl.URL(to))))

    watched = aiohttp.TraceConfig()
    watched.on_request_redirect.append(redirected)
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT, sock_read=ANSWER)
    client = {"trace_configs": [watched], "timeout": timeout, "trust_env": True}
    return HTTPFileSystem(client_kwargs=client, skip_instance_cache=True, cache_type="readahead")


def info(url: str) -> tuple[int | None, str]:
    """Return the size of a file (None if the server omits it), and facts that change with it."""
    with web_failures(url):
        found = _system().info(url)
    tags = (str(found.get(name, "")) for name in ("ETag", "Last-Modified"))
    return found.get("size"), " ".join(tags)


def has_ranges(url: str, size: int | None) -> bool:
    """Return whether the server supports reading a part of a file."""
    if not size:
        return False
    with web_failures(url):
        try:
            with _system().open(url, block_size=CHUNK) as file:
                file.seek(max(size - 8, 1))
                return len(file.read(8)) == min(8, size - 1)
        except (ValueError, OSError):
            return False


def open_url(url: str) -> Any:
    """Open a file to read any part of it."""
    with web_failures(url):
        return _system().open(url, block_size=CHUNK)


def chunks(url: str) -> Iterator[bytes]:
    """Stream a whole file."""
    with web_failures(url), _system().open(url, block_size=0) as file:
        while chunk := file.read(CHUNK):
            yield chunk


@contextmanager
def web_failures(url: str) -> Iterator[None]:
    """Report in one sentence why a file is unavailable.

    Messages of libraries quote whole addresses.
    """

    import aiohttp

    try:
        yield
    except VoileError:
        raise
    except (TimeoutError, aiohttp.ClientError, FileNotFoundError) as error:
        raise _reason(error, url) from None


def _reason(error: BaseException, url: str) -> VoileError:
    """Return an error with the cause of a failure. fsspec usually reports a missing file."""
    import aiohttp

    causes: list[BaseException] = [error]
    while (before := causes[-1].__cause__) is not None:
        causes.append(before)
    cause = causes[-1]
    if isinstance(cause, VoileError):
        return cause
    status = getattr(cause, "status", None)
    if isinstance(status, int):
        said = STATUS.get(status, f"the server answers {status}")
    elif isinstance(cause, aiohttp.ClientConnectorCertificateError):
        said = "the server's certificate is not trusted"
    elif any(isinstance(one, aiohttp.ClientConnectionError | TimeoutError) for one in causes):
        said = "the server cannot be reached"
    elif isinstance(cause, FileNotFoundError):
        said = STATUS[404]
    else:
        said = f"the server's answer cannot be read ({type(cause).__name__})"
    return SourceError(said, where=hide_secrets(url))
