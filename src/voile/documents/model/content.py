"""Convert the contents of a documents kit to the kit's tables and facts, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.errors import DamagedError, RequestError
from voile.data.hold_out import HoldOut
from voile.data.roles import Roles
from voile.documents.model.classifiers.arrays import from_table, to_table
from voile.documents.model.classifiers.calibration import IsotonicCalibration
from voile.documents.model.classifiers.saved import check_saveable, saved_name, saved_type
from voile.documents.model.committee.committee import CommitteeMember, Decision, TokenCommittee
from voile.documents.model.policies import CLUSTERS, DocumentsPolicies, DocumentsPolicy
from voile.documents.model.start.lists import find_clusters
from voile.documents.text.reader import DocumentReader
from voile.documents.words.features import FeatureSpace
from voile.documents.words.tokens import Lists, TokenHinter, lists_behind
from voile.release.kit import StoredKit

KIND = "documents"


@dataclass(frozen=True, eq=False)
class DocumentsContent(DocumentsPolicies):
    """A fitted family: committees for several costs, and the errors of each."""

    reading: DocumentReader  # the columns that were read, and the held-out subjects
    committees: Mapping[float, TokenCommittee]  # by miss_cost
    seen: NDArray[np.int64]  # (d,) the sorted keyed hashes of the training texts
    # the known values, as stored by `KnownValues`; None if there are none
    known: pa.Table | None = None

    def reading_by(self, roles: Roles) -> DocumentsContent:
        """Return the same family for a source with these roles and the same held-out subjects."""
        hold_out = replace(self.reading.hold_out, subject=roles.subject)
        return replace(self, reading=DocumentReader(roles, hold_out))

    def committee(self, policy: DocumentsPolicy) -> TokenCommittee:
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

    def to_kit(self) -> StoredKit:
        """Return the kit, which is private because it contains words of the text."""
        first = next(iter(self.committees.values()))
        public = shipped_lists(first.hinter, self.found)
        arrays, members = _store_members(self.committees)
        facts = {
            "policies": len(self.frontier),
            "holds_words": True,
            "roles": self.reading.roles.model_dump(mode="json"),
            "hold_out": self.reading.hold_out.to_data(),
            "committees": members,
            "lists": {
                name: sorted(words) for name, words in own_lists(first.space.lists, public).items()
            },
            "tags": list(first.space.tags),
            **self.found,
        }
        if first.hinter is not None:
            facts["hinter"] = first.hinter.name
        tables = {
            "frontier": self.figures,
            "alone": self.alone,
            "passes": self.passes,
            "attributes": pa.table({"attribute": pa.array(first.space.attributes, pa.string())}),
            "arrays": to_table({"columns": first.space.columns, "seen": self.seen, **arrays}),
        }
        if self.known is not None:
            tables["known"] = self.known
        return StoredKit(KIND, "private", facts, tables)

    @classmethod
    def parts(cls, kit: StoredKit) -> dict[str, Any]:
        facts, tables = kit.facts, kit.tables
        arrays = from_table(tables["arrays"])
        hinter = _hinter(facts.get("hinter"))
        space = FeatureSpace(
            tuple(kit.table("attributes", text=["attribute"]).column("attribute").to_pylist()),
            tuple(facts["tags"]),
            _rising(arrays["columns"]),
            {
                **shipped_lists(hinter, facts),
                **{name: frozenset(words) for name, words in facts["lists"].items()},
            },
        )
        read: dict[str, Any] = {}
        labels = tuple(facts["labels"])
        committees = {
            one["miss_cost"]: TokenCommittee(
                labels,
                np.array(one["costs"]),
                space,
                tuple(_member(entry, arrays, read, space) for entry in one["members"]),
                hinter=hinter,
            )
            for one in facts["committees"]
        }
        roles = Roles.model_validate(facts["roles"])
        hold_out = HoldOut.from_data(facts["hold_out"], roles.subject)
        bytes.fromhex(facts["key"])  # the key of the hashes; refuse an invalid key here
        return {
            **super().parts(kit),
            "reading": DocumentReader(roles, hold_out),
            "committees": committees,
            "seen": _rising(arrays["seen"]),
            "known": tables.get("known"),
        }


def shipped_lists(hinter: TokenHinter | None, facts: Mapping[str, Any]) -> Lists:
    """Return the lists that are part of voile: those of a hinter, and clusters of words."""
    clusters = find_clusters(facts[CLUSTERS]) if CLUSTERS in facts else {}
    return {**lists_behind(hinter), **clusters}


def own_lists(lists: Lists, public: Lists) -> Lists:
    """Return the data holder's lists among all lists that learners used."""
    return {name: words for name, words in lists.items() if public.get(name) != words}


def _hinter(name: str | None) -> TokenHinter | None:
    """Return the pretrained model or the rules of this name, in the version of the fit."""
    if name is None:
        return None
    from voile.documents.model.start.rules import KIT_NAME, find_rules  # few kits have any
    from voile.documents.model.start.starter.shipped import find_starter

    return find_rules(name) if name.startswith(f"{KIT_NAME} ") else find_starter(name)


def _store_members(
    committees: Mapping[float, TokenCommittee],
) -> tuple[dict[str, NDArray[Any]], list[dict[str, Any]]]:
    """Return the arrays of all members, each classifier once, and the members of each committee."""
    if any(one.tokeniser is not None for one in committees.values()):
        raise RequestError(
            "a kit cannot hold a tokeniser of one's own", instead="fit with voile's rule"
        )
    check_saveable([m.classifier for one in committees.values() for m in one.members])
    arrays: dict[str, NDArray[Any]] = {}
    places: dict[int, int] = {}
    entries = []
    for number, (cost, committee) in enumerate(committees.items()):
        members: list[dict[str, Any]] = []
        for member in committee.members:
            if id(member.classifier) not in places:
                places[id(member.classifier)] = len(places)
                _put_arrays(
                    arrays, f"classifier {places[id(member.classifier)]}", member.classifier
                )
            place = places[id(member.classifier)]
            calibration = None
            if member.calibration is not None:
                calibration = f"calibration {number} {len(members)}"
                _put_arrays(arrays, calibration, member.calibration)
            members.append(
                {
                    "learner": member.learner,
                    "decision": member.decision,
                    "kind": saved_name(member.classifier),
                    "classifier": f"classifier {place}",
                    "calibration": calibration,
                }
            )
        entries.append({"miss_cost": cost, "costs": committee.costs.tolist(), "members": members})
    return arrays, entries


def _put_arrays(arrays: dict[str, NDArray[Any]], prefix: str, thing: Any) -> None:
    arrays.update({f"{prefix}/{name}": array for name, array in thing.to_arrays().items()})


def _rising(numbers: NDArray[Any]) -> NDArray[np.int64]:
    """Return numbers for binary search; raise DamagedError if they are not sorted."""
    if numbers.ndim != 1 or numbers.dtype != np.int64 or (numbers[1:] < numbers[:-1]).any():
        raise DamagedError("the kit's arrays are not whole")
    return numbers


def _member(
    entry: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    read: dict[str, Any],
    space: FeatureSpace,
) -> CommitteeMember:
    """Create a member. Parts that several committees share are read once, and so scored once."""

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
    return CommitteeMember(
        entry["learner"],
        part(entry["classifier"], saved_type(entry["kind"])),
        None if calibration is None else part(calibration, IsotonicCalibration),
        entry["decision"],
    )
