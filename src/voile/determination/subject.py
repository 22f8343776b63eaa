"""The subject of a determination: the release of a wing or of a study, judged alike."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from voile.core.errors import RequestError
from voile.core.evidence import Evidence
from voile.data.files.memory import MemoryPath
from voile.data.files.outputs import STUDY_FORMAT, STUDY_MANIFEST, json_at
from voile.face.commands import commands
from voile.face.report import facts_of
from voile.keys.secret import Secret
from voile.modules import find_module
from voile.release.criteria import CriterionMeasure
from voile.release.evidence import find_evidence
from voile.release.manifest import StoredRelease, manifest_path
from voile.release.verify import ReleaseCheck, check_seal, checks
from voile.report.sections import Section
from voile.study.determined import CRITERIA, STUDY
from voile.study.determined import open_subject as open_study


class JudgedRelease(Protocol):
    """A release that can be judged."""

    @property
    def kind(self) -> str:
        """The kind of data of the release."""

    @property
    def name(self) -> str:
        """The name of its file or folder."""

    @property
    def public(self) -> Mapping[str, Any]:
        """Its public manifest, with `figures`, `columns`, `assumptions` and `sha256`."""

    @property
    def manifest(self) -> Path:
        """The path of the public manifest."""

    def evidence(self, secret: Secret | None, given: object) -> Sequence[Evidence]:
        """Check its seal, and return the findings of attacks. Raises TamperedError."""

    def sections(self, evidence: Sequence[Evidence]) -> Sequence[Section]:
        """Return the sections of its public report."""

    def commands(self, evidence: Sequence[Evidence]) -> Sequence[str]:
        """Return the commands that made it, and the command that checks it."""

    def facts(self) -> Mapping[str, str]:
        """Return the facts of its making."""

    def parts(self) -> Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any] | None]]:
        """Return the public and the private manifest of each part, by the name of the part."""

    def checks(self, secret: Secret | None) -> Iterator[ReleaseCheck]:
        """Check it in every way."""


class OfRelease:
    """A wing's release, as a determination judges it."""

    def __init__(self, release: StoredRelease) -> None:
        if isinstance(release.path, MemoryPath):
            remedy = "save it with its evidence first"
            raise RequestError("the release is in memory", instead=remedy)
        self._release = release
        self.kind, self.name, self.public = release.kind, release.path.name, release.public
        self.manifest = Path(str(manifest_path(release.local)))

    def evidence(self, secret: Secret | None, given: object) -> Sequence[Evidence]:
        """Check its seal, and return what attacks found."""
        check_seal(self._release, secret)
        return find_evidence(self._release, secret, given)

    def sections(self, evidence: Sequence[Evidence]) -> Sequence[Section]:
        """Return the wing's sections."""
        return find_module(self.kind).report(self._release, evidence, audience="public")

    def commands(self, evidence: Sequence[Evidence]) -> Sequence[str]:
        """Return the commands that made it, and what checks it."""
        return list(commands(self._release, find_module(self.kind), "public", self.name, evidence))

    def facts(self) -> Mapping[str, str]:
        """Say what made it."""
        return facts_of(self._release, "public")

    def parts(self) -> Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any] | None]]:
        """Return the public and the private manifest of the one part."""
        return {"": (self.public, self._release.private)}

    def checks(self, secret: Secret | None) -> Iterator[ReleaseCheck]:
        """Check it in every way."""
        return checks(self._release, find_module(self.kind).verify, secret)


def open_subject(path: str | os.PathLike[str]) -> JudgedRelease:
    """Open the release at a path: a study's folder, or a wing's release."""
    if is_study(Path(path)):
        return open_study(Path(path))
    return OfRelease(StoredRelease.open(path))


def is_study(path: Path) -> bool:
    """Say whether a folder is the release of a study."""
    return json_at(path / STUDY_MANIFEST).get("format") == STUDY_FORMAT


def criteria_of(kind: str) -> tuple[CriterionMeasure, ...]:
    """Return the measures that judge a kind.

    Raises RequestError: this voile has no such kind.
    """
    return CRITERIA if kind == STUDY else find_module(kind).criteria
