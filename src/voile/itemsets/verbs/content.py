"""The content of an itemsets kit, in memory and as the tables and facts of the kit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.errors import DamagedError
from voile.data.hold_out import HoldOut
from voile.data.roles import Roles
from voile.itemsets.rows.forms import ColumnForm
from voile.itemsets.rows.sources import RowReader
from voile.itemsets.rows.stored import form_of
from voile.itemsets.verbs.policies import ItemsetsPolicies, ItemsetsPolicy
from voile.release.kit import StoredKit

KIND = "itemsets"
FOUND = ("method", "utility", "evaluations", "stopped", "loss", "auc_on", "sizes_of_one_in")


@dataclass(frozen=True, eq=False)
class ItemsetsContent(ItemsetsPolicies):
    """A fitted family: the forms of the columns, the frontier, and the figures of each policy.

    forms, reader : the columns of items, and the reader of the rows.
    blocked : a table of the best features that each policy leaves out, with the reasons.
    before, found : the exposure with all features, and the course of the search.
    """

    forms: tuple[ColumnForm, ...]
    reader: RowReader
    blocked: pa.Table
    before: Mapping[str, float]
    found: Mapping[str, Any]

    def masks(self, policy: ItemsetsPolicy) -> list[NDArray[np.bool_]]:
        """Return, for each form, a mask of the features that a policy publishes."""
        wanted = set(policy.features)
        return [np.array([f in wanted for f in form.features]) for form in self.forms]

    def to_kit(self) -> StoredKit:
        """Return the kit. It is private, because it contains raw values and rare itemsets."""
        facts = {
            "policies": len(self.frontier),
            "roles": self.reader.roles.model_dump(mode="json"),
            "forms": [{**form.to_data(), "values": None} for form in self.forms],
            "hold_out": self.reader.hold_out.to_data(),
            "nameless": self.reader.without_label,
            "target": self.reader.target and self.reader.target.to_data(),
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
        return StoredKit(KIND, "private", facts, {**tables, "blocked": self.blocked})

    @classmethod
    def parts(cls, kit: StoredKit) -> dict[str, Any]:
        facts, parts = kit.facts, super().parts(kit)
        features = parts["features"]
        if features.schema.field("weight").type != pa.float64():
            raise DamagedError("the kit's weights are not numbers")
        listed = kit.table("values", numbers=["form"], text=["value"])
        place, values = (listed.column(name) for name in ("form", "value"))
        of, text = place.to_numpy(), np.array(values.to_pylist(), dtype=object)
        forms = tuple(
            form_of({**data, "values": text[of == x].tolist()})
            for x, data in enumerate(facts["forms"])
        )
        listed_features = [name for form in forms for name in form.features]
        uneven = any(len(form.values) != len(form.features) for form in forms)
        if listed_features != features.column("feature").to_pylist() or uneven:
            raise DamagedError("the kit's features are not those of its columns")
        roles = Roles.model_validate(facts["roles"])
        hold_out = HoldOut.from_data(facts["hold_out"], roles.subject)
        target = facts.get("target")  # early kits have none
        return {
            **parts,
            "forms": forms,
            "reader": RowReader(roles, hold_out, facts["nameless"], target and form_of(target)),
            "blocked": kit.table("blocked", numbers=["number"]),
            "before": facts["before"],
            "found": {name: facts.get(name) for name in FOUND},
        }
