"""Standard input and other pipes as sources.

They can be read only once, so a private copy is kept.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import signal
import stat
import sys
import threading
import zlib
from collections.abc import Mapping
from pathlib import Path
from tempfile import mkdtemp
from typing import BinaryIO

from voile.core.errors import RequestError, SourceError

NAMES = ("-", "/dev/stdin")
HEAD = 1 << 16
BEGINNINGS: Mapping[bytes, str] = {
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"\xff\xff\xff\xff": ".arrow",
    b"PK\x03\x04": ".xlsx",
    b"SQLite format 3\0": ".sqlite",
    b"\xef\xbb\xbf{": ".jsonl",
    b"{": ".jsonl",
}
"""The first bytes of each file format. Input with other first bytes is CSV."""
OBJECTS = re.compile(rb"\s*\[\s*\{")
"""The beginning of a JSON list of objects, in which the first line has no column names."""

_kept: dict[tuple[int, int], Path] = {}


def is_pipe(path: Path) -> bool:
    """Return whether a path is standard input or a named pipe, which can be read only once."""
    if str(path) in NAMES:
        return True
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode)


def keep_pipe(path: Path) -> Path:
    """Return a private copy of the bytes of a pipe, which is removed when the process ends.

    The first bytes determine the format. A second call returns the same copy.
    """
    with _open_input(path) as pipe:
        about = os.fstat(pipe.fileno())
        if os.isatty(pipe.fileno()):
            raise RequestError(
                "standard input is a terminal",
                where="standard input",
                instead="pipe a file into the command",
            )
        key = (about.st_dev, about.st_ino)
        if key not in _kept:
            _kept[key] = _keep(pipe, "standard input" if str(path) in NAMES else path.name)
    return _kept[key]


def _open_input(path: Path) -> BinaryIO:
    try:
        if str(path) in NAMES:
            return os.fdopen(os.dup(0), "rb")
        return path.open("rb")
    except OSError as error:
        raise RequestError(
            f"the file cannot be opened ({error.strerror})", where=str(path)
        ) from None


def _keep(pipe: BinaryIO, name: str) -> Path:
    head = pipe.read(HEAD)
    if not head:
        raise SourceError(
            "the input is empty", where=name, instead="pipe a file with rows into the command"
        )
    if stat.S_ISCHR(os.fstat(pipe.fileno()).st_mode):
        raise RequestError(
            "the path is a device, which may never end", where=name, instead="name a file"
        )
    path = private_folder() / f"{name}{_suffix(head)}"
    with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        file.write(head)
        shutil.copyfileobj(pipe, file, 1 << 20)
    return path


def private_folder() -> Path:
    """Create a folder that only its owner may open. It is removed when the process ends."""
    folder = Path(mkdtemp(prefix="voile-"))  # mode 0700
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    _exit_at_sigterm()
    return folder


def _exit_at_sigterm() -> None:
    """Let SIGTERM exit the process normally, so that the copies are removed."""
    main = threading.current_thread() is threading.main_thread()
    if main and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))


def _suffix(head: bytes) -> str:
    if head.startswith(b"\x1f\x8b"):
        return f"{_suffix(_unzip_head(head))}.gz"
    if head[8:12] == b"DUCK":
        return ".duckdb"
    if OBJECTS.match(head):
        return ".json"
    found = (end for start, end in BEGINNINGS.items() if head.lstrip(b" \t\r\n").startswith(start))
    return next(found, ".csv")


def _unzip_head(head: bytes) -> bytes:
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(head, HEAD)
    except zlib.error:
        return b""
