"""Describe the outputs that voile writes, and recognise them. `--force` replaces only those."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from voile.core.errors import RequestError
from voile.keys.seal import EVIDENCE_SEAL, SEAL, file_sha256
from voile.keys.seal import FORMAT as SEAL_FORMAT

MANIFEST, PRIVATE, SET_ASIDE = ".manifest.json", ".private", ".set-aside.jsonl"
SIGNATURE = ".sig"
STUDY_FORMAT, STUDY_MANIFEST = "voile-study", "manifest.json"
"""The format and the manifest's name of a study's release, a folder that contains the manifest."""
SUFFIXES = ("", MANIFEST, PRIVATE, SET_ASIDE, SIGNATURE)
"""The suffixes that an output's parts add to the name of its main part."""

KIT_FORMAT, RELEASE_FORMAT, EVIDENCE_FORMAT = "voile-kit", "voile-release", "voile-evidence"
READINGS_FORMAT, DEMO_FORMAT = "voile-readings", "voile-demo"
ENROLMENT_FORMAT = "voile-enrolment"
ACCEPTANCE_FORMAT = "voile-acceptance"
LEDGER_FORMAT, HEADS_FORMAT = "voile-ledger", "voile-ledgers"
DETERMINATION_FORMAT = "voile-determination-files"
DETERMINATION_INDEX, DETERMINATION_FACTS = "files.json", "determination.json"
KIT_INDEX, DEMO_MARK = "kit.json", "demo.json"
WORK_FORMAT, WORK_VERSION, WORK_INDEX, WORK_KIT = "voile-work", 1, "work.json", "kit"
KIT_VERSION = 2
Visibility = Literal["private", "shareable"]
"""The people who may see a kit."""
GENERATOR = b'<meta name="generator" content="voile '
HEAD, MOST = 4096, 16 << 20
"""The number of bytes in which a report names its generator, and the largest editable file."""


_OTHERWISE = "choose another name, or remove it yourself"


class _ForeignFile(Exception):  # noqa: N818 - a finding, which becomes a sentence
    """A file in one of voile's folders that voile did not write."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.path = path


@dataclass(frozen=True)
class OutputKind:
    """A kind of output.

    name : its name in messages, with an article.
    is_ours : for each part, by its suffix, a function that returns whether voile wrote the existing
        file as that part. The main part comes first.
    is_private : whether only the owner may read its files (mode 0600), as in a `RELEASE.private`
        folder.
    belongs_in_private : whether voile stores it in that folder, where nothing else may be written.
    """

    name: str
    is_ours: Mapping[str, Callable[[Path], bool]]
    is_private: bool = False
    belongs_in_private: bool = False

    def parts(self, out: Path) -> list[Path]:
        """Return the paths of the parts of an output, the main part first."""
        return [out.with_name(f"{out.name}{suffix}") for suffix in self.is_ours]

    def check_free(self, out: Path, *, force: bool) -> None:
        """Raise RequestError for existing parts without `force`, or that voile did not write."""
        for path, is_ours in zip(self.parts(out), self.is_ours.values(), strict=True):
            if not os.path.lexists(path):
                continue
            if is_ours is never:
                raise RequestError(
                    f"the file exists, and {self.name} never replaces a file",
                    where=str(path),
                    instead=_OTHERWISE,
                )
            try:
                ours = not path.is_symlink() and _is_known(path, is_ours)
            except _ForeignFile as found:
                raise RequestError(
                    f"the output exists and contains {found.path.name}, which voile did not write",
                    where=str(path),
                    instead="move that file elsewhere, or choose another name",
                ) from None
            check_replaceable(self.name, str(path), is_ours=ours, force=force)


def never(path: Path) -> bool:
    """Return False. Outputs that must not be lost, such as ledgers and secrets, replace nothing."""
    return False


def _is_known(path: Path, is_ours: Callable[[Path], bool]) -> bool:
    """Return whether voile wrote a file. A file that cannot be read is foreign."""
    try:
        return is_ours(path)
    except OSError:
        return False


def check_replaceable(kind: str, where: str, *, is_ours: bool, force: bool) -> None:
    """Raise RequestError if an output exists and may not be replaced.

    It may be replaced with `force` if voile wrote it.
    """
    if not is_ours:
        raise RequestError(
            f"the file exists, and is not {kind} that voile wrote",
            where=where,
            instead=_OTHERWISE,
        )
    if not force:
        raise RequestError(
            "the output exists already", where=where, instead="replace it with --force"
        )


def is_in_private(place: Path) -> bool:
    """Return whether a path is a private folder, or is in one."""
    return any(folder.name.endswith(PRIVATE) for folder in (place, *_folders_of(place)))


def _folders_of(place: Path) -> Iterator[Path]:
    """Yield the parent folders of a path, as written and with links resolved."""
    yield from place.absolute().parents
    yield from Path(os.path.realpath(place)).parents


def check_outside(out: Path) -> None:
    """Raise RequestError for an output in a private folder or in a kit."""
    for folder in _folders_of(out):
        if folder.name.endswith(PRIVATE):
            contents = "the files of its release"
        elif json_at(folder / KIT_INDEX).get("format") == KIT_FORMAT:
            contents = "the files of a kit"
        else:
            continue
        raise RequestError(
            f"the output is in {folder.name}, which may contain only {contents}",
            where=str(out),
            instead="write to another folder",
        )


def manifest_of(format: str) -> bytes:
    """Return a manifest that only identifies a file or folder as voile's."""
    return json.dumps({"format": format, "version": 1}, indent=1).encode()


def json_at(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file, or an empty object."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def holds_only(folder: Path, names: Collection[str]) -> bool:
    """Return True if a folder contains only files of these names.

    Otherwise, `_ForeignFile` is raised for the first other file.
    """
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    return holds_no_other(
        Path(e) for e in entries if e.name not in names or not e.is_file(follow_symlinks=False)
    )


def holds_no_other(others: Iterable[Path]) -> bool:
    """Return True if there are no other files.

    Otherwise, raise `_ForeignFile` for the first one.
    """
    for other in others:
        raise _ForeignFile(other)
    return True


def _is_kit(path: Path) -> bool:
    index = json_at(path / KIT_INDEX)
    if index.get("format") != KIT_FORMAT:
        return False
    tables = _names(index.get("tables"))
    return holds_only(path, {KIT_INDEX, *(f"{name}.parquet" for name in tables)})


def _is_work(path: Path) -> bool:
    """Return whether a path is a work folder in which nobody has reviewed anything."""
    if json_at(path / WORK_INDEX).get("format") != WORK_FORMAT:
        return False
    known = {WORK_INDEX, WORK_KIT}
    return holds_no_other(path / name for name in sorted(os.listdir(path)) if name not in known)


def is_determination(path: Path) -> bool:
    """Return whether a path is the folder of a determination, signed or not, complete or not."""
    return any((path / name).is_file() for name in (DETERMINATION_INDEX, DETERMINATION_FACTS))


def _is_unsigned(path: Path) -> bool:
    index = json_at(path / DETERMINATION_INDEX)
    names = {DETERMINATION_INDEX, *_names(index.get("files"))}
    return index.get("format") == DETERMINATION_FORMAT and holds_only(path, names)


def _has_format(format: str, path: Path) -> bool:
    return json_at(path).get("format") == format


def _is_small_of(format: str, path: Path) -> bool:
    return _is_small(path) and _has_format(format, path)


_is_evidence = partial(_is_small_of, EVIDENCE_FORMAT)
_is_seal = partial(_has_format, SEAL_FORMAT)


def _is_report(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return GENERATOR in file.read(HEAD)


def _is_private(folder: Path) -> bool:
    """Return whether `apply`, `attack` or `report` wrote all files of a private folder."""
    seals = [folder / name for name in (SEAL, EVIDENCE_SEAL)]
    known = {name for seal in seals if _is_seal(seal) for name in {seal.name, *_list_sealed(seal)}}
    return holds_no_other(
        path
        for path in sorted(folder.iterdir())
        if not (path.name in known and path.is_file())
        if not (_is_evidence(path) or _is_report(path))
    )


def _list_sealed(seal: Path) -> set[str]:
    return _names(json_at(seal).get("files"))


def _names(found: object) -> set[str]:
    return set(map(str, found)) if isinstance(found, list | dict) else set()


def _known_by_manifest(format: str) -> dict[str, Callable[[Path], bool]]:
    """Recognise a file by the manifest of this format next to it."""
    return {"": _is_beside(format, ""), MANIFEST: partial(_has_format, format)}


def _is_beside(format: str, suffix: str) -> Callable[[Path], bool]:
    """Return a function that recognises a file by the manifest next to the main part.

    The name of the file is that of the main part with this suffix.
    """

    def is_ours(path: Path) -> bool:
        main = path.name.removesuffix(suffix)
        return path.is_file() and _has_format(format, path.with_name(f"{main}{MANIFEST}"))

    return is_ours


def _is_release(path: Path) -> bool:
    """Recognise a release's file by the manifest next to it. A folder must also match its hash."""
    if not path.is_dir():
        return _is_beside(RELEASE_FORMAT, "")(path)
    manifest = json_at(path.with_name(f"{path.name}{MANIFEST}"))
    return manifest.get("format") == RELEASE_FORMAT and manifest.get("sha256") == file_sha256(path)


def _is_policy(path: Path) -> bool:
    return _toml(path).keys() >= {"kind", "kit", "choice", "figures", "policy"}


def _is_roles(path: Path) -> bool:
    columns = _toml(path).get("columns")
    return isinstance(columns, dict) and all(
        isinstance(column, str) or (isinstance(column, dict) and "role" in column)
        for column in columns.values()
    )


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig")) if _is_small(path) else {}
    except (OSError, ValueError, RecursionError):
        return {}


def _is_small(path: Path) -> bool:
    return path.is_file() and path.stat().st_size <= MOST


def _is_demo(path: Path) -> bool:
    return _has_format(DEMO_FORMAT, path / DEMO_MARK)


KIT = OutputKind("a kit", {"": _is_kit})
WORK = OutputKind("an unreviewed work folder", {"": _is_work})
POLICY = OutputKind("a policy", {"": _is_policy}, is_private=True)
ROLES = OutputKind("a roles file", {"": _is_roles})
RELEASE = OutputKind(
    "a release",
    {**_known_by_manifest(RELEASE_FORMAT), "": _is_release, PRIVATE: _is_private},
)
STORED_RELEASE = OutputKind("a release's private folder", {"": _is_private})
"""The local part of a release that is published in a store."""
READINGS = OutputKind(
    "a file of readings",
    {
        **_known_by_manifest(READINGS_FORMAT),
        SET_ASIDE: _is_beside(READINGS_FORMAT, SET_ASIDE),
    },
    is_private=True,
)
EVIDENCE = OutputKind("evidence", {"": _is_evidence}, is_private=True, belongs_in_private=True)
SEALS = OutputKind("a seal", {"": _is_seal}, is_private=True, belongs_in_private=True)
ENROLMENT = OutputKind(
    "an enrolment", {"": partial(_is_small_of, ENROLMENT_FORMAT)}, is_private=True
)
ACCEPTANCE = OutputKind(
    "an acceptance", {"": partial(_has_format, ACCEPTANCE_FORMAT)}, is_private=True
)
DETERMINATION = OutputKind("an unsigned determination", {"": _is_unsigned})
CONTEXT = OutputKind("a context", {"": never})
"""A context file. People fill it in, so it is never replaced."""
STATEMENT = OutputKind("a statement", {"": never, SIGNATURE: never})
REPORT = OutputKind("a report", {"": _is_report})
INTERNAL_REPORT = replace(REPORT, is_private=True)
LEDGER = OutputKind("a ledger", {"": never}, is_private=True)
"""A ledger is never replaced, so that no published release is forgotten."""
HEADS = OutputKind(
    "a record of ledgers", {"": partial(_is_small_of, HEADS_FORMAT)}, is_private=True
)
DEMO = OutputKind("a demo", {"": _is_demo})
