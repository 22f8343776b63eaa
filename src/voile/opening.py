"""Open saved kits and releases as the public classes, with the methods of their kind of data."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from voile.core.arguments import check_arguments
from voile.face.kit import Kit
from voile.face.release import Release
from voile.modules import find_module
from voile.release.kit import StoredKit as PlainKit
from voile.release.manifest import StoredRelease as PlainRelease


@check_arguments
def open_kit(path: str | PathLike[str]) -> Kit:
    """Open a kit that `Kit.save` or `voile KIND fit` wrote."""
    kit = PlainKit.load(Path(path))
    return Kit.of(kit, find_module(kit.kind))


@check_arguments
def open_release(path: str | PathLike[str]) -> Release:
    """Open a release that `Kit.apply`, `Release.save` or `voile KIND apply` wrote.

    The attribute `frame` of the release is an Arrow table.
    """
    release = PlainRelease.open(path)
    return Release.of(release, find_module(release.kind))
