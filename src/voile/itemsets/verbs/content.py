"""What an itemsets kit holds, in memory and as the kit's tables and facts."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.brief import Brief
from voile.core.errors import DamagedError, RequestError
from voile.core.frontier import Frontier
from voile.data.hold_out import HoldOut
from voile.data.roles import Roles
from voile.itemsets.measures.feasibility import Constraint
from voile.itemsets.rows.forms import Form, form_of
from voile.itemsets.rows.sources import RowReader
from voile.release.kit import Kit

KIND = "itemsets"
FOUND = ("method", "utility", "evaluations", "stopped")

LABELS_ALONE = "this policy has no feature: labels and kept columns are released, and no item"


class EmptyPolicyWarning(UserWarning):
    """A policy publishes no feature at all."""


@dataclass(frozen=True)
class Policy(Brief):
    """Publish these features, in the kit's order, and promise that they meet this constraint."""

    shows = ("constraint",)

    features: tuple[str, ...]
    constraint: Constraint

    def to_data(self) -> dict[str, Any]:
        asked = self.constraint
        limit = {} if asked.m is None else {"m": asked.m}
        return {"k": asked.k, **limit, "absences": asked.absences, "features": list(self.features)}

    def warn(self) -> None:
        if not self.features:
            warnings.warn(LABELS_ALONE, EmptyPolicyWarning, stacklevel=3)

    @classmethod
    def from_data(cls, data: Mapping[str, Any], known: Sequence[str]) -> Policy:
        """Read it back, refusing a feature that the kit does not know."""
        try:
            constraint = Constraint(data["k"], data.get("m"), data["absences"])
            features = tuple(map(str, data["features"]))
        except (KeyError, TypeError):
            raise RequestError("the policy says no k, absences or features") from None
        chosen = set(features)
        if unknown := chosen - set(known):
            first = min(place for place, name in enumerate(features, 1) if name in unknown)
            raise RequestError(
                f"feature {first} of the policy is none of the kit's",
                instead="leave it out, or choose again from this kit",
            )
        return cls(tuple(name for name in known if name in chosen), constraint)


@dataclass(frozen=True, eq=False)
class Content(Brief):
    """A fitted family: the columns' forms, the frontier, and each policy's figures.

    forms, reader : the columns of items; which rows were read. features : (features,) a table:
    name, support in subjects, weight (null where the utility is a function of the whole set).
    frontier, figures : its policies, (p, features) bool; a table of their figures. blocked : a
    table: for each policy the best features left out, and why. adversary, before, found : the
    constraint with k = 1; all features' exposure; how the search went.
    """

    forms: tuple[Form, ...]
    reader: RowReader
    features: pa.Table
    frontier: Frontier
    figures: pa.Table
    blocked: pa.Table
    adversary: Constraint
    before: Mapping[str, float]
    found: Mapping[str, Any]

    @property
    def names(self) -> list[str]:
        """The features' names, in the order of the forms."""
        return [feature for form in self.forms for feature in form.features]

    @property
    def risks(self) -> Mapping[str, NDArray[np.float64]]:
        """One in the fewest rows that hold what a row holds, of what the adversary may know."""
        return {"max_risk": self.frontier.risk}

    def policy(self, number: int) -> Policy:
        names, kept = self.names, np.flatnonzero(self.frontier.policies[number])
        k = self.figures.column("k")[number].as_py()
        adversary = self.adversary
        constraint = Constraint(k, adversary.m, adversary.absences)
        return Policy(tuple(names[x] for x in kept), constraint)

    def figures_of(self, number: int) -> dict[str, float]:
        row = self.figures.slice(number, 1).to_pylist()[0]
        return {
            name: x
            for name, x in row.items()
            if x is not None and isinstance(x, int | float) and name != "number"
        }

    def masks(self, policy: Policy) -> list[NDArray[np.bool_]]:
        """Return for each form which of its features a policy publishes."""
        wanted = set(policy.features)
        return [np.array([f in wanted for f in form.features]) for form in self.forms]

    def to_kit(self) -> Kit:
        """Return the kit; it is private, since it holds raw values and rare itemsets."""
        hold_out = self.reader.hold_out
        facts = {
            "policies": len(self.frontier),
            "roles": self.reader.roles.model_dump(mode="json"),
            "forms": [{**form.to_data(), "values": None} for form in self.forms],
            "hold_out": {"share": hold_out.share, "key": hold_out.key.hex()},
            "nameless": self.reader.without_label,
            "adversary": {"m": self.adversary.m, "absences": self.adversary.absences},
            "before": dict(self.before),
            **self.found,
        }
        packed = [np.packbits(mask).tobytes() for mask in self.frontier.policies]
        frontier = self.figures.append_column("policy", pa.array(packed, pa.binary()))
        values = pa.table(
            {
                "form": np.repeat(np.arange(len(self.forms)), [len(f.values) for f in self.forms]),
                "value": pa.array([v for f in self.forms for v in f.values], pa.string()),
            }
        )
        tables = {"frontier": frontier, "features": self.features, "values": values}
        return Kit(KIND, "private", facts, {**tables, "blocked": self.blocked})

    @classmethod
    def of(cls, kit: Kit) -> Content:
        """Read a kit back; `TamperedError` when it lacks what a kit of itemsets holds."""
        return kit.read(cls._of)

    @classmethod
    def _of(cls, kit: Kit) -> Content:
        facts = kit.facts
        features = kit.table("features", numbers=["support"], text=["feature"])
        blocked = kit.table("blocked", numbers=["number"])
        if features.schema.field("weight").type != pa.float64():
            raise DamagedError("the kit's weights are no numbers")
        listed = kit.table("values", numbers=["form"], text=["value"])
        place, values = (listed.column(name) for name in ("form", "value"))
        of, text = place.to_numpy(), np.array(values.to_pylist(), dtype=object)
        forms = tuple(
            form_of({**data, "values": text[of == x].tolist()})
            for x, data in enumerate(facts["forms"])
        )
        table = kit.table("frontier", numbers=["k", "risk", "loss"], raw=["policy"])
        width = len(features)
        listed_features = [name for form in forms for name in form.features]
        uneven = any(len(form.values) != len(form.features) for form in forms)
        if listed_features != features.column("feature").to_pylist() or uneven:
            raise DamagedError("the kit's features are not those of its columns")
        masks = [
            np.unpackbits(np.frombuffer(raw, dtype=np.uint8), count=width).astype(np.bool_)
            for raw in table.column("policy").to_pylist()
        ]
        roles, held = Roles.model_validate(facts["roles"]), facts["hold_out"]
        hold_out = HoldOut(held["share"], bytes.fromhex(held["key"]), roles.subject)
        return cls(
            forms,
            RowReader(roles, hold_out, facts["nameless"]),
            features,
            Frontier.of(
                table.column("risk").to_numpy(),
                table.column("loss").to_numpy(),
                np.array(masks, dtype=np.bool_).reshape(len(masks), width),
            ),
            table.drop_columns(["policy"]),
            blocked,
            Constraint(1, facts["adversary"]["m"], facts["adversary"]["absences"]),
            facts["before"],
            {name: facts[name] for name in FOUND},
        )
