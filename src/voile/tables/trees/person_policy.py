"""A policy per person: trees of boxes over all rows of a person, one tree for each number of rows.

**Guarantee.** A person's record has all her rows, in an order that follows from their values
alone. Boxes of records partition the people of each number of rows. Everybody in a box of m rows is
released with the same m labels: those of the box at place 1 to m. So people of one box show the
same multiset of rows over the quasi-identifiers. If each box with people has k, then at least k
released people show any multiset that somebody shows. An adversary who knows all true rows of a
person finds the person's record and its box, hence at least k candidates. This holds for any
knowledge of the policy: boxes overlap only as row labels, never as records.
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
    """The boxes of rows: of each tree in turn, each box has one for each place of its record.

    first : (trees,) the number of each tree's first box of a row.
    """

    sizes: tuple[int, ...]
    free: tuple[bool, ...]
    first: tuple[int, ...]
    low: Nodes
    high: Nodes
    inside: NDArray[np.int64]

    @classmethod
    def of(cls, domains: Sequence[ValueDomain], trees: Sequence[BoxTree]) -> RowBoxes:
        """Return the boxes of rows of some trees of records."""
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
    """Merge the values of a box of people's records, one label for each of a person's rows.

    Parameters
    ----------
    domains : the quasi-identifiers' domains, in order.
    numbers : the numbers of rows that people are released with, ascending.
    trees : whole, one for each number, over the columns of each row of a record.
    number : which of the kit's policies' trees they are.
    links : how many of their weakest links are pruned.
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
        """The trees that the policy is."""
        return tuple(tree.prune_links(self.links) for tree in self.trees)

    @cached_property
    def boxes(self) -> RowBoxes:
        """The boxes of rows, those that are cut included."""
        return RowBoxes.of(self.domains, self.pruned_trees)

    def row_boxes(self, tree: int, records: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Return (records, number) the box of each row of records in these boxes of a tree."""
        number = self.numbers[tree]
        return self.boxes.first[tree] + records[:, None] * number + np.arange(number)

    @cached_property
    def uncut(self) -> NDArray[np.int64]:
        """The boxes of rows of the records' uncut boxes."""
        own = [self.row_boxes(i, tree.leaves).ravel() for i, tree in enumerate(self.pruned_trees)]
        return np.concatenate(own)

    @property
    def columns(self) -> tuple[str, ...]:
        """The quasi-identifiers, in order."""
        return tuple(domain.column for domain in self.domains)

    @property
    def n_groups(self) -> int:
        """How many boxes of people there are."""
        return sum(len(tree.leaves) for tree in self.pruned_trees)

    @property
    def groups_per_column(self) -> dict[str, int]:
        """How many different intervals of each column the rows have."""
        return {
            domain.column: len(sets_in(self.boxes, self.uncut, place)[0])
            for place, domain in enumerate(self.domains)
        }

    def describe(self) -> str:
        """Write every box, a line for each row, for the holder alone: ends are raw values."""
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
        """Return which trees of the kit they are, and how far pruned."""
        return {"family": "person", "tree": self.number, "pruned": self.links}

    @classmethod
    def from_data(
        cls,
        domains: Sequence[ValueDomain],
        numbers: tuple[int, ...],
        trees: Sequence[BoxTree],
        data: Mapping[str, Any],
    ) -> PersonPolicy:
        """Read back what `to_data` wrote, of a kit of these trees."""
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
