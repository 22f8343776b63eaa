"""The release of a study: one folder of parts with one manifest, and a private folder next to it.

- OUT/manifest.json: the public description of the study and of each part
- OUT/visits.parquet: a part
- OUT.private/: mode 0700, the study's private manifest, its seal, a folder a part
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Self

from voile.core.brief import BriefRepr
from voile.core.errors import DamagedError, RequestError
from voile.data.files import outputs
from voile.data.files.own_files import read_json
from voile.documents.model.quantities import ACCEPTANCE
from voile.gate.finding import GateFinding, findings_from_data
from voile.keys.seal import EVIDENCE_SEAL, SEAL, file_sha256
from voile.release.manifest import EVIDENCE, FINDINGS, PRIVATE_MANIFEST, StoredRelease, private_path

FORMAT, VERSION, MANIFEST = outputs.STUDY_FORMAT, 1, outputs.STUDY_MANIFEST
OF_ATTACKS = (EVIDENCE, EVIDENCE_SEAL)
"""Files that attack writes into private folders, under seals of their own."""
UNACCEPTED = "unaccepted"
"""The public manifest's key for the parts of texts that wait for acceptance."""
UTILITY = "utility"
"""The part of the private manifest with counts before and after."""
EXPORT = "export"
"""The folder of a release with the parts in the form of the export that they came from."""


def _is_study(path: Path) -> bool:
    manifest = outputs.json_at(path / MANIFEST)
    parts = manifest.get("parts")
    if manifest.get("format") != FORMAT or not isinstance(parts, dict):
        return False
    files = {str(part.get("file")) for part in parts.values()}
    export = manifest.get("export")
    inside = export.get("files") if isinstance(export, dict) else None
    if isinstance(inside, dict) and not outputs.holds_only(path / "export", inside):
        return False
    known = {MANIFEST, *files, *(["export"] if inside else [])}
    return outputs.holds_no_other(one for one in sorted(path.iterdir()) if one.name not in known)


def _is_private(path: Path) -> bool:
    """Return whether a private folder contains only files sealed by apply, and files of attack."""
    sealed = outputs.json_at(path / SEAL).get("files")
    known = {SEAL, *(sealed if isinstance(sealed, dict) else ())}
    return outputs.holds_no_other(
        one
        for one in sorted(path.rglob("*"))
        if not one.is_dir() and one.name not in (*OF_ATTACKS, SEAL)
        if str(one.relative_to(path.parent)) not in known
    )


def unaccepted_in(public: Mapping[str, Any]) -> Sequence[str]:
    """Return the parts of texts that wait for acceptance, by a study's public manifest."""
    found: Sequence[str] = public.get(UNACCEPTED, ())
    return found


def has_proofs(public: Mapping[str, Any]) -> bool:
    """Return whether readers proved a limit of a part's remaining identifiers, by a manifest."""
    return any(ACCEPTANCE in one for one in public.get("parts", {}).values())


STUDY = outputs.OutputKind("a study", {"": _is_study, outputs.PRIVATE: _is_private})


@dataclass(frozen=True, eq=False)
class PartRelease(StoredRelease):
    """A part of a study's release, for the verbs of its kind."""

    beside: Path = Path()

    @property
    def folder(self) -> Path:
        return self.beside


@dataclass(frozen=True, eq=False)
class StudyRelease(BriefRepr):
    """What `voile study apply` wrote.

    path : the folder. public : its manifest. private : the one that never leaves, if it is here.
    """

    shows = ("path",)

    path: Path
    public: Mapping[str, Any]
    private: Mapping[str, Any] | None = None

    @classmethod
    def open(cls, path: Path) -> Self:
        """Read the manifests of a release.

        Raises
        ------
        RequestError : no release is there. DamagedError : its manifest is damaged.
        """
        try:
            public = read_json(path / MANIFEST, "the manifest")
        except (FileNotFoundError, NotADirectoryError):
            raise RequestError(
                "no release of a study here", where=str(path), instead="voile study apply makes one"
            ) from None
        if not isinstance(public, dict) or public.get("format") != FORMAT:
            raise DamagedError("this is not a study's manifest", where=str(path / MANIFEST))
        hidden = private_path(path) / PRIVATE_MANIFEST
        return cls(path, public, read_json(hidden, "the manifest") if hidden.exists() else None)

    @property
    def folder(self) -> Path:
        """Where what never leaves lies."""
        return private_path(self.path)

    def part(self, name: str) -> PartRelease:
        """Return one part as a release of its kind."""
        public = self.public["parts"][name]
        hidden = None if self.private is None else self.private["parts"][name]
        place = self.path / public["file"]
        return PartRelease(place, public, hidden, beside=self.folder / name)

    @property
    def whole(self) -> PartRelease:
        """Return the manifest, which names every file, as a release to keep evidence about."""
        place = self.path / MANIFEST
        public = {**self.public, "sha256": file_sha256(place)}
        return PartRelease(place, public, self.private, beside=self.folder)

    @property
    def extract(self) -> tuple[date | None, date | None]:
        """The first and the last day of the parts' dates, which stays here."""
        first, last = (day and date.fromisoformat(day) for day in (self.private or {})["extract"])
        return first, last

    @property
    def unaccepted_parts(self) -> Sequence[str]:
        """The parts of texts of which no person has checked how many identifiers are missed."""
        return unaccepted_in(self.public)

    @property
    def findings(self) -> tuple[GateFinding, ...]:
        """The figures that were counted in the written parts; none without the private folder."""
        return findings_from_data((self.private or {}).get(FINDINGS, ()))

    @property
    def counts(self) -> Mapping[str, Mapping[str, Any]]:
        """What became of the rows of each part."""
        return {name: one["counts"] for name, one in (self.private or {})["parts"].items()}
