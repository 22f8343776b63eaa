"""Compute the figures of an adversary who links every row of several releases.

Each release shows a row's group, or that the row is absent. Rows that look the same in all releases
form one class. The people of a class are the people whom no release distinguishes from its rows. If
the releases suppress nothing, the union of their split points gives the classes. This union is a
policy again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.ledger.promise import JointFigures
from voile.tables.people.counts import MOST_KEYS, Constraints
from voile.tables.policies.counted_space import CountedSpace
from voile.tables.policies.family import AnyPolicy
from voile.tables.policies.policy import Policy
from voile.tables.scoring.disclosure import EquivalenceClasses
from voile.tables.trees.policy import TreePolicy

Labels = NDArray[np.int64]
Mask = NDArray[np.bool_]
SUPPRESSED = 0


@dataclass(frozen=True, eq=False)
class ShownRelease(BriefRepr):
    """One release's grouping of the rows.

    Attributes
    ----------
    policy : the policy that groups the rows.
    rules : the constraints by which groups are suppressed, or None if no group is.
    then : only for a tree with other values in its domains. By column, the former position of each
        value of the space, or -1 for a new value, which forms a separate group.
    """

    shows = ()

    policy: AnyPolicy
    rules: Constraints | None = None
    then: tuple[NDArray[np.int32], ...] = ()

    @classmethod
    def of(cls, policy: AnyPolicy, rules: Constraints) -> ShownRelease:
        """Return a release under the given constraints. Trees suppress nothing."""
        bound = rules.k > 1 or rules.max_risk < 1 or rules.diverse
        suppresses = isinstance(policy, Policy) and bound and rules.suppress > 0
        return cls(policy, rules if suppresses else None)


def joint_figures(space: CountedSpace, releases: Iterable[ShownRelease]) -> JointFigures:
    """Return the figures of all releases joined row by row.

    The risk is never below the success rate of an attack that links row to row. A class's people
    are the people who share the groups that *every* release shows. For a row absent from a release,
    only the people of its suppressed groups count, although the adversary may not know them.

    A person with several combinations is divided evenly among them. If pseudonyms join a person's
    rows, an attack with all of them finds more. Such people must be followed
    (`difference.ReleaseTimeline`).

    Cost: O(combinations) for each release that suppresses or is a tree, and once for all others.
    """
    return JoinedReleases(space, releases).figures()


def _merge_releases(releases: Iterable[ShownRelease]) -> list[ShownRelease]:
    """Return the union of the global policies that suppress nothing, and the other releases.

    Each distinct release is returned once.
    """
    whole: Policy | None = None
    others: dict[tuple[bytes, str], ShownRelease] = {}
    for shown in releases:
        policy = shown.policy
        if isinstance(policy, Policy) and shown.rules is None:
            bits = policy.bits if whole is None else whole.bits | policy.bits
            whole = Policy(policy.domains, bits)
        else:
            then = b"".join(own.tobytes() for own in shown.then)
            others[grouping_bytes(policy) + then, repr(shown.rules)] = shown
    return [*([] if whole is None else [ShownRelease(whole)]), *others.values()]


def grouping_bytes(policy: AnyPolicy) -> bytes:
    """Return bytes that two policies share only if they group rows in the same way."""
    if isinstance(policy, Policy):
        return policy.bits.tobytes()
    tree = policy.pruned_tree
    return b"".join(own.tobytes() for own in (tree.part, tree.column, tree.cut))


class JoinedReleases:
    """The classes of a space's combinations that joined releases distinguish.

    A combination that is alone in its class stays alone. If it also has no subjects, it is dropped
    from `_cells`, unless a rule counts people.
    """

    def __init__(self, space: CountedSpace, releases: Iterable[ShownRelease]) -> None:
        self._space = space
        self._cells = np.arange(len(space.counts.codes))
        self._label, self._labels = np.zeros(len(self._cells), dtype=np.int64), 1
        self._visible = np.zeros(len(self._cells), dtype=np.bool_)
        merged = _merge_releases(releases)
        self._closes = all(one.rules is None or one.rules.max_risk == 1 for one in merged)
        self._look_at(self._cells)
        for shown in merged:
            self._add(shown)
        self._renumber()

    def _look_at(self, cells: Labels) -> None:
        counts = self._space.counts
        self._cells = cells
        self._codes = [np.ascontiguousarray(own) for own in counts.codes[cells].T]
        self._held = np.flatnonzero(counts.sample[cells] > 0)

    def with_one(self, shown: ShownRelease) -> JoinedReleases:
        """Return the join of these releases and one more."""
        more = copy(self)
        more._closes = False
        more._add(shown)
        return more

    def _add(self, shown: ShownRelease) -> None:
        key, keys = self._keys(shown)
        suppressed = self._find_suppressed(shown, key, keys)
        visible = self._visible.copy()
        visible[self._cells] |= ~suppressed
        self._visible = visible
        self._refine(np.where(suppressed, SUPPRESSED, key + 1), keys + 1)

    def _keys(self, shown: ShownRelease) -> tuple[Labels, int]:
        """Return the group number of each combination, and an upper bound on these numbers."""
        policy = shown.policy
        if isinstance(policy, TreePolicy):
            codes = np.column_stack(self._codes)
            if shown.then:
                each = zip(shown.then, self._codes, strict=True)
                codes = np.column_stack([then[own] for then, own in each])
            box = policy.box_of(codes).astype(np.int64)
            alone = policy.n_groups + np.arange(len(box))
            return np.where(box < 0, alone, box), policy.n_groups + len(box) * bool(shown.then)
        keys, size = np.zeros(len(self._label), dtype=np.int64), 1
        for domain, own in zip(policy.domains, self._codes, strict=True):
            interval = policy.interval_of(domain).astype(np.int64)
            many = int(interval[-1]) + 1
            if size * many >= MOST_KEYS:
                keys, size = _number_keys(keys)
            keys += (interval * size)[own]
            size *= many
        return keys, size

    def _find_suppressed(self, shown: ShownRelease, key: Labels, keys: int) -> Mask:
        """Return a mask of the combinations in a group that the release suppresses."""
        if shown.rules is None:
            return np.zeros(len(key), dtype=np.bool_)
        counts = self._space.counts
        space = CountedSpace(self._space.domains, counts, shown.rules, self._space.population)
        group, groups = (key, keys) if keys <= len(key) else _number_keys(key)
        held = self._held

        def add(values: NDArray[np.float64], cells: Labels = held) -> NDArray[np.float64]:
            found = np.bincount(group[cells], values[self._cells[cells]], groups)
            return found.astype(np.float64)

        n, own = add(counts.sample), [add(values) for values in counts.sensitive.T]
        seen = n > 0
        sensitive = np.column_stack([*own, n])[seen, : len(own)]
        dropped = np.zeros(groups, dtype=np.bool_)
        people = add(counts.population, np.arange(len(group)))
        classes = EquivalenceClasses(n[seen], people[seen], sensitive)
        dropped[seen] = ~space.find_allowed(classes)
        return np.asarray(dropped[group])

    def _refine(self, key: Labels, keys: int) -> None:
        """Divide each class by another label."""
        if self._labels * keys >= MOST_KEYS:
            key = key[self._renumber()]
        if self._labels * keys >= MOST_KEYS:
            key, keys = _number_keys(key)
        self._label, self._labels = self._label * keys + key, self._labels * keys

    def _renumber(self) -> Mask:
        """Number the classes from 0, and return a mask of the combinations that are kept."""
        label, self._labels = _number_keys(self._label)
        alone = np.bincount(label, minlength=self._labels)[label] == 1
        alone[self._held] = False
        stay = np.ones(len(label), np.bool_)
        if self._closes and alone.any():
            stay = ~alone
            self._look_at(self._cells[stay])
        self._label = label[stay]
        return stay

    def _whole(self) -> tuple[Labels, int]:
        """Return the class number of every combination, and the number of classes."""
        label = -1 - np.arange(len(self._visible))
        label[self._cells] = self._label
        return _number_keys(label)

    @property
    def groups(self) -> tuple[Labels, Mask]:
        """Return the class of each combination, from 0, and whether a release shows it."""
        return self._whole()[0], self._visible

    @property
    def outside(self) -> NDArray[np.float64]:
        """Return, for each combination, the number of its class's people outside the data."""
        counts = self._space.counts
        label, labels = self._whole()
        people, n = (np.bincount(label, x, labels) for x in (counts.population, counts.sample))
        return np.asarray(np.maximum(people - n, 0.0)[label])

    def figures(self) -> JointFigures:
        counts = self._space.counts
        label, labels = self._whole()
        n = np.bincount(label, np.where(self._visible, counts.sample, 0.0), labels)
        people = np.bincount(label, counts.population, labels)
        held = n > 0
        n, people = n[held], people[held]
        matches = float((n / np.maximum(np.maximum(people, n), 1.0)).sum())
        whole = self._space.matches
        return JointFigures(
            matches, matches / whole if whole else 0.0, float(n.min(initial=math.inf))
        )


def _number_keys(keys: Labels) -> tuple[Labels, int]:
    """Number distinct keys from 0, in order of first occurrence."""
    coded = pa.array(keys).dictionary_encode()
    return coded.indices.to_numpy().astype(np.int64), len(coded.dictionary)
