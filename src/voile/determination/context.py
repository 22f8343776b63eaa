"""The context of a determination: recipient, purpose, controls, thresholds, and the last day."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from voile.core.errors import RequestError
from voile.core.mistakes import mistakes
from voile.data.files.own_files import read_toml
from voile.determination.holder_statements import (
    ExpertStatement,
    ImpactAssessment,
    IntruderTest,
    PlannedReview,
    SensitivityScore,
    Share,
    StrictModel,
    Text,
    find_open,
    has_substance,
)
from voile.keys.seal import file_sha256
from voile.release.claims import STANDARDS
from voile.release.criteria import Bounds, Name
from voile.report.wording import share


class FigureThreshold(StrictModel):
    """The threshold of a figure and its source, or the reason to accept the figure.

    Parameters
    ----------
    standard : the name of a standard threshold. Otherwise `at_most` and `source` are required.
    bounds : the limited figure: the largest risk of a record, or the mean risk.
    why : the reason for limiting the mean.
    accept : the reason to accept a figure that is over the threshold or was not measured.
    """

    standard: Literal["ema-0070", "k-11"] | None = None
    at_most: Share | None = None
    source: Text | None = None
    bounds: Literal["largest", "mean"] = "largest"
    why: Text | None = None
    accept: Text | None = None

    @model_validator(mode="after")
    def _has_source(self) -> Self:
        if self.standard and (self.at_most is not None or self.source):
            raise ValueError("has a standard, and at_most or source as well: give one")
        if self.at_most is not None and not self.source:
            raise ValueError("has no source: say who sets it")
        if self.source and self.at_most is None:
            raise ValueError("has a source and no at_most")
        if not (self.standard or self.at_most is not None or self.accept):
            raise ValueError("has no standard, no at_most with its source, and no accept")
        if self.bounds == "mean" and not self.why:
            raise ValueError("bounds the mean without a reason: give why")
        if self.bounds == "mean" and self.standard and STANDARDS[self.standard].bounds == "group":
            raise ValueError(f"standard {self.standard} bounds the smallest group, not the mean")
        return self

    @property
    def limit(self) -> float | None:
        """The largest figure that meets the threshold."""
        return STANDARDS[self.standard].limit if self.standard else self.at_most

    @property
    def judged_by(self) -> Bounds:
        """The kind of figure that the limit applies to."""
        is_of_groups = self.standard and STANDARDS[self.standard].bounds == "group"
        return "group" if is_of_groups else self.bounds

    @property
    def origin(self) -> str:
        """The source of the threshold."""
        return STANDARDS[self.standard].source if self.standard else self.source or ""


class AssumedAttacker(StrictModel):
    """The assumed adversary, and the reason for the choice."""

    assumed: Text
    why: Text


class AttackAttempt(StrictModel):
    """The probability of an attempted attack under the controls, as stated by the data holder."""

    chance: Share
    source: Text
    why: Text


class RecipientControls(StrictModel):
    """The controls that bind the recipient."""

    contract: Text
    access: Text
    audit: Text


class Context(StrictModel):
    """The content of `context.toml`.

    Parameters
    ----------
    recipient, purpose, legal_basis : statements of the data holder.
    prepared_by : the person who prepared the release, as named in allowed_signers. This person
        cannot approve it.
    expires : the last day of the determination.
    renewal : the events that end it earlier, such as a new release or a new public register.
    signers : the number of people who have to approve it.
    decisions : each decision, with the person who made it.
    reasons : the reason for each source column's treatment. In a study, names may be PART.COLUMN.
    """

    recipient: Text
    purpose: Text
    legal_basis: Text
    prepared_by: Text | None = None
    expires: Annotated[date, Field(strict=True)]
    renewal: Annotated[list[Text], Field(min_length=1, max_length=20)]
    signers: Literal[1, 2] = 1
    decisions: Annotated[dict[Text, Text], Field(min_length=1)]
    attacker: AssumedAttacker
    controls: RecipientControls
    attempt: AttackAttempt | None = None
    thresholds: dict[Name, FigureThreshold]
    sensitivity: SensitivityScore | None = None
    reasons: dict[Text, Text] = Field(default_factory=dict)
    intruder_test: IntruderTest | None = None
    dpia: ImpactAssessment | None = None
    review: Annotated[list[PlannedReview], Field(max_length=100)] = Field(default_factory=list)
    expert: ExpertStatement | None = None

    @property
    def open_items(self) -> list[str]:
        """The places of texts that the data holder has not written yet."""
        return find_open(self.model_dump(mode="json"))

    def is_prepared_by(self, signer: str) -> bool:
        """Whether a signer prepared the release. Letter case is ignored."""
        return (self.prepared_by or "").strip().casefold() == signer.casefold()

    @property
    def warnings(self) -> list[str]:
        """The points that an expert should consider before signing."""
        return [*_too_high(self), *_describe_confirmed(self)]

    @classmethod
    def read_context(
        cls, context: str | os.PathLike[str] | Mapping[str, Any], *, today: date
    ) -> Self:
        """Read a context from a TOML file, or from the contents of such a file.

        Raises
        ------
        RequestError : the context has mistakes. The error lists all of them, each with its place.
        """
        where = None if isinstance(context, Mapping) else str(context)
        try:
            data = context if isinstance(context, Mapping) else read_toml(Path(context))
        except (FileNotFoundError, NotADirectoryError):
            raise RequestError(
                "the context file does not exist", where=where, instead="write one with --template"
            ) from None
        found = list(_beyond_fields(data, today))
        try:
            read = cls.model_validate(data)
        except ValidationError as error:
            found.insert(0, mistakes(error))
        else:
            found += _other_dpia(read.dpia, Path(where or ".").parent)
        if found:
            raise RequestError("; ".join(found), where=where or "the context")
        return read


def _beyond_fields(data: Mapping[str, Any], today: date) -> list[str]:
    """Find mistakes that a single field does not show, such as a past day or no threshold."""
    found = []
    expires, thresholds = data.get("expires"), data.get("thresholds")
    if type(expires) is date and expires < today:
        found.append("expires: is in the past")
    if isinstance(thresholds, Mapping) and "re-identification" not in thresholds:
        found.append("thresholds.re-identification: is absent")
    for name, one in thresholds.items() if isinstance(thresholds, Mapping) else ():
        if isinstance(one, Mapping) and one.get("standard") and one.get("bounds") == "mean":
            found.append(f"thresholds.{name}.bounds: no standard bounds the mean: give at_most")
        for field in ("accept", "why"):
            reason = one.get(field) if isinstance(one, Mapping) else None
            if isinstance(reason, str) and not has_substance(reason):
                found.append(f"thresholds.{name}.{field}: is no reason: write a sentence")
    return found


def _other_dpia(dpia: ImpactAssessment | None, folder: Path) -> list[str]:
    """Compare a local DPIA file with its stated hash."""
    if dpia is None or dpia.sha256 is None or "://" in dpia.place:
        return []
    place = folder / dpia.place
    is_other = place.is_file() and file_sha256(place) != dpia.sha256
    return ["dpia.sha256: differs from the file's"] if is_other else []


def _too_high(context: Context) -> Iterator[str]:
    """Yield a warning if the re-identification limit is above the suggested threshold."""
    score, limit = context.sensitivity, context.thresholds["re-identification"].limit
    if score is not None and limit is not None and limit > score.threshold:
        yield (
            f"The re-identification limit of {share(limit)} is above {share(score.threshold)}, "
            f"which the sensitivity score of {score.points} of 6 points suggests."
        )


def _describe_confirmed(context: Context) -> Iterator[str]:
    test = context.intruder_test
    if test is not None and test.confirmed:
        yield f"The intruder test confirmed {test.confirmed} of {test.claims} claims."
