"""Private copies of files in a store, for formats that need several passes or no ranges."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from voile.core.errors import SourceError, VoileError
from voile.data.standard_input import private_folder
from voile.data.stores.path import StorePath


def copy_of(path: StorePath) -> Path:
    """Return a copy of a file that only its owner may read.

    It is made once, and removed at exit.
    """
    return _copy_once(path, path.state())


@lru_cache
def _copy_once(path: StorePath, state: tuple[int, str]) -> Path:
    place = private_folder() / path.name
    copy(path, place)
    return place


def copy(path: StorePath, place: Path) -> None:
    """Copy a file to a new place."""
    try:
        with open(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            for chunk in path.chunks():
                file.write(chunk)
    except VoileError:
        raise
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise SourceError(
            f"the object cannot be copied to this machine: {why}", where=str(path)
        ) from None


def copy_release(path: StorePath) -> Path:
    """Return a private copy of a release, which is a file or a folder of files.

    Raises SourceError: the folder contains a file with an invalid name for this machine.
    """
    place = private_folder() / path.name
    if path.is_file():
        copy(path, place)
        return place
    place.mkdir(mode=0o700)
    for one in path.files():
        name = str(one.relative_to(path))
        if name != one.name or name in (".", ".."):
            raise SourceError(
                "the release's folder contains another folder, which no release does",
                where=str(path),
                instead="move the inner folder elsewhere",
            )
        copy(one, place / name)
    return place
