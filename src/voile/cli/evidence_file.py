"""Evidence on disk: what attacks on one release found, as JSON in the holder's private folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from voile.errors import RequestError, TamperedError
from voile.io import outputs

if TYPE_CHECKING:
    from voile.evidence import Evidence
    from voile.release import Release
    from voile.secret import Secret

FORMAT = outputs.EVIDENCE_FORMAT
VERSION = 1


def default_place(release: Release) -> Path:
    """Return where evidence of a release is looked for."""
    from voile.release import EVIDENCE

    return release.folder / EVIDENCE


def write_evidence(
    place: Path, release: Release, found: Sequence[Evidence], secret: Secret | None, *, force: bool
) -> None:
    """Write evidence with the hash of the release it is about, and seal it."""
    from voile.io.atomic import write_text
    from voile.verifying import seal_evidence

    data = {
        "format": FORMAT,
        "version": VERSION,
        "kind": release.kind,
        "release": release.public["sha256"],
        "evidence": [evidence.to_json() for evidence in found],
    }
    if place == default_place(release):
        place.parent.mkdir(mode=0o700, exist_ok=True)
    text = json.dumps(data, indent=1, ensure_ascii=False)
    write_text(place, text, outputs.EVIDENCE, force=force)
    seal_evidence(release, place, secret)


def read_evidence(place: Path, release: Release, secret: Secret | None) -> tuple[Evidence, ...]:
    """Read evidence back; that of another release, or not as it was written, is refused."""
    from voile.evidence import Evidence
    from voile.verifying import check_evidence

    try:
        data = json.loads(place.read_bytes())
    except FileNotFoundError:
        raise RequestError("no such evidence file", where=str(place)) from None
    except ValueError:
        raise RequestError("not an evidence file", where=str(place)) from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise RequestError("not an evidence file", where=str(place))
    if data["version"] > VERSION:
        raise RequestError(f"evidence of version {data['version']}", instead="use a newer voile")
    if data["release"] != release.public["sha256"]:
        raise RequestError(
            "this evidence is about another release",
            where=str(place),
            instead=f"run voile {release.kind} attack again",
        )
    check_evidence(release, place, secret)
    try:
        return tuple(Evidence.from_json(one) for one in data["evidence"])
    except (KeyError, TypeError, ValueError):
        raise TamperedError("the evidence is damaged", where=str(place)) from None
