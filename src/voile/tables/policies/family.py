"""Number the policies of a kit: bit-strings and pruned trees, or trees of records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.core.errors import RequestError
from voile.core.frontier import Frontier
from voile.tables.domains.domain import ValueDomain
from voile.tables.policies.policy import Policy
from voile.tables.trees.person_policy import PersonPolicy
from voile.tables.trees.policy import TreePolicy
from voile.tables.trees.tree import BoxExtents, BoxTree

AnyPolicy: TypeAlias = Policy | TreePolicy
"""A policy with a guarantee per row: the labels of a row depend only on its values."""
KitPolicy: TypeAlias = AnyPolicy | PersonPolicy
Bits = NDArray[np.bool_]
GLOBAL = -1


@dataclass(frozen=True, eq=False)
class PolicyFamily(BriefRepr):
    """The policies of one kit.

    Parameters
    ----------
    domains : the quasi-identifiers' domains, in order.
    bits : (g, n_bits) bool, the global policies.
    trees : the unpruned trees.
    members : (m, 2) int32, one row for each policy: -1 and a row of `bits`, or a tree and its
        number of pruned links.
    numbers : for policies per person, the numbers of rows with which people are released. Each
        policy then has one tree for each number. These trees are consecutive in `trees`.
    """

    shows = ("trees",)

    domains: tuple[ValueDomain, ...]
    bits: Bits
    trees: tuple[BoxTree, ...]
    members: NDArray[np.int32]
    numbers: tuple[int, ...] = ()

    @classmethod
    def of_bits(cls, domains: Sequence[ValueDomain], bits: Bits) -> PolicyFamily:
        """Return a family that contains only global policies."""
        rows = np.arange(len(bits))
        members = np.column_stack([np.full(len(bits), GLOBAL), rows]).astype(np.int32)
        return cls(tuple(domains), bits, (), members)

    def __len__(self) -> int:
        return len(self.members)

    @property
    def names(self) -> list[str]:
        """Return the family of each policy: ``global``, ``tree`` or ``person``."""
        of_trees = "person" if self.numbers else "tree"
        return ["global" if tree == GLOBAL else of_trees for tree, _ in self.members.tolist()]

    @property
    def is_global(self) -> Bits:
        """Return a mask (m,) of the policies that are bit-strings."""
        return np.asarray(self.members[:, 0] == GLOBAL)

    def policy(self, number: int) -> KitPolicy:
        """Return the policy with the given number."""
        tree, at = self.members[number].tolist()
        if tree == GLOBAL:
            return Policy(self.domains, self.bits[at])
        if self.numbers:
            return self._person_policy({"family": "person", "tree": tree, "pruned": at})
        return TreePolicy(self.domains, self.trees[tree], tree, at)

    def row_policy(self, number: int) -> AnyPolicy:
        """Return the policy with the given number. Its guarantee must be per row."""
        return refuse_person_policy(self.policy(number))

    def number_of(self, policy: KitPolicy) -> int | None:
        """Return the number of a policy, or None if it does not belong to the family."""
        if isinstance(policy, (TreePolicy, PersonPolicy)):
            if isinstance(policy, TreePolicy) and policy.merged:
                return None
            same = (self.members == (policy.number, policy.links)).all(axis=1)
        else:
            own = np.flatnonzero((self.bits == policy.bits).all(axis=1))
            same = self.is_global & np.isin(self.members[:, 1], own)
        found = np.flatnonzero(same)
        return int(found[0]) if len(found) else None

    def read_policy(self, data: Mapping[str, Any]) -> KitPolicy:
        """Read a policy that `to_data` wrote."""
        if self.numbers:
            return self._person_policy(data)
        if isinstance(data, Mapping) and data.get("family") == "tree":
            return TreePolicy.from_data(self.domains, self.trees, data)
        return Policy.from_data(self.domains, data)

    def _person_policy(self, data: Mapping[str, Any]) -> PersonPolicy:
        return PersonPolicy.from_data(self.domains, self.numbers, self.trees, data)


def refuse_person_policy(policy: KitPolicy) -> AnyPolicy:
    """Return a policy with a guarantee per row, or raise an error for one per person."""
    if isinstance(policy, PersonPolicy):
        raise RequestError(
            "the kit promises per person, and this needs a promise per row",
            instead="fit with --promise row",
        )
    return policy


def finest_cuts(policy: KitPolicy) -> Policy:
    """Return the global policy with every split point of any leaf: as fine as the finest leaf."""
    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, PersonPolicy):
        return cuts_of(policy.domains, policy.boxes, policy.uncut)
    return cuts_of(policy.domains, policy.pruned_tree, policy.pruned_tree.leaves)


def cuts_of(
    domains: Sequence[ValueDomain], tree: BoxExtents, boxes: NDArray[np.integer[Any]]
) -> Policy:
    """Return the global policy with every split point of the given leaves of a tree."""
    bits = []
    for place, domain in enumerate(domains):
        cut = np.isin(np.arange(len(domain) - 1), tree.bounds[1][boxes, place])
        if tree.is_free[place]:
            cut = (np.diff(tree.find_positions(boxes, place).astype(np.int8)) != 0).any(axis=0)
        bits.append(cut)
    return Policy(tuple(domains), np.concatenate(bits))


def join(
    domains: Sequence[ValueDomain],
    found: Frontier,
    grown: Frontier,
    trees: Sequence[BoxTree],
    numbers: tuple[int, ...] = (),
) -> tuple[Frontier, PolicyFamily]:
    """Return the frontier of both families, with `PolicyFamily.members` as its policies.

    `found` contains bit-strings, and `grown` contains rows (tree, links pruned). Among equal points
    the tree is kept, since it has fewer groups to explain.
    """
    alone = PolicyFamily.of_bits(domains, found.policies)
    members = np.concatenate([grown.policies.reshape(-1, 2), alone.members]).astype(np.int32)
    risk = np.concatenate([grown.risk, found.risk])
    loss = np.concatenate([grown.loss, found.loss])
    frontier = Frontier.of(risk, loss, members)
    family = PolicyFamily(tuple(domains), found.policies, tuple(trees), frontier.policies, numbers)
    return frontier, family
