"""What `fit`, `apply` and `attack` can be told; the command line makes one option of each field."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Literal

from pydantic import Field

from voile.data import Data
from voile.release.options import Options, Pseudonymous


class FitOptions(Options):
    """How the frontier is found and what it counts against."""

    population: tuple[Data, ...] = Field(
        (), description="table that counts people by quasi-identifiers; several are margins"
    )
    people: str = Field("people", description="column of the population table that counts")
    population_gap: Literal["error", "sample"] = Field(
        "error", description="what to do with records whose group the population lacks"
    )
    fraction: float | None = Field(
        None, gt=0, lt=1, description="share of the population that the source is a sample of"
    )
    hold_out: float = Field(
        0.0, ge=0, lt=1, description="share of subjects set aside before anything is learnt"
    )
    risk: str = Field("matches", description="matches or small-groups; your own as module:object")
    loss: str = Field(
        "information", description="information or mutual-information; your own as module:object"
    )
    outcomes: tuple[str, ...] = Field(
        (), description="column that mutual information is with; may be given several times"
    )
    strategy: Literal[
        "best",
        "steepest",
        "interval",
        "local",
        "random-chain",
        "sublattice",
        "bisect",
        "exhaustive",
    ] = Field("best", description="how policies are searched")
    chain_order: Literal["bits", "attributes"] = Field(
        "bits", description="how random chains merge: any cut next, or attribute after attribute"
    )
    bisect_risk: float | None = Field(
        None, ge=0, le=1, description="relative risk to bisect for; else Safe Harbor's"
    )
    resume: Path | None = Field(
        None, description="kit of the same columns and values, whose policies to go on from"
    )
    evaluations: int | None = Field(None, ge=1, description="stop after so many policies")
    seconds: float | None = Field(None, gt=0, description="stop after so many seconds")
    bound_seconds: float | None = Field(
        None, gt=0, description="then prove for so many seconds how good any policy could be"
    )
    k: int = Field(1, ge=1, description="least number of subjects in a group")
    max_risk: float = Field(1.0, gt=0, le=1, description="largest risk of any record released")
    l_diversity: int = Field(1, ge=1, description="least number of sensitive values in a group")
    suppress: float = Field(
        0.0, ge=0, lt=1, description="largest share of subjects dropped to meet these"
    )
    zip_column: str | None = Field(None, description="column of ZIP codes, for Safe Harbor")
    age_column: str | None = Field(None, description="column of ages, for Safe Harbor")
    vintage: Literal["population", "2000", "2010"] | None = Field(
        None, description="list of small three-digit ZIP areas, for Safe Harbor"
    )
    on: date | None = Field(
        None, description="day at which ages are counted, for Safe Harbor's years of birth"
    )


class ApplyOptions(Pseudonymous):
    """How the release is written."""

    bounds: bool = Field(False, description="write two bound columns instead of one label")


class AttackOptions(Options):
    """What the adversary holds and knows."""

    register_: Data | None = Field(
        None, alias="register", description="identified register that the adversary holds"
    )
    person: str | None = Field(
        None, description="column that says who a row is, in truth and register; else the subject"
    )
    knows: tuple[str, ...] = Field((), description="kept columns that the adversary knows as well")
    overlap: float | None = Field(
        None,
        ge=0,
        le=1,
        description="share of released people in the register, if known to the adversary; "
        "else estimated",
    )
    control: Data | None = Field(None, description="people set aside before fitting")
    population: Data | None = Field(None, description="table that counts people, to confirm unique")
    people: str = Field("people", description="column of the population table that counts")
    threshold: float = Field(0.0, ge=0, le=1, description="minimum match probability of a claim")
