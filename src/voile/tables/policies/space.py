"""The space of policies over a table: its domains, its counts, and what each policy scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError, nearest
from voile.data import Source, open_source
from voile.tables.domains.domain import ValueDomain
from voile.tables.people import combinations
from voile.tables.people.counted_boxes import (
    CountedBoxes,
    add_within,
    estimate_each,
    estimate_matches,
    estimate_uniques,
)
from voile.tables.people.counts import CombinationCounts, Constraints
from voile.tables.people.population import PopulationCounts, Table, population_of
from voile.tables.people.weights import count_weighted
from voile.tables.policies.asked import Settings, add_cuts, importance_of
from voile.tables.policies.family import AnyPolicy
from voile.tables.policies.policy import Policy
from voile.tables.scoring.catalogue import MEASURES
from voile.tables.scoring.disclosure import EquivalenceClasses, are_diverse, disclosure
from voile.tables.scoring.evaluator import PolicyEvaluator
from voile.tables.scoring.group_measures import (
    GroupMeasure,
    estimated_matches,
    information,
    matches,
    sees_outcomes,
)
from voile.tables.scoring.losses import CombinationGrouping, losses
from voile.tables.scoring.named_measures import LossWeights, measure_named
from voile.tables.trees.policy import TreePolicy

Bits = NDArray[np.bool_]
Floats = NDArray[np.float64]


class PolicySpace:
    """All policies over a table's quasi-identifiers, scored against a population.

    `of` reads the data; this takes what was read.

    Parameters
    ----------
    domains : of the quasi-identifiers, in order. counts : of their combinations.
    constraints : which policies are allowed.
    population : where the counts of people come from.
    risk, loss : the measures; None is eq. 2 and eq. 4.
    weights : how much each column counts in the resolution lost, and what that counts.
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

    @classmethod
    def of(
        cls,
        sample: Any,
        population: Any = None,
        quasi: Sequence[str] = (),
        *,
        subject: str | None = None,
        people: str = "people",
        sensitive: str | Sequence[str] = (),
        fraction: float | None = None,
        weight: str | None = None,
        settings: Settings | None = None,
        constraints: Constraints | None = None,
        population_gap: Literal["error", "sample"] = "error",
        sampled: bool = False,
        risk: str | GroupMeasure | None = None,
        loss: str | GroupMeasure | None = None,
        loss_weight: float = 0.5,
        outcomes: Sequence[str] = (),
    ) -> PolicySpace:
        """Count a table once, by GROUP BY where it lives; keep distinct combinations only.

        Parameters
        ----------
        sample : the table to release: a path, a database table, or a frame (see `open_source`).
        population : a table that counts people by all quasi-identifiers; several tables of some
            are margins, fitted by iterative proportional fitting. Where one is counted by none of
            them, or there is no table, g is a group's size in the release; see `estimated_matches`.
        quasi : its quasi-identifiers, at least one.
        subject : column whose equal values are one person.
        people : column of the population tables that counts, whole numbers >= 0.
        sensitive : columns whose values in each group are counted, for l-diversity and t-closeness.
        fraction : in (0, 1), share of the population that the sample is of, without a table.
        weight : column of sampling weights, >= 0, one a subject: where no table is given, people
            are counted as their sums.
        settings : by column, what `QuasiSettings` takes: kind, order, hierarchy, cuts to keep...
        constraints : which policies are allowed.
        population_gap : ``error`` refuses records whose group the population lacks; ``sample``
            counts such a group as large as it is in the sample.
        sampled : whether the table is a random sample of the population, for `estimated_matches`
            where population tables count people by some quasi-identifiers.
        risk, loss : the measures, by name or as `GroupMeasure`s; None is eq. 2 and eq. 4. See
            `measure_named`.
        loss_weight : in [0, 1], what distribution counts in the loss ``weighted``; resolution
            counts the rest.
        outcomes : columns that a measure looks at, as `mutual-information` does.

        Raises
        ------
        RequestError : a column that is not there, a domain of one value, a population
            without counts or with negative ones, records it lacks, more combinations than memory.

        Examples
        --------
        >>> import pyarrow as pa
        >>> sample = pa.table({"age": [30, 31, 30], "sex": ["f", "m", "m"]})
        >>> space = PolicySpace.of(sample, quasi=["age", "sex"])
        >>> space.n_bits, space.evaluate(np.array([space.bottom, space.top]))[0].round(3).tolist()
        (2, [1.0, 0.333])
        """
        if isinstance(outcomes, str):
            raise RequestError("outcomes is one text", instead="give a list of columns")
        risk_of, loss_of = measure_named("risk", risk), measure_named("loss", loss)
        source = open_source(sample)
        _check_subject(source, subject)
        counted = combinations.count_sample(source, quasi, subject)
        tables = [
            combinations.count_population(open_source(table), quasi, people)
            for table in _several(population)
        ]
        domains = combinations.build_domains(quasi, counted, tables, settings or {})
        codes, count = combinations.encode(domains, counted)
        joined = population_of(
            domains,
            codes,
            count,
            [(t.columns, *combinations.encode(_only(domains, t.columns), t)) for t in tables],
            fraction=fraction,
            gap=population_gap,
            sampled=sampled,
            weighted=_weigh(source, domains, weight, subject),
        )
        private = [sensitive] if isinstance(sensitive, str) else sensitive
        by_value, columns = combinations.count_sensitive(source, domains, codes, private, subject)
        by_outcome = combinations.count_outcomes(source, domains, codes, outcomes, subject)
        counts = combinations.join(domains, codes, count, joined, by_value, by_outcome, columns)
        limits = add_cuts(domains, constraints or Constraints(), settings or {})
        weights = LossWeights(loss_weight, importance_of(domains, settings or {}))
        measures = risk_of(counts, weights), loss_of(counts, weights)
        _check_measures(*measures, joined, outcomes)
        return cls(
            domains, counts, limits, joined, risk=measures[0], loss=measures[1], weights=weights
        )

    def without_constraints(self) -> PolicySpace:
        """Return the same space, nothing of which is suppressed or forbidden."""
        return PolicySpace(
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
        """The quasi-identifiers, in order."""
        return tuple(domain.column for domain in self.domains)

    @property
    def n_bits(self) -> int:
        """Length of a policy."""
        return sum(len(domain) - 1 for domain in self.domains)

    @property
    def top(self) -> Bits:
        """The most general policy: no cut."""
        return np.zeros(self.n_bits, dtype=np.bool_)

    @property
    def bottom(self) -> Bits:
        """The source as it is: every cut."""
        return np.ones(self.n_bits, dtype=np.bool_)

    @cached_property
    def evaluator(self) -> PolicyEvaluator:
        """What scores policies."""
        return PolicyEvaluator(
            self.counts,
            self.constraints,
            risk=self.risk,
            loss=self.loss,
            importance=self.weights.importance,
            columns=self.quasi,
        )

    def evaluate(self, policies: Bits) -> tuple[Floats, Floats]:
        """Return relative risk and normalised loss, (m,) in [0, 1], of (m, n_bits) policies."""
        return self.evaluator.evaluate(policies)

    def policy(self, bits: Bits) -> Policy:
        """Return one bit-string as a policy with its intervals."""
        return Policy(self.domains, np.array(bits, dtype=np.bool_))

    def people_by_value(self, column: str) -> Floats:
        """Count the population by the values of one domain."""
        place = self.quasi.index(column)
        codes, people = self.counts.codes[:, place], self.counts.population
        boxes = self.population.boxes
        if boxes is not None and column in boxes.columns:
            codes, people = boxes.codes[:, boxes.columns.index(column)], boxes.people
        counted = np.bincount(codes, weights=people, minlength=len(self.domains[place]))
        return counted.astype(np.float64)

    def groups(self, policy: AnyPolicy) -> tuple[NDArray[np.int32], EquivalenceClasses, Bits]:
        """Return a policy's equivalence classes: interval numbers, counts, which are allowed."""
        own, inverse = self._groups(policy)

        def add(weights: Floats) -> Floats:
            return np.bincount(inverse, weights, len(own)).astype(np.float64)

        sample, people = add(self.counts.sample), add(self.counts.population)
        values = [add(v) for v in self.counts.sensitive.T]
        sensitive = np.column_stack(values) if values else np.zeros((len(own), 0))
        seen = sample > 0
        classes = EquivalenceClasses(sample[seen], people[seen], sensitive[seen])
        return own[seen], classes, self.find_allowed(classes)

    def _groups(self, policy: AnyPolicy) -> tuple[NDArray[np.int32], NDArray[np.intp]]:
        """Return the interval numbers of each group, and the group of each combination."""
        own = policy.numbers_of(self.counts.codes)
        _, first, inverse = np.unique(policy.keys_of(own), return_index=True, return_inverse=True)
        return own[first], inverse

    def grouping(self, policy: AnyPolicy) -> CombinationGrouping:
        """Return the groups that a policy makes of the combinations, and which are released."""
        own, group = self._groups(policy)
        released = np.zeros(len(own), dtype=np.bool_)
        seen = np.bincount(group, self.counts.sample, len(own)) > 0
        released[seen] = self.groups(policy)[2]
        return CombinationGrouping(group, *policy.list_shown(own), released)

    @property
    def weighted_counts(self) -> CombinationCounts | None:
        """The counts as a survey weighs them, to as many subjects; None without weights.

        Each combination's subjects count as the share of the people that their weights stand for.
        """
        if not self.population.weighted:
            return None
        people = self.counts.population
        return replace(self.counts, sample=people * self.counts.subjects / people.sum())

    def losses(self, policy: AnyPolicy) -> dict[str, float]:
        """Return the `distribution`, `resolution` and `ncp` that a policy loses."""
        return losses(self.counts, self.grouping(policy), importance=self.weights.importance)

    def estimated_matches(self, policy: AnyPolicy) -> float | None:
        """Estimate how many released subjects are matched to their person in the population.

        None where tables count people by all columns, or none, where the source is not declared a
        random sample (`sampled`), and where a group of a global policy is too small to estimate.
        """
        boxes = self.population.boxes
        if boxes is None or not boxes.sampled:
            return None
        found = self.counted_boxes(policy, boxes)
        if isinstance(policy, TreePolicy):
            return float(estimate_each(*found).sum())
        return estimate_matches(*found)

    def estimated_uniques(self, policy: AnyPolicy) -> float | None:
        """Estimate how many released subjects are unique in the population by their box.

        None as in `estimated_matches`, and of global policies.
        """
        boxes = self.population.boxes
        if boxes is None or not boxes.sampled or not isinstance(policy, TreePolicy):
            return None
        return estimate_uniques(*self.counted_boxes(policy, boxes))

    @property
    def counts_others(self) -> bool:
        """Whether the population counts anybody outside of the source."""
        return bool((self.counts.population > self.counts.sample).any())

    @property
    def estimates(self) -> bool:
        """Whether the risk is one that is estimated in boxes of trees."""
        return self.risk == estimated_matches()

    def counted_boxes(
        self, policy: AnyPolicy, boxes: CountedBoxes
    ) -> tuple[Floats, Floats, Floats]:
        """Return each released group's subjects, and those and the people of its counted box.

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
        """Say which groups meet the constraints that hold for a group alone."""
        rules = self.constraints
        allowed = classes.group >= rules.k - 1e-9
        allowed &= classes.people * rules.max_risk >= 1 - 1e-9
        for own, ordered in self.counts.by_column(classes.sensitive):
            allowed &= are_diverse(own, own.sum(axis=0), rules, ordered=ordered)
        return allowed

    def disclosure(self, policy: AnyPolicy) -> dict[str, float]:
        """Return every measure of what a policy's release discloses, by name.

        Of the sensitive columns the one that is worst off by each measure.
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


def _check_subject(source: Source, subject: str | None) -> None:
    if subject is not None and subject not in source.columns:
        raise RequestError(
            f"subject {subject} is not a column", instead=nearest(subject, source.columns)
        )


def _weigh(
    source: Source, domains: Sequence[ValueDomain], weight: str | None, subject: str | None
) -> Table | None:
    """Return the columns of weights, and the combinations with their sums of weights."""
    if weight is None:
        return None
    quasi = [domain.column for domain in domains]
    sums = count_weighted(source, quasi, weight, subject)
    return ((weight,), *combinations.encode(domains, sums))


def _check_measures(
    risk: GroupMeasure, loss: GroupMeasure, population: PopulationCounts, outcomes: Sequence[str]
) -> None:
    """Refuse an estimate that nothing supports, and outcomes that no measure looks at."""
    if risk == estimated_matches() and not (population.boxes and population.boxes.sampled):
        raise RequestError(
            "matches are estimated where a table counts people by some quasi-identifiers, and "
            "the source is declared a random sample of these people",
            instead="give both (--population, --sampled), or ask for the risk matches",
        )
    if outcomes and not (sees_outcomes(risk) or sees_outcomes(loss)):
        raise RequestError(
            "outcomes are named and neither risk nor loss looks at them",
            instead="ask for the loss mutual-information",
        )


def _several(population: Any) -> Iterator[Any]:
    if population is None:
        return
    if isinstance(population, (list, tuple)):
        yield from population
    else:
        yield population


def _only(domains: Sequence[ValueDomain], columns: Sequence[str]) -> list[ValueDomain]:
    return [domain for domain in domains if domain.column in columns]
