"""Define the options of the verbs. The command line has one option for each field."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Literal, Self

from pydantic import Field

import voile.release.options
from voile.data.places import DescribedPlace, RowsPlace
from voile.keys.pseudonyms import purpose_of
from voile.release.options import AcceptingOptions, PseudonymOptions

AXES = {"risk": "risk", "loss": "loss"}
"""The names of risk and loss."""


class FitOptions(voile.release.options.FitOptions):
    """Options for the search of the frontier, and for the population that counts."""

    population: tuple[RowsPlace, ...] = Field(
        (),
        description=(
            "table that counts the population by quasi-identifiers. Repeatable: "
            "several tables are margins"
        ),
    )
    people: str = Field("people", description="column with the counts in the population table")
    population_gap: Literal["error", "sample"] = Field(
        "error",
        description=(
            "treatment of groups that the population lacks: an error, or their count in the sample"
        ),
    )
    sampled: bool = Field(
        False,
        description=(
            "the source is a random sample of its population. voile then estimates "
            "risks that the population tables do not count"
        ),
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
        description=(
            "weight of the divergence loss in the weighted loss; the entropy loss has the rest"
        ),
    )
    outcomes: tuple[str, ...] = Field(
        (), description="outcome column of the mutual-information loss. Repeatable"
    )
    family: Literal["both", "tree", "global"] = Field(
        "both",
        description="family of policies: trees, global split points for a whole column, or both",
    )
    promise: Literal["person", "row"] | None = Field(
        None,
        description=(
            "unit of the constraints: all rows of a person together, or each row "
            "alone [person if some people have several rows]"
        ),
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
    ) = Field(None, description="search method of global policies [quick; best if you set a limit]")
    chain_order: Literal["bits", "attributes"] = Field(
        "bits",
        description=(
            "order of merges in random chains: all split points mixed, or column by column"
        ),
    )
    bisect_risk: float | None = Field(
        None,
        ge=0,
        le=1,
        description="target relative risk of the method bisect [the risk of Safe Harbor]",
    )
    start_from: Path | None = Field(
        None,
        description="kit of the same columns and values. The search starts with its policies",
    )
    evaluations: int | None = Field(
        None, ge=1, description="maximum number of global policies scored"
    )
    seconds: float | None = Field(
        None, gt=0, description="time limit of the search of global policies, in seconds"
    )
    lower_bound_seconds: float | None = Field(
        None, gt=0, description="time limit for computing a lower bound, in seconds"
    )
    analysis: DescribedPlace | None = Field(
        None,
        description=(
            "TOML file of a regression model (outcome, predictors, family, positive). "
            "voile fits the model on the source and on a sample of policies"
        ),
    )
    k: int = Field(1, ge=1, description="minimum number of subjects in a group")
    max_risk: float = Field(1.0, gt=0, le=1, description="maximum risk of any released record")
    l_diversity: int = Field(
        1, ge=1, description="minimum number of distinct values of each sensitive column in a group"
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
        description=(
            "maximum distance between the sensitive values of a group and of all "
            "people, 0 to 1 (t-closeness)"
        ),
    )
    suppress: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="maximum share of subjects that voile suppresses to meet the constraints",
    )
    empty_boxes: bool = Field(
        False,
        description=(
            "allow leaves without a record. The loss is smaller, but the release "
            "shows combinations that nobody has"
        ),
    )
    zip_column: str | None = Field(
        None, description="column of ZIP codes, for the reference policy Safe Harbor"
    )
    age_column: str | None = Field(
        None, description="column of ages, for the reference policy Safe Harbor"
    )
    vintage: Literal["population", "2000", "2010"] | None = Field(
        None,
        description=(
            "census year of the small three-digit ZIP areas, for the reference policy Safe Harbor"
        ),
    )
    on: date | None = Field(
        None,
        description=(
            "reference date of ages, for years of birth in the reference policy Safe Harbor"
        ),
    )


class ApplyOptions(PseudonymOptions, AcceptingOptions):
    """Options for writing the release."""

    bounds: bool = Field(False, description="write two bound columns instead of one label")
    class_id: bool = Field(
        False, description="add a column of random ids, one for each equivalence class"
    )
    marginals: bool = Field(
        False,
        description=(
            "for trees: add counts of people by value intervals to the manifest. An "
            "adversary with all other rows learns more from them"
        ),
    )
    releases: tuple[Path, ...] = Field(
        (),
        description=(
            "folder with the ledger's earlier releases and their private folders, to "
            "link people. Repeatable"
        ),
    )
    hold_back: bool = Field(
        False, description="hold back new people until voile can release k of a group together"
    )
    recount: bool = Field(
        False,
        description=(
            "count the subjects of this source again, for a source of another day. "
            "Groups, risk and loss then refer to this source"
        ),
    )
    one_row: bool = Field(
        False,
        description=(
            "release one random row of each person, or another row if a group is too small"
        ),
    )
    recipient: str | None = Field(
        None,
        min_length=1,
        description=(
            "recipient, or recipient and period, as the ledger names it. The "
            "pseudonyms are the recipient's own and do not link other releases"
        ),
    )

    @property
    def purpose(self) -> str:
        """Return the purpose for the key of the pseudonyms."""
        return purpose_of(self.recipient)

    def at_worker(self) -> Self:
        driven = {"releases": (), "hold_back": False, "recount": False, "one_row": False}
        return super().at_worker().model_copy(update=driven)


class ShownPolicy(voile.release.options.Options):
    """The selection of a policy of a kit."""

    number: int | None = Field(
        None, ge=0, description="policy number, as `voile tables frontier` lists it"
    )
    policy: Path | None = Field(None, title="FILE", description="policy file")


class ShowOptions(ShownPolicy):
    """Show the labels of each column under one policy.

    The output also contains the number of people whom an adversary without the column would still
    match. With --json, it also contains the people by label and by group size, and the leaves of a
    tree.
    """


class EditOptions(ShownPolicy):
    """Merge or split the labels of a policy by hand.

    The command writes a policy file for `voile tables apply`. The policy's figures are counted
    again.
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
    """Options for the adversary's data and knowledge."""

    register_: RowsPlace | None = Field(
        None, alias="register", description="identified register of the adversary"
    )
    person: str | None = Field(
        None,
        description=(
            "column that identifies people in the original and in the register [the subject]"
        ),
    )
    knows: tuple[str, ...] = Field((), description="kept columns that the adversary also knows")
    overlap: float | None = Field(
        None,
        ge=0,
        le=1,
        description=(
            "share of released people who are in the register, if the adversary knows "
            "it [estimated]"
        ),
    )
    population: RowsPlace | None = Field(
        None, description="table that counts the population by quasi-identifiers"
    )
    people: str = Field("people", description="column with the counts in the population table")
    threshold: float = Field(0.0, ge=0, le=1, description="minimum match probability of a claim")


class AttackOptions(AdversaryOptions):
    """Options for the data, knowledge and actions of an adversary of voile's own release."""

    regrow: int = Field(
        0,
        ge=0,
        description="number of random people with one value unknown to the adversary, who "
        "makes the policy again for each value (0.1 to 3 seconds each)",
    )


class AssessOptions(AdversaryOptions):
    """Options for the data and knowledge for assessing a release of any origin."""

    population_gap: Literal["error", "sample"] = Field(
        "error",
        description=(
            "treatment of groups that the population lacks: an error, or their count "
            "in the original"
        ),
    )
    key: str | None = Field(
        None,
        description=(
            "column that identifies a row in original and release [a common "
            "identifier, else sets of matching rows]"
        ),
    )
    counts: str | None = Field(
        None, description="column of the release with the number of records that a row represents"
    )
    synthetic: bool = Field(
        False,
        description=(
            "the released rows are synthetic or perturbed. voile attacks them, and "
            "reports neither k nor expected matches"
        ),
    )
