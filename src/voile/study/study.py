"""A study in Python, with the same verbs as `voile study`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import NoReturn, Self

import pyarrow as pa

from voile.core.arguments import check_arguments
from voile.core.brief import BriefRepr
from voile.core.errors import RequestError, TamperedError, as_keywords
from voile.core.progress import ProgressHook, silent
from voile.core.removed_names import removed_method
from voile.data import open_source
from voile.data.files.atomic import write_text
from voile.data.files.outputs import INTERNAL_REPORT, KIT, REPORT
from voile.documents.options import ReadingOptions, ReviewOptions
from voile.face.enough import is_it_enough
from voile.face.report import today
from voile.keys.secret import Secret
from voile.release.kit import StoredKit
from voile.release.own_verbs import EndedVerb, VerbReporter
from voile.release.verify import ReleaseCheck
from voile.report.sections import Audience
from voile.study.determined import CRITERIA
from voile.study.plan.plan import StudyPlan
from voile.study.study_kit import FRONTIER, load, unpack
from voile.study.study_release import StudyRelease
from voile.study.verbs.accept import accept
from voile.study.verbs.apply import apply
from voile.study.verbs.attack import AttackedStudy, attack
from voile.study.verbs.check import check
from voile.study.verbs.evidence import attack_parts, keep_found, read_evidence
from voile.study.verbs.export import unpack_export
from voile.study.verbs.fit import fit
from voile.study.verbs.report import report
from voile.study.verbs.review import review
from voile.study.verbs.verify import verify

Words = Callable[[], AbstractContextManager[None]]


@dataclass(frozen=True)
class Study(BriefRepr):
    """A plan over tables and notes of the same people, and its verbs.

    >>> Study.open("study.toml")
    Traceback (most recent call last):
    voile.core.errors.RequestError: study.toml: no such plan; name the study's TOML file
    """

    shows = ()

    plan: StudyPlan
    words: Words = as_keywords

    @classmethod
    @check_arguments
    def open(
        cls,
        path: str | PathLike[str],
        *,
        ledger: str | PathLike[str] | None = None,
        words: Words = as_keywords,
    ) -> Self:
        """Read a plan. Every mistake is reported with its place.

        Parameters
        ----------
        path : the study's TOML file.
        ledger : the ledger that evaluates every release of the source [the plan's ledger, if any].
        words : the form of options in errors: force in Python, --force on the command line.
        """
        with words():
            plan = StudyPlan.read_file(Path(path))
            return cls(plan.under(None if ledger is None else Path(ledger)), words)

    @check_arguments
    def check(self) -> None:
        """Run every check of `fit` that needs no training: roles, counts, texts and k.

        Raises
        ------
        RequestError : a row has no subject, roles disagree, a column has a single value, or notes
            are empty.
        InfeasibleError : k is larger than the people allow.
        """
        with self.words(), unpack_export(self.plan) as plan:
            check(plan)

    @check_arguments
    def fit(self, *, force: bool = False, progress: ProgressHook = silent) -> StoredKit:
        """Make the kits of notes, fit the table, evaluate its policies, and write the study's kit.

        Parameters
        ----------
        force : whether to replace kits that voile wrote. A kit of notes is replaced only if it must
            be made again.
        progress : called with a task, the finished work and the total work.
        """
        with self.words():
            KIT.check_free(self.plan.kit, force=force)  # checked before the work and when writing
            with unpack_export(self.plan) as plan:
                kit = fit(plan, force=force, progress=progress)
            kit.save(self.plan.kit, force=force)
            return kit

    def review(
        self, options: ReviewOptions, reporter: VerbReporter, *, part: str | None = None
    ) -> EndedVerb:
        """Serve a page on which people review the proposals of the kit of a part of notes.

        An export stays unpacked, in a folder of mode 0700, until the review ends.
        """
        with self.words(), unpack_export(self.plan) as plan:
            return review(plan, part, options, reporter)

    @check_arguments
    def apply(
        self, *, override: str | None = None, force: bool = False, progress: ProgressHook = silent
    ) -> StudyRelease:
        """Write the release of all parts, completely or not at all.

        Parameters
        ----------
        override : reason to release although the ledger's risk budget is exceeded; the ledger
            records it.
        force : whether to replace the release if voile wrote it.
        progress : called with a task, the finished work and the total work.
        """
        with self.words():
            kit = load(self.plan)
            with unpack_export(self.plan) as plan:
                return apply(plan, kit, override=override, force=force, progress=progress)

    def accept(
        self, options: ReadingOptions, reporter: VerbReporter, *, part: str | None = None
    ) -> EndedVerb:
        """Continue the acceptance sampling of the release's texts with the available answers.

        Identifiers that readers find are removed from the release. A proved limit becomes part of
        its joint figures.
        """
        with self.words():
            kit = load(self.plan)
            with unpack_export(self.plan) as plan:
                return accept(plan, kit, part, options, reporter)

    @property
    def frontier(self) -> pa.Table:
        """The joint frontier: evenly spaced policies of the table's frontier, and the chosen one.

        Columns: number, loss, released (subjects), and expected matches. These are given for the
        table alone, for all parts (joint), and at the recall of the notes' kits (joint_at_recall).
        """
        with self.words():
            return load(self.plan).tables[FRONTIER]

    @check_arguments
    def part_kit(self, name: str) -> StoredKit:
        """Return the kit of one part, as a kit of its kind.

        With the kit and the study's secret, `voile.signals.enrol`, `send` and `receive` run
        sessions with the study's subjects. Subjects have the pseudonyms of the release.

        Raises
        ------
        RequestError : the plan has no such part.
        """
        with self.words():
            if name not in self.plan.parts:
                raise RequestError(
                    f"there is no part {name}",
                    where="parts",
                    instead=f"name one of {', '.join(self.plan.parts)}",
                )
            return unpack(load(self.plan))[name]

    @check_arguments
    def attack(
        self,
        register: object | None = None,
        *,
        parts: bool = False,
        progress: ProgressHook = silent,
    ) -> AttackedStudy:
        """Attack all parts together: by the facts of each, by true dates, and with a register.

        The findings are stored under a seal, for `determine`.

        Parameters
        ----------
        register : named people, with the study's subject column; any input of `voile.open_source`.
        parts : whether to attack each part by itself as well, with the attacks of its kind. This
            may take minutes.
        progress : called with a task, the finished work and the total work.
        """
        with self.words():
            named = None if register is None else open_source(register)
            release = StudyRelease.open(self.plan.release)
            with unpack_export(self.plan) as plan:
                found = attack(plan, release, named)
                keep_found(release, found.known, found.linked, plan.secret)
                if not parts:
                    return found
                of_parts = attack_parts(plan, release, named, progress)
                return replace(found, of_parts=of_parts)

    @check_arguments
    def report(
        self, out: str | PathLike[str], *, internal: bool = False, force: bool = False
    ) -> Path:
        """Write the report of the release: one page, with the joint figures first. Return its path.

        Parameters
        ----------
        out : path of the page.
        internal : whether to include small counts, and sentences of the texts.
        force : whether to replace the page if voile wrote it.
        """
        with self.words():
            release, secret = StudyRelease.open(self.plan.release), Secret.find(self.plan.key_file)
            if wrong := [x.says for x in verify(release, secret) if x.holds is False]:
                raise TamperedError(wrong[0], where=str(release.path), instead="apply again")
            facts = {"date of this report": today().isoformat(), "voile": release.public["voile"]}
            audience: Audience = "internal" if internal else "public"
            evidence, parts = read_evidence(release, secret), release.public["parts"]
            enough = is_it_enough(release.public, CRITERIA, evidence, parts=parts)
            page = report(release, enough, audience=audience, facts=facts)
            write_text(out, page, INTERNAL_REPORT if internal else REPORT, force=force)
            return Path(out)

    def determine(self, *_: object, **__: object) -> NoReturn:
        """Raise an error that names the replacement, `voile.determination.determine_study`."""
        raise removed_method("study", "Study.determine")

    @check_arguments
    def verify(self) -> tuple[ReleaseCheck, ...]:
        """Check the release against its manifest and its seal. Return each check and its result."""
        with self.words():
            release = StudyRelease.open(self.plan.release)
            with unpack_export(self.plan) as plan:
                return tuple(verify(release, Secret.find(plan.key_file), plan))
