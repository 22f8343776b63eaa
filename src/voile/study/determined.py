"""The release of a study as a determination evaluates it: all parts jointly, then each part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from voile.core.errors import RequestError, TamperedError
from voile.core.evidence import Evidence
from voile.core.rounding import round_number
from voile.face.report import today
from voile.keys.secret import Secret
from voile.modules import MODULES
from voile.release.criteria import (
    CERTIFIED,
    AttackedFigure,
    Bounds,
    CertifiedFigure,
    CriterionMeasure,
    CriterionMeasurement,
    Name,
)
from voile.release.verify import ReleaseCheck
from voile.report.sections import Section
from voile.report.suppression import FEW
from voile.report.wording import join_names, share
from voile.study.study_release import MANIFEST, StudyRelease, has_proofs, unaccepted_in
from voile.study.verbs.evidence import ALONE, LINKED, StudyEvidence, read_evidence
from voile.study.verbs.report import sections
from voile.study.verbs.verify import verify

STUDY = "study"
"""The kind of a study's release."""


@dataclass(frozen=True)
class OfParts:
    """A measure of one kind of data, applied to each part of that kind."""

    kind: str
    measure: CriterionMeasure

    @property
    def criterion(self) -> Name:
        return self.measure.criterion

    def read_measurements(
        self, public: Mapping[str, Any], evidence: Sequence[Evidence], bounds: Bounds, /
    ) -> Iterator[CriterionMeasurement]:
        """Yield the certified figures in the parts' manifests, and the findings of attacks."""
        found = evidence.of_part if isinstance(evidence, StudyEvidence) else {}
        for name, part in public["parts"].items():
            if part["kind"] == self.kind:
                for one in self.measure.read_measurements(part, found.get(name, ()), bounds):
                    where = f"{one.evidence}, of part {name}"
                    yield replace(one, says=f"{name}: {one.says}", evidence=where)


@dataclass(frozen=True)
class GuessedColumns:
    """The largest gain over chance of a classifier that guesses a column from the texts."""

    criterion: Name = "inference"

    def read_measurements(
        self, public: Mapping[str, Any], _: Sequence[Evidence], bounds: Bounds, /
    ) -> Iterator[CriterionMeasurement]:
        """Yield a measurement for each guessed column. Columns that the rows show are left out."""
        for one in public.get("guesses", ()):
            low, high = (max(0.0, one[end] - one["chance"]) for end in ("low", "high"))
            most = round_number(high, "up")
            yield CriterionMeasurement(
                f"{one['column']} guessed from the texts, beyond chance",
                share(max(0.0, one["accuracy"] - one["chance"])),
                f"{share(round_number(low, 'down'))} to {share(most)}",
                most,
                "manifest: guesses",
            )


@dataclass(frozen=True)
class JointGroup:
    """The risk of a person in the smallest group by all parts, with all rows linked.

    The manifest contains no size below 11. The figure is then 1.
    """

    criterion: Name = "re-identification"

    def read_measurements(
        self, public: Mapping[str, Any], _: Sequence[Evidence], bounds: Bounds, /
    ) -> Iterator[CriterionMeasurement]:
        """Yield the risk if the limit is on persons. Older releases have no such figure."""
        most = public["figures"].get("all_parts_group_risk")
        if bounds != "mean" and most is not None:
            says = "people in the smallest group by all parts and numbers of rows: "
            says += f"fewer than {FEW}" if most == 1 else f"at least {FEW}"
            yield CriterionMeasurement(
                says, share(most), CERTIFIED, most, "manifest: all_parts_group_risk"
            )


@dataclass(frozen=True)
class AtRecall:
    """A figure at the recall of the notes' kits, or at the limit that readers proved.

    If a part is not yet accepted, the figure assumes that no name was missed.
    """

    measure: CertifiedFigure

    @property
    def criterion(self) -> Name:
        return self.measure.criterion

    def read_measurements(
        self, public: Mapping[str, Any], evidence: Sequence[Evidence], bounds: Bounds, /
    ) -> Iterator[CriterionMeasurement]:
        """Yield the figure, with the names of the parts that are not yet accepted."""
        waiting = unaccepted_in(public)
        for one in self.measure.read_measurements(public, evidence, bounds):
            proved = "readers' proofs" if has_proofs(public) else "recall of the notes' kits"
            says = f"{one.says}, at the {proved}"
            if waiting:
                says = f"{one.says}, if no name is hidden: it waits for voile study accept of "
                says += join_names(list(waiting))
            yield replace(one, says=says)


CRITERIA: tuple[CriterionMeasure, ...] = (
    JointGroup(),
    AtRecall(
        CertifiedFigure(
            "re-identification",
            "joint_at_recall_max_risk",
            "largest risk of a person by all parts",
            "joint_at_recall_mean_risk",
        )
    ),
    AttackedFigure("re-identification", lambda _, found: found.quantity == LINKED),
    AttackedFigure("singling-out", lambda _, found: found.quantity == ALONE),
    CertifiedFigure("singling-out", "all_parts_alone", "people whom no other equals in all parts"),
    CertifiedFigure("singling-out", "all_facts_alone", "people whom all facts and days single out"),
    CertifiedFigure(
        "singling-out", "one_row_alone", "people with an unlinked row that nobody else has"
    ),
    CertifiedFigure(
        "linkability", "three_dates_known_mean_risk", "people found by three true dates"
    ),
    CertifiedFigure(
        "linkability",
        "two_facts_known_mean_risk",
        "people found by their group and two facts, at most",
    ),
    GuessedColumns(),
    AtRecall(CertifiedFigure("text-left", "named_in_text", "people whom a text names")),
    CertifiedFigure(
        "text-left", "values_in_text", "people with an own unreleased value in the bytes"
    ),
    CertifiedFigure("kept-columns", "all_parts_alone", "people whom no other equals in all parts"),
    *(OfParts(kind, measure) for kind, one in MODULES.items() for measure in one.criteria),
)


@dataclass(frozen=True)
class OfStudy:
    """The release of a study, for `voile determine` and `voile verify`."""

    release: StudyRelease
    kind: str = STUDY

    @property
    def name(self) -> str:
        return self.release.path.name

    @property
    def public(self) -> Mapping[str, Any]:
        return self.release.public

    @property
    def manifest(self) -> Path:
        return self.release.path / MANIFEST

    def evidence(self, secret: Secret | None, given: object) -> Sequence[Evidence]:
        """Check the release, and return the findings of `study attack` on it and on its parts."""
        if given is not None:
            remedy = "leave --evidence out"
            raise RequestError("a study's evidence lies in its private folder", instead=remedy)
        if wrong := [one.says for one in self.checks(secret) if one.holds is False]:
            raise TamperedError(wrong[0], where=str(self.release.path), instead="apply again")
        return read_evidence(self.release, secret)

    def sections(self, evidence: Sequence[Evidence]) -> Sequence[Section]:
        found = evidence.of_part if isinstance(evidence, StudyEvidence) else {}
        return sections(self.release, audience="public", of_part=found)

    def commands(self, evidence: Sequence[Evidence]) -> Sequence[str]:
        made = [f"voile study {verb} study.toml" for verb in ("fit", "apply", "attack", "verify")]
        return [*made, f"voile verify {self.name}"]

    def facts(self) -> Mapping[str, str]:
        return {
            "date of this report": today().isoformat(),
            "voile": str(self.public["voile"]),
            "kind of data": self.kind,
            "release, SHA-256": str(self.public["sha256"]),
        }

    def parts(self) -> Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any] | None]]:
        """Return the public and the private manifest of each part."""
        hidden = (self.release.private or {}).get("parts", {})
        return {name: (one, hidden.get(name)) for name, one in self.public["parts"].items()}

    def checks(self, secret: Secret | None) -> Iterator[ReleaseCheck]:
        return verify(self.release, secret)


def open_subject(path: Path) -> OfStudy:
    """Open the folder of a study's release.

    Raises
    ------
    RequestError : the release was made by a version that determinations do not support.
    """
    release = StudyRelease.open(path)
    if "sha256" not in release.public:
        raise RequestError(
            "this study was released by an older voile", where=str(path), instead="apply again"
        )
    return OfStudy(release)
