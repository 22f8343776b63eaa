"""A path in memory that can be written and read like a `pathlib.Path`."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Self, TypeAlias

if TYPE_CHECKING:
    import pyarrow as pa

    Content: TypeAlias = pa.Table | bytes


class MemoryPath:
    """A file or folder of a tree in memory. A file contains rows or bytes.

    It has the methods of `Path` that releases use. `open_writer` writes rows to it, and
    `open_source` reads them.

    >>> folder = MemoryPath("notes")
    >>> (folder / "a.txt").write_text("seen")
    >>> (folder / "a.txt").read_text(), (folder / "b.txt").exists()
    ('seen', False)
    """

    def __init__(self, path: str, tree: dict[PurePosixPath, Content] | None = None) -> None:
        self._path = PurePosixPath(path)
        self._tree = {} if tree is None else tree

    def __str__(self) -> str:
        return f"{self._path} in memory"

    def __repr__(self) -> str:
        return f"<{self}>"

    def __truediv__(self, name: str) -> MemoryPath:
        return MemoryPath(str(self._path / name), self._tree)

    def with_name(self, name: str) -> Self:
        return type(self)(str(self._path.with_name(name)), self._tree)

    @property
    def name(self) -> str:
        return self._path.name

    @property
    def suffix(self) -> str:
        """An empty string, because data in memory have no file format."""
        return ""

    def exists(self) -> bool:
        """Return whether there is a file at this path, or a folder that contains one."""
        return self.is_file() or self.is_dir()

    def is_file(self) -> bool:
        return self._path in self._tree

    def is_dir(self) -> bool:
        return any(self._path in path.parents for path in self._tree)

    def iterdir(self) -> Iterator[MemoryPath]:
        found = (path for path in self._tree if path.parent == self._path)
        yield from (MemoryPath(str(path), self._tree) for path in found)

    @property
    def rows(self) -> pa.Table | None:
        """The rows of the file, or None if it contains bytes."""
        found = self._tree.get(self._path)
        return None if isinstance(found, bytes) else found

    @rows.setter
    def rows(self, table: pa.Table) -> None:
        self._tree[self._path] = table

    def read_bytes(self) -> bytes:
        found = self._tree.get(self._path)
        if not isinstance(found, bytes):
            raise FileNotFoundError(str(self))
        return found

    def write_bytes(self, data: bytes) -> None:
        self._tree[self._path] = data

    def read_text(self, encoding: str = "utf-8") -> str:
        return self.read_bytes().decode(encoding)

    def write_text(self, text: str, encoding: str = "utf-8") -> None:
        self.write_bytes(text.encode(encoding))

    def open(
        self, mode: str = "r", *, newline: str | None = None, encoding: str = "utf-8"
    ) -> io.StringIO:
        """Open a text for reading, or for writing. A written text is stored when it is closed."""
        return io.StringIO(self.read_text(encoding), newline) if mode == "r" else _MemoryText(self)


class _MemoryText(io.StringIO):
    """A text that is stored at its path when it is closed."""

    def __init__(self, place: MemoryPath) -> None:
        super().__init__(newline="")
        self._place = place

    def close(self) -> None:
        if not self.closed:
            self._place.write_text(self.getvalue())
        super().close()


AnyPath: TypeAlias = Path | MemoryPath
"""The path of a release or of its part, on disk or in memory."""
