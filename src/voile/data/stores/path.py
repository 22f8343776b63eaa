"""A file or folder in an object store or on the web, with the interface of a `pathlib.Path`."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import unquote, urlsplit

from voile.core.errors import RequestError, SourceError
from voile.data.stores import web
from voile.data.stores.address import SCHEMES, WEB, hide_secrets, scheme_of, split_address
from voile.data.stores.systems import file_system, store_failures

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo, FileSystem

CHUNK = 8 << 20
"""The number of bytes of one request."""
LONGEST = 256 << 20
"""The largest number of bytes of a file that is read as a whole."""


@dataclass(frozen=True)
class StorePath:
    """A path in a store or on the web. It contains no credentials, so it can be sent to workers.

    scheme : s3, gs, abfs, https or http.
    account : the account of abfs, if the address contains one.
    key : bucket and key without any decoding. For the web, the part after ``://``.
    """

    scheme: str
    key: str
    account: str = ""

    @classmethod
    def parse(cls, thing: object) -> Self | None:
        """Parse an address. Return None for any other text, or for another scheme.

        Raises RequestError: it contains a credential, or no key.

        >>> StorePath.parse("s3://bucket/a b%20c.csv").name
        'a b%20c.csv'
        """
        if not isinstance(thing, str | os.PathLike) or scheme_of(thing) not in SCHEMES:
            return None
        scheme, rest = split_address(thing)
        account = ""
        if scheme == "abfs":
            host, slash, key = rest.partition("/")
            container, _, account = host.partition("@")
            rest = f"{container}{slash}{key}"
        return cls(scheme, rest, account)

    def __str__(self) -> str:
        return hide_secrets(self.address)

    def __repr__(self) -> str:
        return f"<{self}>"

    @property
    def address(self) -> str:
        """The complete address, for `locate_file`. A web address may have a secret query."""
        if self.is_web:
            return self._url
        bucket, slash, key = self.key.partition("/")
        at = f"@{self.account}" if self.account else ""
        return f"{self.scheme}://{bucket}{at}{slash}{key}"

    @property
    def is_web(self) -> bool:
        return self.scheme in WEB

    @property
    def name(self) -> str:
        """The last part of the key or of the web address."""
        if not self.is_web:
            return self.key.rpartition("/")[2]
        last = urlsplit(self._url).path.rstrip("/").rpartition("/")[2]
        plain = unquote(last)
        return (plain if "/" not in plain and plain.isprintable() else last) or self._host

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.name).suffix

    @property
    def parent(self) -> StorePath:
        return StorePath(self.scheme, self.key.rpartition("/")[0], self.account)

    def with_name(self, name: str) -> StorePath:
        return self.parent / name

    def __truediv__(self, name: str) -> StorePath:
        return StorePath(self.scheme, f"{self.key}/{name}", self.account)

    def relative_to(self, folder: StorePath) -> PurePosixPath:
        return PurePosixPath(self.key.removeprefix(f"{folder.key}/"))

    @property
    def _url(self) -> str:
        return f"{self.scheme}://{self.key}"

    @property
    def _host(self) -> str:
        return urlsplit(self._url).hostname or ""

    @property
    def _system(self) -> FileSystem:
        return file_system(self.scheme, self.account)

    @cached_property
    def _has_ranges(self) -> bool:
        return not self.is_web or web.has_ranges(self._url, self.size())

    def is_dir(self) -> bool:
        """Return whether there are keys below this path, as in a folder."""
        return not self.is_web and bool(self._info().type.name == "Directory")

    def is_file(self) -> bool:
        if self.is_web:
            web.info(self._url)
            return True
        return bool(self._info().type.name == "File")

    def is_seekable(self) -> bool:
        """Return whether any part of the file can be read separately."""
        return self._has_ranges

    def size(self) -> int | None:
        return web.info(self._url)[0] if self.is_web else int(self._info().size)

    def state(self) -> tuple[int, str]:
        """Return the facts that change with a file."""
        if self.is_web:
            size, tag = web.info(self._url)
            return size or 0, tag
        with store_failures(str(self)), self._system.open_input_file(self.key) as file:
            said = file.metadata() or {}
            return int(file.size()), str(said.get("ETag", self._info().mtime_ns))

    def states(self) -> list[tuple[str, int, int]]:
        """Return the files of a folder with the facts that change with them, from one listing."""
        return [(one.path, one.size, one.mtime_ns or 0) for one in self._listing()]

    def files(self) -> Iterator[StorePath]:
        """Yield the files of a folder and of its subfolders, in the order of their names."""
        for one in sorted(self._listing(), key=lambda one: one.path.split("/")):
            yield StorePath(self.scheme, one.path, self.account)

    def exists(self) -> bool:
        return self.is_file() or self.is_dir()

    def check_exists(self) -> None:
        """Raise RequestError if there is neither a file nor a folder of this name."""
        if self.exists():
            return
        bucket = StorePath(self.scheme, self.key.partition("/")[0], self.account)
        if bucket != self and not bucket.is_dir():
            raise RequestError(
                "the bucket does not exist",
                where=str(bucket),
                instead="correct the bucket's name",
            )
        what = "bucket" if bucket == self else "file"
        raise RequestError(
            f"the {what} does not exist", where=str(self), instead="correct the address"
        )

    def failures(self) -> AbstractContextManager[None]:
        """Report an error of the store in one sentence, while the block reads."""
        return web.web_failures(self._url) if self.is_web else store_failures(str(self))

    def open_input(self) -> Any:
        """Open the file for Arrow, to read any part of it. Call it within `failures`."""
        if self.is_web:
            return web.open_url(self._url)
        return self._system.open_input_file(self.key)

    def chunks(self) -> Iterator[bytes]:
        """Stream the bytes of the file."""
        if self.is_web:
            yield from web.chunks(self._url)
            return
        with (
            store_failures(str(self)),
            self._system.open_input_stream(self.key, compression=None) as file,
        ):
            while chunk := file.read(CHUNK):
                yield chunk

    def sha256(self) -> str:
        """Return the SHA-256 of the file, read as a stream."""
        digest = hashlib.sha256()
        for chunk in self.chunks():
            digest.update(chunk)
        return digest.hexdigest()

    def read_bytes(self) -> bytes:
        """Return all bytes of the file. Raises FileNotFoundError if it does not exist."""
        if not self.is_file():
            raise FileNotFoundError(str(self))
        held = bytearray()
        for chunk in self.chunks():
            held += chunk
            if len(held) > LONGEST:
                raise RequestError(
                    f"the object is larger than {LONGEST >> 20} MiB", where=str(self)
                )
        return bytes(held)

    def write(self, chunks: Iterable[bytes]) -> str:
        """Write the file and return its SHA-256. It appears when the last chunk is sent.

        If sending fails, some chunks may remain, and the caller must remove them.
        """
        digest = hashlib.sha256()
        with (
            store_failures(str(self)),
            self._system.open_output_stream(self.key, compression=None) as file,
        ):
            for chunk in chunks:
                digest.update(chunk)
                file.write(chunk)
        return digest.hexdigest()

    def unlink(self) -> None:
        """Remove the file if it exists."""
        if self.is_file():
            with store_failures(str(self)):
                self._system.delete_file(self.key)

    def json(self) -> dict[str, Any]:
        """Return the JSON object in the file, or an empty object."""
        try:
            found = json.loads(self.read_bytes())
        except (FileNotFoundError, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def _info(self) -> FileInfo:
        with store_failures(str(self)):
            return self._system.get_file_info(self.key)

    def _listing(self) -> list[FileInfo]:
        from pyarrow.fs import FileSelector

        if self.is_web:
            raise SourceError(
                "this store has no folders", where=str(self), instead="give the address of a file"
            )
        with store_failures(str(self)):
            selector = FileSelector(self.key, recursive=True, allow_not_found=True)
            found = self._system.get_file_info(selector)
        return [one for one in found if one.type.name == "File"]


def locate_file(address: str) -> Path | StorePath:
    """Return the path of a file on this machine or in a store."""
    return StorePath.parse(address) or Path(address)
