"""The content of a signals kit, converted to and from the kit's tables and facts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from voile.core.errors import DamagedError
from voile.data.files.outputs import Visibility
from voile.data.hold_out import HoldOut
from voile.data.roles import Roles
from voile.release.kit import StoredKit
from voile.signals.model.codec.codec import Codec
from voile.signals.model.codec.lattice import ValueLattice
from voile.signals.model.codec.steps import Arrays
from voile.signals.model.maps.stored import StoredMap, from_table, to_table
from voile.signals.model.policies import SignalsPolicies, SignalsPolicy
from voile.signals.model.readings.sources import SignalReader
from voile.signals.model.sessions import SEQUENCE, SessionFacts

KIND = "signals"

HOLDS = {
    "uniform": "the range of each class, which rests on its two outermost readings",
    "affine": "one matrix and one shift per class",
    "transport": "means, spreads and smoothed curves on even knots per class",
}
"""The kit's content per class, by method. Other methods store means, spreads or scales."""


@dataclass(frozen=True, eq=False)
class SignalsContent(SignalsPolicies):
    """A fitted family: its maps, the frontier over strengths and bases, and estimates."""

    reader: SignalReader  # the columns to read and their forms
    maps: Mapping[str, StoredMap]  # by method
    sessions: SessionFacts | None  # the map of a subject's sequences, if one was fitted
    before: Mapping[str, Any]  # the leakage of the original readings
    found: Mapping[str, Any]  # results of the fit

    @property
    def sequence(self) -> Arrays | None:
        """The map of sequences, in the stored form of a `SequenceCodec`."""
        return self.sessions.arrays if self.sessions else None

    @property
    def classes(self) -> list[str]:
        return [str(one) for one in next(iter(self.maps.values())).classes_]

    def map(self, policy: SignalsPolicy) -> StoredMap:
        return self.maps[policy.method].at(policy.base, policy.strength)

    def codec(self, number: int) -> Codec:
        """Return the codec of single readings for a policy of the frontier."""
        return self.map(self.policy(number)).codec_

    @property
    def visibility(self) -> Visibility:
        """`private` if an entry may be one person's value, else `shareable`."""
        nominal = any(not all(one.spans) for one in self.maps.values())
        named = any(form.settings.ordinal is not None for form in self.reader.forms)
        personal = "uniform" in self.maps or nominal or named or self.reader.hold_out.share > 0
        return "private" if personal else "shareable"

    def to_kit(self) -> StoredKit:
        """Return the kit, including a list of its content about people."""
        facts = {
            "policies": len(self.frontier),
            "roles": self.reader.roles.model_dump(mode="json"),
            "hold_out": self.reader.hold_out.to_data(),
            "columns": list(self.reader.columns),
            "time": self.reader.time,
            "sessions": self.sessions.facts() if self.sessions else None,
            "before": dict(self.before),
            "holds": self.holds(),
            **self.found,
        }
        arrays = {method: one.to_arrays() for method, one in self.maps.items()}
        if self.sequence is not None:
            arrays[SEQUENCE] = self.sequence
        tables = {"frontier": self.figures, "maps": to_table(arrays)}
        return StoredKit(KIND, self.visibility, facts, tables)

    def holds(self) -> list[str]:
        """Return a list of the kit's content about people, and its protection."""
        each = "means and spreads, or scales, per class"
        said = [f"{method}: {HOLDS.get(method, each)}" for method in self.maps]
        if self.reader.sides:
            names = ", ".join(one.column for one in self.reader.sides)
            said.append(f"{names}: the same, smoothed over their values, and names of 20 people up")
        if any(not isinstance(c, ValueLattice) for one in self.maps.values() for c in one.columns):
            said.append("nominal columns: every value, however rare")
        if self.reader.hold_out.share:
            said.append("the key that determines who was held out")
        for column, formula in self.relations().items():
            said.append(f"{column}: a table of distances from {formula}, one for all classes")
        known = {one.fitted_.epsilon for one in self.maps.values() if one.fitted_} - {None}
        if not known:
            return [*said, "differential privacy: none"]
        (epsilon,) = known
        private = f"each map, at epsilon {epsilon:g}; the frontier's estimates are not"
        return [*said, f"differential privacy: {private}"]

    def relations(self) -> dict[str, str]:
        """Return the relation of each derived column."""
        numeric = [one.column for one in self.reader.forms if not one.settings.nominal]
        names = {f"x{place}": name for place, name in enumerate(numeric)}
        names |= {f"k{place}": one.column for place, one in enumerate(self.reader.sides)}
        return {
            numeric[one.column]: re.sub(
                r"\b[xk]\d+\b", lambda found: names[found[0]], one.formula.text
            )
            for map in self.maps.values()
            if map.lift
            for one in map.lift.lifted
        }

    @classmethod
    def parts(cls, kit: StoredKit) -> dict[str, Any]:
        facts = kit.facts
        arrays = from_table(kit.tables["maps"])
        sequence = arrays.pop(SEQUENCE, None)
        maps = {method: StoredMap.from_arrays(each) for method, each in arrays.items()}
        columns = tuple(facts["columns"])
        if any(len(one.columns) != len(columns) for one in maps.values()):
            raise DamagedError("the kit's maps are of other columns")
        roles = Roles.model_validate(facts["roles"])
        hold_out = HoldOut.from_data(facts["hold_out"], roles.subject)
        reader = SignalReader(roles, columns, hold_out, facts["time"])
        if any(len(one.side) != len(reader.sides) for one in maps.values()):
            raise DamagedError("the kit's maps are of other known columns")
        return {
            **super().parts(kit),
            "reader": reader,
            "maps": maps,
            "sessions": None
            if sequence is None and not facts.get("sessions")
            else SessionFacts.from_facts(facts.get("sessions") or {}, sequence),
            "before": facts["before"],
            "found": {
                "stopped": facts["stopped"],
                "consistency": facts.get("consistency", {}),
            },
        }
