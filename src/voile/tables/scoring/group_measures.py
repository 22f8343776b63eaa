"""Define risks and losses that are sums over a policy's groups, including eq. 2-4.

A search needs a measure in this form only: a number for each generalised group, summed. The sum
decreases (a risk) or increases (a loss) as groups are merged.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.core.measures import DisplayMeasure, Monotone
from voile.tables.people.counts import CombinationCounts
from voile.tables.scoring.disclosure import SMALL_GROUP
from voile.tables.scoring.losses import (
    CombinationGrouping,
    distribution_of_all,
    entropies,
    importance_shares,
)

Floats = NDArray[np.float64]

FLAT = 1e-12
"""Losses below this share of their parts count as zero."""
LEAST = 1e-300  # its logarithm is finite, so 0 times it is 0
SOURCE = "Xia et al., CODASPY 2013"


@dataclass(frozen=True, eq=False)
class RecordGroups:
    """Groups of records with equal labels. A user's measure receives them read-only.

    Attributes
    ----------
    subjects : (m,) float64 > 0, n, the number of the source's subjects.
    people : (m,) float64 >= 0, the number of people of the population.
    width : (m,) float64 >= 1, the number of value combinations that the group generalises.
    outcomes : for each outcome column (m, values) float64, the group's subjects by value.
    columns : the same for each quasi-identifier, for voile's own losses that need it.
    sensitive : the same for each sensitive column, for constraints only.
    """

    subjects: Floats
    people: Floats
    width: Floats
    outcomes: tuple[Floats, ...] = ()
    columns: tuple[Floats, ...] = ()
    sensitive: tuple[Floats, ...] = ()

    def __len__(self) -> int:
        return len(self.subjects)

    @classmethod
    def of(cls, counts: CombinationCounts, *, columns: bool = False) -> RecordGroups:
        """Return the source's own combinations with subjects, as groups."""
        seen = np.flatnonzero(counts.sample > 0)
        n = counts.sample[seen]
        outcomes = tuple(counted[seen] for counted in counts.outcomes)
        by_value = (
            n[:, None] * (codes[:, None] == np.arange(size))
            for codes, size in zip(counts.codes[seen].T, counts.sizes, strict=True)
        )
        own = tuple(by_value) if columns else ()
        sensitive = tuple(part for part, _ in counts.by_column(counts.sensitive[seen]))
        return cls(n, counts.population[seen], np.ones(len(seen)), outcomes, own, sensitive)

    @classmethod
    def merge_counts(cls, counts: CombinationCounts, grouping: CombinationGrouping) -> RecordGroups:
        """Return the released groups of a grouping."""
        kept, group = grouping.kept, grouping.group

        def add_up(weight: Floats) -> Floats:
            return np.bincount(group, weight, len(kept)).astype(np.float64)[kept]

        return cls(
            add_up(counts.sample),
            add_up(counts.population),
            grouping.widths.prod(axis=1)[kept],
            tuple(np.column_stack([add_up(one) for one in by.T]) for by in counts.outcomes),
        )

    @property
    def group(self) -> Floats:
        """Return g (m,), the group that an adversary chooses from: max(people, subjects, 1)."""
        return np.maximum(np.maximum(self.people, self.subjects), 1.0)


@dataclass(frozen=True)
class GroupMeasure(DisplayMeasure):
    """A risk or a loss that is a sum over groups.

    On a frontier, the sum is scaled to [0, 1]. A risk is divided by its sum over the source's own
    combinations. For a loss, that sum is subtracted. The difference is divided by the same
    difference for one group of all. Only differences matter, so a loss may be negative.

    Parameters
    ----------
    name, title, unit, formula, source : see `DisplayMeasure`.
    generalising : the direction of the sum as a policy becomes more general: ``falls`` for a risk,
        ``rises`` for a loss. Searches rely on it, and check the declaration first.
    each : a function from `RecordGroups` of length m to (m,) finite numbers, >= 0 for a risk. The
        number of a group must not depend on the other groups.

    Examples
    --------
    The records in groups of fewer than 5 people:

    >>> rare = GroupMeasure(
    ...     "rare", "Records in groups of fewer than 5", "subjects", "sum of n over groups, g < 5",
    ...     generalising="falls", each=lambda groups: groups.subjects * (groups.group < 5),
    ... )
    >>> rare.each(RecordGroups(np.array([2.0, 3.0]), np.array([4.0, 9.0]), np.ones(2))).tolist()
    [2.0, 0.0]
    """

    each: Callable[[RecordGroups], Floats] = field(kw_only=True)


def compute_values(measure: GroupMeasure, groups: RecordGroups) -> Floats:
    """Compute a measure's number for each group.

    Raises
    ------
    RequestError : the measure does not return (m,) finite numbers, or a risk is negative.
    """
    found = measure.each(groups) if is_built_in(measure) else _ask_user(measure, groups)
    if found.shape != (len(groups),) or found.dtype.kind not in "biuf":
        raise RequestError(
            f"{measure.name} gave {found.dtype} of shape {found.shape} for {len(groups)} groups",
            instead="return one number for each group",
        )
    values: Floats = found.astype(np.float64)
    if not np.isfinite(values).all():
        raise RequestError(f"{measure.name} gave a number that is NaN or infinite for some group")
    if measure.generalising == "falls" and (values < 0).any():
        raise RequestError(f"{measure.name} gave a negative risk for some group")
    return values


def _ask_user(measure: GroupMeasure, groups: RecordGroups) -> NDArray[Any]:
    """Call a user's function, which may fail in any way and must not write into the counts."""
    shown = RecordGroups(
        _read_only(groups.subjects),
        _read_only(groups.people),
        _read_only(groups.width),
        tuple(map(_read_only, groups.outcomes)),
    )
    try:
        with redirect_stdout(sys.stderr):  # printed text must not mix with results
            return np.asarray(measure.each(shown))
    except (Exception, SystemExit) as error:  # the function's message may quote the counts
        raise RequestError(
            f"{measure.name} raised {type(error).__name__} when asked about {len(groups)} groups",
            instead="call its function in Python to see why; its arguments are read-only",
        ) from error


def _read_only(counted: Floats) -> Floats:
    view = counted.view()
    view.flags.writeable = False
    return view


def refuse_undeclared(measure: GroupMeasure, declared: Monotone) -> None:
    """Raise an error unless a risk declares that it falls, or a loss that it rises."""
    if measure.generalising != declared:
        raise RequestError(
            f"{measure.name} does not declare that it {declared} as policies become more general",
            instead='a risk declares generalising="falls", a loss generalising="rises"',
        )


@dataclass(frozen=True)
class SizeWeighing:
    """A weight of 1 / g**power for each subject if g < under, and 0 otherwise.

    The weight decreases as g increases, and g increases as groups are merged. The sum therefore
    decreases.
    """

    power: float
    under: float

    def __call__(self, groups: RecordGroups) -> Floats:
        """Return the sum of weights over each group's subjects."""
        g = groups.group
        return np.where(g < self.under, groups.subjects / g**self.power, 0.0)


@dataclass(frozen=True)
class EvenSpread:
    """The nats lost if a group's subjects are spread evenly over its combinations."""

    def __call__(self, groups: RecordGroups) -> Floats:
        """Return each group's nats, without those of its combinations, which cancel."""
        return groups.subjects * np.log(groups.width / groups.subjects)


@dataclass(frozen=True)
class WeightedLoss:
    """The weighted sum of eq. 4 and the entropy of each quasi-identifier within groups.

    A group costs `spread` times the nats of eq. 4, and for each column `charges` times n H(column |
    group). `unit` is the sum with a loss of 1, the nats of eq. 4 for one group of all. Neither part
    decreases as groups are merged.
    """

    spread: float
    charges: tuple[float, ...]
    unit: float

    def __call__(self, groups: RecordGroups) -> Floats:
        """Return each group's nats, without those of eq. 4 of its combinations, which cancel."""
        total = self.spread * EvenSpread()(groups)
        for charge, counted in zip(self.charges, groups.columns, strict=True):
            total += charge * (_n_log_n(_by_row(counted)) - _by_row(_n_log_n(counted)))
        return total


@dataclass(frozen=True)
class OutcomeUncertainty:
    """The weighted uncertainty of outcomes given the group: n H(outcome | group).

    A function of an observation never increases its mutual information, so this sum never
    decreases.
    """

    weights: tuple[float, ...]

    def __call__(self, groups: RecordGroups) -> Floats:
        total = np.zeros(len(groups))
        for weight, counted in zip(self.weights, groups.outcomes, strict=True):
            total += weight * (_n_log_n(_by_row(counted)) - _by_row(_n_log_n(counted)))
        return total


def matches(*, power: float = 1.0, under: float | None = None) -> GroupMeasure:
    """Return the risk that sums n / g**power over groups of fewer than `under` people.

    Parameters
    ----------
    power : >= 0. With 1 it is the paper's risk (eq. 2): the expected matches of an adversary who
        chooses one of the g people at random. With 2, a unique record has 25 times the weight of
        one in a group of 5, instead of 5 times. This is the probability of two matches by chance.
        With 0 subjects are counted.
    under : > 1. Groups of this size or larger have no weight. None includes all groups.

    >>> matches(power=2).each(RecordGroups(np.array([2.0]), np.array([4.0]), np.ones(1))).tolist()
    [0.125]
    """
    if not 0 <= power < np.inf:
        raise RequestError("power must be a number of 0 or more")
    if under is not None and not under > 1:
        raise RequestError("under must be more than 1, the smallest group there is")
    weighing = SizeWeighing(float(power), np.inf if under is None else float(under))
    if weighing == SizeWeighing(1.0, np.inf):
        return _matches("matches", "Expected matches", "sum over records of 1 / g", weighing)
    raised = "" if power == 1 else f"^{power:g}"
    small = "" if under is None else f", where g < {under:g}"
    return _matches(
        "weighed_matches" if under is None else "small_groups",
        "Weighed matches" if under is None else f"Matches in groups of fewer than {under:g}",
        f"sum over records of 1 / g{raised}{small}",
        weighing,
    )


def _matches(name: str, title: str, formula: str, each: SizeWeighing) -> GroupMeasure:
    return GroupMeasure(
        name, title, "matches", formula, generalising="falls", source=SOURCE, each=each
    )


def small_groups() -> GroupMeasure:
    """Return the risk of groups of fewer than 11 people: the matches expected among their records.

    A record in a group of 11 or more has no weight. A policy without smaller groups therefore has a
    risk of 0. (The paper's second limitation is that many safe records hide a few at risk.)
    """
    return matches(under=SMALL_GROUP)


def estimated_matches() -> GroupMeasure:
    """Return the risk that trees estimate for their leaves. For a single group it is n / g.

    See `voile.tables.people.counted_boxes`.
    """
    return GroupMeasure(
        "estimated_matches",
        "Estimated matches",
        "matches",
        "sum over records of E[1 / F], F the people of a record's box, estimated from its counted "
        "box; for the source as it is, 1 / n",
        generalising="falls",
        source="Benedetti & Franconi, NTTS 1998",
        each=SizeWeighing(1.0, np.inf),
    )


def refuse_estimated(risk: GroupMeasure) -> None:
    """Raise `RequestError` if global policies cannot be searched for this risk."""
    if risk == estimated_matches():
        raise RequestError(
            "matches are estimated for the boxes of trees alone",
            instead="take --family tree, or --risk matches",
        )


def information() -> GroupMeasure:
    """Return the loss of eq. 4: KL(P || Q), where Q spreads each group's subjects evenly."""
    return GroupMeasure(
        "information",
        "Divergence loss",
        "nats",
        "sum over subjects of log(n_x w / n)",
        generalising="rises",
        source=SOURCE,
        each=EvenSpread(),
    )


def weigh_losses(
    counts: CombinationCounts, *, weight: float = 0.5, importance: Sequence[float] | None = None
) -> GroupMeasure:
    """Return the loss `weight` x distribution + (1 - `weight`) x resolution. See `losses`.

    Parameters
    ----------
    counts : the counts of the source's combinations.
    weight : in [0, 1]. 1 is the paper's loss.
    importance : (attributes,) >= 0, the weight of each column in resolution. None gives equal
        weights.
    """
    if not 0 <= weight <= 1:
        raise RequestError("the weight of distribution in the loss must be between 0 and 1")
    if weight == 1:
        return information()
    if not counts.subjects:
        raise RequestError("there are no subjects to score policies on")
    most, subjects = distribution_of_all(counts), counts.subjects
    unit = most or subjects
    entropy, shares = entropies(counts), importance_shares(counts, importance)
    charges = np.divide(shares, entropy, out=np.zeros_like(shares), where=shares > 0)
    charges *= (1 - weight) * unit / subjects
    return GroupMeasure(
        "weighted",
        "Information loss",
        "share",
        f"{weight:g} x distribution + {1 - weight:g} x resolution",
        generalising="rises",
        each=WeightedLoss(weight if most else 0.0, tuple(charges.tolist()), unit),
    )


def mutual_information(outcomes: Sequence[Floats]) -> GroupMeasure:
    """Return the loss `1 - I(group; outcome) / I(combination; outcome)`.

    I is the mutual information of the counts, for the source's combinations. The loss is the mean
    over the outcome columns. An outcome that is independent of the combinations contributes
    nothing. If combinations have few subjects, I is too high, most of all for the source, and so is
    the loss.
    """
    if not outcomes:
        raise RequestError(
            "mutual information needs an outcome column", instead="name one with --outcomes"
        )
    known = [_mutual(counted) for counted in outcomes]
    least = [1e-12 * counted.sum() for counted in outcomes]
    weights = [1 / i if i > low else 0.0 for i, low in zip(known, least, strict=True)]
    return GroupMeasure(
        "mutual_information",
        "Information about the outcomes lost",
        "share",
        "1 - I(group; outcome) / I(combination; outcome)",
        generalising="rises",
        source="Shannon 1948",
        each=OutcomeUncertainty(tuple(weights)),
    )


def _mutual(counted: Floats) -> float:
    """Return N I(row; column) of a table of counts, in nats."""
    ends = _n_log_n(counted.sum(keepdims=True)), _n_log_n(counted)
    rows, columns = _n_log_n(_by_row(counted)), _n_log_n(counted.sum(axis=0))
    return float(ends[0].sum() + ends[1].sum() - rows.sum() - columns.sum())


def _n_log_n(n: Floats) -> Floats:
    return n * np.log(np.maximum(n, LEAST))


def _by_row(values: Floats) -> Floats:
    """Return the sum of each row, four times as fast as `sum` for short rows."""
    sums: Floats = np.einsum("ij->i", values)
    return sums


BUILT_IN = (SizeWeighing, EvenSpread, WeightedLoss, OutcomeUncertainty)


def is_built_in(measure: GroupMeasure) -> bool:
    """Return whether a measure is voile's own, and so proved monotone without a check."""
    return isinstance(measure.each, BUILT_IN)


def sees_outcomes(measure: GroupMeasure) -> bool:
    return not isinstance(measure.each, (SizeWeighing, EvenSpread, WeightedLoss))
