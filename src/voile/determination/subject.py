"""The subject of a determination: a release of one kind of data, or of a study."""

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
    """The interface of a release that a determination can evaluate."""

    @property
    def kind(self) -> str:
        """The kind of data of the release."""

    @property
    def name(self) -> str:
        """The name of the release's file or folder."""

    @property
    def public(self) -> Mapping[str, Any]:
        """The public manifest, with `figures`, `columns`, `assumptions` and `sha256`."""

    @property
    def manifest(self) -> Path:
        """The path of the public manifest."""

    def evidence(self, secret: Secret | None, given: object) -> Sequence[Evidence]:
        """Check the release's seal, and return the findings of attacks.

        Raises
        ------
        TamperedError : the release or the evidence does not match its seal.
        """

    def sections(self, evidence: Sequence[Evidence]) -> Sequence[Section]:
        """Return the sections of the release's public report."""

    def commands(self, evidence: Sequence[Evidence]) -> Sequence[str]:
        """Return the commands that made the release, and the command that verifies it."""

    def facts(self) -> Mapping[str, str]:
        """Return the facts about how the release was made."""

    def parts(self) -> Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any] | None]]:
        """Return the public and the private manifest of each part, by the name of the part."""

    def checks(self, secret: Secret | None) -> Iterator[ReleaseCheck]:
        """Yield all checks of the release."""


class OfRelease:
    """A release of one kind of data, as the subject of a determination."""

    def __init__(self, release: StoredRelease) -> None:
        if isinstance(release.path, MemoryPath):
            remedy = "save it with its evidence first"
            raise RequestError("the release is in memory", instead=remedy)
        self._release = release
        self.kind, self.name, self.public = release.kind, release.path.name, release.public
        self.manifest = Path(str(manifest_path(release.local)))

    def evidence(self, secret: Secret | None, given: object) -> Sequence[Evidence]:
        """Check the release's seal, and return the findings of attacks."""
        check_seal(self._release, secret)
        return find_evidence(self._release, secret, given)

    def sections(self, evidence: Sequence[Evidence]) -> Sequence[Section]:
        """Return the sections of the release's public report."""
        return find_module(self.kind).report(self._release, evidence, audience="public")

    def commands(self, evidence: Sequence[Evidence]) -> Sequence[str]:
        """Return the commands that made the release, and the command that verifies it."""
        return list(commands(self._release, find_module(self.kind), "public", self.name, evidence))

    def facts(self) -> Mapping[str, str]:
        """Return the facts about how the release was made."""
        return facts_of(self._release, "public")

    def parts(self) -> Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any] | None]]:
        """Return the public and the private manifest of the only part."""
        return {"": (self.public, self._release.private)}

    def checks(self, secret: Secret | None) -> Iterator[ReleaseCheck]:
        """Yield all checks of the release."""
        return checks(self._release, find_module(self.kind).verify, secret)


def open_subject(path: str | os.PathLike[str]) -> JudgedRelease:
    """Open the release at a path: a study's folder, or a release of one kind of data."""
    if is_study(Path(path)):
        return open_study(Path(path))
    return OfRelease(StoredRelease.open(path))


def is_study(path: Path) -> bool:
    """Return whether a folder is the release of a study."""
    return json_at(path / STUDY_MANIFEST).get("format") == STUDY_FORMAT


def criteria_of(kind: str) -> tuple[CriterionMeasure, ...]:
    """Return the criterion measures of a kind of data.

    Raises
    ------
    RequestError : this version of voile does not have the kind.
    """
    return CRITERIA if kind == STUDY else find_module(kind).criteria
