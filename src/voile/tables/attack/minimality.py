"""Infer sensitive values from the splits that the policy does not have.

The adversary knows the algorithm: it splits wherever a split lowers the loss and satisfies the
constraints, which the manifest states. The adversary also has a register with the exact
quasi-identifiers of everybody in the release, without the sensitive values. The adversary therefore
knows which further splits would have left k people on both sides.

None of these splits was made, so each would have broken l-diversity or t-closeness. In each of
them, one side has too few sensitive values, or values that are too uneven. The adversary considers
all assignments of a group's released sensitive values to its people. Only assignments that break
the rule in each of these splits remain possible (Wong, Fu, Wang, Pei: Minimality attack in privacy
preserving data publishing, VLDB 2007). Without this inference all assignments are equally likely,
and each person's probabilities are the group's shares.

The attack assumes that the policy has the least loss. If it was pruned further for lower risk,
pruning alone may explain a missing split, and the adversary is misled. A small doubt about each
split allows for this.

A tree's split divides one group. A global policy's split divides all groups at once, and is not
made if it breaks the rule in any of them. For each group, the adversary therefore includes the
probability that other groups broke the rule.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.evidence import Evidence, Finding, Note, Rate
from voile.report.wording import join_names
from voile.tables.attack.exact import ExactRows, Places
from voile.tables.trees.kernels.inputs import SensitiveRows
from voile.tables.trees.kernels.worlds import chance_of_breaking, drawn_worlds, possible_worlds

Floats = NDArray[np.float64]
Bits = NDArray[np.bool_]

DOUBT = 1e-3
"""Probability that a split is missing for another reason than the rule."""
SURE = 0.9
MOST_CUTS, MOST_GROUPS = 48, 300
DRAWS, ENOUGH = 20_000, 100.0
"""The number of random assignments, and the effective number of equal weight that suffices."""
CHAINS, STEPS = 24, 60
LOOKS = 20_000_000
"""The largest number of people drawn in all assignments of one group together."""
WORK = 10_000_000_000
"""The largest number of counts in all groups together: about ten seconds."""


@dataclass(frozen=True)
class PromisedRules:
    """The constraints of the manifest on every group: k people, and rules on a sensitive column.

    Attributes
    ----------
    least : k, the smallest number of people of a group.
    distinct, entropy : the l of distinct and of entropy l-diversity.
    t : the t of t-closeness, the largest distance from the distribution of all people.
    ordered : whether the distance is that of ordered values, as for numbers.
    """

    least: int = 1
    distinct: float = 1.0
    entropy: float = 1.0
    t: float = 1.0
    ordered: bool = False

    @property
    def are_diverse(self) -> bool:
        """Return whether the rules limit the sensitive column."""
        return self.distinct > 1 or self.entropy > 1 or self.t < 1

    def of(self, values: NDArray[np.int64]) -> SensitiveRows:
        """Return the rules in the form that the kernels read, given the values of all people."""
        none = np.zeros(0, dtype=np.int64)
        whole = np.bincount(values).astype(np.float64)
        return SensitiveRows(
            none,
            none,
            np.zeros(0),
            np.array([0, len(whole)], dtype=np.int64),
            np.array([float(self.distinct)]),
            np.array([math.log(self.entropy)]),
            np.array([float(self.t)]),
            np.array([self.ordered]),
            whole,
        )


@dataclass(frozen=True)
class MissingCuts:
    """Splits that a group does not have, although both sides would have k people.

    Attributes
    ----------
    column, after : (cuts,) the column that each split divides, and the position after which it
        does.
    number : (cuts,) the number of each split. One split of a global policy divides several groups.
    """

    column: NDArray[np.int64]
    after: NDArray[np.int64]
    number: NDArray[np.int64]

    def above(self, places: Places) -> Bits:
        """Return a mask (cuts, people) of the people on the upper side of each split."""
        return np.greater(places[:, self.column].T, self.after[:, None])


def cuts_of_tree(people: ExactRows, least: int, rng: np.random.Generator) -> dict[int, MissingCuts]:
    """Return, by group, the splits of that group that leave `least` people on both sides."""
    found, number = {}, 0
    for group in people.groups_of(2 * least, rng):
        own = people.places[people.rows_of(group)]
        cuts = [
            (column, after)
            for column in range(own.shape[1])
            for after in np.unique(own[:, column])[:-1].tolist()
            if least <= (own[:, column] > after).sum() <= len(own) - least
        ]
        chosen = _evenest(own, cuts)
        if chosen:
            column, after = np.array(chosen, dtype=np.int64).T
            found[group] = MissingCuts(column, after, np.arange(number, number + len(chosen)))
            number += len(chosen)
    return found


def _evenest(own: Places, cuts: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return at most `MOST_CUTS` splits with the most even sides, one for each division."""
    sides: dict[bytes, tuple[float, tuple[int, int]]] = {}
    for column, after in cuts:
        above = own[:, column] > after
        alike = min(above.tobytes(), (~above).tobytes())
        sides.setdefault(alike, (abs(above.mean() - 0.5), (column, after)))
    return [cut for _, cut in sorted(sides.values())[:MOST_CUTS]]


def cuts_of_all(people: ExactRows, least: int) -> dict[int, MissingCuts]:
    """Return, by group, the global splits that leave `least` people in each part of every group."""
    known = people.group >= 0
    places, group = people.places[known], people.group[known]
    whole, found = np.bincount(group), list[tuple[int, int, int, int]]()
    number = 0
    for column in range(places.shape[1]):
        for after in np.unique(places[:, column])[:-1].tolist():
            above = np.bincount(group[places[:, column] > after], minlength=len(whole))
            divided = np.flatnonzero((above > 0) & (above < whole))
            parts = np.minimum(above, whole - above)[divided]
            if len(divided) and parts.min() >= least:
                found += [(one, column, after, number) for one in divided.tolist()]
                number += 1
    rows = np.array(sorted(found), dtype=np.int64).reshape(-1, 4)
    groups, first = np.unique(rows[:, 0], return_index=True)
    last = np.append(first[1:], len(rows))[: len(groups)]
    ends = zip(groups.tolist(), first.tolist(), last.tolist(), strict=True)
    return {one: MissingCuts(*rows[a:b, 1:].T) for one, a, b in ends}


@dataclass(frozen=True)
class SensitivePeople:
    """One sensitive column: the value of each person, >= 0, and the rules promised for it."""

    values: NDArray[np.int64]
    rules: PromisedRules


@dataclass(frozen=True)
class GroupBelief:
    """The adversary's beliefs about one group: (people, values), with rows that sum to 1."""

    group: int
    people: NDArray[np.intp]
    chances: Floats


def beliefs(
    people: ExactRows,
    columns: Sequence[SensitivePeople],
    which: int,
    cuts: Mapping[int, MissingCuts],
    rng: np.random.Generator,
) -> list[GroupBelief]:
    """Return the adversary's beliefs about one column after missing splits, by divided group.

    The function uses the values of a group, but not their assignment to people, which the attack
    infers. It considers at most 300 groups, drawn at random, and fewer if they are large. Cost:
    O(people x cuts x values) per group.
    """
    groups = rng.permutation(np.array(sorted(cuts), dtype=np.int64))
    elsewhere = _chances_elsewhere(people, columns, which, cuts, rng)
    values, rules = columns[which].values, columns[which].rules.of(columns[which].values)
    found, work = [], 0
    for group in groups[:MOST_GROUPS].tolist():
        own, doubt = people.rows_of(group), np.maximum(elsewhere[group], DOUBT)
        tells = np.argsort(doubt, kind="stable")[:MOST_CUTS]
        tells = tells[doubt[tells] < 1 - DOUBT]
        more = CHAINS * STEPS * len(own) * len(tells) * len(rules.whole)
        if len(tells) and work + more <= WORK:
            work += more
            above = np.ascontiguousarray(cuts[group].above(people.places[own])[tells])
            counted = _weigh_worlds(values[own], above, doubt[tells], rules, rng)
            found.append(GroupBelief(group, own, counted / counted.sum(axis=1, keepdims=True)))
    return found


def _weigh_worlds(
    values: NDArray[np.int64],
    above: Bits,
    doubt: Floats,
    rules: SensitiveRows,
    rng: np.random.Generator,
) -> Floats:
    """Return (people, values) weights of who has which value, summed over possible assignments.

    Assignments are drawn independently if that gives enough weight. Otherwise Markov chains explore
    them.
    """
    seeds = rng.integers(2**31, size=CHAINS + 1).tolist()
    draws = min(DRAWS, LOOKS // above.size)
    drawn, worth = drawn_worlds(values, above, doubt, rules, draws, seeds[0])
    if worth >= ENOUGH:
        return drawn
    steps = STEPS * len(values)
    chains = (possible_worlds(values, above, doubt, rules, steps, s) for s in seeds[1:])
    return np.asarray(np.sum(list(chains), axis=0))


def _chances_elsewhere(
    people: ExactRows,
    columns: Sequence[SensitivePeople],
    which: int,
    cuts: Mapping[int, MissingCuts],
    rng: np.random.Generator,
) -> dict[int, Floats]:
    """Return, by group, the probability that each of its splits breaks a rule elsewhere.

    "Elsewhere" is another group that the split divides, or another sensitive column.
    """
    numbers = np.concatenate([np.zeros(0, np.int64), *(one.number for one in cuts.values())])
    if len(np.unique(numbers)) == len(numbers) and len(columns) == 1:
        return {group: np.zeros(len(one.number)) for group, one in cuts.items()}
    kept = np.zeros(numbers.max(initial=-1) + 1)  # log probability that a split breaks no rule
    own_kept = {group: np.zeros(len(one.number)) for group, one in cuts.items()}
    for at, column in enumerate(columns):
        rules = column.rules.of(column.values)
        for group, one in cuts.items():
            own = people.rows_of(group)
            above = np.ascontiguousarray(one.above(people.places[own]))
            seed = int(rng.integers(2**31))
            draws = int(np.clip(LOOKS // 20 // above.size, 20, DRAWS // 50))
            chance = chance_of_breaking(column.values[own], above, rules, draws, seed)
            keeps = np.log1p(-np.minimum(chance, 1 - DOUBT))
            np.add.at(kept, one.number, keeps)
            if at == which:
                own_kept[group] = keeps
    return {
        group: np.asarray(1 - np.exp(kept[one.number] - own_kept[group]))
        for group, one in cuts.items()
    }


def minimality(
    people: ExactRows,
    columns: Sequence[SensitivePeople],
    which: int,
    *,
    known: Sequence[str],
    sensitive: str,
    is_tree: bool,
    rng: np.random.Generator,
    held_out: tuple[ExactRows, NDArray[np.int64]] | None = None,
) -> Evidence:
    """Guess a sensitive column from the splits that the policy does not have.

    The rate is the share of right guesses for people in groups that a missing split divides. The
    baseline guesses from the group's released values. The control guesses for people who were never
    released but fit such a group, which measures knowledge about the group's parts. A second rate
    covers the claims of which the adversary is 90% sure.
    """
    least = columns[which].rules.least
    cuts = cuts_of_tree(people, least, rng) if is_tree else cuts_of_all(people, least)
    found = beliefs(people, columns, which, cuts, rng)
    right, before, sure, shown = _score_guesses(found, columns[which].values, rng)
    control = None if held_out is None else _control(people, found, cuts, *held_out, rng)
    return Evidence(
        attack="minimality",
        heading="inference",
        of=sensitive,
        story=Note(
            (
                "The adversary knows the algorithm, its constraints, and the exact {columns} "
                "of everybody in the release. These show which further splits would leave at "
                "least {least} people on both sides. The search made none of them, so each "
                "must break the rule on {sensitive}. Few assignments of a group's values to "
                "its people are consistent with this. Success is a correct guess."
            ),
            {"columns": join_names(known), "least": least, "sensitive": sensitive},
        ),
        knows=tuple(known),
        findings=(
            Finding(
                f"{sensitive} guessed correctly from missing cuts",
                _rate(right),
                baseline=_rate(before),
                control=control,
                meaning=(
                    "People in groups that a missing split would divide. Baseline: the same "
                    "people, guessed from the values of their group. Only the excess follows from "
                    "the missing splits."
                ),
            ),
            Finding(
                f"{sensitive} claimed at 90% from missing cuts",
                _rate(sure),
                baseline=_rate(shown),
                meaning="The same for the people of whom the adversary is 90% sure. "
                "Baseline: the share of their group that has the claimed value.",
            ),
        ),
        notes=(
            Note(
                "The attack assumes that the adversary knows exactly who is in the release, "
                "and that the policy has the least loss. If it was pruned for less risk, "
                "splits are missing for that reason alone, and they mislead the adversary."
            ),
        ),
    )


def _score_guesses(
    found: Sequence[GroupBelief], values: NDArray[np.int64], rng: np.random.Generator
) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
    """Score the guesses of each group by beliefs, by the group's shares, and by sure beliefs.

    The fourth list contains the share of the group with the claimed value.
    """
    right, before, sure, shown = [], [], [], []
    for one in found:
        own = values[one.people]
        shares = np.bincount(own, minlength=one.chances.shape[1]) / len(own)
        guess, blind = _guesses(one.chances, rng), _guesses(np.tile(shares, (len(own), 1)), rng)
        claims = one.chances.max(axis=1) >= max(SURE, float(shares.max()) + DOUBT)
        right.append(guess == own)
        before.append(blind == own)
        sure.append((guess == own)[claims])
        shown.append(shares[guess[claims]])
    return right, before, sure, shown


def _guesses(chances: Floats, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return the likeliest value of each person, a random one of several."""
    return np.asarray(np.argmax(chances + rng.random(chances.shape) * 1e-9, axis=1))


def _rate(hits: Sequence[NDArray[Any]]) -> Rate:
    """Return the rate of guesses that are clustered by group."""
    return Rate.from_clusters([float(one.sum()) for one in hits], [len(one) for one in hits])


def _control(
    people: ExactRows,
    found: Sequence[GroupBelief],
    cuts: Mapping[int, MissingCuts],
    others: ExactRows,
    values: NDArray[np.int64],
    rng: np.random.Generator,
) -> Rate:
    """Guess for people never released, by beliefs about people on the same sides of the splits."""
    hits = []
    for one in found:
        own = others.rows_of(one.group)
        if len(own):
            theirs = cuts[one.group].above(people.places[one.people])
            differ = (cuts[one.group].above(others.places[own]).T[:, :, None] != theirs).sum(axis=1)
            alike = (differ == differ.min(axis=1, keepdims=True)).astype(np.float64)
            hits.append(_guesses(alike @ one.chances, rng) == values[own])
    return _rate(hits)
