"""A kit's policies and their figures without the committees, for `choose` and reports."""

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
"""Facts about the fit and the size of the corpus."""
UNMARKED = ("marks", "unknown", "start", "default_policy", "default_means", "caveat", "language")
"""Additional facts of a kit that was trained on text without annotations."""
MODELS, CLUSTERS, READER = "models", "clusters", "reader"
"""Optional keys of a kit's facts.

A kit with the user's own models contains their names and hashes. A kit with clusters of words
contains the clusters' name. A kit on a reader contains the reader's hash and layer.
"""
NOVELTY = "novelty"
"""The hashed words of a kit's notes, and the usual share of new words: see `NoveltyCheck`."""
UNLISTED = "voile does not list the reader's weights, and has not tested them"
OTHERS = (*UNMARKED, MODELS, CLUSTERS, READER, NOVELTY)
ANNOTATED, PROPOSED, REVIEWED = "annotated", "proposed", "reviewed"
"""The source of the training identifiers: annotators, unchecked proposals, or proposals of which
reviewers checked some lines.
"""
UNGRADED = ("miss_cost", "passes", "published_tokens")
"""The figures of a policy that need no annotations."""
UNCHECKED = {
    PROPOSED: "against proposals that nobody checked",
    REVIEWED: "against proposals, of which reviewers checked some lines",
}
"""The reference of the figures if the text has no annotations."""
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
    """A policy that applies the first `passes` members of the committee trained for `miss_cost`."""

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

    alone: pa.Table  # (p,) the same figures of the committee alone
    passes: pa.Table  # every pass of every loop, with the removals of each learner
    found: Mapping[str, Any]  # the `FACTS` of the fit
    lists: Mapping[str, int]  # the number of words in each of the data holder's lists

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
        """Return the policies with the figures for removing all mentions of these types."""
        if names == name_types(self.found["labels"]):
            return self
        return replace(self, figures=self.alone)

    @property
    def with_repeats(self) -> bool:
        """Whether a type is a name, and the figures include further mentions of removed names."""
        return self.figures is not self.alone and bool(name_types(self.found["labels"]))

    @property
    def unchecked_reference(self) -> str:
        """The reference of the figures, if it is not annotated text."""
        return UNCHECKED.get(self.found.get("marks", ANNOTATED), "")

    def warn(self) -> None:
        """Warn that figures without annotated text do not measure the remaining identifiers."""
        if self.unchecked_reference:
            warn(caveat(self.unchecked_reference), UncheckedWarning)

    @property
    def risks(self) -> Mapping[str, NDArray[np.float64]]:
        """The share of identifiers that each policy leaves."""
        return {"relative_risk": self.frontier.risk}

    def figures_of(self, number: int) -> dict[str, float]:
        """Return the figures of a policy, without a share left if proposals were not checked.

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
        """Return the remaining words that indicated removed values under a policy."""
        for row in self.figures.to_pylist():
            if (row["miss_cost"], row["passes"]) == (policy.miss_cost, policy.passes):
                return list(row["context"])
        return []
