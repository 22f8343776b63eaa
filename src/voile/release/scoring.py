"""Read the private folder of a release, which is needed to score an attack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.data import Source, open_source
from voile.release.manifest import CONTROL, PERSON, ROW, ROWS, StoredRelease


def private_manifest_of(release: StoredRelease) -> Mapping[str, Any]:
    """Return the private manifest.

    Raises
    ------
    RequestError : the private manifest is not next to the release.
    """
    if release.private is None:
        raise RequestError(
            "the private folder next to the release is missing, and an attack needs it",
            where=str(release.folder),
            instead="copy the private folder next to the release",
        )
    return release.private


def rows_released(release: StoredRelease) -> NDArray[np.int64]:
    """Return the source row number of each released row, (n,) int64."""
    return _numbers(_open_scoring(release, ROWS), ROW)


def rows_held_out(release: StoredRelease) -> NDArray[np.int64]:
    """Return the source row numbers of the held-out rows."""
    return _numbers(_open_scoring(release, CONTROL), ROW)


def people_released(release: StoredRelease) -> NDArray[np.int64] | None:
    """Return the person of each released row as a token, (n,) int64, or None without subjects."""
    rows = _open_scoring(release, ROWS)
    return _numbers(rows, PERSON) if PERSON in rows.columns else None


def _open_scoring(release: StoredRelease, name: str) -> Source:
    private_manifest_of(release)
    path = release.folder / name
    if not path.exists():
        raise RequestError(
            "the private folder next to the release is incomplete",
            where=str(path),
            instead="restore the private folder, or apply again",
        )
    return open_source(path)


def _numbers(source: Source, column: str) -> NDArray[np.int64]:
    return np.asarray(source.read([column]).column(column).to_numpy(), dtype=np.int64)
