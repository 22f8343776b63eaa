"""Options of `fit`, `apply`, `attack` and `assess`. Each field is a command-line option."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

import voile.release.options

AXES = {"risk": "highest individual risk", "loss": "loss", "utility_lost": "utility lost"}
"""The names of risk and loss. The loss is the lost share of the AUC above chance, or of utility."""

Method = Literal[
    "portfolio",
    "best",
    "greedy",
    "exact",
    "joint",
    "paper-hamdist",
    "paper-distcnt",
    "cm-greedy",
    "maximal",
    "k-anonymity-hamdist",
    "k-anonymity-distcnt",
]


class FitOptions(voile.release.options.FitOptions):
    """Options of the search for the frontier, and of the adversary."""

    k: tuple[Annotated[int, Field(ge=1)], ...] = Field(
        (),
        description=(
            "minimum number of rows that contain all items of a row (k). Repeatable "
            "[2, 3, 5, 8, 11 and upwards]"
        ),
    )
    absences: bool = Field(
        False, description="assume that the adversary also knows the items that a person lacks"
    )
    utility: (
        Literal["mutual-information", "hamdist", "chi-squared", "coverage", "size", "distcnt"]
        | None
    ) = Field(
        None,
        description=(
            "measure of a feature's utility [mutual-information; coverage without labels]"
        ),
    )
    method: Method = Field("portfolio", description="search method for feature sets")
    evaluations: int | None = Field(
        None, ge=1, description="maximum number of feature sets scored for each k"
    )
    seconds: float | None = Field(None, gt=0, description="maximum number of seconds for each k")
    unique: float | None = Field(None, ge=0, le=1, description="maximum share of unique rows")
    auc: Literal["quick", "always", "never"] = Field(
        "quick",
        description=(
            "whether to measure classifiers on each policy; quick does so only if "
            "this takes seconds"
        ),
    )
    target_bins: int | None = Field(
        None,
        ge=2,
        le=50,
        description="read the label as a number, and group people into this many intervals",
    )
    drop_unlabelled: bool = Field(False, description="drop rows without a label")
    m: int | None = Field(
        None,
        ge=1,
        description="maximum number of features that the adversary knows of a person [all]",
    )

    @model_validator(mode="after")
    def _one_search(self) -> Self:
        if self.unique is not None and self.method not in ("portfolio", "joint"):
            raise ValueError("only the method joint keeps to a share of unique rows")
        return self

    @model_validator(mode="after")
    def _all_known(self) -> Self:
        if self.m is not None and self.method.startswith("k-anonymity"):
            raise ValueError(
                "the methods of k-anonymity take no m: they are against an adversary who knows all "
                "items that a person has and lacks"
            )
        return self


class ApplyOptions(voile.release.options.AcceptingOptions):
    """Options for writing the release."""

    pseudonyms: bool = Field(
        False, description="release the subjects as pseudonyms, which join this release to others"
    )
    recipient: str | None = Field(
        None,
        min_length=1,
        description="recipient of the release, as the ledger names it [everybody]",
    )


class AttackOptions(voile.release.options.ControlOptions):
    """Options of the adversary's data and knowledge."""

    items: tuple[Annotated[int, Field(ge=1)], ...] = Field(
        (1, 2, 3, 5, 10),
        description="number of a person's items that the adversary knows. Repeatable",
    )
    targets: int = Field(
        1000, ge=1, description="maximum number of attacked people, chosen at random"
    )


class AssessOptions(AttackOptions):
    """Options of the assessment of a release of any origin."""
