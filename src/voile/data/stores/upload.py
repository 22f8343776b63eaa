"""Upload a release to a store: first its parts, and last its manifest, which completes it.

A store has no renames. Nothing is therefore written there before the release is certified from its
bytes on this machine. Parts are then sent under their own names, and the manifest last. A release
without its manifest is incomplete, and `open` rejects it.

A journal on this machine lists the remains of a killed upload, and the next run removes them. See
`leftovers` for the remains that no listing shows. If the manifest exists, the release is complete,
and nothing is removed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from voile.core.errors import RequestError, VoileError
from voile.data.files.outputs import MANIFEST, RELEASE_FORMAT, check_replaceable
from voile.data.stores.leftovers import remove_leftovers
from voile.data.stores.path import CHUNK, StorePath


def manifest_of(out: StorePath) -> StorePath:
    return out.with_name(f"{out.name}{MANIFEST}")


def settle(out: StorePath, journal: Path) -> None:
    """Remove the remains of a killed or failed upload by this machine."""
    try:
        written = json.loads(journal.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return
    except ValueError:  # cut, so that nothing was sent
        written = {"old": [], "sent": {}}
    last = manifest_of(out)
    if last.json().get("format") != RELEASE_FORMAT:  # not there, or cut
        sent = {_place(out, name): sha256 for name, sha256 in written["sent"].items()}
        remove_leftovers(sent)
        for one in dict.fromkeys((last, *_place_parts(out, written["old"]), *sent)):
            one.unlink()
    journal.unlink()


def check_free(out: StorePath, *, force: bool) -> None:
    """Raise RequestError if a release cannot be published at this address.

    It can replace an existing release only with `force`, and if voile wrote that release. The error
    is also raised if the store is read-only, or the bucket does not exist.
    """
    if out.is_web:
        raise RequestError(
            f"voile does not write to {out.scheme} addresses",
            where=str(out),
            instead="write a file, and upload the file",
        )
    if "/" not in out.key:
        raise RequestError(
            "the address contains a bucket and no name of a release",
            where=str(out),
            instead="add a name after the bucket",
        )
    bucket = StorePath(out.scheme, out.key.partition("/")[0], out.account)
    if not bucket.is_dir():
        raise RequestError(
            "the bucket does not exist",
            where=str(bucket),
            instead="create the bucket, or correct its name",
        )
    manifest = manifest_of(out).json()
    known = {*_place_parts(out, _parts(manifest))}
    there = {out} if out.is_file() else {*out.files()}
    if not there and not manifest_of(out).is_file():
        return
    is_ours = manifest.get("format") == RELEASE_FORMAT and there <= known
    check_replaceable("a release", str(out), is_ours=is_ours, force=force)


def upload(
    out: StorePath,
    release: Path,
    manifest: Path,
    parts: Mapping[str, str],
    journal: Path,
    *,
    force: bool,
) -> None:
    """Send the parts of a release, then its manifest. The earlier release is removed first.

    parts : the SHA-256 of each file of the release, by name.

    If it fails, no new part remains, and the earlier release is gone.

    Raises VoileError: the sent bytes differ from the release, or another file appeared meanwhile.
    """
    check_free(out, force=force)
    last = manifest_of(out)
    old = _parts(last.json())
    _write(journal, [*old], {**parts, last.name: hashlib.sha256(manifest.read_bytes()).hexdigest()})
    last.unlink()
    try:
        for one in _place_parts(out, old):
            one.unlink()
        for name, sha256 in parts.items():
            source = release / name if release.is_dir() else release
            if _place(out, name).write(_chunks(source)) != sha256:
                raise VoileError(
                    "the file changed while voile sent it", where=name, instead="run again"
                )
        last.write(_chunks(manifest))
    finally:
        settle(out, journal)


def _parts(manifest: Mapping[str, object]) -> dict[str, str]:
    found = manifest.get("parts")
    return {str(name): str(x) for name, x in found.items()} if isinstance(found, dict) else {}


def _place_parts(out: StorePath, names: Iterable[str]) -> list[StorePath]:
    """Return the paths of the parts of a manifest.

    Names that are invalid for a part are ignored.
    """
    plain = (name for name in names if name == Path(name).name and name not in ("", ".", ".."))
    return [_place(out, name) for name in plain]


def _place(out: StorePath, name: str) -> StorePath:
    """Return the path of a part. A part with the release's own name is that file."""
    return {out.name: out, manifest_of(out).name: manifest_of(out)}.get(name, out / name)


def _write(journal: Path, old: Sequence[str], sent: Mapping[str, str]) -> None:
    with journal.open("w", encoding="utf-8") as file:
        json.dump({"old": old, "sent": sent}, file)
        file.flush()
        os.fsync(file.fileno())


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk
