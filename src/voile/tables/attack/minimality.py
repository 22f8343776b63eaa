"""Minimality: infer sensitive values from the cuts that the policy does not have.

The adversary knows the algorithm: it cuts wherever a cut lowers the loss and keeps the constraints,
which the manifest states. The adversary also has a register with the exact quasi-identifiers of
everybody in the release, without the sensitive values. So the adversary knows which further cuts
would have left k people on both sides.

None was made, so each would have broken l-diversity or t-closeness. In every one of them, some side
has too few values, or too uneven ones. The adversary considers all ways to give a group's released
sensitive values to its people. Only those remain that break the rule in each of these cuts (Wong,
Fu, Wang, Pei: Minimality attack in privacy preserving data publishing, VLDB 2007). Without the
inference all ways are equally likely, and everybody's chances are the group's.

The attack assumes that the policy has the least loss. If it was pruned further for less risk, a cut
may be missing for that alone, and the adversary is misled. A small doubt of each cut allows for
this.

A tree's cut divides one group. A global policy's cut divides all groups at once, and is not made if
it breaks the rule in any of them. For each group, the adversary includes the chance that other
groups broke it.
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
"""Chance that a cut is missing for another reason than the rule."""
SURE = 0.9
MOST_CUTS, MOST_GROUPS = 48, 300
DRAWS, ENOUGH = 20_000, 100.0
"""Worlds drawn, of any order; and the number of equal weight that they must be worth."""
CHAINS, STEPS = 24, 60
LOOKS = 20_000_000
"""People looked at in the worlds drawn of one group, at most."""
WORK = 10_000_000_000
"""Counts made in all groups, at most: some ten seconds."""


@dataclass(frozen=True)
class PromisedRules:
    """Hold the manifest's promises for every group: k people, and values of a sensitive column.

    least : people of a group, at least. distinct, entropy : the l of distinct and entropy
        l-diversity.
    t, ordered : the largest distance from everybody, ordered for numbers.
    """

    least: int = 1
    distinct: float = 1.0
    entropy: float = 1.0
    t: float = 1.0
    ordered: bool = False

    @property
    def are_diverse(self) -> bool:
        """Whether the rules limit the sensitive column."""
        return self.distinct > 1 or self.entropy > 1 or self.t < 1

    def of(self, values: NDArray[np.int64]) -> SensitiveRows:
        """Return the rules as kernels read them, `values` being everybody's."""
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
    """Cuts that a group does not have, though k people would be on both sides.

    column, after : (cuts,) which column is divided after which place. number : (cuts,) which of
    the policy's cuts each is: one of a global policy divides several groups.
    """

    column: NDArray[np.int64]
    after: NDArray[np.int64]
    number: NDArray[np.int64]

    def above(self, places: Places) -> Bits:
        """Return (cuts, people) who would be on the upper side."""
        return np.greater(places[:, self.column].T, self.after[:, None])


def cuts_of_tree(people: ExactRows, least: int, rng: np.random.Generator) -> dict[int, MissingCuts]:
    """Return, by group, the cuts of it alone that leave `least` people on both sides."""
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
    """Return the cuts that divide people most evenly, one of those with an equal division."""
    sides: dict[bytes, tuple[float, tuple[int, int]]] = {}
    for column, after in cuts:
        above = own[:, column] > after
        alike = min(above.tobytes(), (~above).tobytes())
        sides.setdefault(alike, (abs(above.mean() - 0.5), (column, after)))
    return [cut for _, cut in sorted(sides.values())[:MOST_CUTS]]


def cuts_of_all(people: ExactRows, least: int) -> dict[int, MissingCuts]:
    """Return, by group, the cuts of all groups at once that leave `least` people in each part."""
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
    """Hold one sensitive column: the value of each person, >= 0, and the promised rules."""

    values: NDArray[np.int64]
    rules: PromisedRules


@dataclass(frozen=True)
class GroupBelief:
    """Hold the adversary's beliefs on the people of one group: (people, values), rows sum to 1."""

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
    """Return the adversary's beliefs on one column after missing cuts, for each divided group.

    The function uses a group's values, but not which person has which: the attack infers that. At
    most 300 groups, drawn at random, and fewer if they are large. Cost: O(people x cuts x values) a
    group.
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
    """Weigh who has which value over worlds: drawn where these suffice, else sought by steps."""
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
    """Return, by group, how likely each of its cuts breaks a rule elsewhere.

    In another group that it divides, or of another sensitive column.
    """
    numbers = np.concatenate([np.zeros(0, np.int64), *(one.number for one in cuts.values())])
    if len(np.unique(numbers)) == len(numbers) and len(columns) == 1:
        return {group: np.zeros(len(one.number)) for group, one in cuts.items()}
    kept = np.zeros(numbers.max(initial=-1) + 1)  # log of the chance that a cut breaks nothing
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
    """Guess a sensitive column from the cuts that the policy does not have.

    The rate is the share of right guesses for people in groups that a missing cut divides. The
    baseline guesses from the group's released values. The control guesses for people in such a
    group who were never released: this is knowledge about the group's parts. A second rate covers
    the claims of which the adversary is 90% sure.
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
    """Score each group's guesses: by beliefs, by the group's shares, and the sure beliefs alone.

    The fourth list has the share of the group with the claimed value.
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
    """Return the likeliest value of each person, one of several at random."""
    return np.asarray(np.argmax(chances + rng.random(chances.shape) * 1e-9, axis=1))


def _rate(hits: Sequence[NDArray[Any]]) -> Rate:
    """Return the rate of guesses that come group by group, where they hang together."""
    return Rate.from_clusters([float(one.sum()) for one in hits], [len(one) for one in hits])


def _control(
    people: ExactRows,
    found: Sequence[GroupBelief],
    cuts: Mapping[int, MissingCuts],
    others: ExactRows,
    values: NDArray[np.int64],
    rng: np.random.Generator,
) -> Rate:
    """Guess for people who were never released: use the beliefs on people on the same sides."""
    hits = []
    for one in found:
        own = others.rows_of(one.group)
        if len(own):
            theirs = cuts[one.group].above(people.places[one.people])
            differ = (cuts[one.group].above(others.places[own]).T[:, :, None] != theirs).sum(axis=1)
            alike = (differ == differ.min(axis=1, keepdims=True)).astype(np.float64)
            hits.append(_guesses(alike @ one.chances, rng) == values[own])
    return _rate(hits)
