"""The policies of a kit, by number, of both families: bit-strings and pruned trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import Brief
from voile.core.frontier import Frontier
from voile.tables.domains.domain import Domain
from voile.tables.policies.policy import Policy
from voile.tables.trees.policy import TreePolicy
from voile.tables.trees.tree import Tree

AnyPolicy: TypeAlias = Policy | TreePolicy
Bits = NDArray[np.bool_]
GLOBAL = -1


@dataclass(frozen=True, eq=False)
class Family(Brief):
    """Policies of one kit.

    Parameters
    ----------
    domains : the quasi-identifiers' domains, in order.
    bits : (g, n_bits) bool, the global policies. trees : whole.
    members : (m, 2) int32, what each policy is: -1 and a row of `bits`, or a tree and how many of
        its links are pruned.
    """

    shows = ("trees",)

    domains: tuple[Domain, ...]
    bits: Bits
    trees: tuple[Tree, ...]
    members: NDArray[np.int32]

    @classmethod
    def of_bits(cls, domains: Sequence[Domain], bits: Bits) -> Family:
        """Return the family of global policies alone."""
        rows = np.arange(len(bits))
        members = np.column_stack([np.full(len(bits), GLOBAL), rows]).astype(np.int32)
        return cls(tuple(domains), bits, (), members)

    def __len__(self) -> int:
        return len(self.members)

    @property
    def names(self) -> list[str]:
        """The family of each policy: ``global`` or ``tree``."""
        return ["global" if tree == GLOBAL else "tree" for tree, _ in self.members.tolist()]

    @property
    def is_global(self) -> Bits:
        """(m,) bool, which policies are bit-strings."""
        return np.asarray(self.members[:, 0] == GLOBAL)

    def policy(self, number: int) -> AnyPolicy:
        """Return one policy."""
        tree, at = self.members[number].tolist()
        if tree == GLOBAL:
            return Policy(self.domains, self.bits[at])
        return TreePolicy(self.domains, self.trees[tree], tree, at)

    def number_of(self, policy: AnyPolicy) -> int | None:
        """Return the number of a policy, None where it is none of these."""
        if isinstance(policy, TreePolicy):
            same = (self.members == (policy.number, policy.links)).all(axis=1)
        else:
            own = np.flatnonzero((self.bits == policy.bits).all(axis=1))
            same = self.is_global & np.isin(self.members[:, 1], own)
        found = np.flatnonzero(same)
        return int(found[0]) if len(found) else None

    def read(self, data: Mapping[str, Any]) -> AnyPolicy:
        """Read what a policy's `to_data` wrote."""
        if isinstance(data, Mapping) and data.get("family") == "tree":
            return TreePolicy.from_data(self.domains, self.trees, data)
        return Policy.from_data(self.domains, data)


def finest_cuts(policy: AnyPolicy) -> Policy:
    """Return the global policy of every cut that some box has: as fine as any box is."""
    if isinstance(policy, Policy):
        return policy
    return cuts_of(policy.domains, policy.pruned, policy.pruned.leaves)


def cuts_of(domains: Sequence[Domain], tree: Tree, boxes: NDArray[np.integer[Any]]) -> Policy:
    """Return the global policy of every cut that one of some boxes of a tree has."""
    bits = []
    for place, domain in enumerate(domains):
        cut = np.isin(np.arange(len(domain) - 1), tree.bounds[1][boxes, place])
        if tree.is_free[place]:
            cut = (np.diff(tree.held(boxes, place).astype(np.int8)) != 0).any(axis=0)
        bits.append(cut)
    return Policy(tuple(domains), np.concatenate(bits))


def join(
    domains: Sequence[Domain], found: Frontier, grown: Frontier, trees: Sequence[Tree]
) -> tuple[Frontier, Family]:
    """Return the frontier of both families, whose policies are `Family.members`.

    `found` has bit-strings, `grown` rows (tree, links pruned); of equal points the tree is kept,
    whose groups are fewer to explain where risk and loss are the same.
    """
    alone = Family.of_bits(domains, found.policies)
    members = np.concatenate([grown.policies.reshape(-1, 2), alone.members]).astype(np.int32)
    risk = np.concatenate([grown.risk, found.risk])
    loss = np.concatenate([grown.loss, found.loss])
    frontier = Frontier.of(risk, loss, members)
    return frontier, Family(tuple(domains), found.policies, tuple(trees), frontier.policies)
