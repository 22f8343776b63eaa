"""An emulator of Google's store on loopback, as a program: it says its port, and then serves.

It is a process of its own, as Arrow keeps Python waiting while it asks for some things. It checks
no rights: it refuses what the file `denied` in its folder says, and lists in `asked` what it was
asked.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial, partialmethod
from http.server import ThreadingHTTPServer
from pathlib import Path

from gcp_storage_emulator.handlers.buckets import create_bucket
from gcp_storage_emulator.server import RequestHandler
from gcp_storage_emulator.storage import Storage

ASKED, DENIED = "asked", "denied"
CANARY = "canary-of-the-server"


class Handler(RequestHandler):
    """The emulator's own, for all but what is denied."""

    folder: Path

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def answer(self, method: str, go: Callable[[RequestHandler], None]) -> None:
        with (self.folder / ASKED).open("a") as asked:
            asked.write(f"{method} {self.path}\n")
        denied = (self.folder / DENIED).read_text()
        if denied != "all" and (denied != "write" or method == "GET"):
            go(self)
            return
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b'{"error": {"code": 403, "message": "%s"}}' % CANARY.encode()
        self.send_response(403)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


for method in ("GET", "POST", "PUT", "DELETE"):
    own = getattr(RequestHandler, f"do_{method}")
    setattr(Handler, f"do_{method}", partialmethod(Handler.answer, method, own))


def main(folder: Path) -> None:
    """Serve an empty bucket named `clinic`."""
    Handler.folder = folder
    storage = Storage(use_memory_fs=True)
    create_bucket("clinic", storage)
    http = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, storage))
    print(http.server_port, flush=True)
    http.serve_forever()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
