"""What a documents kit holds, between memory and the kit's tables and facts."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.brief import Brief
from voile.core.errors import DamagedError, RequestError
from voile.core.frontier import Frontier
from voile.data.hold_out import HoldOut
from voile.data.roles import Roles
from voile.documents.committee.committee import Committee, Decision, Member
from voile.documents.learners import check_saveable, saved_name, saved_type
from voile.documents.learners.arrays import from_table, to_table
from voile.documents.learners.calibration import Calibration
from voile.documents.replacements.kinds import name_types
from voile.documents.text.reading import DocumentReader
from voile.documents.words.features import Space
from voile.release.kit import Kit

KIND = "documents"
FOUND = (
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

WHOLE = (
    "the policy has no pass: the committee removes nothing, and names stay but for what patterns "
    "and lists find"
)


class WholeWarning(UserWarning):
    """A policy leaves text whole, but for patterns and lists."""


@dataclass(frozen=True)
class Policy:
    """Apply the first `passes` members of the committee that was trained for `miss_cost`."""

    miss_cost: float
    passes: int

    def to_data(self) -> dict[str, Any]:
        """Return what a policy file shows and lets a person correct."""
        return {"miss_cost": self.miss_cost, "passes": self.passes}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Policy:
        """Read it back."""
        try:
            policy = cls(float(data["miss_cost"]), data["passes"])
        except (KeyError, TypeError, ValueError):
            raise RequestError("the policy says no miss_cost or passes") from None
        if more := sorted(data.keys() - {"miss_cost", "passes"}):
            raise RequestError(f"the policy says {more[0]}, which documents do not know")
        if isinstance(policy.passes, bool) or not isinstance(policy.passes, int):
            raise RequestError("the policy's passes are no whole number")
        return policy

    def warn(self) -> None:
        """Warn of a policy that removes nothing."""
        if not self.passes:
            warnings.warn(WHOLE, WholeWarning, stacklevel=3)


@dataclass(frozen=True, eq=False)
class Content(Brief):
    """A fitted family: committees for several costs, and what each leaves and removes.

    reading : which columns were read, and who was held out.
    committees : for each miss_cost.
    frontier : its policies are rows of `figures`.
    figures : (p,) a table of what each policy leaves and removes, out of fold, with every mention
        of a removed name.
    alone : (p,) the same of its committee alone.
    passes : a table of every turn of every loop, with what each learner would have done.
    seen : (d,) sorted keyed numbers of the texts learnt from.
    found : how the fit went, and the corpus in numbers.
    """

    reading: DocumentReader
    committees: Mapping[float, Committee]
    frontier: Frontier
    figures: pa.Table
    alone: pa.Table
    passes: pa.Table
    seen: NDArray[np.int64]
    found: Mapping[str, Any]

    def repeating(self, names: frozenset[str]) -> Content:
        """Return it with the figures that hold where every mention of these types is removed."""
        if names == name_types(self.found["labels"]):
            return self
        return replace(self, figures=self.alone)

    @property
    def with_repeats(self) -> bool:
        """Whether the figures are of every mention of a removed name."""
        return self.figures is not self.alone

    @property
    def risks(self) -> Mapping[str, NDArray[np.float64]]:
        """The share of identifiers that each policy leaves."""
        return {"relative_risk": self.frontier.risk}

    def policy(self, number: int) -> Policy:
        """Return a policy of the frontier."""
        row = self.figures.slice(number, 1).to_pylist()[0]
        return Policy(row["miss_cost"], row["passes"])

    def figures_of(self, number: int) -> dict[str, float]:
        """Return what is known of a policy of the frontier."""
        row = self.figures.slice(number, 1).to_pylist()[0]
        return {
            name: x
            for name, x in row.items()
            if x is not None and isinstance(x, int | float) and name != "number"
        }

    def context(self, policy: Policy) -> list[str]:
        """Return the words that, left under a policy, pointed to removed values."""
        for row in self.figures.to_pylist():
            if (row["miss_cost"], row["passes"]) == (policy.miss_cost, policy.passes):
                return list(row["context"])
        return []

    def committee(self, policy: Policy) -> Committee:
        """Return who removes under a policy."""
        if policy.miss_cost not in self.committees:
            known = ", ".join(f"{cost:g}" for cost in self.committees)
            raise RequestError(
                f"no committee was trained for a miss_cost of {policy.miss_cost:g}",
                instead=f"use one of {known}, or fit with it",
            )
        whole = self.committees[policy.miss_cost]
        if not 0 <= policy.passes <= len(whole.members):
            raise RequestError(
                f"the committee has no {policy.passes} passes",
                instead=f"use 0 to {len(whole.members)}",
            )
        return whole.first(policy.passes)

    def to_kit(self) -> Kit:
        """Return the kit; it is private, since it holds words of the text."""
        space = next(iter(self.committees.values())).space
        arrays, members = _stored(self.committees)
        hold_out = self.reading.hold_out
        facts = {
            "policies": len(self.frontier),
            "holds_words": True,
            "roles": self.reading.roles.model_dump(mode="json"),
            "hold_out": {"share": hold_out.share, "key": hold_out.key.hex()},
            "committees": members,
            "lists": {name: sorted(words) for name, words in space.lists.items()},
            "tags": list(space.tags),
            **self.found,
        }
        tables = {
            "frontier": self.figures,
            "alone": self.alone,
            "passes": self.passes,
            "attributes": pa.table({"attribute": pa.array(space.attributes, pa.string())}),
            "arrays": to_table({"columns": space.columns, "seen": self.seen, **arrays}),
        }
        return Kit(KIND, "private", facts, tables)

    @classmethod
    def of(cls, kit: Kit) -> Content:
        """Read a kit back; nothing in it is run."""
        return kit.read(cls._of)

    @classmethod
    def _of(cls, kit: Kit) -> Content:
        facts, tables = kit.facts, kit.tables
        arrays = from_table(tables["arrays"])
        space = Space(
            tuple(tables["attributes"].column("attribute").to_pylist()),
            tuple(facts["tags"]),
            _rising(arrays["columns"]),
            {name: frozenset(words) for name, words in facts["lists"].items()},
        )
        read: dict[str, Any] = {}
        labels = tuple(facts["labels"])
        committees = {
            one["miss_cost"]: Committee(
                labels,
                np.array(one["costs"]),
                space,
                tuple(_member(entry, arrays, read, space) for entry in one["members"]),
            )
            for one in facts["committees"]
        }
        table = kit.table("frontier", numbers=["miss_cost", "passes", "risk", "loss"])
        risk, loss = (table.column(name).to_numpy() for name in ("risk", "loss"))
        frontier = Frontier.of(risk, loss, np.arange(table.num_rows))
        if len(frontier) != table.num_rows:
            raise DamagedError("the kit's frontier holds a policy that another beats")
        roles, held = Roles.model_validate(facts["roles"]), facts["hold_out"]
        hold_out = HoldOut(held["share"], bytes.fromhex(held["key"]), roles.subject)
        bytes.fromhex(facts["key"])  # of the texts learnt from: what is none is refused here
        return cls(
            DocumentReader(roles, hold_out),
            committees,
            frontier,
            table,
            _beside(tables["alone"], table),
            tables["passes"],
            _rising(arrays["seen"]),
            {name: facts[name] for name in FOUND},
        )


def _stored(
    committees: Mapping[float, Committee],
) -> tuple[dict[str, NDArray[Any]], list[dict[str, Any]]]:
    """Return all members' arrays, each classifier once, and who sits in which committee."""
    if any(one.tokeniser is not None for one in committees.values()):
        raise RequestError(
            "a kit cannot hold a tokeniser of one's own", instead="fit with voile's rule"
        )
    check_saveable([m.classifier for one in committees.values() for m in one.members])
    arrays: dict[str, NDArray[Any]] = {}
    places: dict[int, int] = {}
    told = []
    for number, (cost, committee) in enumerate(committees.items()):
        members: list[dict[str, Any]] = []
        for member in committee.members:
            if id(member.classifier) not in places:
                places[id(member.classifier)] = len(places)
                _put(arrays, f"classifier {places[id(member.classifier)]}", member.classifier)
            place = places[id(member.classifier)]
            calibration = None
            if member.calibration is not None:
                calibration = f"calibration {number} {len(members)}"
                _put(arrays, calibration, member.calibration)
            members.append(
                {
                    "learner": member.learner,
                    "decision": member.decision,
                    "kind": saved_name(member.classifier),
                    "classifier": f"classifier {place}",
                    "calibration": calibration,
                }
            )
        told.append({"miss_cost": cost, "costs": committee.costs.tolist(), "members": members})
    return arrays, told


def _put(arrays: dict[str, NDArray[Any]], prefix: str, thing: Any) -> None:
    arrays.update({f"{prefix}/{name}": array for name, array in thing.to_arrays().items()})


def _beside(alone: pa.Table, figures: pa.Table) -> pa.Table:
    """Return the figures of committees alone; refuse them of other policies."""
    policies = ["miss_cost", "passes"]
    if not alone.select(policies).equals(figures.select(policies)):
        raise DamagedError("the kit's figures are not of the same policies")
    return alone


def _rising(numbers: NDArray[Any]) -> NDArray[np.int64]:
    """Return numbers that are looked up by halves; refuse them out of order."""
    if numbers.ndim != 1 or numbers.dtype != np.int64 or (np.diff(numbers) < 0).any():
        raise DamagedError("the kit's arrays are not whole")
    return numbers


def _member(
    entry: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    read: dict[str, Any],
    space: Space,
) -> Member:
    """Read one member back; what several committees share is read once, and so scored once."""

    def part(name: str, kind: Any) -> Any:
        if name not in read:
            held = {
                key[len(name) + 1 :]: a for key, a in arrays.items() if key.startswith(name + "/")
            }
            if held.get("size", len(space.columns)) != len(space.columns):
                raise DamagedError("a classifier of the kit is of other features")
            read[name] = kind.from_arrays(held)
        return read[name]

    calibration = entry["calibration"]
    if entry["decision"] not in get_args(Decision):
        raise DamagedError("a classifier of the kit decides by no known rule")
    return Member(
        entry["learner"],
        part(entry["classifier"], saved_type(entry["kind"])),
        None if calibration is None else part(calibration, Calibration),
        entry["decision"],
    )
