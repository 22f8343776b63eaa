"""Describe a release's disclosure for a ledger, with keyed hashes only.

The description contains no value of the data and no count of a value. A later evaluation recovers
the split points by hashing the values of its own kit. It assumes the worst case for split points
that it cannot find.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from voile.core.brief import BriefRepr
from voile.data.roles import Roles
from voile.tables.domains.domain import ValueDomain
from voile.tables.joint.figures import ShownRelease
from voile.tables.people.counts import Constraints
from voile.tables.policies.counted_space import CountedSpace
from voile.tables.policies.family import AnyPolicy
from voile.tables.policies.policy import Policy
from voile.tables.trees.policy import TreePolicy
from voile.tables.trees.tree import UNCUT, BoxTree

Hash = Callable[..., str]
RULES = ("k", "max_risk", "l_diversity", "entropy_l", "t_closeness", "suppress")


@dataclass(frozen=True, eq=False)
class SpaceNames(BriefRepr):
    """The keyed hashes of a space's columns, domains, values and subjects."""

    shows = ()

    space: CountedSpace
    hash: Hash

    def column(self, name: str) -> str:
        return self.hash("column", name)

    def domain(self, domain: ValueDomain) -> str:
        return self._domain_hashes[domain.column][0]

    def values(self, domain: ValueDomain) -> list[str]:
        """Return the hash of each value of a domain, in order."""
        return self._domain_hashes[domain.column][1]

    @cached_property
    def _domain_hashes(self) -> dict[str, tuple[str, list[str]]]:
        """The hash of each domain and of its values, computed once for all ledger entries."""
        found = {}
        for domain in self.space.domains:
            name, texts = domain.column, [_text(value) for value in domain.values]
            values = [self.hash("value", name, text) for text in texts]
            found[name] = (self.hash("domain", name, *texts), values)
        return found

    @cached_property
    def counts_hash(self) -> str:
        """Return a hash of the numbers of subjects by combination.

        The hash depends neither on the order of the rows in the file, nor on the order of the
        values.
        """
        counts, domains = self.space.counts, self.space.domains
        held = counts.sample > 0
        order = sorted(range(len(domains)), key=lambda place: domains[place].column)
        texts = [[_text(value) for value in domains[place].values] for place in order]
        codes = counts.codes[held][:, order]
        lines = [
            "\0".join([*(own[code] for own, code in zip(texts, row, strict=True)), f"{n:.9g}"])
            for row, n in zip(codes.tolist(), counts.sample[held].tolist(), strict=True)
        ]
        names = [domains[place].column for place in order]
        digest = hashlib.sha256("\n".join([*names, *sorted(lines)]).encode()).hexdigest()
        return self.hash("counted", digest)

    def grouping(self, policy: AnyPolicy) -> dict[str, Any]:
        """Return a release's groups, expressed in hashes of the domains."""
        domains = {self.column(d.column): self.domain(d) for d in policy.domains}
        if isinstance(policy, TreePolicy):
            return {"domains": domains, "tree": self._boxes(policy)}
        cuts = {}
        for domain, bits in policy.cuts():
            values = self.values(domain)
            cuts[self.column(domain.column)] = [values[i] for i in np.flatnonzero(bits)]
        return {"domains": domains, "cuts": cuts}

    def _boxes(self, policy: TreePolicy) -> list[Any]:
        """Return each node of a tree: first child, column and split point, or None for a leaf."""
        tree = policy.pruned_tree
        boxes: list[Any] = []
        values = [self.values(domain) for domain in policy.domains]
        names = [self.column(domain.column) for domain in policy.domains]
        for part, column, cut in zip(tree.part, tree.column, tree.cut, strict=True):
            if part == UNCUT:
                boxes.append(None)
            elif tree.is_free[column]:
                held = [x for i, x in enumerate(values[column]) if int(cut) >> i & 1]
                boxes.append([int(part), names[column], held])
            else:
                boxes.append([int(part), names[column], values[column][cut]])
        return boxes

    def read_disclosed(
        self, disclosed: Mapping[str, Any], sensitive: Sequence[str]
    ) -> tuple[ShownRelease, bool]:
        """Read a release's groups, and return whether all of them are known.

        If a column has other values or another order in this space, the result assumes that every
        value is disclosed.
        """
        domains, given = self.space.domains, disclosed["domains"]
        known = [given.get(self.column(d.column)) == self.domain(d) for d in domains]
        rules = Constraints(**disclosed["rules"])
        if rules.diverse and disclosed["sensitive"] != sorted(map(self.column, sensitive)):
            rules = Constraints()
        if "tree" in disclosed:
            at = [_places(self.values(d)) for d in domains]
            policy = self._tree(disclosed["tree"], at) if all(known) else self._finest([])
            return ShownRelease.of(policy, rules), all(known)
        policy = self._finest(
            [disclosed["cuts"][self.column(d.column)] if own else None
             for d, own in zip(domains, known, strict=True)]
        )  # fmt: skip
        return ShownRelease.of(policy, rules if all(known) else Constraints()), all(known)

    def read_at_another_time(
        self, disclosed: Mapping[str, Any], domains: Mapping[str, Sequence[str]]
    ) -> ShownRelease:
        """Read the groups of a release of other rows.

        `domains` are the hashes of that release's values in order, by hashed column. Values absent
        from its domains form separate groups. Columns outside the space are not read.
        """
        if "tree" in disclosed:
            return self._tree_at_another_time(disclosed["tree"], domains)
        bits = []
        for domain in self.space.domains:
            then = domains.get(self.column(domain.column))
            cuts = disclosed["cuts"].get(self.column(domain.column))
            if then is None or cuts is None:
                bits.append(np.ones(len(domain) - 1, dtype=np.bool_))
                continue
            ends = np.isin(then[:-1], list(cuts))
            interval = dict(zip(then, np.append(0, np.cumsum(ends)).tolist(), strict=True))
            own = [interval.get(value, -1 - i) for i, value in enumerate(self.values(domain))]
            bits.append(np.diff(own) != 0)
        return ShownRelease(Policy(tuple(self.space.domains), np.concatenate(bits)))

    def kept_columns(self, roles: Roles) -> list[str]:
        """Return the keyed hashes of the columns that are released unchanged."""
        own = set(roles.of("keep", "sensitive", "label")) - {roles.subject}
        return sorted(map(self.column, own))

    def _finest(self, cuts: Sequence[Sequence[str] | None]) -> Policy:
        """Return the policy with these split points by column. None means every split point."""
        bits = []
        for place, domain in enumerate(self.space.domains):
            own = cuts[place] if cuts else None
            if own is None:
                bits.append(np.ones(len(domain) - 1, dtype=np.bool_))
            else:
                bits.append(np.isin(self.values(domain)[:-1], list(own)))
        return Policy(tuple(self.space.domains), np.concatenate(bits))

    def _tree_at_another_time(
        self, boxes: Sequence[Any], domains: Mapping[str, Sequence[str]]
    ) -> ShownRelease:
        """Read a tree over the values that its domains had.

        Columns that the release did not have are not split. If the tree splits a column outside the
        space, the result assumes that every value is disclosed.
        """
        own = {self.column(d.column): self.values(d) for d in self.space.domains}
        if any(box is not None and box[1] not in own for box in boxes):
            return ShownRelease(self._finest([]))
        at = [_places(domains.get(name, values[:1])) for name, values in own.items()]
        then = tuple(
            np.array([place.get(x, -1) if name in domains else 0 for x in values], np.int32)
            for place, (name, values) in zip(at, own.items(), strict=True)
        )
        return ShownRelease(self._tree(boxes, at), then=then)

    def _tree(self, boxes: Sequence[Any], at: Sequence[Mapping[str, int]]) -> TreePolicy:
        """Read a tree. `at` is the position of each value's hash, by column."""
        domains = tuple(self.space.domains)
        place = {self.column(d.column): i for i, d in enumerate(domains)}
        sets = {box[1] for box in boxes if box is not None and isinstance(box[2], list)}
        free = tuple(self.column(d.column) in sets for d in domains)

        def cut_of(box: Any) -> int:
            own = at[place[box[1]]]
            return sum(1 << own[x] for x in box[2]) if isinstance(box[2], list) else own[box[2]]

        def each(read: Callable[[Any], int], none: int) -> Any:
            return np.array([none if box is None else read(box) for box in boxes], dtype=np.int32)

        tree = BoxTree(
            tuple(map(len, at)),
            each(lambda box: place[box[1]], UNCUT),
            each(cut_of, 0),
            each(lambda box: box[0], UNCUT),
            each(lambda box: 0, UNCUT),
            free if any(free) else (),
        )
        return TreePolicy(domains, tree, 0, 0)


def _places(values: Sequence[str]) -> dict[str, int]:
    return {value: place for place, value in enumerate(values)}


def rules_of(rules: Constraints) -> dict[str, Any]:
    return {name: getattr(rules, name) for name in RULES}


def _text(value: object) -> str:
    return "" if value is None else f"={value}"
