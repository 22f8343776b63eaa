"""The types of a module's verbs: their arguments and results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic import BaseModel

    from voile.core.evidence import Evidence
    from voile.core.progress import ProgressHook
    from voile.data import Source
    from voile.ledger.judgement import ReleaseJudgement
    from voile.ledger.ledger import Ledger, LedgerKeys
    from voile.release.assessment import ReleaseAssessment
    from voile.release.choice import Choice, Chosen
    from voile.release.kit import StoredKit
    from voile.release.manifest import StoredRelease
    from voile.release.options import ApplyOptions, AttackOptions, FitOptions
    from voile.release.step import ApplyingStep
    from voile.release.verify import ReleaseCheck
    from voile.report.sections import Audience, Section

F_in = TypeVar("F_in", bound="FitOptions", contravariant=True)
A_in = TypeVar("A_in", bound="ApplyOptions", contravariant=True)
K_in = TypeVar("K_in", bound="AttackOptions", contravariant=True)
B_in = TypeVar("B_in", bound="BaseModel", contravariant=True)
R_in = TypeVar("R_in", contravariant=True)


class Fit(Protocol[F_in, R_in]):
    """Fit the policies of the frontier to a source."""

    def __call__(
        self,
        source: Source,
        roles: R_in,
        options: F_in,
        *,
        seed: int | None,
        progress: ProgressHook,
    ) -> StoredKit: ...


class Choose(Protocol):
    """Choose one policy of the kit's frontier."""

    def __call__(self, kit: StoredKit, choice: Choice) -> Chosen: ...


class Prepare(Protocol[A_in]):
    """Return the step through which each row passes. The step is deterministic for equal inputs."""

    def __call__(
        self, kit: StoredKit, chosen: Chosen, source: Source, options: A_in
    ) -> ApplyingStep[Any, Any]: ...


class Attack(Protocol[K_in]):
    """Attack a release with the background knowledge that the options set."""

    def __call__(
        self,
        release: StoredRelease,
        truth: Source,
        options: K_in,
        *,
        seed: int | None,
        progress: ProgressHook,
    ) -> tuple[Evidence, ...]: ...


class ReportSections(Protocol):
    """Return the sections of the report of a kit or a release, as data."""

    def __call__(
        self,
        subject: StoredKit | StoredRelease,
        evidence: Sequence[Evidence],
        *,
        audience: Audience,
    ) -> tuple[Section, ...]: ...


class Verify(Protocol):
    """Check a release with code independent of `apply`."""

    def __call__(self, release: StoredRelease) -> Iterator[ReleaseCheck]: ...


class OpenSource(Protocol):
    """Open a table, or another source that the module supports."""

    def __call__(
        self, thing: object, *, table: str | None = None, encoding: str | None = None
    ) -> Source: ...


class Assess(Protocol[B_in, R_in]):
    """Measure the disclosure of a release of any origin against its original, and attack it."""

    def __call__(
        self,
        original: Source,
        released: Source,
        roles: R_in,
        options: B_in,
        *,
        seed: int | None,
        progress: ProgressHook,
    ) -> ReleaseAssessment: ...


class AssessedSections(Protocol):
    """Return the sections of an assessment's report, as data."""

    def __call__(
        self, assessment: ReleaseAssessment, *, audience: Audience
    ) -> tuple[Section, ...]: ...


class JudgePolicy(Protocol):
    """Compute the disclosure that a kit's policy would add to the releases that a ledger lists."""

    def __call__(
        self,
        kit: StoredKit,
        chosen: Chosen,
        ledger: Ledger,
        keys: LedgerKeys,
        *,
        source: Source | None = None,
        releases: Sequence[Path] = (),
    ) -> ReleaseJudgement: ...


class ChooseAfter(Protocol):
    """Search for the policy of least loss that is safe given a ledger's releases."""

    def __call__(
        self,
        kit: StoredKit,
        after: Path,
        *,
        key_file: Path | None,
        joint_risk: float | None = None,
        releases: Sequence[Path] = (),
        source: Source | None = None,
        hold_back: bool = False,
        recipient: str | None = None,
        recount: bool = False,
    ) -> Chosen: ...


class ExpandRows(Protocol):
    """Expand intervals to values, with weights."""

    def __call__(
        self, release: StoredRelease, columns: Sequence[str], *, weight: str, row: str
    ) -> Any: ...
