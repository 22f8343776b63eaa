"""A project: a folder that contains its whole state as small files and outputs."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from voile.core.errors import RequestError, VoileError
from voile.keys.seal import file_sha256

if TYPE_CHECKING:
    from voile.workbench.project_file import ProjectFile

PROJECT, ROLES, CONTEXT, POLICY = "project.toml", "roles.toml", "context.toml", "policy.toml"
STUDY = "study.toml"
LETTER = "erasure-letter.txt"
SMALL_FILES = (PROJECT, ROLES, CONTEXT, POLICY, STUDY, LETTER)
KEY, DETERMINATION = "private/key", "determination"
FORMAT, VERSION = "voile-project", 1
DATA = (".csv", ".jsonl", ".ndjson", ".parquet")
LARGE = 1 << 20
"""The file size in bytes from which a file is hashed again only after its time or size changed."""


class ProjectFolder:
    """A project on disk.

    Parameters
    ----------
    path : the folder.

    Raises
    ------
    RequestError : the folder is not a project, or a newer version made it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self._hashes: dict[Path, tuple[tuple[int, int, int], str]] = {}
        self._read_data()

    @classmethod
    def open_or_create(cls, given: Path) -> Self:
        """Open the project of a folder, a table or a study; create it if it does not exist."""
        if (given / PROJECT).exists() or (given.is_dir() and not _has_data(given)):
            return cls(given)
        if not given.exists():
            remedy = "give a table or the folder of a project"
            raise RequestError("no such file or folder", where=str(given), instead=remedy)
        folder = given.with_name(f"{given.stem}-project")
        if not (folder / PROJECT).exists():
            if folder.exists() and any(folder.iterdir()):
                remedy = "move the folder, or rename the table"
                what = "the folder for the project exists and is no project"
                raise RequestError(what, where=str(folder), instead=remedy)
            folder.mkdir(exist_ok=True)
            replace_file(folder / PROJECT, _begin(given, folder))
        return cls(folder)

    def read_project(self) -> ProjectFile:
        """Read `project.toml`.

        Raises
        ------
        RequestError : the file has mistakes. The message lists all of them, with their places.
        """
        from voile.workbench.project_file import parse_project

        return parse_project(self._read_data(), self.path / PROJECT)

    def _read_data(self) -> Mapping[str, Any]:
        """Read `project.toml`, and check only the fields that all its versions share."""
        place = self.path / PROJECT
        try:
            data = tomllib.loads(place.read_text("utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            remedy = "give a table, and voile makes its project; or cd to a project's folder"
            what = f"this folder is not a project: it has no {PROJECT}"
            raise RequestError(what, where=str(self.path), instead=remedy) from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError):
            remedy = "restore it, or undo your edit"
            raise RequestError("this is not TOML", where=str(place), instead=remedy) from None
        if data.get("format") != FORMAT:
            remedy = "give the folder of a project"
            raise RequestError("this is not a project", where=str(place), instead=remedy)
        version = data.get("version")
        if isinstance(version, int) and version > VERSION:
            what = f"a newer voile made this project (version {version})"
            raise RequestError(what, where=str(place), instead="update voile")
        return data

    @property
    def kit(self) -> str:
        """The name of the kit's folder."""
        stem = Path(self.read_project().source.path).stem or "table"
        return f"{re.sub(r'[^A-Za-z0-9_.-]+', '-', stem).strip('-.') or 'table'}.kit"

    def make_key(self) -> None:
        """Create the secret of the project's seals, for its owner only, if it is absent."""
        place = self.path / KEY
        if not place.exists():
            place.parent.mkdir(mode=0o700, exist_ok=True)
            place.touch(mode=0o600)
            place.write_text(secrets.token_hex(32), encoding="ascii")

    def find_hash(self, name: str | os.PathLike[str]) -> str:
        """Return the SHA-256 of a file, or of a folder's names and times; empty if absent."""
        place = self.path / name
        try:
            return self._hash_folder(place) if place.is_dir() else self._hash_file(place)
        except (OSError, ValueError):  # the file is absent, or a verb is just replacing it
            return ""

    def _hash_folder(self, place: Path) -> str:
        inside = [(one.name, one.stat().st_mtime_ns) for one in place.iterdir()]
        return hashlib.sha256(repr(sorted(inside)).encode()).hexdigest()

    def _hash_file(self, place: Path) -> str:
        seen = place.stat()
        key = (seen.st_mtime_ns, seen.st_size, seen.st_ino)
        known = self._hashes.get(place)
        if known is None or known[0] != key or seen.st_size < LARGE:
            known = self._hashes[place] = key, file_sha256(place)
        return known[1]

    def fingerprint(self) -> str:
        """Return a hash that changes with every file of the project and with the source."""
        names = sorted(one.name for one in self.path.iterdir() if not one.name.startswith("."))
        names += [self.read_project().source.path, f"{DETERMINATION}/statements"]
        seen = "\n".join(f"{name} {self.find_hash(name)}" for name in names)
        return hashlib.sha256(seen.encode()).hexdigest()[:16]

    def read_text(self, name: str) -> str:
        """Return the text of a file, or an empty text if the file is absent."""
        try:
            return (self.path / name).read_text("utf-8")
        except (FileNotFoundError, NotADirectoryError):
            return ""

    def read_toml(self, name: str) -> Mapping[str, Any] | None:
        """Return the content of a small file, or None if the file is absent.

        Raises
        ------
        RequestError : the file is not TOML.
        """
        if not (text := self.read_text(name)):
            return None
        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise RequestError(f"this is not TOML: {error}", where=name, instead="fix it") from None

    def read_json(self, name: str) -> Mapping[str, Any] | None:
        """Return the content of an output's index, or None if it is absent or incomplete."""
        import json

        try:
            data = json.loads(self.read_text(name) or "null")
        except json.JSONDecodeError:
            return None
        return data if isinstance(data, dict) else None


def replace_file(place: Path, text: str) -> None:
    """Write a text file atomically."""
    part = place.with_name(f".{place.name}.part")
    try:
        with part.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(place)
    except OSError as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise explain_failure(error, place) from None


@contextmanager
def explain_damage(place: Path) -> Iterator[None]:
    """Convert errors about unexpected file contents to a message for users."""
    try:
        yield
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, VoileError):
            raise
        remedy = "restore it, or make it again with the command of its step"
        what = "a file of the project is damaged"
        raise RequestError(what, where=str(place), instead=remedy) from None


def explain_failure(error: OSError, place: Path) -> RequestError:
    """Return an error with a message about a file that the system refused to write."""
    what = f"the file cannot be written: {(error.strerror or 'no reason given').lower()}"
    remedy = "make room on the disk or change the folder's permissions, and repeat the click"
    return RequestError(what, where=str(place), instead=remedy)


def _begin(table: Path, folder: Path) -> str:
    """Return the first `project.toml` of a table or a study."""
    import tomli_w

    source = {"path": os.path.relpath(table, folder), "sha256": ""}
    kind = {"kind": "study"} if table.is_dir() else {}
    head = {"format": FORMAT, "version": VERSION, "name": _title(table.stem), **kind}
    return tomli_w.dumps({**head, "source": source})


def _has_data(folder: Path) -> bool:
    """Return whether a folder contains data files and can be a study's source."""
    return any(one.suffix in DATA for one in folder.iterdir())


def _title(stem: str) -> str:
    words = re.sub(r"[_\W]+", " ", stem).strip() or "Table"
    return words[0].upper() + words[1:]
