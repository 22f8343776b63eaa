"""A release on disk and its two manifests: a public one for recipients, and a private one.

Two items are written next to a release. Publish ``OUT.manifest.json`` with the release. Never
publish ``OUT.private/``, which has mode 0700. It contains a hash of the source, with which anyone
can confirm a guess, and a seed, which undoes noise.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from voile.core.arguments import check_arguments
from voile.core.brief import BriefRepr
from voile.core.errors import DamagedError, RequestError, TamperedError
from voile.data.files.memory import AnyPath, MemoryPath
from voile.data.files.outputs import RELEASE_FORMAT, json_at
from voile.data.files.own_files import read_json
from voile.data.stores.path import StorePath
from voile.keys.seal import SEAL, FileSeal, file_sha256

if TYPE_CHECKING:
    import pyarrow as pa

    from voile.data import Source
    from voile.data.frames import Frame
    from voile.keys.secret import Secret

FORMAT = RELEASE_FORMAT
VERSION = 1
ROWS, ROW, PERSON = "rows.parquet", "row", "person"  # source row and person of each released row
RELEASE, MANIFEST = "release", "manifest"  # names of the two public files in the seal
CONTROL, ASIDE = "control.parquet", "set-aside.csv"  # held-out and rejected rows
PRIVATE_MANIFEST = "manifest.json"
PEOPLE, WHO = "people.parquet", "person"
"""The file and the column with the people of a release in a ledger, as tokens under its key."""
APPLIED = (SEAL, PRIVATE_MANIFEST, ROWS, CONTROL, ASIDE)
"""The files that apply writes into every private folder."""
FINDINGS = "findings"
"""The part of the private manifest with the gate's findings.

The values in `figures` come from them.
"""
DIGESTS = "columns"
"""The digests of a source's columns, in the private manifest's part about the source."""
INVENTORY = "inventory"
"""The part of the private manifest with the fate of each source column."""
PREDICTED = "predicted"
"""The part of the public manifest that lists the figures predicted by the fit and not measured."""
ACCEPTED = "accepted_risk"
"""The part of the public manifest with the data holder's reason for accepting the risk."""
EVIDENCE = "evidence.json"  # its name in the private folder
ESCAPED = "escaped by an apostrophe"
PARTS = {"chosen": dict, "counts": dict, "figures": dict, "kind": str, "sha256": str}
PUBLIC = frozenset({"figures", "kind", "sha256"})
PRIVATE = frozenset({"chosen", "counts", "figures", "sha256"})


PARTS_OF, PUBLISHED = "parts", "published"
"""For a release in a store: the public hashes of its files, and its address for the holder."""
P = TypeVar("P", bound=AnyPath | StorePath)


def manifest_path(out: P) -> P:
    return cast(P, out.with_name(f"{out.name}.manifest.json"))


def private_path(out: P) -> P:
    """Return the path of the private folder."""
    return cast(P, out.with_name(f"{out.name}.private"))


def source_rows(folder: AnyPath) -> pa.Array:
    """Return the source row number of each released row, from a private folder."""
    from voile.data import open_source

    return open_source(folder / ROWS).read([ROW]).column(0).combine_chunks()


def hashes_of(release: Path) -> dict[str, str]:
    """Return the SHA-256 of each file of a release, by its name."""
    files = sorted(release.iterdir()) if release.is_dir() else [release]
    return {one.name: file_sha256(one) for one in files}


def stored_private_path(out: StorePath) -> Path:
    """Return the private folder of a release in a store, which is in the working folder."""
    return private_path(Path(out.name))


def is_private_of(folder: Path, out: StorePath) -> bool:
    """Return whether a private folder belongs to a release in a store, or cannot be read."""
    hidden = json_at(folder / PRIVATE_MANIFEST)
    return not hidden or hidden.get(PUBLISHED) == str(out)


def encode(manifest: Mapping[str, Any]) -> bytes:
    """Return a manifest as bytes. The same content gives the same bytes."""
    return json.dumps(manifest, indent=1, sort_keys=True, ensure_ascii=False).encode()


@dataclass(frozen=True, eq=False)
class StoredRelease(BriefRepr):
    """A release, on disk or in memory.

    Parameters
    ----------
    path : the location of the release: on this machine, in memory, or in a store.
    public : the public manifest.
    private : the private manifest, which is never published. None if only the release was received.
    like : the type of the source's frame, in which the release is shown.
    secret : the secret that seals a release in memory when it is saved.
    """

    shows = (
        "kind",
        "path",
    )

    path: AnyPath | StorePath
    public: Mapping[str, Any]
    private: Mapping[str, Any] | None = None
    like: Frame = "arrow"
    secret: Secret | None = None

    @property
    def kind(self) -> str:
        """The kind of data."""
        return str(self.public["kind"])

    def _repr_html_(self) -> str:
        from voile.report.notebook import frame_blocks
        from voile.report.sections import Figure, Figures, codebook

        said = self.public["figures"].items()
        predicted = self.public.get(PREDICTED, ())
        figures = tuple(
            Figure(name.replace("_", " "), f"{x:g}", "predicted by the fit" * (name in predicted))
            for name, x in said
        )
        return frame_blocks(
            f"A release of {self.kind}: {self.path.name}",
            [Figures(figures), *codebook(self.public["columns"]).blocks],
        )

    @property
    def manifest(self) -> Mapping[str, Any]:
        """The public manifest, which is published with the release."""
        return self.public

    @property
    def frame(self) -> Any:
        """The released rows, in the source's type of frame, or as Arrow if it was a file."""
        from voile.data import to_frame

        if self.like == "spark" and isinstance(self.path, Path) and self.path.is_dir():
            from voile.data.spark.session import open_session

            return open_session().read.parquet(str(self.path.absolute()))
        return to_frame(self.to_arrow(), like=self.like)

    def to_arrow(self) -> pa.Table:
        """Return the released rows as an Arrow table."""
        import pyarrow as pa

        rows = self.rows()
        return pa.Table.from_batches(rows.batches(), rows.schema())

    def to_pandas(self) -> Any:
        """Return the released rows as a pandas frame."""
        from voile.data import to_frame

        return to_frame(self.to_arrow(), like="pandas")

    def to_polars(self) -> Any:
        """Return the released rows as a Polars frame."""
        from voile.data import to_frame

        return to_frame(self.to_arrow(), like="polars")

    @property
    def folder(self) -> AnyPath:
        """The path of the private folder."""
        if not isinstance(self.path, StorePath):
            return private_path(self.path)
        folder = stored_private_path(self.path)
        return folder if is_private_of(folder, self.path) else private_path(self.local)

    @cached_property
    def local(self) -> AnyPath:
        """The path from which the bytes are read.

        A release in a store is copied once, to a private copy.
        """
        if not isinstance(self.path, StorePath):
            return self.path
        from voile.data.stores.copies import copy_release

        local = copy_release(self.path)
        manifest_path(local).write_bytes(manifest_path(self.path).read_bytes())
        return local

    @classmethod
    @check_arguments
    def open(
        cls,
        path: str | os.PathLike[str] | MemoryPath,
        *,
        like: Frame = "arrow",
        secret: Secret | None = None,
    ) -> Self:
        """Read the manifests next to a release.

        Raises
        ------
        RequestError : there is no release, no manifest next to it, or a manifest of a newer
            version.
        DamagedError : a manifest is damaged or lacks a part.
        """
        from voile.data.opening import split_output
        from voile.data.postgres.address import DatabaseAddress

        if (stored := StorePath.parse(path)) is not None:
            return cls._open_stored(stored, like, secret)
        if not isinstance(path, MemoryPath):
            if (table := DatabaseAddress.parse(path)) is not None:
                raise RequestError(
                    "a release in a database is opened by its pointer file",
                    instead=f"open {table.file}",
                )
            path, _ = split_output(path)
        if not path.exists():
            raise RequestError("no such release", where=str(path))
        public = _read_manifest(manifest_path(path), PUBLIC)
        private = private_path(path) / PRIVATE_MANIFEST
        hidden = _read_manifest(private, PRIVATE) if private.exists() else None
        return cls(path, public, hidden, like, secret)

    @classmethod
    def _open_stored(cls, path: StorePath, like: Frame, secret: Secret | None) -> Self:
        """Read the manifest of a release in a store.

        Its private manifest, if any, is on this machine.
        """
        public = _read_manifest(manifest_path(path), PUBLIC)
        folder = stored_private_path(path)
        private = folder / PRIVATE_MANIFEST
        is_own = private.exists() and is_private_of(folder, path)
        return cls(path, public, _read_manifest(private, PRIVATE) if is_own else None, like, secret)

    def rows(self) -> Source:
        """Open the released rows, without the apostrophes that escape formulas."""
        from voile.data.formulas import UnescapedSource
        from voile.data.opening import open_released

        rows = open_released(self.local)
        return UnescapedSource(rows) if self.public.get("formulas") == ESCAPED else rows

    def people(self) -> Source | None:
        """Return the person of each released row as a token, or None if it is unknown."""
        from voile.data import open_source

        path = self.folder / ROWS
        rows = open_source(path) if path.exists() else None
        return rows if rows is not None and PERSON in rows.columns else None

    @property
    def counted_unit(self) -> str:
        """The unit that a check counts: "people" if the private folder has row records."""
        return "people" if (self.folder / ROWS).exists() else "rows"

    @property
    def is_sealed(self) -> bool:
        """Whether this is the holder's copy: the private folder has a file that apply wrote."""
        return any((self.folder / name).exists() for name in APPLIED)

    def sealed_place(self, name: str) -> AnyPath:
        """Return the path of a file of the seal."""
        public = {RELEASE: self.local, MANIFEST: manifest_path(self.local)}
        return public.get(name, self.folder / name)

    def seal(self, name: str) -> FileSeal:
        """Read a seal in the private folder. Raise `TamperedError` if there is none."""
        place = self.folder / name
        if isinstance(place, MemoryPath):
            raise TamperedError("there is no seal here", where=str(place))
        return FileSeal.read_file(place)

    def check_source(self, source: Source, rows: int) -> None:
        """Raise `RequestError` if the given data are not the released source.

        Data with the name of the released source must have its hash, although a frame may have
        further columns. The same holds for a file with another name, but with the same columns and
        format. Other data, such as an annotated copy or a frame of a file's rows, need the same
        number of rows. They also need the same values in each common column.

        Parameters
        ----------
        source : the data to check.
        rows : the number of rows in these data.
        """
        self.check_rows(rows, source.name)
        private = self.private or {}
        applied, known = private.get("source", {}), private.get(INVENTORY)
        name = str(applied.get("name"))
        is_copy = name != source.name
        end = PurePath(source.name).suffix
        is_alike = known is not None and known.keys() == source.columns.keys()
        if is_copy and not (is_alike and end and end == PurePath(name).suffix):
            from voile.data.column_digests import find_changed  # needs pyarrow

            changed = find_changed(applied.get(DIGESTS, {}), source)
            if changed is None:
                return
            raise RequestError(
                f"column {changed} has other values, or another order, than in the released source",
                where=source.name,
                instead="give the source as it was, or apply the policy again",
            )
        if known:
            source = source.without_others(known)
        if applied["sha256"] == source.fingerprint():
            return
        reason, instead = "the source has changed since the release was made", ""
        if is_copy:
            reason = "the file has the columns of the released source, and other bytes"
            instead = "; a copy with further columns or in another format is held to its values"
        raise RequestError(
            reason,
            where=source.name,
            instead=f"give the source as it was, or apply the policy again{instead}",
        )

    def check_rows(self, rows: int, name: str) -> None:
        """Raise `RequestError` if the data have another number of rows than the released source."""
        read = (self.private or {}).get("counts", {}).get("read", rows)
        if read != rows:
            raise RequestError(
                f"the original data have {rows:,} rows, and the release was made of {read:,}",
                where=name,
                instead="give the source that was applied",
            )

    def check_hash(self) -> None:
        """Raise `TamperedError` if the release's bytes differ from the hash in the manifest.

        For a table in a database the bytes are its rows, which are read once.
        """
        from voile.data import open_source
        from voile.data.opening import TABLES

        local = self.local
        if isinstance(local, MemoryPath):
            found = open_source(local).fingerprint()
        else:
            found = file_sha256(local)
        if found != self.public["sha256"]:
            raise TamperedError(
                "the release's bytes are not those its manifest names",
                where=str(self.path),
                instead="restore it, or apply again",
            )
        if self.path.suffix in TABLES:
            self.rows()


def _read_manifest(path: AnyPath | StorePath, parts: frozenset[str]) -> dict[str, Any]:
    try:
        manifest = read_json(path, "the manifest")
    except (FileNotFoundError, NotADirectoryError):
        raise RequestError(
            "the release has no manifest next to it",
            where=str(path),
            instead="give the release of apply, with the files next to it",
        ) from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise DamagedError("this is not a release's manifest", where=str(path))
    if not isinstance(manifest.get("version"), int):
        raise DamagedError("the manifest has no version", where=str(path), instead="apply again")
    if manifest["version"] > VERSION:
        raise RequestError(
            f"the manifest has version {manifest['version']} and this voile reads up to {VERSION}",
            where=str(path),
            instead="use a newer voile",
        )
    if absent := sorted(parts - manifest.keys()):
        raise DamagedError(
            f"the manifest lacks {', '.join(absent)}", where=str(path), instead="apply again"
        )
    for part in parts:
        if not isinstance(manifest[part], PARTS[part]):
            raise DamagedError(f"the manifest's {part} is not one", where=str(path))
    return manifest
