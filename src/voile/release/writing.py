"""Write a release so that it appears completely or not at all, on disk or in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from voile.core.errors import RequestError
from voile.data import Staging, open_source, open_writer, publishing
from voile.data.files import outputs
from voile.data.files.memory import AnyPath, MemoryPath
from voile.data.frames import Frame
from voile.data.opening import check_address, split_output
from voile.data.stores.path import StorePath
from voile.data.stores.upload import check_free, settle, upload
from voile.keys.seal import SEAL, FileSeal, file_sha256
from voile.keys.secret import Secret
from voile.release.manifest import (
    ESCAPED,
    MANIFEST,
    PARTS_OF,
    PRIVATE_MANIFEST,
    PUBLISHED,
    RELEASE,
    StoredRelease,
    encode,
    hashes_of,
    is_private_of,
    manifest_path,
    private_path,
    stored_private_path,
)

IN_MEMORY = "release"
NO_LISTS = (".csv", ".tsv")


@dataclass(frozen=True)
class ReleaseParts:
    """The paths to which the parts of a release are written before they appear.

    Parameters
    ----------
    release : the file, or the rows in memory.
    rows : the argument of `open_writer`, with the table's name if the release is a table.
    private : the private folder.
    scratch : a folder for temporary files. None in memory, where no rows are spilled.
    """

    release: AnyPath
    rows: str | AnyPath
    private: AnyPath
    scratch: Path | None


Manifests: TypeAlias = tuple[dict[str, Any], dict[str, Any]]
"""The public and the private manifest, without the hash of the release."""
Fill: TypeAlias = Callable[[ReleaseParts], Manifests]
Before: TypeAlias = Callable[[Mapping[str, str]], None]
"""The function to call when all parts are written and none has appeared. It gets their hashes."""


def write_release(
    out: Path | None,
    fill: Fill,
    *,
    secret: Secret | None,
    like: Frame,
    force: bool,
    before: Before | None = None,
) -> StoredRelease:
    """Let `fill` write the parts of a release, and make them appear together.

    Parameters
    ----------
    out : the path of the release, or None for a release in memory.
    secret : the secret that seals the release, now or when it is saved.
    like : the type of frame in which the release is shown.
    before : called just before a release on disk appears. If it fails, nothing appears.
    """
    if out is None:
        return _hold(fill, secret, like)
    if (stored := StorePath.parse(out)) is not None:
        return _publish(stored, fill, secret, like, before, force=force)
    check_address(out, written=True)
    out, table = split_output(out)
    with Staging(out, outputs.RELEASE, force=force) as staging:
        private = staging.folder(private_path(out), mode=0o700)
        part = staging.part(out)
        rows = f"{part}::{table}" if table else part
        manifests = fill(ReleaseParts(part, rows, private, staging.scratch()))
        manifest = staging.part(manifest_path(out))
        _seal(manifests, part, manifest, private, secret, before)
        with publishing(part, table, force=force) as publish:
            staging.commit(publish)
    return StoredRelease.open(out, like=like)


def _publish(
    out: StorePath,
    fill: Fill,
    secret: Secret | None,
    like: Frame,
    before: Before | None,
    *,
    force: bool,
) -> StoredRelease:
    """Write and certify a release in a private folder on this machine, then send it to a store."""
    with preparing(out, force=force) as staging:
        private = staging.folder(staging.out, mode=0o700)
        scratch = staging.scratch()
        part = scratch / out.name
        public, hidden = fill(ReleaseParts(part, part, private, scratch))
        parts = hashes_of(part)
        manifests = {**public, PARTS_OF: parts}, {**hidden, PUBLISHED: str(out)}
        manifest = manifest_path(part)
        _seal(manifests, part, manifest, private, secret, before)
        journal = staging.journal
        staging.commit(lambda: upload(out, part, manifest, parts, journal, force=force))
    return StoredRelease.open(str(out), like=like)


@contextmanager
def preparing(out: StorePath, *, force: bool) -> Iterator[Staging]:
    """Stage a release for a store on this machine, after a check that its place is free.

    Raises
    ------
    RequestError : a release is in the way, or the private folder here belongs to another release.
    """
    private = stored_private_path(out)
    if private.exists() and not is_private_of(private, out):
        raise RequestError(
            "the folder is the private folder of another release",
            where=str(private),
            instead="write to another folder",
        )
    with Staging(private, outputs.STORED_RELEASE, force=force) as staging:
        settle(out, staging.journal)
        check_free(out, force=force)
        yield staging


def _seal(
    manifests: Manifests,
    part: Path,
    manifest: Path,
    private: Path,
    secret: Secret | None,
    before: Before | None,
) -> None:
    """Write the manifests of a release's bytes, and the seal of all its files."""
    for place, content in _encode_manifests(manifests, file_sha256(part), manifest, private):
        place.write_bytes(content)
    seal = FileSeal.of({RELEASE: part, MANIFEST: manifest}, private, secret)
    (private / SEAL).write_bytes(seal.to_bytes())
    if before is not None:
        before(seal.files)


def _hold(fill: Fill, secret: Secret | None, like: Frame) -> StoredRelease:
    """Write a release into memory. Its hash is the hash of its rows."""
    place = MemoryPath(IN_MEMORY)
    manifest, private = manifest_path(place), private_path(place)
    manifests = fill(ReleaseParts(place, place, private, None))
    sha256 = open_source(place).fingerprint()
    for part, content in _encode_manifests(manifests, sha256, manifest, private):
        part.write_bytes(content)
    return StoredRelease.open(place, like=like, secret=secret)


def _encode_manifests(
    manifests: Manifests, sha256: str, manifest: AnyPath, private: AnyPath
) -> list[tuple[AnyPath, bytes]]:
    public, hidden = ({**one, "sha256": sha256} for one in manifests)
    return [(manifest, encode(public)), (private / PRIVATE_MANIFEST, encode(hidden))]


def save_release(release: StoredRelease, out: Path, *, escape: bool, force: bool) -> StoredRelease:
    """Write a release that is in memory to disk, as apply would have done."""
    place, folder = release.path, release.folder
    if not isinstance(place, MemoryPath) or not isinstance(folder, MemoryPath):
        raise RequestError(
            "the release is already a file", where=str(place), instead="copy the file"
        )

    types = open_source(place).columns
    items = [one["column"] for one in release.public["columns"] if one["role"] == "items"]
    check_lists(out, [name for name in items if pa.types.is_list(types[name])])

    def fill(parts: ReleaseParts) -> Manifests:
        for part in folder.iterdir():
            if part.rows is None:
                (parts.private / part.name).write_bytes(part.read_bytes())
            else:
                _copy(part, parts.private / part.name)
        counted = _copy(place, parts.rows, force=force, escape=escape)
        formulas = {"escaped": escape, "cells": dict(counted)}
        said = {"formulas": ESCAPED} if escape else {}
        return {**release.public, **said}, {**(release.private or {}), "formulas": formulas}

    return write_release(out, fill, secret=release.secret, like=release.like, force=force)


def check_lists(out: Path, columns: Sequence[str]) -> None:
    """Refuse formats in which lists would be read back as text and could not be certified."""
    if columns and out.suffix.lower() in NO_LISTS:
        raise RequestError(
            f"column {columns[0]} contains lists, which {out.suffix} cannot contain",
            where=out.name,
            instead="write .parquet or .jsonl, or .dat if it is the only column",
        )


def _copy(
    place: MemoryPath, out: str | AnyPath, *, force: bool = False, escape: bool = False
) -> Mapping[str, int]:
    """Copy rows from memory to a file. Return the number of formula cells of each column."""
    source = open_source(place)
    with open_writer(out, source.schema(), force=force, escape=escape) as writer:
        for batch in source.batches():
            writer.write(batch)
    return writer.formulas
