"""A tree policy: disjoint boxes that cover the product of the domains."""

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
    """Merge the values of a box, independently of other boxes with the same values.

    Parameters
    ----------
    domains : the quasi-identifiers' domains, in order.
    tree : of the kit, whole. number : which of the kit's it is.
    links : how many of its weakest links are pruned.
    merged : boxes of the whole tree that a person left uncut, rising.

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
        """The tree that the policy is."""
        return self.tree.prune_links(self.links, self.merged)

    @cached_property
    def is_cut(self) -> NDArray[np.bool_]:
        """Which boxes of the whole tree are cut."""
        return self.tree.is_cut_after(self.links, self.merged)

    @cached_property
    def uncut(self) -> Nodes:
        """The number in the whole tree of each box of rows, in the order of `pruned.leaves`."""
        stays = np.append(True, self.is_cut[self.tree.parents[1:]])
        return np.flatnonzero(stays & ~self.is_cut).astype(np.int32)

    def merge(self, box: int) -> TreePolicy:
        """Return the policy that leaves one box of the whole tree uncut.

        Raises RequestError: the policy does not cut that box.
        """
        if not (0 <= box < len(self.tree) and self.is_cut[box]):
            raise RequestError(
                f"the policy has no node {box} to merge",
                instead="name a node that voile tables show lists as merges_into",
            )
        inside = {one for one in self.merged if box in self._ancestors(one)}
        return replace(self, merged=tuple(sorted({*self.merged, box} - inside)))

    def _ancestors(self, box: int) -> Iterator[int]:
        """Yield the boxes of the whole tree that a box is part of."""
        while (box := int(self.tree.parents[box])) >= 0:
            yield box

    @property
    def boxes(self) -> BoxTree:
        """The boxes of rows, those that are cut included."""
        return self.pruned_tree

    @property
    def columns(self) -> tuple[str, ...]:
        """The quasi-identifiers, in order."""
        return tuple(domain.column for domain in self.domains)

    @property
    def n_groups(self) -> int:
        """How many boxes there are."""
        return len(self.pruned_tree.leaves)

    @property
    def groups_per_column(self) -> dict[str, int]:
        """How many different intervals of each column the boxes have."""
        return {d.column: len(self.sets_of(i)[0]) for i, d in enumerate(self.domains)}

    def sets_of(self, place: int) -> tuple[NDArray[np.bool_], Nodes]:
        """Return the sets of values that the boxes have of a column, and which of them each has.

        (sets, values) bool: intervals, where the column has an order, sorted by their first and
        last position. They may overlap.
        """
        return sets_in(self.pruned_tree, self.pruned_tree.leaves, place)

    def box_of(self, codes: NDArray[np.int32]) -> NDArray[np.intp]:
        """Return the box of each row of positions, from 0; -1 of a value outside its domain."""
        found = self.pruned_tree.place(codes)
        number = np.full(len(self.pruned_tree) + 1, -1)
        number[self.pruned_tree.leaves] = np.arange(self.n_groups)
        return number[found]

    def numbers_of(self, codes: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the number of each row's box in every column; -1 of a value outside its domain.

        A row with such a value is in no box: its other columns are 0.
        """
        boxes = np.maximum(self.box_of(codes), 0)[:, None]
        return np.where(codes < 0, -1, boxes).astype(np.int32)

    def keys_of(self, numbers: NDArray[np.int32]) -> NDArray[Any]:
        """Return one key of each row of `numbers_of`, the same for rows of one box."""
        return numbers[:, 0]

    def list_shown(
        self, numbers: NDArray[np.int32]
    ) -> tuple[NDArray[np.int32], tuple[NDArray[np.bool_], ...]]:
        """Return the labels of boxes: the number of an interval by column, and its values.

        `numbers` are boxes as from `numbers_of`. The values are, by column, (intervals, values)
        bool.
        """
        sets, number = zip(*(self.sets_of(i) for i in range(len(self.domains))), strict=True)
        return np.column_stack([own[numbers[:, 0]] for own in number]), sets

    def describe(self) -> str:
        """Write every box, for the holder alone: ends are raw values."""
        columns = []
        for place, domain in enumerate(self.domains):
            sets, number = self.sets_of(place)
            labels = domain.labels_of(sets)
            columns.append([f"{domain.column} {labels[i]}" for i in number])
        return "\n".join(", ".join(box) for box in zip(*columns, strict=True))

    def to_data(self) -> dict[str, Any]:
        """Return which tree of the kit it is, how far pruned, and which nodes are merged."""
        merged = {"merged": list(self.merged)} if self.merged else {}
        return {"family": "tree", "tree": self.number, "pruned": self.links, **merged}

    @classmethod
    def from_data(
        cls, domains: Sequence[ValueDomain], trees: Sequence[BoxTree], data: Mapping[str, Any]
    ) -> TreePolicy:
        """Read back what `to_data` wrote, of a kit of these trees."""
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
    """Return the sets of values that some boxes of a tree have of a column; see `sets_of`."""
    low, high = (ends[boxes, place] for ends in tree.bounds)
    keys = np.column_stack([low, high, tree.sets[boxes, place]])
    _, first, number = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return tree.find_positions(boxes[first], place), number.astype(np.int32)
