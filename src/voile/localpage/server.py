"""The server of a local page on the loopback interface."""

from __future__ import annotations

import socket
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from voile.core.errors import RequestError

if TYPE_CHECKING:
    from starlette.applications import Starlette

LOOPBACK = "127.0.0.1"
OPENER = '<!doctype html><title>voile</title><meta http-equiv="refresh" content="0;url={}">'


def listen(port: int) -> socket.socket:
    """Return a socket that accepts connections. Port 0 takes a free port.

    Raises
    ------
    RequestError : another program uses the port.
    """
    try:
        return socket.create_server((LOOPBACK, port))
    except OSError:
        remedy = "use another --port, or none for one that is free"
        raise RequestError(f"the port {port} is taken", instead=remedy) from None


@contextmanager
def run_application(application: Starlette, listening: socket.socket) -> Iterator[None]:
    """Run the server in a thread. It writes no log, and ends when all requests are answered."""
    from uvicorn import Config, Server

    server = Server(
        Config(
            application,
            access_log=False,
            http="h11",
            lifespan="off",
            log_config=None,
            log_level="critical",
            loop="asyncio",
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=2,
            ws="none",
        )
    )
    thread = Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()


def open_browser(address: str, file: Path, notify: Callable[[str], None]) -> None:
    """Open an address through a private file, because other users can see programs' arguments."""
    file.unlink(missing_ok=True)
    file.touch(mode=0o600)
    file.write_text(OPENER.format(address))
    if not webbrowser.open(file.resolve().as_uri()):
        notify("no browser opened; open the address above yourself")
