"""Evidence on disk: what attacks on one release found, as JSON in the holder's private folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from voile.core.errors import DamagedError, RequestError
from voile.core.evidence import FORBID, Evidence
from voile.data.files import outputs

if TYPE_CHECKING:
    from voile.keys.secret import Secret
    from voile.release.manifest import Release


@dataclass(frozen=True, kw_only=True)
class _File:
    """What is in the file; nothing else may be."""

    __pydantic_config__ = FORBID

    format: Literal["voile-evidence"] = "voile-evidence"
    version: Literal[2] = 2
    kind: str
    release: str
    evidence: tuple[Evidence, ...]


def default_place(release: Release) -> Path:
    """Return where evidence of a release is looked for."""
    from voile.release.manifest import EVIDENCE

    return release.folder / EVIDENCE


def write_evidence(
    place: Path, release: Release, found: Sequence[Evidence], secret: Secret | None, *, force: bool
) -> None:
    """Write evidence with the hash of the release it is about, and seal it."""
    from voile.data.files.atomic import write_text
    from voile.release.verify import seal_evidence

    file = _File(kind=release.kind, release=release.public["sha256"], evidence=tuple(found))
    if place == default_place(release):
        place.parent.mkdir(mode=0o700, exist_ok=True)
    text = json.dumps(asdict(file), indent=1, ensure_ascii=False)
    write_text(place, text, outputs.EVIDENCE, force=force)
    seal_evidence(release, place, secret)


def read_evidence(place: Path, release: Release, secret: Secret | None) -> tuple[Evidence, ...]:
    """Read evidence back; that of another release, or not as it was written, is refused."""
    from pydantic import TypeAdapter, ValidationError

    from voile.data.files.own_files import read_bytes
    from voile.release.verify import check_evidence

    try:
        found = TypeAdapter(_File).validate_json(read_bytes(place), strict=True)
    except (FileNotFoundError, NotADirectoryError):
        raise RequestError("no such evidence file", where=str(place)) from None
    except ValidationError as error:
        problems = {".".join(map(str, one["loc"])): one["msg"] for one in error.errors()}
        raise _refused(problems, place) from None
    if found.release != release.public["sha256"]:
        raise RequestError(
            "this evidence is about another release",
            where=str(place),
            instead=f"run voile {release.kind} attack again",
        )
    check_evidence(release, place, secret)
    return found.evidence


def _refused(problems: Mapping[str, str], place: Path) -> RequestError:
    """Say in one sentence why a file is no evidence; `problems` has a message by field."""
    if "" in problems or "format" in problems:
        return RequestError("not an evidence file", where=str(place))
    if "version" in problems:
        return RequestError(
            "evidence of another version", where=str(place), instead="attack the release again"
        )
    field, message = next(iter(problems.items()))
    return DamagedError(f"the evidence is damaged: {field}: {message}", where=str(place))
