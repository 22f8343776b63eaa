"""The policies of a kit and their figures, which `choose` reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.core.errors import RequestError
from voile.core.frontier import Frontier
from voile.core.warn import warn
from voile.itemsets.measures.feasibility import Constraint
from voile.release.choice import STRICT, read_fields
from voile.release.kit import StoredKit
from voile.release.policies import StoredPolicies

LABELS_ALONE = "this policy has no feature: labels and kept columns are released, and no item"


class EmptyPolicyWarning(UserWarning):
    """A policy publishes no feature. Choose another policy, or a smaller k."""


@dataclass(frozen=True)
class _PolicyFields:
    """The fields of a policy file."""

    __pydantic_config__ = STRICT

    k: int
    absences: bool
    features: list[str]
    m: int | None = None


@dataclass(frozen=True)
class ItemsetsPolicy(BriefRepr):
    """The features to publish, in the kit's order, and the constraint that they must meet."""

    shows = ("constraint",)

    features: tuple[str, ...]
    constraint: Constraint

    def to_data(self) -> dict[str, Any]:
        asked = self.constraint
        limit = {} if asked.m is None else {"m": asked.m}
        return {"k": asked.k, **limit, "absences": asked.absences, "features": list(self.features)}

    def warn(self) -> None:
        if not self.features:
            warn(LABELS_ALONE, EmptyPolicyWarning)

    @classmethod
    def from_data(cls, data: Mapping[str, Any], known: Sequence[str]) -> ItemsetsPolicy:
        """Return a policy from plain data. Raises RequestError for a feature that the kit lacks."""
        said = read_fields(_PolicyFields, data)
        constraint, chosen = Constraint(said.k, said.m, said.absences), set(said.features)
        if unknown := chosen - set(known):
            first = min(place for place, name in enumerate(said.features, 1) if name in unknown)
            raise RequestError(
                f"feature {first} of the policy is none of the kit's",
                instead="leave it out, or choose again from this kit",
            )
        return cls(tuple(name for name in known if name in chosen), constraint)


@dataclass(frozen=True, eq=False)
class ItemsetsPolicies(StoredPolicies):
    """The frontier of a fit. Its policies are a boolean array of shape (policies, features).

    features : a table with one row for each feature: name, support in subjects, and weight. The
        weight is null if the utility is a function of the whole set.
    adversary : the constraint with k = 1.
    """

    features: pa.Table
    adversary: Constraint

    @classmethod
    def parts(cls, kit: StoredKit) -> dict[str, Any]:
        features = kit.table("features", numbers=["support"], text=["feature"])
        table = kit.table("frontier", numbers=["k", "risk", "loss"], raw=["policy"])
        width, asked = len(features), kit.facts["adversary"]
        masks = [
            np.unpackbits(np.frombuffer(raw, dtype=np.uint8), count=width).astype(np.bool_)
            for raw in table.column("policy").to_pylist()
        ]
        frontier = Frontier.of(
            table.column("risk").to_numpy(),
            table.column("loss").to_numpy(),
            np.array(masks, dtype=np.bool_).reshape(len(masks), width),
        )
        return {
            "frontier": frontier,
            "figures": table.drop_columns(["policy"]),
            "features": features,
            "adversary": Constraint(1, asked["m"], asked["absences"]),
        }

    @property
    def names(self) -> list[str]:
        """The names of the features, in the order of the kit."""
        names: list[str] = self.features.column("feature").to_pylist()
        return names

    @property
    def risks(self) -> Mapping[str, NDArray[np.float64]]:
        """1 / the least number of people who match the adversary's possible knowledge of a row."""
        return {"max_risk": self.frontier.risk}

    def policy(self, number: int) -> ItemsetsPolicy:
        names, kept = self.names, np.flatnonzero(self.frontier.policies[number])
        asked = Constraint(self.row(number)["k"], self.adversary.m, self.adversary.absences)
        return ItemsetsPolicy(tuple(names[x] for x in kept), asked)
