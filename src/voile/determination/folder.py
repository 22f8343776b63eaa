"""The folder of a determination: its files, their hashes, and the statements that people signed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from voile.core.errors import DamagedError, RequestError
from voile.data.files.atomic import Staging, settle
from voile.data.files.outputs import (
    DETERMINATION_FACTS,
    DETERMINATION_FORMAT,
    DETERMINATION_INDEX,
    SIGNATURE,
    STATEMENT,
    is_determination,
    manifest_of,
)
from voile.data.files.own_files import read_bytes, read_json
from voile.determination.determination import Determination
from voile.keys.seal import file_sha256

PAGE, PASTE = "determination.html", "determination.md"
PRINT, MANIFEST = "determination.pdf", "release.manifest.json"
STATEMENTS = "statements"


def index_of(folder: Path) -> bytes:
    """Return the manifest of a folder's files, with their names and hashes."""
    files = {path.name: file_sha256(path) for path in sorted(folder.iterdir())}
    data = {**json.loads(manifest_of(DETERMINATION_FORMAT)), "files": files}
    return json.dumps(data, indent=1, sort_keys=True).encode()


class DeterminationFolder:
    """A determination on disk, with or without signatures.

    Parameters
    ----------
    path : the folder that `determine` wrote.

    Raises
    ------
    RequestError : the folder is not a determination.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if not is_determination(self.path):
            raise RequestError(
                "the folder is not a determination",
                where=str(self.path),
                instead="give the folder that voile determine wrote",
            )

    @property
    def index(self) -> Mapping[str, str]:
        """The hash of each file at the time of signing."""
        place = self.path / DETERMINATION_INDEX
        found = read_json(place, "the list of files").get("files")
        if not isinstance(found, dict) or not all(is_plain(name) for name in found):
            raise DamagedError(
                "the determination's list of files is damaged",
                where=str(place),
                instead="make the determination again",
            )
        return {name: str(sha256) for name, sha256 in found.items()}

    @property
    def has_index(self) -> bool:
        """Whether the folder contains a list of files."""
        return (self.path / DETERMINATION_INDEX).is_file()

    @property
    def sha256(self) -> str:
        """The hash of the list of files. Each statement contains this hash."""
        return hashlib.sha256(read_bytes(self.path / DETERMINATION_INDEX)).hexdigest()

    def list_changed(self) -> list[str]:
        """Return the names of the files that differ from the list, and of the unlisted files."""
        index = self.index
        wrong = [name for name, sha256 in index.items() if not self._is_whole(name, sha256)]
        known = {*index, DETERMINATION_INDEX, STATEMENTS}
        return sorted([*wrong, *({path.name for path in self.path.iterdir()} - known)])

    def _is_whole(self, name: str, sha256: str) -> bool:
        path = self.path / name
        return path.is_file() and not path.is_symlink() and file_sha256(path) == sha256

    @property
    def determination(self) -> Determination:
        """The determination that the folder contains."""
        return Determination.read_file(self.path / DETERMINATION_FACTS)

    def statements(self) -> list[Path]:
        """Return the files of the statements, in the order in which they were made."""
        folder = self.path / STATEMENTS
        names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
        return [folder / name for name in names if name.endswith(".json")]

    def strangers(self) -> list[str]:
        """Return the names of files in `statements` other than statements and signatures."""
        folder, known = self.path / STATEMENTS, self.statements()
        names = {one.name for path in known for one in (path, signature_of(path))}
        found = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
        return sorted(f"{STATEMENTS}/{name}" for name in found - names)

    def recover(self) -> None:
        """Undo or finish the writing of a statement that a killed run began."""
        for left in (self.path / STATEMENTS).glob(".*.voile"):
            settle(left.with_name(left.name[1:].removesuffix(".voile")), STATEMENT)

    def add(self, name: str, content: bytes, signature: bytes | None) -> Path:
        """Write a statement with its signature, both or neither; replace no existing statement."""
        statement = self.path / STATEMENTS / name
        statement.parent.mkdir(exist_ok=True)
        with Staging(statement, STATEMENT) as staging:
            staging.part(statement).write_bytes(content)
            if signature is not None:
                staging.part(signature_of(statement)).write_bytes(signature)
            staging.commit()
        return statement


def signature_of(statement: Path) -> Path:
    """Return the path to which ssh-keygen writes the signature of a statement."""
    return statement.with_name(f"{statement.name}{SIGNATURE}")


def is_plain(name: str) -> bool:
    """Return whether a name is a plain file name, without a folder."""
    return name == Path(name).name and name not in (".", "..", "")
