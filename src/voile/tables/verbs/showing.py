"""Collect notes on rows in one pass, and derive the published policy from them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.errors import InfeasibleError
from voile.release.outcomes import SourceBatch
from voile.tables.domains.domain import encode_cells
from voile.tables.people.counts import Constraints, value_order
from voile.tables.policies.counted_space import CountedSpace
from voile.tables.policies.family import KitPolicy
from voile.tables.policies.policy import Policy
from voile.tables.recoding.marginals import ReleasedCounts
from voile.tables.recoding.published import PublishedPolicy
from voile.tables.recoding.published_boxes import AnyPublished, PublishedBoxes
from voile.tables.recoding.recoder import RecodedBatch
from voile.tables.scoring.disclosure import are_diverse
from voile.tables.trees.climbing import climb
from voile.tables.trees.person_policy import PersonPolicy
from voile.tables.trees.policy import TreePolicy
from voile.tables.trees.tree import UNCUT
from voile.tables.verbs.promises import least_of

SLACK = 1e-9
Notes = TypeVar("Notes")
Bits = NDArray[np.bool_]


class NotesShowing(Protocol[Notes]):
    """The interface that collects notes on rows and returns the published policy at the end."""

    def note(self, batch: SourceBatch, recoded: RecodedBatch, kept: Bits) -> Notes:
        """Return notes on the rows of a batch that are kept."""

    def nothing(self) -> Notes:
        """Return the notes on no rows."""

    def merge(self, notes: Notes, more: Notes) -> None:
        """Add the notes on the next batch to `notes`."""

    def summarise(self, notes: Notes) -> Any:
        """Reduce the notes to the facts that determine the published policy."""

    def conclude(self, summary: Any, *, bounds: bool) -> AnyPublished:
        """Return the published policy."""


def showing_of(
    policy: KitPolicy,
    space: CountedSpace,
    *,
    subject: str | None,
    sensitive: Sequence[str],
    marginals: bool,
) -> NotesShowing[Any]:
    """Return how a policy is published: with its intervals, or with leaves that no row breaks."""
    if isinstance(policy, PersonPolicy):
        return ShownRows(policy)
    if isinstance(policy, TreePolicy):
        return ShownBoxes(policy, space, subject, tuple(sensitive), marginals)
    return ShownIntervals(policy)


@dataclass(frozen=True)
class ShownIntervals:
    """The notes on a global policy: by domain, the values of released rows."""

    policy: Policy

    def note(self, batch: SourceBatch, recoded: RecodedBatch, kept: Bits) -> list[Bits]:
        seen = self.nothing()
        mark(seen, recoded, kept)
        return seen

    def nothing(self) -> list[Bits]:
        return [np.zeros(len(domain), dtype=np.bool_) for domain in self.policy.domains]

    def merge(self, notes: list[Bits], more: list[Bits]) -> None:
        for seen, values in zip(notes, more, strict=True):
            np.logical_or(seen, values, out=seen)

    def summarise(self, notes: list[Bits]) -> list[Bits]:
        return notes

    def conclude(self, summary: list[Bits], *, bounds: bool) -> PublishedPolicy:
        return PublishedPolicy.of(self.policy, summary, bounds=bounds)


@dataclass(frozen=True)
class ShownRows:
    """The notes on a policy per person: the values of released rows, then the nodes of rows."""

    policy: PersonPolicy

    def note(self, batch: SourceBatch, recoded: RecodedBatch, kept: Bits) -> list[Bits]:
        seen = self.nothing()
        mark(seen[:-1], recoded, kept)
        seen[-1][recoded.intervals[kept, 0]] = True
        return seen

    def nothing(self) -> list[Bits]:
        sizes = [*map(len, self.policy.domains), len(self.policy.boxes)]
        return [np.zeros(size, dtype=np.bool_) for size in sizes]

    def merge(self, notes: list[Bits], more: list[Bits]) -> None:
        for seen, values in zip(notes, more, strict=True):
            np.logical_or(seen, values, out=seen)

    def summarise(self, notes: list[Bits]) -> list[Bits]:
        return notes

    def conclude(self, summary: list[Bits], *, bounds: bool) -> PublishedBoxes:
        boxes = np.arange(len(self.policy.boxes), dtype=np.int32)
        stands = np.where(summary[-1], boxes, UNCUT)
        return PublishedBoxes.of(self.policy, summary[:-1], stands, bounds=bounds)


def mark(seen: list[Bits], recoded: RecodedBatch, kept: Bits) -> None:
    """Mark the values of kept rows."""
    for has, values in zip(seen, recoded.values[kept].T, strict=True):
        has[values] = True


@dataclass
class BoxNotes:
    """The notes on rows, by leaf of a tree policy.

    Attributes
    ----------
    rows : (leaves,) the number of rows of each leaf.
    counts : the rows by value, for each domain.
    people : distinct (leaf, person, combination), if rows have subjects. Memory grows with them.
    codes : the combination of each of these, within one batch only. The counts are then of these,
        not of rows.
    values : the rows by sensitive column, leaf, value and person, if these are counted.
    """

    counts: list[NDArray[np.int64]]
    rows: NDArray[np.int64]
    people: NDArray[np.int64]
    codes: NDArray[np.int32]
    values: Counter[tuple[int, int, str | None, int]] = field(default_factory=Counter)


@dataclass(frozen=True)
class BoxSummary:
    """The facts on leaves that a release shows.

    Attributes
    ----------
    seen : by domain, the values of released rows.
    stands : (leaves,) the released node that represents each leaf.
    counted : the released people, if the release has marginals.
    """

    seen: list[Bits]
    stands: NDArray[np.int32]
    counted: ReleasedCounts | None


@dataclass(frozen=True)
class ShownBoxes:
    """The notes on a tree policy. Leaves that break the constraints are replaced by ancestors."""

    policy: TreePolicy
    space: CountedSpace
    subject: str | None
    sensitive: tuple[str, ...]
    marginals: bool = False

    def note(self, batch: SourceBatch, recoded: RecodedBatch, kept: Bits) -> BoxNotes:
        notes, box, codes = self.nothing(), recoded.intervals[kept, 0], recoded.values[kept]
        notes.rows += np.bincount(box, minlength=len(notes.rows))
        people = np.zeros(len(box), dtype=np.int64)
        if self.subject is not None:
            people = _people(batch.rows.column(self.subject), batch.numbers)[kept]
            each = np.column_stack([box, people, _combinations(codes)])
            notes.people, first = np.unique(each, axis=0, return_index=True)
            codes = notes.codes = codes[first]
        for counts, own in zip(notes.counts, codes.T, strict=True):
            counts += np.bincount(own, minlength=len(counts))
        for number, column in enumerate(self.sensitive):
            values, place = encode_cells(batch.rows.column(column))
            shown = np.column_stack([box, place[kept], people])
            distinct, rows = np.unique(shown, axis=0, return_counts=True)
            for (one, value, person), many in zip(distinct.tolist(), rows.tolist(), strict=True):
                text = None if values[value] is None else str(values[value])
                notes.values[number, one, text, person] += many
        return notes

    def nothing(self) -> BoxNotes:
        rows = np.zeros(self.policy.n_groups, dtype=np.int64)
        domains = self.policy.domains
        counts = [np.zeros(len(domain), dtype=np.int64) for domain in domains]
        codes = np.zeros((0, len(domains)), dtype=np.int32)
        return BoxNotes(counts, rows, np.zeros((0, 3), dtype=np.int64), codes)

    def merge(self, notes: BoxNotes, more: BoxNotes) -> None:
        """Add the notes on the next batch, without counting people again who were noted before."""
        both = np.concatenate([notes.people, more.people])
        notes.people, first = np.unique(both, axis=0, return_index=True)
        again = np.ones(len(both), dtype=np.bool_)
        again[first] = False
        known = more.codes[again[len(both) - len(more.people) :]]
        for own, added, codes in zip(notes.counts, more.counts, known.T, strict=True):
            own += added - np.bincount(codes, minlength=len(own))
        notes.rows += more.rows
        notes.values.update(more.values)

    def summarise(self, notes: BoxNotes) -> BoxSummary:
        tree = self.policy.pruned_tree
        shown = np.zeros(len(tree), dtype=np.bool_)
        shown[tree.leaves] = notes.rows > 0
        allowed = _AllowedUnions(self, notes)
        stands = climb(tree, shown, allowed)
        while stands is not None and allowed.refuse(stands[tree.leaves]):
            stands = climb(tree, shown, allowed)
        if stands is None:
            raise InfeasibleError(
                "even one group of all released rows breaks the kit's constraints",
                instead="fit on this source",
            )
        # a leaf without rows still belongs to the ancestor that replaces it
        used = np.where(np.isin(stands, stands[shown]), stands, UNCUT)[tree.leaves]
        seen = [counts > 0 for counts in notes.counts]
        return BoxSummary(seen, used, self._count_once(notes) if self.marginals else None)

    def conclude(self, summary: BoxSummary, *, bounds: bool) -> PublishedBoxes:
        return PublishedBoxes.of(
            self.policy, summary.seen, summary.stands, bounds=bounds, counted=summary.counted
        )

    def _count_once(self, notes: BoxNotes) -> ReleasedCounts | None:
        """Count each person once, or return None if somebody has rows of several combinations."""
        people = notes.rows
        if self.subject is not None:
            box, person, _ = notes.people.T
            if len(np.unique(person)) < len(person):
                return None
            people = np.bincount(box, minlength=len(notes.rows))
        return ReleasedCounts(people, notes.counts, least_of(self.space.constraints.k))

    @cached_property
    def counted_people(self) -> NDArray[np.float64]:
        """Return the population's people in each leaf, (leaves,)."""
        counts = self.space.counts
        box = self.policy.box_of(counts.codes)
        return np.bincount(box, counts.population, self.policy.n_groups).astype(np.float64)


@dataclass(frozen=True)
class _AllowedUnions:
    """A test of whether some leaves together may be one released node.

    A person's share of each sensitive value depends on the leaves of all the person's rows. Rows
    are therefore counted first. Unions in `refused` break the constraints once people are counted.
    """

    showing: ShownBoxes
    notes: BoxNotes
    refused: set[frozenset[int]] = field(default_factory=set)

    def __call__(self, leaves: NDArray[np.intp]) -> bool:
        rules = self.showing.space.constraints
        boxes = np.searchsorted(self.showing.policy.pruned_tree.leaves, leaves)
        if self.refused and self._find_held(boxes) in self.refused:
            return False
        n = self._subjects(boxes)
        g = max(n, float(self.showing.counted_people[boxes].sum()), 1.0)
        enough = n >= rules.k - SLACK and g * rules.max_risk >= 1 - SLACK
        return bool(enough and self._is_diverse(boxes, rules))

    def refuse(self, stands: NDArray[np.int32]) -> bool:
        """Refuse the unions that break the constraints with people counted.

        The function returns whether any of them is new. `stands` (leaves,) is the released node of
        each leaf. Each person counts once, divided evenly among the person's distinct pairs of a
        node and a value, as in the written release.
        """
        if self.showing.subject is None:
            return False
        short: set[int] = set()
        for number in range(len(self.showing.sensitive)):
            short |= self._short(number, stands)
        known = len(self.refused)
        self.refused.update(self._find_held(np.flatnonzero(stands == box)) for box in short)
        return len(self.refused) > known

    def _find_held(self, boxes: NDArray[np.intp]) -> frozenset[int]:
        """Return the given leaves that have rows."""
        return frozenset(boxes[self.notes.rows[boxes] > 0].tolist())

    def _short(self, number: int, stands: NDArray[np.int32]) -> set[int]:
        """Return the released nodes that break the constraints on one sensitive column."""
        shown = [key[1:] for key in self.notes.values if key[0] == number]
        texts = list(dict.fromkeys(text for _, text, _ in shown))
        order, ordered = value_order(texts)
        place = {texts[value]: at for at, value in enumerate(order)}
        rows = [(person, stands[box], place[text]) for box, text, person in shown]
        pairs = np.unique(np.array(rows, dtype=np.int64).reshape(-1, 3), axis=0)
        _, who, several = np.unique(pairs[:, 0], return_inverse=True, return_counts=True)
        boxes, at = np.unique(pairs[:, 1], return_inverse=True)
        counted = np.zeros((len(boxes), len(texts)))
        np.add.at(counted, (at, pairs[:, 2]), 1 / several[who])
        rules = self.showing.space.constraints
        fit = are_diverse(counted, counted.sum(axis=0), rules, ordered=ordered)
        return set(boxes[~fit].tolist())

    @cached_property
    def _values(self) -> list[tuple[NDArray[np.float64], NDArray[np.float64], bool]]:
        """Return rows by leaf and value, all rows by value, and whether values are numbers.

        There is one entry for each sensitive column.
        """
        found = []
        for number in range(len(self.showing.sensitive)):
            counted, ordered = self._by_value(number)
            found.append((counted, counted.sum(axis=0), ordered))
        return found

    def _by_value(self, number: int) -> tuple[NDArray[np.float64], bool]:
        own = [
            (box, text, rows)
            for (of, box, text, _), rows in self.notes.values.items()
            if of == number
        ]
        texts = list(dict.fromkeys(text for _, text, _ in own))
        order, ordered = value_order(texts)
        place = {texts[value]: at for at, value in enumerate(order)}
        counted = np.zeros((len(self.notes.rows), len(texts)))
        for box, text, rows in own:
            counted[box, place[text]] += rows
        return counted, ordered

    def _subjects(self, boxes: NDArray[np.intp]) -> float:
        if self.showing.subject is None:
            return float(self.notes.rows[boxes].sum())
        runs = [slice(*np.searchsorted(self.notes.people[:, 0], [b, b + 1])) for b in boxes]
        return float(len(np.unique(np.concatenate([self.notes.people[run, 1] for run in runs]))))

    def _is_diverse(self, boxes: NDArray[np.intp], rules: Constraints) -> bool:
        for counted, whole, ordered in self._values:
            own = counted[boxes].sum(axis=0, keepdims=True)
            if not are_diverse(own, whole, rules, ordered=ordered).all():
                return False
        return True


def _combinations(codes: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return a 64-bit hash of each combination of values.

    Two combinations have the same hash with a probability of 2^-64.
    """
    odd = np.random.default_rng(0).integers(2**63, size=codes.shape[1], dtype=np.int64) | 1
    with np.errstate(over="ignore"):
        return codes.astype(np.int64) @ odd


def _people(column: pa.Array, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number people by their names. A row without a subject is a separate person."""
    names, places = encode_cells(column)
    digests = [
        hashlib.blake2b(b"" if name is None else str(name).encode(), digest_size=8).digest()
        for name in names
    ]
    people = np.frombuffer(b"".join(digests), dtype="<i8")[places]
    nobody = np.array([name is None for name in names], dtype=np.bool_)[places]
    return np.where(nobody, numbers, people)
