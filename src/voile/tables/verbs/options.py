"""The options of the wing's verbs; the command line makes one option of each field."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field

import voile.release.options
from voile.data.places import DescribedPlace, RowsPlace
from voile.keys.pseudonyms import purpose_of
from voile.release.options import PseudonymOptions

AXES = {"risk": "risk", "loss": "loss"}
"""The names of risk and loss."""


LEAST_WORDS = 3
"""Distinct words of a reason."""


def _check_reason(given: str) -> str:
    """Refuse a reason of fewer than three distinct words of letters."""
    if len(set(re.findall(r"[^\W\d_]{2,}", given.casefold()))) < LEAST_WORDS:
        raise ValueError("a reason has at least three different words; state why it is acceptable")
    return given


Reason = Annotated[str, AfterValidator(_check_reason)]


class FitOptions(voile.release.options.FitOptions):
    """Set how the search finds the frontier, and which population counts."""

    population: tuple[RowsPlace, ...] = Field(
        (), description="table of people by quasi-identifiers; several are taken as margins"
    )
    people: str = Field("people", description="column of counts in the population table")
    population_gap: Literal["error", "sample"] = Field(
        "error",
        description="groups that the population lacks: refuse, or count by the sample",
    )
    sampled: bool = Field(
        False,
        description="the source is a random sample of its population: estimate risks where tables "
        "count people by some quasi-identifiers",
    )
    fraction: float | None = Field(
        None,
        gt=0,
        lt=1,
        description="sampling fraction: share of the population in the source",
    )
    risk: str = Field(
        "matches",
        description="risk: matches, small-groups, estimated-matches (trees, with --sampled) or "
        "module:object",
    )
    loss: str = Field(
        "weighted",
        description="loss: weighted, information, mutual-information or module:object",
    )
    loss_weight: float = Field(
        0.5,
        ge=0,
        le=1,
        description="weight of distribution in the weighted loss; resolution has the rest",
    )
    outcomes: tuple[str, ...] = Field(
        (), description="outcome column of mutual-information; may be given several times"
    )
    family: Literal["both", "tree", "global"] = Field(
        "both",
        description="policies to look for: trees of boxes, cuts that hold for a whole column, "
        "or both",
    )
    promise: Literal["person", "row"] | None = Field(
        None,
        description="unit of the constraints: all rows of a person together, or each row "
        "alone [person where some people have several rows]",
    )
    method: (
        Literal[
            "best",
            "quick",
            "steepest",
            "interval",
            "local",
            "random-chain",
            "sublattice",
            "bisect",
            "exhaustive",
        ]
        | None
    ) = Field(
        None, description="search method of global policies [quick; best where a limit is given]"
    )
    chain_order: Literal["bits", "attributes"] = Field(
        "bits", description="order of merges in random chains: all cuts mixed, or by attribute"
    )
    bisect_risk: float | None = Field(
        None, ge=0, le=1, description="target relative risk of bisect; else that of Safe Harbor"
    )
    start_from: Path | None = Field(
        None, description="kit of the same columns and values, with whose policies to start"
    )
    evaluations: int | None = Field(None, ge=1, description="limit of global policies scored")
    seconds: float | None = Field(
        None, gt=0, description="time limit of the search of global policies, in seconds"
    )
    lower_bound_seconds: float | None = Field(
        None, gt=0, description="time limit for computing a lower bound, in seconds"
    )
    analysis: DescribedPlace | None = Field(
        None,
        description="TOML file of a model (outcome, predictors, family, positive), fitted on the "
        "source and under a spread of policies",
    )
    k: int = Field(1, ge=1, description="minimum number of subjects in a group")
    max_risk: float = Field(1.0, gt=0, le=1, description="maximum risk of any released record")
    l_diversity: int = Field(
        1, ge=1, description="minimum number of values of each sensitive column in a group"
    )
    entropy_l: float = Field(
        1.0,
        ge=1,
        description="minimum effective number of values of each sensitive column in a group "
        "(entropy l-diversity)",
    )
    t_closeness: float = Field(
        1.0,
        ge=0,
        le=1,
        description="maximum distance of a group's values of each sensitive column from "
        "everybody's, 0 to 1, ordered for numbers (t-closeness)",
    )
    suppress: float = Field(
        0.0, ge=0, lt=1, description="maximum share of subjects suppressed to meet these"
    )
    empty_boxes: bool = Field(
        False,
        description="let trees leave boxes without a record: less is lost, and the release shows "
        "which combinations nobody in it has",
    )
    zip_column: str | None = Field(None, description="column of ZIP codes, for Safe Harbor")
    age_column: str | None = Field(None, description="column of ages, for Safe Harbor")
    vintage: Literal["population", "2000", "2010"] | None = Field(
        None, description="census of the small three-digit ZIP areas, for Safe Harbor"
    )
    on: date | None = Field(
        None, description="reference date of ages, for Safe Harbor's years of birth"
    )


class ApplyOptions(PseudonymOptions):
    """How the release is written."""

    bounds: bool = Field(False, description="write two bound columns instead of one label")
    class_id: bool = Field(
        False, description="add a column of random ids, one for each equivalence class"
    )
    marginals: bool = Field(
        False,
        description="for trees: list people by runs of each column's values in the manifest; "
        "this narrows values for an adversary with all other rows",
    )
    releases: tuple[Path, ...] = Field(
        (),
        description="folder of earlier releases of the ledger, with their private folders, to "
        "follow people; may be given several times",
    )
    hold_back: bool = Field(
        False, description="let new people wait until k of a group can be released together"
    )
    recount: bool = Field(
        False,
        description="recount this source's subjects by the kit's domains, as those of another "
        "day; groups, risk and loss are then theirs",
    )
    one_row: bool = Field(
        False,
        description="release one random row of each person, or another where a group lacks people",
    )
    accept_risk: Reason | None = Field(
        None,
        description="release although a column joins the rows of people whom their rows single "
        "out; give the reason, which the report repeats on its first line",
    )
    recipient: str | None = Field(
        None,
        min_length=1,
        description="recipient, or recipient and period, by a name of the ledger; the pseudonyms "
        "are the recipient's own, and link no releases to others",
    )

    @property
    def purpose(self) -> str:
        """Return the purpose for the key of the pseudonyms."""
        return purpose_of(self.recipient)

    def at_worker(self) -> Self:
        driven = {"releases": (), "hold_back": False, "recount": False, "one_row": False}
        return super().at_worker().model_copy(update=driven)


class ShownPolicy(voile.release.options.Options):
    """Select a policy of a kit."""

    number: int | None = Field(
        None, ge=0, description="policy number, as listed by voile tables frontier"
    )
    policy: Path | None = Field(None, title="FILE", description="policy file")


class ShowOptions(ShownPolicy):
    """Show the labels of each column under one policy.

    Also shows how many people an adversary without the column would still match.
    With --json: also the people by label and by group size, and the leaves of a tree.
    """


class EditOptions(ShownPolicy):
    """Merge or split the labels of a policy by hand.

    Writes a policy file for `voile tables apply`. Its figures are counted again.
    """

    merge: tuple[str, ...] = Field(
        (),
        title="PLACE",
        description="COLUMN=VALUE: remove the split point before this value; of a tree the number "
        "of a node, whose leaves become one. Repeatable",
    )
    split: tuple[str, ...] = Field(
        (), title="PLACE", description="COLUMN=VALUE: begin an interval here. Repeatable"
    )


class AdversaryOptions(voile.release.options.ControlOptions):
    """Set the adversary's data and knowledge."""

    register_: RowsPlace | None = Field(
        None, alias="register", description="identified register that the adversary holds"
    )
    person: str | None = Field(
        None, description="column of identities in the original and the register [the subject]"
    )
    knows: tuple[str, ...] = Field((), description="kept columns that the adversary also knows")
    overlap: float | None = Field(
        None,
        ge=0,
        le=1,
        description="share of released people in the register, as the adversary knows it; "
        "else estimated",
    )
    population: RowsPlace | None = Field(None, description="table of people by quasi-identifiers")
    people: str = Field("people", description="column of counts in the population table")
    threshold: float = Field(0.0, ge=0, le=1, description="minimum match probability of a claim")


class AttackOptions(AdversaryOptions):
    """Set the data, knowledge and actions of an adversary of voile's own release."""

    regrow: int = Field(
        0,
        ge=0,
        description="number of random people with one value unknown to the adversary, who "
        "makes the policy again for each value (0.1 to 3 seconds each)",
    )


class AssessOptions(AdversaryOptions):
    """Set the data and knowledge for assessing a release of any origin."""

    population_gap: Literal["error", "sample"] = Field(
        "error",
        description="groups that the population lacks: refuse, or count by the original",
    )
    key: str | None = Field(
        None,
        description="column in both that identifies the rows [an identifier in both, else sets "
        "of rows that fit]",
    )
    counts: str | None = Field(
        None, description="column of the release with the number of records of each row"
    )
    synthetic: bool = Field(
        False,
        description="the released rows were drawn or perturbed: attack them, and count neither k "
        "nor expected matches",
    )
