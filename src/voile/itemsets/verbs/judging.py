"""Evaluate a release of itemsets together with all releases in a ledger.

An adversary who links two releases of the same rows can join the features of both for each row. Two
sets of features that each meet k may together have a k of only 1.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.core.errors import RequestError
from voile.data import Source
from voile.itemsets.measures import containment
from voile.itemsets.measures.feasibility import Constraint
from voile.itemsets.rows.incidence import Incidence
from voile.itemsets.rows.sources import SourceRows
from voile.itemsets.verbs.content import KIND, ItemsetsContent
from voile.itemsets.verbs.policies import ItemsetsPolicy
from voile.keys.pseudonyms import purpose_of
from voile.ledger.judgement import ReleaseJudgement, explain_erasure, other_kind
from voile.ledger.ledger import Ledger, LedgerKeys
from voile.ledger.linking import GroupPairs, linked_matches
from voile.ledger.promise import JointFigures
from voile.release.choice import Chosen
from voile.release.kit import StoredKit


def judge(
    kit: StoredKit,
    chosen: Chosen,
    ledger: Ledger,
    keys: LedgerKeys,
    *,
    source: Source | None = None,
    releases: Sequence[Path] = (),
) -> ReleaseJudgement:
    """Evaluate a policy of a kit together with the releases in a ledger.

    Raises
    ------
    RequestError : no source is given. A kit does not contain the rows, which are needed to join
        sets of features.
    """
    chosen.check(kit)
    content = ItemsetsContent.of(kit)
    if source is None:
        raise RequestError(
            "sets of features are judged on the rows of their source", instead="give --source"
        )
    policy = ItemsetsPolicy.from_data(chosen.policy, content.names)
    return judge_policy(content, policy, content.reader.records(source), ledger, keys)


def judge_policy(
    content: ItemsetsContent,
    policy: ItemsetsPolicy,
    source: Source,
    ledger: Ledger,
    keys: LedgerKeys,
    *,
    named: bool = False,
) -> ReleaseJudgement:
    """Evaluate a policy on the rows of a source.

    Cost: O(ones) for each release, and once for the union.

    named : whether subjects are released as pseudonyms. Releases can then be joined row by row.
    """
    features = _KeyedFeatures(content.reader.read_rows(source, content.forms, strict=False), keys)
    space = keys.hash("pseudonyms", purpose_of(None)) if named else None
    disclosed = {**features.describe_disclosed(policy), "space": space}
    past = [line.content["disclosed"] for line in ledger.released_lines]
    if why := explain_erasure(ledger, KIND) or _explain_no_bound(
        ledger, features, disclosed["counted"]
    ):
        return ReleaseJudgement(disclosed, len(past), unbounded=why)
    constraint = _strongest([policy.constraint, *(_constraint(one) for one in past)])
    known = [features.numbers(one["features"]) for one in past]
    own = features.numbers(disclosed["features"])
    alone = features.figures(own, policy.constraint)
    joint = features.figures(np.logical_or.reduce([own, *known]), constraint)
    linked = [
        features.figures(one | own, constraint).matches
        if named and said.get("space") == space
        else features.link_rows(one, own, constraint)
        for one, said in zip(known, past, strict=True)
    ]
    low = min(max(alone.matches, ledger.low), joint.matches)
    return ReleaseJudgement(
        disclosed,
        len(past),
        alone=alone,
        low=low,
        linked=max([low, *linked]) if past else None,
        high=joint,
        floor=min([policy.constraint.k, *(one["k"] for one in past)]),
    )


@dataclass(frozen=True, eq=False)
class _KeyedFeatures(BriefRepr):
    """The rows of a source, and the keyed hashes of their features in a ledger."""

    shows = ()

    rows: SourceRows
    keys: LedgerKeys

    @property
    def incidence(self) -> Incidence:
        return self.rows.incidence

    @property
    def hashes(self) -> list[str]:
        return [self.keys.hash("feature", name) for name in self.incidence.features]

    def describe_disclosed(self, policy: ItemsetsPolicy) -> dict[str, Any]:
        """Return the content of a ledger entry on the release of a policy."""
        asked = policy.constraint
        return {
            "counted": self.keys.hash("rows", self._digest()),
            "features": sorted(self.keys.hash("feature", name) for name in policy.features),
            "k": asked.k,
            "m": asked.m,
            "absences": asked.absences,
        }

    def _digest(self) -> str:
        """Return a hash of the rows that does not depend on their order."""
        held = self.incidence
        each = [np.sort(x).tobytes() for x in np.split(held.items, held.starts[1:-1])]
        patterns = [hashlib.sha256(one).digest() for one in each]
        labels = self.rows.labels
        said = [] if labels is None else [str(label).encode() for label in labels]
        rows = [patterns[p] + (said[i] if said else b"") for i, p in enumerate(held.pattern)]
        names = "\0".join(held.features).encode("utf-8", "surrogatepass")
        return hashlib.sha256(names + b"".join(sorted(rows))).hexdigest()

    def numbers(self, hashes: Sequence[str]) -> NDArray[np.bool_]:
        return np.isin(self.hashes, list(hashes))

    def figures(self, features: NDArray[np.bool_], constraint: Constraint) -> JointFigures:
        held = self.incidence.project(features)
        matches = float((1.0 / _sharing(held, constraint)).sum())
        whole = float((1.0 / _sharing(self.incidence, constraint)).sum())
        return JointFigures(matches, matches / whole if whole else 0.0, _least(held, constraint))

    def link_rows(
        self, one: NDArray[np.bool_], other: NDArray[np.bool_], constraint: Constraint
    ) -> float:
        """Return the expected matches if rows are linked by common features and labels."""
        first, second = self.incidence.project(one), self.incidence.project(other)
        both, shared = self.incidence.project(one | other), self.incidence.project(one & other)
        key = shared.pattern.astype(np.int64)
        if self.rows.labels is not None:
            label = np.unique(self.rows.labels.astype(str), return_inverse=True)[1]
            key = key * (int(label.max(initial=0)) + 1) + label
        a, b = first.pattern.astype(np.int64), second.pattern.astype(np.int64)
        people = _sharing(both, constraint).astype(np.float64)
        _, place = np.unique(both.pattern, return_index=True)
        alone = np.ones(int(a.max()) + 1)
        alone[a] = _sharing(first, constraint)
        pairs = GroupPairs(a[place], b[place], people[place])
        return linked_matches(a, b, np.unique(key, return_inverse=True)[1], alone, pairs)


def _explain_no_bound(ledger: Ledger, features: _KeyedFeatures, counted: str) -> str:
    """Return the reason why the joint risk of the releases has no bound, or an empty string."""
    known = set(features.hashes)
    for line in ledger.released_lines:
        if why := other_kind(line, KIND):
            return why
        said = line.content["disclosed"]
        if said["counted"] != counted or not known.issuperset(said["features"]):
            return (
                f"line {line.number} is a release of other rows than this source's, or of items "
                "that this kit reads differently. No figure bounds the risk of both together"
            )
    return ""


def _constraint(said: dict[str, Any]) -> Constraint:
    return Constraint(said["k"], said["m"], said["absences"])


def _strongest(each: Sequence[Constraint]) -> Constraint:
    """Return a constraint with the least k and the strongest adversary of the given constraints."""
    limits = [one.m for one in each if one.m is not None]
    m = max(limits) if len(limits) == len(each) else None
    return Constraint(min(one.k for one in each), m, any(one.absences for one in each))


def _sharing(held: Incidence, constraint: Constraint) -> NDArray[np.int64]:
    """Return, for each row, the subjects who match an adversary's complete knowledge of it."""
    absent = constraint.absences
    return (containment.row_exact_anonymity if absent else containment.row_anonymity)(held)


def _least(held: Incidence, constraint: Constraint) -> float:
    if constraint.m is not None:
        return float(containment.part_anonymity(held, constraint.m, absences=constraint.absences))
    if constraint.absences:
        return float(containment.row_exact_anonymity(held).min())
    return float(containment.anonymity(held))
