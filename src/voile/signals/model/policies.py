"""The policies of a kit and their estimates, for `choose`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from voile.core.errors import RequestError, nearest
from voile.core.frontier import Frontier
from voile.core.warn import warn
from voile.release.choice import STRICT, read_fields
from voile.release.kit import StoredKit
from voile.release.policies import StoredPolicies
from voile.signals.model.maps.checks import SignalsWarning
from voile.signals.options import Base

ESTIMATES = ("bits", "bits_low", "bits_high", "risk", "loss", "distortion")

PLAIN = "this policy has strength 0 and hides nothing: every reading is released as it is"


@dataclass(frozen=True)
class SignalsPolicy:
    """A policy: a method's map with a strength and a base."""

    __pydantic_config__ = STRICT

    method: str
    base: Base
    strength: Annotated[float, Field(ge=0, le=1)]

    def to_data(self) -> dict[str, Any]:
        return {"method": self.method, "base": self.base, "strength": self.strength}

    @classmethod
    def from_data(cls, data: Mapping[str, Any], methods: Collection[str]) -> SignalsPolicy:
        """Read a policy from its data.

        Raises
        ------
        RequestError : the method is not in the kit.
        """
        policy = read_fields(cls, data)
        if policy.method not in methods:
            raise RequestError(
                f"the kit has no method {policy.method}",
                where="policy",
                instead=nearest(policy.method, methods),
            )
        return policy

    def warn(self) -> None:
        if self.strength == 0:
            warn(PLAIN, SignalsWarning)


@dataclass(frozen=True, eq=False)
class SignalsPolicies(StoredPolicies):
    """The frontier of a fit, over strengths and bases.

    Its policies are row numbers of `figures`. The columns of `figures` are `ESTIMATES`, then
    method, base and strength.
    """

    @classmethod
    def parts(cls, kit: StoredKit) -> dict[str, Any]:
        numbers = [*ESTIMATES, "number", "strength"]
        figures = kit.table("frontier", numbers=numbers, text=["method", "base"])
        places = (figures[name].to_numpy() for name in ("risk", "loss", "number"))
        return {"frontier": Frontier.of(*places), "figures": figures}

    @property
    def risks(self) -> Mapping[str, NDArray[np.float64]]:
        """The information of messages about the class, relative to that of the readings."""
        return {"relative_risk": self.frontier.risk}

    def policy(self, number: int) -> SignalsPolicy:
        row = self.row(number)
        return SignalsPolicy(row["method"], row["base"], row["strength"])

    def figures_of(self, number: int) -> dict[str, float]:
        row = self.row(number)
        return {name: row[name] for name in ESTIMATES}
