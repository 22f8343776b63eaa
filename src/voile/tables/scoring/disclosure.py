"""Measure a table release's disclosure: its equivalence classes, and a figure for each question.

All figures count subjects. A policy divides a subject with several classes evenly among them, so
that sizes add up when classes merge. A subject contributes at most 1 to a class, so a class of size
n has at least n subjects. Each risk computed from n is therefore at least the risk of a person. A
written release uses `AtRiskCounts` instead: each person counts once, in the smallest class that
shows the person.

The adversaries are those of El Emam (Guide to the De-Identification of Personal Health Information,
2013, ch. 16; Dankar & El Emam, PAIS 2010):

- The *prosecutor* knows that the target is in the release.
- The *journalist* does not know that, and looks the target up in a register of the population.
- The *marketer* links everybody, and counts the share that is right on average.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.tables.people.counts import Constraints
from voile.tables.scoring.catalogue import MEASURES

Floats = NDArray[np.float64]
SMALL_GROUP = 11
OF_NAMES = ("distinct_l", "entropy_l", "t_closeness")
OF_SENSITIVE = (*OF_NAMES, "t_closeness_ordered")
"""The measures of each sensitive column in a release. The last applies to numbers only."""
ROUNDING = 1e-9


@dataclass(frozen=True)
class EquivalenceClasses:
    """A release's equivalence classes: subjects (c,) > 0, people (c,), (c, v) by sensitive value.

    If the population was fitted, people are expected values and may be fractional. If no population
    is known, they are the sample.
    """

    sample: Floats
    population: Floats
    sensitive: Floats

    def __post_init__(self) -> None:
        c = len(self.sample)
        if self.population.shape != (c,) or self.sensitive.ndim != 2 or len(self.sensitive) != c:
            raise RequestError("sample, population and sensitive do not have one row a class each")
        if not (self.sample > 0).all() or not (self.population >= 0).all():
            raise RequestError("a class has no sample, or a negative population")

    @property
    def people(self) -> Floats:
        """Return g (c,), the group an adversary chooses from: max(sample, population, 1)."""
        return np.maximum(self.group, self.population)

    @property
    def group(self) -> Floats:
        """Return n (c,), the group in the release: max(sample, 1), since a class has a person."""
        return np.maximum(self.sample, 1.0)


@dataclass(frozen=True)
class AtRiskCounts:
    """Released people by the smallest class of their rows.

    A class counts each person with a row in it once. n and g are therefore whole numbers of people
    if the population is. A person's risk is the largest over all of the person's rows.

    Attributes
    ----------
    people : (m,) the number of people.
    group : (m,) their n.
    register : (m,) their g.
    small : (m,) the number of classes of fewer than 11 people that contain these people. A class
        contributes 1 / its people for each of them.
    """

    people: Floats
    group: Floats
    register: Floats
    small: Floats

    @classmethod
    def of(cls, classes: EquivalenceClasses) -> AtRiskCounts:
        """Return the people of classes if nobody has rows in two of them."""
        small = (classes.group < SMALL_GROUP).astype(np.float64)
        return cls(classes.sample, classes.group, classes.people, small)

    @property
    def in_small_groups(self) -> dict[str, float]:
        """Return the number of classes of fewer than 11 people, and of people in one."""
        people = self.people[self.group < SMALL_GROUP].sum()
        return {
            "groups_under_11": float(round(self.small.sum())),
            "people_under_11": float(round(people)),
        }


def disclosure(
    classes: EquivalenceClasses, suppressed: float = 0.0, *, at_risk: AtRiskCounts | None = None
) -> dict[str, float]:
    """Compute every measure of `MEASURES`, except those of a sensitive column if there is none.

    `at_risk` counts people if somebody's rows are in several classes. An empty release has risks of
    0, and infinite values of k, l and similar measures.

    >>> sizes = np.array([1.0, 3.0])
    >>> found = disclosure(EquivalenceClasses(sizes, np.array([10.0, 12.0]), np.zeros((2, 0))))
    >>> found["k"], found["k_map"], found["expected_matches"], found["prosecutor_mean"]
    (1.0, 10.0, 0.35, 0.5)
    """
    at_risk = at_risk or AtRiskCounts.of(classes)
    people, n, g = at_risk.people, at_risk.group, at_risk.register
    subjects = float(people.sum())
    matches = float((people / g).sum())
    found = {
        "mean_risk": matches / subjects if subjects else 0.0,
        "max_risk": 1.0 / _least(g),
        "expected_matches": matches,
        "share_under_11": float(people[g < SMALL_GROUP].sum()) / subjects if subjects else 0.0,
        "k": _whole(_least(n)),
        "k_map": _whole(_least(g)),
        "sample_uniques": float(people[n <= 1.0 + ROUNDING].sum()),
        "population_uniques": float(people[g <= 1.0 + ROUNDING].sum()),
        "prosecutor_max": 1.0 / _least(n),
        "prosecutor_mean": float((people / n).sum()) / subjects if subjects else 0.0,
        "discernibility": discernibility(classes.sample, suppressed),
        "groups_short_of_people": float((classes.population < classes.sample - ROUNDING).sum()),
    }
    found["journalist_max"] = found["max_risk"]
    found["journalist_mean"] = found["marketer"] = found["mean_risk"]
    if classes.sensitive.shape[1]:
        found |= _sensitive(classes.sensitive)
    return {name: MEASURES[name].check(value) for name, value in found.items()}


def _sensitive(sensitive: Floats) -> dict[str, float]:
    return {
        "distinct_l": distinct_l(sensitive),
        "entropy_l": entropy_l(sensitive),
        "recursive_c": recursive_c(sensitive, 2),
        "t_closeness": t_closeness(sensitive),
        "t_closeness_ordered": t_closeness(sensitive, ordered=True),
    }


def discernibility(sample: Floats, suppressed: float = 0.0) -> float:
    """Return the sum over the source's subjects of the number of subjects that each resembles.

    A released subject costs the size of its class, and a suppressed subject the size of the source
    (Bayardo & Agrawal, ICDE 2005, eq. 1).

    >>> discernibility(np.array([2.0, 3.0]), suppressed=1)
    19.0
    """
    source = float(sample.sum()) + suppressed
    return float(sample @ sample) + source * suppressed


def of_column(measure: str, column: str) -> str:
    """Return the name of a measure of one sensitive column among a release's figures.

    >>> of_column("distinct_l", "income")
    'distinct_l(income)'
    """
    return f"{measure}({column})"


def distinct_l(sensitive: Floats) -> float:
    """Return the number of values of the class with the fewest values.

    Source: Machanavajjhala et al., TKDD 2007, 4.1.

    >>> distinct_l(np.array([[2.0, 1.0], [3.0, 0.0]]))
    1.0
    """
    return _least(distinct_values(sensitive))


def entropy_l(sensitive: Floats) -> float:
    """Return the largest l of entropy l-diversity: exp of the least entropy of a class.

    The result is a real number. The release is entropy l-diverse for each l up to it
    (Machanavajjhala et al., TKDD 2007, Definition 4.1).

    >>> round(entropy_l(np.array([[2.0, 2.0], [3.0, 1.0]])), 3)
    1.755
    """
    return math.exp(_least(_entropies(sensitive)))


def recursive_c(sensitive: Floats, l: int) -> float:  # noqa: E741 - the paper's letter
    """Return the bound that c must exceed for recursive (c, l)-diversity, l >= 1.

    For a class with counts in descending order r_1 >= r_2 >= ..., take r_1 / (r_l + r_(l+1) + ...).
    The bound is the largest of these values over the classes. The release is (c, l)-diverse exactly
    for larger c (Machanavajjhala et al., TKDD 2007, Definition 4.2). The bound is infinite if a
    class has fewer than l values. For l = 2 it is the odds that the best guess in a class is right.

    >>> recursive_c(np.array([[2.0, 2.0, 1.0], [6.0, 1.0, 1.0]]), 2)
    3.0
    """
    falling = -np.sort(-sensitive, axis=1)
    rest = falling[:, l - 1 :].sum(axis=1)
    odds = np.divide(falling[:, 0], rest, out=np.full(len(rest), math.inf), where=rest > 0)
    return float(odds.max(initial=0.0))


def t_closeness(sensitive: Floats, *, ordered: bool = False) -> float:
    """Return the largest distance of a class's sensitive values from the whole release's.

    The distance is the earth mover's distance. All values have equal distances or, if `ordered`,
    neighbours in the domain have a distance of 1 / (v - 1) (Li, Li & Venkatasubramanian, ICDE 2007,
    4).

    >>> halves = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    >>> t_closeness(halves), t_closeness(halves, ordered=True)
    (0.5, 0.3333333333333333)
    """
    return float(_distances(sensitive, sensitive.sum(axis=0), ordered).max(initial=0.0))


def are_diverse(
    sensitive: Floats, whole: Floats, rules: Constraints, *, ordered: bool = False
) -> NDArray[np.bool_]:
    """Return a mask of the classes (c, v) of a sensitive column with l-diversity and t-closeness.

    `whole` (v,) counts everybody by value. The distances of t-closeness are measured from it.

    >>> halves = np.array([[2.0, 2.0], [3.0, 0.0]])
    >>> are_diverse(halves, np.array([5.0, 2.0]), Constraints(l_diversity=2)).tolist()
    [True, False]
    """
    allowed = np.ones(len(sensitive), dtype=np.bool_)
    if rules.l_diversity > 1:
        allowed &= distinct_values(sensitive) >= rules.l_diversity
    nats = math.log(rules.entropy_l)
    return allowed & has_shares(sensitive, whole, nats=nats, t=rules.t_closeness, ordered=ordered)


def has_shares(
    sensitive: Floats, whole: Floats, *, nats: float, t: float, ordered: bool
) -> NDArray[np.bool_]:
    """Return a mask of the classes with at least `nats` of entropy and a distance of at most `t`.

    The distance is measured from the distribution of `whole`.
    """
    allowed = np.ones(len(sensitive), dtype=np.bool_)
    if nats > 0 or t < 1:
        allowed &= sensitive.sum(axis=1) > 0
    if nats > 0:
        allowed &= _entropies(sensitive) >= nats - ROUNDING
    if t < 1:
        allowed &= _distances(sensitive, whole, ordered) <= t + ROUNDING
    return allowed


def distinct_values(sensitive: Floats) -> NDArray[np.int64]:
    """Count the distinct values of each class."""
    return np.asarray((sensitive > 0).sum(axis=1), dtype=np.int64)


def _entropies(sensitive: Floats) -> Floats:
    share = _rows(sensitive)
    logs = np.log(share, out=np.zeros_like(share), where=share > 0)
    return np.asarray(-(share * logs).sum(axis=1))


def _distances(sensitive: Floats, whole: Floats, ordered: bool) -> Floats:
    moved = _rows(sensitive) - _rows(whole[None])
    if ordered:
        moved = np.cumsum(moved, axis=1)
    far = np.abs(moved).sum(axis=1)
    return np.asarray(far / max(sensitive.shape[1] - 1, 1) if ordered else far / 2.0)


def _rows(counts: Floats) -> Floats:
    """Divide each row by its sum. A row of zeros stays unchanged."""
    total = counts.sum(axis=1, keepdims=True)
    shares: Floats = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
    return shares


def _least(values: NDArray[Any]) -> float:
    return float(values.min()) if len(values) else math.inf


def _whole(size: float) -> float:
    return size if math.isinf(size) else float(math.floor(size + ROUNDING))
