"""Define a tree policy: disjoint leaves that cover the product of the domains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.core.errors import RequestError
from voile.tables.domains.domain import ValueDomain
from voile.tables.trees.tree import BoxExtents, BoxTree, Nodes


@dataclass(frozen=True, eq=False)
class TreePolicy(BriefRepr):
    """A policy that merges the values of each leaf, independently of other leaves.

    Parameters
    ----------
    domains : the quasi-identifiers' domains, in order.
    tree : the unpruned tree of the kit.
    number : the number of the tree in the kit.
    links : the number of its pruned weakest links.
    merged : nodes of the unpruned tree that a person chose not to split, ascending.

    >>> from voile.tables.domains.parser import CellParser
    >>> age = ValueDomain("age", tuple(range(106)), CellParser("integer"))
    >>> sex = ValueDomain("sex", ("f", "m"), CellParser("text"))
    >>> one = np.array([0, 1, -1, -1, -1], np.int32)
    >>> part = np.array([1, 3, -1, -1, -1], np.int32)
    >>> tree = BoxTree((106, 2), one, np.array([49, 0, 0, 0, 0], np.int32), part, part)
    >>> policy = TreePolicy((age, sex), tree, 0, 0)
    >>> print(policy.describe())
    age 50-105, sex f|m
    age 0-49, sex f
    age 0-49, sex m
    >>> policy.n_groups, policy.groups_per_column
    (3, {'age': 2, 'sex': 3})
    """

    shows = ("columns", "n_groups")

    domains: tuple[ValueDomain, ...]
    tree: BoxTree
    number: int
    links: int
    merged: tuple[int, ...] = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TreePolicy):
            return NotImplemented
        return self._key == other._key and self.domains == other.domains

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[int, int, tuple[int, ...]]:
        return self.number, self.links, self.merged

    @cached_property
    def pruned_tree(self) -> BoxTree:
        """Return the pruned tree, which defines the policy."""
        return self.tree.prune_links(self.links, self.merged)

    @cached_property
    def is_cut(self) -> NDArray[np.bool_]:
        """Return a mask of the nodes of the unpruned tree that are split."""
        return self.tree.is_cut_after(self.links, self.merged)

    @cached_property
    def uncut(self) -> Nodes:
        """Return each leaf's number in the unpruned tree, in the order of `pruned_tree.leaves`."""
        stays = np.append(True, self.is_cut[self.tree.parents[1:]])
        return np.flatnonzero(stays & ~self.is_cut).astype(np.int32)

    def merge(self, box: int) -> TreePolicy:
        """Return the policy that does not split one node of the unpruned tree.

        Raises
        ------
        RequestError : the policy does not split that node.
        """
        if not (0 <= box < len(self.tree) and self.is_cut[box]):
            raise RequestError(
                f"the policy has no node {box} to merge",
                instead="name a node that voile tables show lists as merges_into",
            )
        inside = {one for one in self.merged if box in self._ancestors(one)}
        return replace(self, merged=tuple(sorted({*self.merged, box} - inside)))

    def _ancestors(self, box: int) -> Iterator[int]:
        """Yield the ancestors of a node in the unpruned tree."""
        while (box := int(self.tree.parents[box])) >= 0:
            yield box

    @property
    def boxes(self) -> BoxTree:
        """Return the nodes of rows, including internal nodes."""
        return self.pruned_tree

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the quasi-identifiers, in order."""
        return tuple(domain.column for domain in self.domains)

    @property
    def n_groups(self) -> int:
        """Return the number of leaves."""
        return len(self.pruned_tree.leaves)

    @property
    def groups_per_column(self) -> dict[str, int]:
        """Return the number of different intervals of each column in the leaves."""
        return {d.column: len(self.sets_of(i)[0]) for i, d in enumerate(self.domains)}

    def sets_of(self, place: int) -> tuple[NDArray[np.bool_], Nodes]:
        """Return the sets of values of a column in the leaves, and the set of each leaf.

        The sets are (sets, values) bool. They are intervals if the column has an order, sorted by
        their first and last position. They may overlap.
        """
        return sets_in(self.pruned_tree, self.pruned_tree.leaves, place)

    def box_of(self, codes: NDArray[np.int32]) -> NDArray[np.intp]:
        """Return the leaf of each row of positions, from 0, or -1 for a value outside."""
        found = self.pruned_tree.place(codes)
        number = np.full(len(self.pruned_tree) + 1, -1)
        number[self.pruned_tree.leaves] = np.arange(self.n_groups)
        return number[found]

    def numbers_of(self, codes: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the number of each row's leaf in every column, or -1 for a value outside.

        A row with such a value belongs to no leaf. Its other columns are 0.
        """
        boxes = np.maximum(self.box_of(codes), 0)[:, None]
        return np.where(codes < 0, -1, boxes).astype(np.int32)

    def keys_of(self, numbers: NDArray[np.int32]) -> NDArray[Any]:
        """Return a key for each row of `numbers_of`, the same for rows of one leaf."""
        return numbers[:, 0]

    def list_shown(
        self, numbers: NDArray[np.int32]
    ) -> tuple[NDArray[np.int32], tuple[NDArray[np.bool_], ...]]:
        """Return the labels of leaves: interval numbers by column, and each interval's values.

        `numbers` are leaves in the form of `numbers_of`. The values are (intervals, values) bool
        for each column.
        """
        sets, number = zip(*(self.sets_of(i) for i in range(len(self.domains))), strict=True)
        return np.column_stack([own[numbers[:, 0]] for own in number]), sets

    def describe(self) -> str:
        """Return every leaf as text, for the holder only: ends are raw values."""
        columns = []
        for place, domain in enumerate(self.domains):
            sets, number = self.sets_of(place)
            labels = domain.labels_of(sets)
            columns.append([f"{domain.column} {labels[i]}" for i in number])
        return "\n".join(", ".join(box) for box in zip(*columns, strict=True))

    def to_data(self) -> dict[str, Any]:
        """Return the number of the kit's tree, the number of pruned links, and the merged nodes."""
        merged = {"merged": list(self.merged)} if self.merged else {}
        return {"family": "tree", "tree": self.number, "pruned": self.links, **merged}

    @classmethod
    def from_data(
        cls, domains: Sequence[ValueDomain], trees: Sequence[BoxTree], data: Mapping[str, Any]
    ) -> TreePolicy:
        """Build a policy from the data of `to_data`, given the kit's trees.

        Raises
        ------
        RequestError : the data is incomplete, or the kit has no such tree, link or node.
        """
        number, links = (data.get(name) for name in ("tree", "pruned"))
        merged = data.get("merged", [])
        if set(data) - {"merged"} != {"family", "tree", "pruned"} or not (
            type(number) is int and type(links) is int and isinstance(merged, list)
        ):
            raise RequestError("a tree policy needs its tree and its number of pruned links")
        if not 0 <= number < len(trees):
            raise RequestError(f"the kit has no tree {number}, only {len(trees)}, from 0")
        if not 0 <= links <= trees[number].links:
            raise RequestError(
                f"tree {number} has {trees[number].links:,} links to prune, not {links}"
            )
        own = cls(tuple(domains), trees[number], number, links)
        for box in merged:
            own = own.merge(box if type(box) is int else -1)
        return own


def sets_in(
    tree: BoxExtents, boxes: NDArray[np.integer[Any]], place: int
) -> tuple[NDArray[np.bool_], Nodes]:
    """Return the sets of values of a column in some nodes of a tree. See `TreePolicy.sets_of`."""
    low, high = (ends[boxes, place] for ends in tree.bounds)
    keys = np.column_stack([low, high, tree.sets[boxes, place]])
    _, first, number = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return tree.find_positions(boxes[first], place), number.astype(np.int32)
