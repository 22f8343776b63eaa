"""Define a policy per person: trees over all rows of a person, one tree for each number of rows.

**Guarantee.** A person's record contains all of the person's rows, in an order that depends only on
their values. The leaves of a tree partition the people with each number of rows. Everybody in a
leaf of m rows is released with the same m labels: those of the leaf at positions 1 to m. People of
one leaf therefore show the same multiset of rows over the quasi-identifiers. If each leaf with
people has at least k, then at least k released people show any multiset that somebody shows. An
adversary who knows all true rows of a person finds the person's record and leaf, and therefore at
least k candidates. This is true for any knowledge of the policy: leaves overlap only as labels of
rows, never as records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.core.errors import RequestError
from voile.tables.domains.domain import ValueDomain
from voile.tables.trees.policy import sets_in
from voile.tables.trees.tree import BoxExtents, BoxTree, Nodes


@dataclass(frozen=True, eq=False)
class RowBoxes(BoxExtents):
    """The nodes of rows: each node of each tree has one for each position of its record.

    Attributes
    ----------
    first : (trees,) the number of each tree's first node of a row.
    """

    sizes: tuple[int, ...]
    free: tuple[bool, ...]
    first: tuple[int, ...]
    low: Nodes
    high: Nodes
    inside: NDArray[np.int64]

    @classmethod
    def of(cls, domains: Sequence[ValueDomain], trees: Sequence[BoxTree]) -> RowBoxes:
        """Return the nodes of rows of some trees of records."""
        d = len(domains)
        low, high = (
            np.concatenate([tree.bounds[end].reshape(-1, d) for tree in trees]) for end in (0, 1)
        )
        sets = np.concatenate([tree.sets.reshape(-1, d) for tree in trees])
        sizes = [len(tree) * len(tree.sizes) // d for tree in trees]
        first = tuple(np.cumsum([0, *sizes[:-1]]).tolist())
        of_domains = tuple(map(len, domains)), tuple(domain.free for domain in domains)
        return cls(*of_domains, first, low, high, sets)

    @property
    def is_free(self) -> NDArray[np.bool_]:
        return np.array(self.free)

    @property
    def bounds(self) -> tuple[Nodes, Nodes]:
        return self.low, self.high

    @property
    def sets(self) -> NDArray[np.int64]:
        return self.inside

    def __len__(self) -> int:
        return len(self.low)


@dataclass(frozen=True, eq=False)
class PersonPolicy(BriefRepr):
    """A policy that merges the values of a leaf of people's records, with one label per row.

    Parameters
    ----------
    domains : the quasi-identifiers' domains, in order.
    numbers : the numbers of rows with which people are released, ascending.
    trees : the unpruned trees, one for each number, over the columns of each row of a record.
    number : the position of this group of trees in the kit.
    links : the number of pruned weakest links.
    """

    shows = ("columns", "numbers")

    domains: tuple[ValueDomain, ...]
    numbers: tuple[int, ...]
    trees: tuple[BoxTree, ...]
    number: int
    links: int

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PersonPolicy):
            return NotImplemented
        same = (self.number, self.links) == (other.number, other.links)
        return same and self.domains == other.domains

    def __hash__(self) -> int:
        return hash((self.number, self.links))

    @cached_property
    def pruned_trees(self) -> tuple[BoxTree, ...]:
        """Return the pruned trees, which define the policy."""
        return tuple(tree.prune_links(self.links) for tree in self.trees)

    @cached_property
    def boxes(self) -> RowBoxes:
        """Return the nodes of rows, including internal nodes."""
        return RowBoxes.of(self.domains, self.pruned_trees)

    def row_boxes(self, tree: int, records: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Return the node of each row of records in these nodes of a tree, (records, number)."""
        number = self.numbers[tree]
        return self.boxes.first[tree] + records[:, None] * number + np.arange(number)

    @cached_property
    def uncut(self) -> NDArray[np.int64]:
        """Return the nodes of rows that belong to the leaves of records."""
        own = [self.row_boxes(i, tree.leaves).ravel() for i, tree in enumerate(self.pruned_trees)]
        return np.concatenate(own)

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the quasi-identifiers, in order."""
        return tuple(domain.column for domain in self.domains)

    @property
    def n_groups(self) -> int:
        """Return the number of leaves of people."""
        return sum(len(tree.leaves) for tree in self.pruned_trees)

    @property
    def groups_per_column(self) -> dict[str, int]:
        """Return the number of different intervals of each column in the rows."""
        return {
            domain.column: len(sets_in(self.boxes, self.uncut, place)[0])
            for place, domain in enumerate(self.domains)
        }

    def describe(self) -> str:
        """Return every leaf as text, one line per row, for the holder only: ends are raw values."""
        columns = []
        for place, domain in enumerate(self.domains):
            sets, number = sets_in(self.boxes, self.uncut, place)
            labels = domain.labels_of(sets)
            columns.append([f"{domain.column} {labels[i]}" for i in number])
        rows = (", ".join(row) for row in zip(*columns, strict=True))
        return "\n".join(f"{place}: {row}" for place, row in zip(self._places(), rows, strict=True))

    def _places(self) -> Iterator[str]:
        for number, tree in zip(self.numbers, self.pruned_trees, strict=True):
            for _ in tree.leaves:
                yield from (f"row {place + 1} of {number}" for place in range(number))

    def to_data(self) -> dict[str, Any]:
        """Return the number of the kit's trees, and the number of pruned links."""
        return {"family": "person", "tree": self.number, "pruned": self.links}

    @classmethod
    def from_data(
        cls,
        domains: Sequence[ValueDomain],
        numbers: tuple[int, ...],
        trees: Sequence[BoxTree],
        data: Mapping[str, Any],
    ) -> PersonPolicy:
        """Build a policy from the data of `to_data`, given the kit's trees.

        Raises
        ------
        RequestError : the data is incomplete, or the kit has no such trees or links.
        """
        number, links = (data.get(name) for name in ("tree", "pruned"))
        if set(data) != {"family", "tree", "pruned"} or not (
            type(number) is int and type(links) is int
        ):
            raise RequestError("a policy per person needs its trees and its number of pruned links")
        policies = len(trees) // len(numbers)
        if not 0 <= number < policies:
            raise RequestError(f"the kit has no trees {number}, only {policies}, from 0")
        own = tuple(trees[number * len(numbers) : (number + 1) * len(numbers)])
        most = max(tree.links for tree in own)
        if not 0 <= links <= most:
            raise RequestError(f"trees {number} have {most:,} links to prune, not {links}")
        return cls(tuple(domains), numbers, own, number, links)
