"""The release of a study: a folder of parts with one manifest, and a private folder next to it.

- OUT/manifest.json: the public description of the study and of each part
- OUT/visits.parquet: a part
- OUT.private/: mode 0700, with the private manifest, its seal and a folder for each part
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
from voile.documents.verbs.report_data import ACCEPTANCE
from voile.gate.finding import GateFinding, findings_from_data
from voile.keys.seal import EVIDENCE_SEAL, SEAL, file_sha256
from voile.release.manifest import EVIDENCE, FINDINGS, PRIVATE_MANIFEST, StoredRelease, private_path

FORMAT, VERSION, MANIFEST = outputs.STUDY_FORMAT, 1, outputs.STUDY_MANIFEST
OF_ATTACKS = (EVIDENCE, EVIDENCE_SEAL)
"""Files that `attack` writes into private folders, under their own seals."""
UNACCEPTED = "unaccepted"
"""The key in the public manifest for the parts of texts that are not yet accepted."""
UTILITY = "utility"
"""The part of the private manifest with counts before and after the release."""
EXPORT = "export"
"""The folder of a release with the parts in the form of their original export."""


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
    """Return whether a private folder contains only sealed files, and files of `attack`."""
    sealed = outputs.json_at(path / SEAL).get("files")
    known = {SEAL, *(sealed if isinstance(sealed, dict) else ())}
    return outputs.holds_no_other(
        one
        for one in sorted(path.rglob("*"))
        if not one.is_dir() and one.name not in (*OF_ATTACKS, SEAL)
        if str(one.relative_to(path.parent)) not in known
    )


def unaccepted_in(public: Mapping[str, Any]) -> Sequence[str]:
    """Return the parts of texts that are not yet accepted, given a study's public manifest."""
    found: Sequence[str] = public.get(UNACCEPTED, ())
    return found


def has_proofs(public: Mapping[str, Any]) -> bool:
    """Return whether a manifest contains a proved limit of a part's remaining identifiers."""
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
    """A release written by `voile study apply`.

    path : its folder. public : its manifest. private : its private manifest, if present.
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
        RequestError : there is no release.
        DamagedError : its manifest is damaged.
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
        """The private folder of the release."""
        return private_path(self.path)

    def part(self, name: str) -> PartRelease:
        """Return one part as a release of its kind."""
        public = self.public["parts"][name]
        hidden = None if self.private is None else self.private["parts"][name]
        place = self.path / public["file"]
        return PartRelease(place, public, hidden, beside=self.folder / name)

    @property
    def whole(self) -> PartRelease:
        """The manifest, which lists every file, as a release that evidence can refer to."""
        place = self.path / MANIFEST
        public = {**self.public, "sha256": file_sha256(place)}
        return PartRelease(place, public, self.private, beside=self.folder)

    @property
    def extract(self) -> tuple[date | None, date | None]:
        """The first and the last day of the parts' dates, from the private manifest."""
        first, last = (day and date.fromisoformat(day) for day in (self.private or {})["extract"])
        return first, last

    @property
    def unaccepted_parts(self) -> Sequence[str]:
        """The parts of texts for which no person has checked how many identifiers are missed."""
        return unaccepted_in(self.public)

    @property
    def findings(self) -> tuple[GateFinding, ...]:
        """The figures counted in the written parts. Empty without the private folder."""
        return findings_from_data((self.private or {}).get(FINDINGS, ()))

    @property
    def counts(self) -> Mapping[str, Mapping[str, Any]]:
        """The row counts of each part: released, rejected and so on."""
        return {name: one["counts"] for name, one in (self.private or {})["parts"].items()}
