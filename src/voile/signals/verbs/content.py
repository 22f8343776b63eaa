"""What a signals kit holds, between memory and the kit's tables and facts."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.brief import Brief
from voile.core.errors import DamagedError, RequestError, nearest
from voile.core.frontier import Frontier
from voile.data.files.outputs import Visibility
from voile.data.hold_out import HoldOut
from voile.data.roles import Roles
from voile.release.kit import Kit
from voile.signals.codec.codec import Codec
from voile.signals.codec.lattice import Lattice
from voile.signals.maps.privacy_map import SignalsWarning
from voile.signals.maps.stored import StoredMap, from_table, to_table
from voile.signals.readings.sources import SignalReader
from voile.signals.sequences.sequence_codec import SequenceCodec
from voile.signals.verbs.options import Base

KIND = "signals"
SEQUENCE = "sequence"
ESTIMATES = ("bits", "bits_low", "bits_high", "risk", "loss", "distortion")

HOLDS = {
    "uniform": "the range of each class, which rests on its two outermost readings",
    "affine": "one matrix and one shift per class",
    "transport": "means, spreads and smoothed curves on even knots per class",
}
"""What the kit holds of a class, by method; of the others means, spreads or scales."""

PLAIN = "this policy has strength 0 and hides nothing: every reading is released as it is"


@dataclass(frozen=True)
class Policy:
    """Send readings by this method's map, so far from the identity, looking so."""

    method: str
    base: str
    strength: float

    def to_data(self) -> dict[str, Any]:
        return {"method": self.method, "base": self.base, "strength": self.strength}

    @classmethod
    def from_data(cls, data: Mapping[str, Any], methods: Mapping[str, Any]) -> Policy:
        """Read it back, refusing a method that the kit does not know."""
        try:
            policy = cls(str(data["method"]), str(data["base"]), float(data["strength"]))
        except (KeyError, TypeError, ValueError):
            raise RequestError("the policy lacks a method, base or strength") from None
        for what, said, known in (
            ("method", policy.method, list(methods)),
            ("base", policy.base, list(get_args(Base))),
        ):
            if said not in known:
                raise RequestError(
                    f"the kit has no {what} {said}", where="policy", instead=nearest(said, known)
                )
        if not 0 <= policy.strength <= 1:
            raise RequestError("the strength must lie between 0 and 1", where="policy")
        return policy

    def warn(self) -> None:
        if self.strength == 0:
            warnings.warn(PLAIN, SignalsWarning, stacklevel=3)


@dataclass(frozen=True, eq=False)
class Content(Brief):
    """A fitted family: its maps, the frontier over strengths and bases, what readings reveal."""

    reader: SignalReader  # which columns are read, and how
    maps: Mapping[str, StoredMap]  # per method
    sequence: SequenceCodec | None  # the map of a subject's sequences, where one was fitted
    frontier: Frontier  # its policies, places in `figures`
    figures: pa.Table  # of the policies: `ESTIMATES`, then method, base and strength
    before: Mapping[str, Any]  # what the readings themselves reveal
    found: Mapping[str, Any]  # how the fit ended

    @property
    def classes(self) -> list[str]:
        return [str(one) for one in next(iter(self.maps.values())).classes_]

    @property
    def risks(self) -> Mapping[str, NDArray[np.float64]]:
        """What messages reveal of the class, as a share of what readings do."""
        return {"relative_risk": self.frontier.risk}

    def policy(self, number: int) -> Policy:
        row = self.figures.slice(number, 1).to_pylist()[0]
        return Policy(row["method"], row["base"], row["strength"])

    def figures_of(self, number: int) -> dict[str, float]:
        row = self.figures.slice(number, 1).to_pylist()[0]
        return {name: row[name] for name in ESTIMATES}

    def map(self, policy: Policy) -> StoredMap:
        return self.maps[policy.method].at(policy.base, policy.strength)

    def codec(self, number: int) -> Codec:
        """Return what encodes and decodes single readings under a policy of the frontier."""
        return self.map(self.policy(number)).codec_

    @property
    def visibility(self) -> Visibility:
        """Whether some entry may be one person's value: ``private`` then, else ``shareable``."""
        nominal = any(not all(one.spans) for one in self.maps.values())
        named = any(form.settings.ordinal is not None for form in self.reader.forms)
        personal = "uniform" in self.maps or nominal or named or self.reader.hold_out.share > 0
        return "private" if personal else "shareable"

    def to_kit(self) -> Kit:
        """Return the kit, which says of itself what it holds of people."""
        hold_out = self.reader.hold_out
        facts = {
            "policies": len(self.frontier),
            "roles": self.reader.roles.model_dump(mode="json"),
            "hold_out": {"share": hold_out.share, "key": hold_out.key.hex()},
            "columns": list(self.reader.columns),
            "time": self.reader.time,
            "before": dict(self.before),
            "holds": self.holds(),
            **self.found,
        }
        arrays = {method: one.to_arrays() for method, one in self.maps.items()}
        if self.sequence is not None:
            arrays[SEQUENCE] = self.sequence.to_arrays()
        tables = {"frontier": self.figures, "maps": to_table(arrays)}
        return Kit(KIND, self.visibility, facts, tables)

    def holds(self) -> list[str]:
        """List what the kit stores about people, and how far that is protected."""
        each = "means and spreads, or scales, per class"
        said = [f"{method}: {HOLDS.get(method, each)}" for method in self.maps]
        if any(not isinstance(c, Lattice) for one in self.maps.values() for c in one.columns):
            said.append("nominal columns: every value, however rare")
        if self.reader.hold_out.share:
            said.append("the key that determines who was held out")
        known = {one.fitted_.epsilon for one in self.maps.values() if one.fitted_} - {None}
        if not known:
            return [*said, "differentially private: none of it"]
        (epsilon,) = known
        private = f"each map, at epsilon {epsilon:g}; the frontier's estimates are not"
        return [*said, f"differentially private: {private}"]

    @classmethod
    def of(cls, kit: Kit) -> Content:
        """Read a kit back; `TamperedError` when it lacks what a kit of signals holds."""
        return kit.read(cls._of)

    @classmethod
    def _of(cls, kit: Kit) -> Content:
        facts = kit.facts
        numbers = [*ESTIMATES, "number", "strength"]
        figures = kit.table("frontier", numbers=numbers, text=["method", "base"])
        arrays = from_table(kit.tables["maps"])
        sequence = arrays.pop(SEQUENCE, None)
        maps = {method: StoredMap.from_arrays(each) for method, each in arrays.items()}
        columns = tuple(facts["columns"])
        if any(len(one.columns) != len(columns) for one in maps.values()):
            raise DamagedError("the kit's maps are of other columns")
        roles, held = Roles.model_validate(facts["roles"]), facts["hold_out"]
        hold_out = HoldOut(held["share"], bytes.fromhex(held["key"]), roles.subject)
        return cls(
            SignalReader(roles, columns, hold_out, facts["time"]),
            maps,
            None if sequence is None else SequenceCodec.from_arrays(sequence),
            Frontier.of(
                figures["risk"].to_numpy(),
                figures["loss"].to_numpy(),
                figures["number"].to_numpy(),
            ),
            figures,
            facts["before"],
            {"stopped": facts["stopped"]},
        )
