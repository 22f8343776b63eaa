"""Define the policies over a table: its domains, its counts, and the groups of each policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from voile.tables.domains.domain import ValueDomain
from voile.tables.people.counted_boxes import (
    CountedBoxes,
    add_within,
    estimate_each,
    estimate_matches,
    estimate_uniques,
)
from voile.tables.people.counts import (
    CombinationCounts,
    Constraints,
    PopulationCounts,
    count_by_value,
    number_groups,
)
from voile.tables.policies.family import AnyPolicy
from voile.tables.policies.policy import Policy
from voile.tables.scoring.catalogue import MEASURES
from voile.tables.scoring.disclosure import EquivalenceClasses, are_diverse, disclosure
from voile.tables.scoring.group_measures import (
    GroupMeasure,
    RecordGroups,
    compute_values,
    estimated_matches,
    information,
    matches,
)
from voile.tables.scoring.losses import CombinationGrouping, losses
from voile.tables.scoring.named_measures import LossWeights
from voile.tables.trees.policy import TreePolicy

Bits = NDArray[np.bool_]
Floats = NDArray[np.float64]


class CountedSpace:
    """All policies over a table's quasi-identifiers, with the counts used to evaluate them.

    Parameters
    ----------
    domains : the domains of the quasi-identifiers, in order.
    counts : the counts of their combinations.
    constraints : the conditions on policies.
    population : the origin of the counts of people.
    risk, loss : the measures. None means eq. 2 and eq. 4.
    weights : the weight of each column in the entropy loss, and the weight of the entropy loss.
    """

    def __init__(
        self,
        domains: Sequence[ValueDomain],
        counts: CombinationCounts,
        constraints: Constraints,
        population: PopulationCounts,
        *,
        risk: GroupMeasure | None = None,
        loss: GroupMeasure | None = None,
        weights: LossWeights | None = None,
    ) -> None:
        self.domains = tuple(domains)
        self.counts = counts
        self.constraints = constraints
        self.population = population
        self.risk, self.loss = risk or matches(), loss or information()
        self.weights = weights or LossWeights()
        self._last: tuple[AnyPolicy, NDArray[np.int32], NDArray[np.intp]] | None = None

    def without_constraints(self) -> CountedSpace:
        """Return the same space without constraints: no suppression and no forbidden policy."""
        return CountedSpace(
            self.domains,
            self.counts,
            Constraints(),
            self.population,
            risk=self.risk,
            loss=self.loss,
            weights=self.weights,
        )

    @property
    def quasi(self) -> tuple[str, ...]:
        """Return the names of the quasi-identifiers, in order."""
        return tuple(domain.column for domain in self.domains)

    @property
    def n_bits(self) -> int:
        """Return the length of a policy's bit-string."""
        return sum(len(domain) - 1 for domain in self.domains)

    @property
    def top(self) -> Bits:
        """Return the most general policy, which has no split point."""
        return np.zeros(self.n_bits, dtype=np.bool_)

    @property
    def bottom(self) -> Bits:
        """Return the most specific policy: every split point, so that the source is unchanged."""
        return np.ones(self.n_bits, dtype=np.bool_)

    def policy(self, bits: Bits) -> Policy:
        """Return a bit-string as a policy with its intervals."""
        return Policy(self.domains, np.array(bits, dtype=np.bool_))

    @cached_property
    def matches(self) -> float:
        """Return the expected matches without generalisation: the sum of 1 / g over subjects."""
        source = RecordGroups.of(self.counts)
        return float((source.subjects / source.group).sum())

    @cached_property
    def source_risk(self) -> float:
        """Return the source's sum of risks, which is a relative risk of 1."""
        return float(compute_values(self.risk, RecordGroups.of(self.counts)).sum())

    def people_by_value(self, column: str) -> Floats:
        """Count the population by the values of one domain."""
        return count_by_value(self.quasi, self.counts, self.population, column)

    def groups(self, policy: AnyPolicy) -> tuple[NDArray[np.int32], EquivalenceClasses, Bits]:
        """Return a policy's equivalence classes.

        Returns
        -------
        numbers : (groups, attributes) int32, the interval numbers of each group with subjects.
        classes : the counts of each group.
        allowed : (groups,) bool, whether the group meets the constraints.
        """
        own, inverse = self.number_combinations(policy)

        def add(weights: Floats) -> Floats:
            return np.bincount(inverse, weights, len(own)).astype(np.float64)

        sample, people = add(self.counts.sample), add(self.counts.population)
        values = [add(v) for v in self.counts.sensitive.T]
        sensitive = np.column_stack(values) if values else np.zeros((len(own), 0))
        seen = sample > 0
        classes = EquivalenceClasses(sample[seen], people[seen], sensitive[seen])
        return own[seen], classes, self.find_allowed(classes)

    def number_combinations(self, policy: AnyPolicy) -> tuple[NDArray[np.int32], NDArray[np.intp]]:
        """Return the interval numbers of each group, and the group of each combination.

        The space keeps the groups of the last policy, because a score, its figures and its columns
        need the same groups.
        """
        if self._last is None or self._last[0] != policy:
            counts = self.counts
            keys = policy.group_places(counts.places) if isinstance(policy, Policy) else None
            if keys is None:
                keys = policy.keys_of(policy.numbers_of(counts.codes))
            first, inverse = number_groups(keys)
            self._last = policy, policy.numbers_of(counts.codes[first]), inverse
        return self._last[1:]

    def grouping(self, policy: AnyPolicy) -> CombinationGrouping:
        """Return a policy's groups of the combinations, and which groups are released."""
        own, group = self.number_combinations(policy)
        released = np.zeros(len(own), dtype=np.bool_)
        seen = np.bincount(group, self.counts.sample, len(own)) > 0
        released[seen] = self.groups(policy)[2]
        return CombinationGrouping(group, *policy.list_shown(own), released)

    @property
    def weighted_counts(self) -> CombinationCounts | None:
        """Return the counts weighted by the survey, or None without weights.

        Each combination's subjects are replaced by the share of people that their weights
        represent. The number of subjects stays the same.
        """
        if not self.population.weighted:
            return None
        people = self.counts.population
        return replace(self.counts, sample=people * self.counts.subjects / people.sum())

    def losses(self, policy: AnyPolicy) -> dict[str, float]:
        """Return the losses `distribution`, `resolution` and `ncp` of a policy."""
        return self.losses_of(self.grouping(policy))

    def losses_of(
        self, grouping: CombinationGrouping, uncertain: Floats | None = None
    ) -> dict[str, float]:
        """Return the same losses of a policy's groups.

        Parameters
        ----------
        grouping : the policy's groups.
        uncertain : the result of `uncertain_by_column`, if the caller has computed it.
        """
        own = self.weights.importance
        return losses(self.counts, grouping, importance=own, uncertain=uncertain)

    def estimated_matches(self, policy: AnyPolicy) -> float | None:
        """Estimate how many released subjects are matched to their person in the population.

        The result is None if tables count people by all columns or by none, or if the source is not
        declared a random sample (`sampled`). It is also None if a group of a global policy is too
        small for an estimate.
        """
        boxes = self.population.boxes
        if boxes is None or not boxes.sampled:
            return None
        found = self.counted_boxes(policy, boxes)
        if isinstance(policy, TreePolicy):
            return float(estimate_each(*found).sum())
        return estimate_matches(*found)

    def estimated_uniques(self, policy: AnyPolicy) -> float | None:
        """Estimate how many released subjects are unique in the population by their leaf.

        The result is None for global policies, and in the cases of `estimated_matches`.
        """
        boxes = self.population.boxes
        if boxes is None or not boxes.sampled or not isinstance(policy, TreePolicy):
            return None
        return estimate_uniques(*self.counted_boxes(policy, boxes))

    @property
    def counts_others(self) -> bool:
        """Return whether the population contains people outside the source."""
        return bool((self.counts.population > self.counts.sample).any())

    @property
    def estimates(self) -> bool:
        """Return whether the risk is the one estimated in the leaves of trees."""
        return self.risk == estimated_matches()

    def counted_boxes(
        self, policy: AnyPolicy, boxes: CountedBoxes
    ) -> tuple[Floats, Floats, Floats]:
        """Return each released group's subjects, and its counted box's subjects and people.

        Cost: O(distinct counted boxes x combinations).
        """
        groups, classes, kept = self.groups(policy)
        entries, values = policy.list_shown(groups[kept])
        own = [self.quasi.index(column) for column in boxes.columns]
        distinct, place = np.unique(entries[:, own], axis=0, return_inverse=True)
        held = [values[i] for i in own]
        subjects = add_within(distinct, held, self.counts.codes[:, own], self.counts.sample)
        people = add_within(distinct, held, boxes.codes, boxes.people)
        return classes.sample[kept], subjects[place], people[place]

    def find_allowed(self, classes: EquivalenceClasses) -> Bits:
        """Return a mask of the groups that meet the constraints on single groups."""
        rules = self.constraints
        allowed = classes.group >= rules.k - 1e-9
        allowed &= classes.people * rules.max_risk >= 1 - 1e-9
        for own, ordered in self.counts.by_column(classes.sensitive):
            allowed &= are_diverse(own, own.sum(axis=0), rules, ordered=ordered)
        return allowed

    def is_feasible(self, policy: AnyPolicy, suppressed: float) -> bool:
        """Return whether a policy that suppresses this share of subjects meets the constraints."""
        rules = self.constraints
        if not isinstance(policy, Policy):
            return suppressed == 0
        asked = (rules.required, ~policy.bits), (rules.forbidden, policy.bits)
        broken = any(cuts is not None and (cuts & own).any() for cuts, own in asked)
        return suppressed <= rules.suppress + 1e-9 and not broken

    def disclosure(self, policy: AnyPolicy) -> dict[str, float]:
        """Return every disclosure measure of a policy's release, by name.

        Each measure of a sensitive column is the value of the worst column.
        """
        _, classes, kept = self.groups(policy)
        suppressed = float(classes.sample[~kept].sum())
        n, people, none = (
            classes.sample[kept],
            classes.population[kept],
            classes.sensitive[kept, :0],
        )
        columns = [own for own, _ in self.counts.by_column(classes.sensitive[kept])] or [none]
        found = [
            disclosure(EquivalenceClasses(n, people, own), suppressed=suppressed) for own in columns
        ]
        return {name: MEASURES[name].worst([one[name] for one in found]) for name in found[0]}
