"""Write outputs that appear complete or not at all, even if the run is stopped."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from voile.core.errors import RequestError, VoileError
from voile.data.files.locks import FolderLock
from voile.data.files.outputs import SUFFIXES, OutputKind, check_outside, is_in_private

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Staging:
    """Write the parts of one output to a hidden folder, and let them appear together.

    The hidden folder is next to the output, on the same file system, with mode 0700. `new/`
    contains the new parts. `old/` contains the replaced parts during the exchange. `commit` writes
    everything to disk. It moves the old output away, **main part first**. Then it moves the new
    parts in, **main part last**. If the main part is visible, the whole output is visible. At any
    moment, the output is complete and old, complete and new, or absent.

    A single file that replaces a single file is renamed in one step. One of the two always exists.

    The next run for the same output repairs the remains of a killed run. It removes a partial
    output and restores the old one. Only one run can stage an output at a time. The lock ends with
    its process.

    Parameters
    ----------
    out : the main part, a file or a folder. Its folder must exist.
    output : the kind of output. It determines the parts, and recognises existing parts that voile
        wrote.
    force : whether to replace such parts. Any other existing part is a RequestError.
    patience : how many seconds to wait for another run that writes the output.

    Guarantee: holds for exceptions, Ctrl-C and kill -9 of the process (tested). For a power cut, it
    holds if the file system preserves the order of renames after fsync.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> from voile.data.files.outputs import RELEASE
    >>> with Staging(folder / "release.csv", RELEASE) as staging:
    ...     _ = staging.part(folder / "release.csv").write_text("zip\\n00501\\n")
    ...     _ = staging.part(folder / "release.csv.manifest.json").write_text("{}")
    ...     staging.commit()
    >>> sorted(path.name for path in folder.iterdir())
    ['release.csv', 'release.csv.manifest.json']
    """

    def __init__(
        self,
        out: str | os.PathLike[str],
        output: OutputKind,
        *,
        force: bool = False,
        patience: float = 0,
    ) -> None:
        self.out = Path(out)
        self._output, self._force = output, force
        self._names = [self.out.name]
        self._folder = self.out.parent / f".{self.out.name}.voile"
        self._lock = FolderLock(self._folder / "lock", patience=patience)

    @property
    def is_begun(self) -> bool:
        """Return whether a run is staging this output, or was killed while staging it."""
        return self._folder.exists()

    def __enter__(self) -> Staging:
        with self._hold_lock():
            self._output.check_free(self.out, force=self._force)
            for name in ("new", "old"):
                (self._folder / name).mkdir(mode=0o700)
        return self

    def recover(self) -> bool:
        """Repair the output after a killed run, and return whether a repair was needed."""
        with self._hold_lock() as is_left:
            pass
        self._close()
        return is_left

    @contextmanager
    def _hold_lock(self) -> Iterator[bool]:
        """Lock the output and recover it first. It is unlocked only if the block fails."""
        check_folder(self.out, kept=self._output.belongs_in_private)
        with _failures(self.out):
            self._check_own()
            if not self._lock.acquire():
                raise RequestError(
                    "another run is writing this output",
                    where=str(self.out),
                    instead="wait for that run to end",
                )
            try:
                self._check_own()  # another user's folder may have appeared meanwhile
                yield restore(self._folder, self.out.name)
            except BaseException:
                self._close()
                raise

    def part(self, final: str | os.PathLike[str]) -> Path:
        """Return the temporary path of the part that will appear at `final`."""
        path = Path(final)
        if path not in self._output.parts(self.out):
            raise ValueError(f"the output {self._output.name} has no part {path.name}")
        if path.name not in self._names:
            self._names.append(path.name)
        return self._folder / "new" / path.name

    def folder(self, final: str | os.PathLike[str], *, mode: int = 0o777) -> Path:
        path = self.part(final)
        path.mkdir(mode=mode)
        return path

    @property
    def journal(self) -> Path:
        """The file that records the steps of a run without renames. The next run reads it."""
        return self._folder / "journal"

    def scratch(self) -> Path:
        """Create a folder, mode 0700, for temporary files while the output is written."""
        path = self._folder / "scratch"
        path.mkdir(mode=0o700)
        return path

    def commit(self, publish: Callable[[], None] | None = None) -> None:
        """Let all parts appear. Every part must be written, including the main part.

        `publish` makes an output visible that is not a file. `commit` calls it when all parts
        except the main part are in place. If it fails, the old parts are restored.
        """
        new, old = self._folder / "new", self._folder / "old"
        others = self._names[1:]
        is_one_file = not others and publish is None and (new / self.out.name).is_file()
        for name in self._names:
            is_private = self._output.is_private or is_in_private(self.out.parent / name)
            if is_private or is_own(new / name):
                _close_to_others(new / name)
            _sync_tree(new / name)
        self._output.check_free(self.out, force=self._force)
        _write_names(self._folder, self._names)
        for name in [] if is_one_file else self._names:
            if os.path.lexists(self.out.parent / name):
                os.rename(self.out.parent / name, old / name)
        _sync(self.out.parent)
        for name in others:
            os.rename(new / name, self.out.parent / name)
        if publish is not None:
            publish()
        os.replace(new / self.out.name, self.out)
        _sync(self.out.parent)

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        self._close()
        if error is not None and is_full(error):
            raise _full(self.out) from None

    def _close(self) -> None:
        try:
            if is_own(self._folder):
                restore(self._folder, self.out.name)
        finally:
            self._lock.release()
            with suppress(OSError):
                self._folder.rmdir()

    def _check_own(self) -> None:
        if not is_own(self._folder):
            raise RequestError(
                "another user may write to this temporary folder, in which voile prepares "
                "the output",
                where=str(self._folder),
                instead="remove the folder, or write to another place",
            )


def settle(out: str | os.PathLike[str], output: OutputKind, *, patience: float = 0) -> bool:
    """Repair an output after a killed run, before the next step reads it.

    Returns whether a repair was needed.
    """
    staging = Staging(out, output, patience=patience)
    return staging.is_begun and staging.recover()


def check_folder(out: Path, *, kept: bool = False) -> None:
    """Raise RequestError for an output without a name, or without a usable folder.

    kept : whether voile stores the output in a release's private folder, where users may not write.
    """
    if out.name in ("", ".."):
        raise RequestError(
            "the path does not end in a file name", where=str(out), instead="add a file name"
        )
    if os.fsencode(out).decode("utf-8", "replace") != os.fspath(out):
        raise RequestError(
            "the output's name is not UTF-8 text", where=str(out), instead="use another name"
        )
    if not out.parent.is_dir():
        raise RequestError(
            f"the folder {out.parent} does not exist",
            where=str(out),
            instead="create the folder first",
        )
    if not kept:
        check_outside(out)


def write_bytes(
    path: str | os.PathLike[str],
    data: bytes,
    output: OutputKind,
    *,
    force: bool = False,
) -> None:
    """Write one file that appears complete or not at all."""
    with Staging(path, output, force=force) as staging:
        staging.part(path).write_bytes(data)
        staging.commit()


def write_text(
    path: str | os.PathLike[str],
    text: str,
    output: OutputKind,
    *,
    force: bool = False,
) -> None:
    """Write one UTF-8 text file that appears complete or not at all."""
    write_bytes(path, text.encode(), output, force=force)


@contextmanager
def write_folder(
    path: str | os.PathLike[str], output: OutputKind, *, force: bool = False
) -> Iterator[Path]:
    """Fill a folder that appears complete when the block ends, or not at all."""
    with Staging(path, output, force=force) as staging:
        yield staging.folder(path)
        staging.commit()


def is_full(error: BaseException) -> bool:
    """Return whether an error means that the disk is full.

    Engines report this only in their text.
    """
    full = isinstance(error, OSError) and error.errno in FULL
    return full or "No space left" in str(error) or "File too large" in str(error)


def is_own(folder: Path) -> bool:
    """Return whether only this user can access a folder, or it is absent. Its files are trusted."""
    try:
        found = folder.lstat()
    except FileNotFoundError:
        return True
    alone = os.name != "posix" or (found.st_uid == os.geteuid() and not found.st_mode & 0o077)
    return stat.S_ISDIR(found.st_mode) and alone


def restore(folder: Path, main: str) -> bool:
    """Undo an unfinished exchange, and empty the folder except for its lock.

    The file `names` exists from the first rename on, and begins with the main part. The exchange is
    complete if the main part has left `new/`. Otherwise, the new parts are moved out and the old
    parts are moved back, the main part last. Every step can be repeated if this call is killed as
    well.

    Returns whether a killed run left anything. The caller must hold the lock.
    """
    new, old, parent = folder / "new", folder / "old", folder.parent
    names = _read_names(folder)
    if not set(names) <= {f"{main}{suffix}" for suffix in SUFFIXES}:
        raise RequestError(
            "the folder contains the parts of another output",
            where=str(folder),
            instead="move the folder elsewhere",
        )
    left = [folder / name for name in ("new.names", "new", "old", "scratch")]
    is_left = bool(names) or any(map(os.path.lexists, left))
    if names and os.path.lexists(new / names[0]):
        _check_no_other(folder, names)
        for name in names:
            if not os.path.lexists(new / name) and os.path.lexists(parent / name):
                os.rename(parent / name, new / name)
        for name in reversed(names):
            if os.path.lexists(old / name):
                os.rename(old / name, parent / name)
    if names:
        (folder / "names").unlink()
        _sync(folder)
    (folder / "new.names").unlink(missing_ok=True)
    for path in left[1:]:
        shutil.rmtree(path, ignore_errors=True)
    return is_left


def _check_no_other(folder: Path, names: list[str]) -> None:
    """Raise RequestError if a new file has appeared in the place of an old part."""
    for name in names:
        new, old, here = folder / "new" / name, folder / "old" / name, folder.parent / name
        if all(map(os.path.lexists, (new, old, here))):
            raise RequestError(
                f"another program wrote this file after a killed run, and {folder.name} "
                "contains the earlier file",
                where=str(here),
                instead="move this file elsewhere, and run again",
            )


def _write_names(folder: Path, names: list[str]) -> None:
    """Write the names of the parts before any rename, completely or not at all."""
    path = folder / "new.names"
    path.write_bytes("\0".join(names).encode("utf-8", "surrogateescape"))
    _sync(path)
    os.rename(path, folder / "names")
    _sync(folder)


def _read_names(folder: Path) -> list[str]:
    try:
        data = (folder / "names").read_bytes()
    except FileNotFoundError:
        return []
    return data.decode("utf-8", "surrogateescape").split("\0")


def _close_to_others(path: Path) -> None:
    """Restrict a file, or a folder with all its contents, to its owner."""
    for folder, folders, files in os.walk(path):
        for name, mode in (*((one, 0o700) for one in folders), *((one, 0o600) for one in files)):
            os.chmod(Path(folder, name), mode)
    os.chmod(path, 0o700 if path.is_dir() else 0o600)


def _sync_tree(path: Path) -> None:
    for folder, folders, files in os.walk(path):
        for name in (*files, *folders):
            _sync(Path(folder, name))
    _sync(path)


def _sync(path: Path) -> None:
    """Flush a file to disk, or the names in a folder if the system supports it."""
    if path.is_dir() and os.name == "nt":
        return
    file = os.open(path, os.O_RDONLY if os.name != "nt" else os.O_RDWR)
    try:
        os.fsync(file)
    finally:
        os.close(file)


@contextmanager
def _failures(out: Path) -> Iterator[None]:
    try:
        yield
    except PermissionError:
        raise RequestError(
            "you have no permission to write to the output's folder",
            where=str(out),
            instead="write to another folder",
        ) from None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise RequestError(
                "the output's name is too long", where=str(out), instead="use a shorter name"
            ) from None
        raise (_full(out) if is_full(error) else error) from None


def _full(out: Path) -> VoileError:
    return VoileError(
        "the disk is full, and voile wrote nothing",
        where=str(out),
        instead="free space, or write to another disk",
    )
