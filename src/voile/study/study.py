"""A study in Python: the same verbs as `voile study`, on its plan."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Self

from voile.core.brief import Brief
from voile.core.errors import as_keywords
from voile.core.progress import Progress, silent
from voile.release.kit import Kit
from voile.study.apply import apply
from voile.study.fit import fit
from voile.study.plan import Plan
from voile.study.study_kit import load
from voile.study.study_release import StudyRelease


@dataclass(frozen=True)
class Study(Brief):
    """A plan over tables and notes of the same people, and its verbs.

    >>> Study.open("study.toml")
    Traceback (most recent call last):
    voile.core.errors.RequestError: study.toml: no such plan; name the study's TOML file
    """

    shows = ()

    plan: Plan

    @classmethod
    def open(cls, path: str | PathLike[str]) -> Self:
        """Read a plan; every mistake is named with its place."""
        with as_keywords():
            return cls(Plan.read(Path(path)))

    def fit(self, *, force: bool = False, progress: Progress = silent) -> Kit:
        """Fit the table, judge each policy beside the texts, and write the study's kit.

        force : replace the kit if voile wrote it.
        """
        with as_keywords():
            kit = fit(self.plan, progress=progress)
            kit.save(self.plan.kit, force=force)
            return kit

    def apply(self, *, force: bool = False, progress: Progress = silent) -> StudyRelease:
        """Write the release of all parts, whole or not at all.

        force : replace the release if voile wrote it.
        """
        with as_keywords():
            return apply(self.plan, load(self.plan), force=force, progress=progress)
