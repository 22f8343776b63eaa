"""A kit's policies and their figures without the committees: what `choose` and reports read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from voile.core.errors import DamagedError
from voile.core.frontier import Frontier
from voile.core.warn import warn
from voile.documents.replacements.kinds import name_types
from voile.release.choice import STRICT, read_fields
from voile.release.policies import StoredPolicies

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from voile.release.kit import StoredKit

FACTS = (
    "labels",
    "types",
    "tokens",
    "identifiers",
    "documents",
    "subjects",
    "columns",
    "cross_fit",
    "decision",
    "learners",
    "stopped",
    "key",
)
"""How the fit went, and the corpus in numbers."""
UNMARKED = ("marks", "unknown", "start", "default_policy", "default_means", "caveat", "language")
"""More facts, of a kit that was learnt from text that nobody annotated."""
MODELS, CLUSTERS, READER = "models", "clusters", "reader"
"""Keys of a kit's facts.

A kit with models of the user's own has their names and hashes. A kit whose learners saw clusters of
words has the clusters' name. A kit on a reader has the reader's hash and layer.
"""
NOVELTY = "novelty"
"""A kit's words, and how many of a note are new: see `NoveltyCheck`."""
UNLISTED = "voile does not list the reader's weights, and has not tested them"
OTHERS = (*UNMARKED, MODELS, CLUSTERS, READER, NOVELTY)
ANNOTATED, PROPOSED, REVIEWED = "annotated", "proposed", "reviewed"
"""Who marked the identifiers that a kit learnt from: annotators, nobody, or nobody but reviewers of
some lines."""
UNGRADED = ("miss_cost", "passes", "published_tokens")
"""The figures of a policy that need nobody's marks."""
UNCHECKED = {
    PROPOSED: "against proposals that nobody checked",
    REVIEWED: "against proposals, of which reviewers checked some lines",
}
"""The marks that figures are compared with if nobody annotated the text."""
WHOLE = (
    "the policy has no pass: the committee removes nothing, and names stay but for what patterns "
    "and lists find"
)


class UncheckedWarning(UserWarning):
    """The figures of a policy rest on unchecked proposals. Review the notes, or use `accept`."""


class WholeWarning(UserWarning):
    """A policy removes only patterns and lists. Choose a policy with at least one pass."""


@dataclass(frozen=True)
class DocumentsPolicy:
    """Apply the first `passes` members of the committee that was trained for `miss_cost`."""

    __pydantic_config__ = STRICT

    miss_cost: float
    passes: int

    def to_data(self) -> dict[str, Any]:
        return {"miss_cost": self.miss_cost, "passes": self.passes}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> DocumentsPolicy:
        return read_fields(cls, data)

    def warn(self) -> None:
        if not self.passes:
            warn(WHOLE, WholeWarning)


def caveat(unchecked: str) -> str:
    return (
        f"the policies' figures are {unchecked}: how many identifiers a release leaves is not known"
    )


@dataclass(frozen=True, eq=False)
class DocumentsPolicies(StoredPolicies):
    """The frontier of a fit; `figures` includes further mentions of removed names."""

    alone: pa.Table  # (p,) the same of its committee alone
    passes: pa.Table  # every pass of every loop, with what each learner would have removed
    found: Mapping[str, Any]  # `FACTS` of the fit
    lists: Mapping[str, int]  # how many words the data holder's lists have, by name

    @classmethod
    def parts(cls, kit: StoredKit) -> dict[str, Any]:
        import numpy as np

        figures = kit.table("frontier", numbers=["miss_cost", "passes", "risk", "loss"])
        risk, loss = (figures.column(name).to_numpy() for name in ("risk", "loss"))
        frontier = Frontier.of(risk, loss, np.arange(figures.num_rows))
        if len(frontier) != figures.num_rows:
            raise DamagedError("the kit's frontier holds a policy that another beats")
        alone, policies = kit.tables["alone"], ["miss_cost", "passes"]
        if not alone.select(policies).equals(figures.select(policies)):
            raise DamagedError("the kit's figures are not of the same policies")
        return {
            "frontier": frontier,
            "figures": figures,
            "alone": alone,
            "passes": kit.tables["passes"],
            "found": {
                **{name: kit.facts[name] for name in FACTS},
                **{name: kit.facts[name] for name in OTHERS if name in kit.facts},
            },
            "lists": {name: len(words) for name, words in sorted(kit.facts["lists"].items())},
        }

    def repeating(self, names: frozenset[str]) -> Self:
        """Return it with the figures that hold where every mention of these types is removed."""
        if names == name_types(self.found["labels"]):
            return self
        return replace(self, figures=self.alone)

    @property
    def with_repeats(self) -> bool:
        """Whether a type is a name, and the figures include further mentions of removed names."""
        return self.figures is not self.alone and bool(name_types(self.found["labels"]))

    @property
    def unchecked_reference(self) -> str:
        """What its figures are held against, if that is not text that somebody annotated."""
        return UNCHECKED.get(self.found.get("marks", ANNOTATED), "")

    def warn(self) -> None:
        """Say of figures against what nobody annotated that they measure nothing."""
        if self.unchecked_reference:
            warn(caveat(self.unchecked_reference), UncheckedWarning)

    @property
    def risks(self) -> Mapping[str, NDArray[np.float64]]:
        """The share of identifiers that each policy leaves."""
        return {"relative_risk": self.frontier.risk}

    def figures_of(self, number: int) -> dict[str, float]:
        """Return the figures of a policy; of proposals that nobody checked no share that is left.

        Such a share measures how far the committee agrees with the proposals.
        """
        found = super().figures_of(number)
        if self.found.get("marks") != PROPOSED:
            return found
        return {name: found[name] for name in UNGRADED if name in found}

    def policy(self, number: int) -> DocumentsPolicy:
        row = self.row(number)
        return DocumentsPolicy(row["miss_cost"], row["passes"])

    def context(self, policy: DocumentsPolicy) -> list[str]:
        """Return the words that, left under a policy, pointed to removed values."""
        for row in self.figures.to_pylist():
            if (row["miss_cost"], row["passes"]) == (policy.miss_cost, policy.passes):
                return list(row["context"])
        return []
