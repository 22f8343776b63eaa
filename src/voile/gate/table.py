"""Measure the groups, records and values of a released table, from its written bytes.

The adversaries are those of El Emam (2013, ch. 16):

- The *prosecutor* knows that a person is in the release.
- The *journalist* looks the person up in a register of the population.
- The *marketer* links everybody.

A further adversary knows all rows of a person.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from voile.gate.finding import NOBODY, GateFinding, StatedAdversary, Unit
from voile.gate.groups import Floats, PeopleAtRisk, PeopleOf, ReleasedGroups
from voile.gate.records import SMALL_GROUP, measure_records
from voile.gate.sensitive import measure_sensitive

RISK_WITHOUT = "prosecutor_mean_without"
SOURCE = StatedAdversary("has the source", "release and source")
ONE_ROW = StatedAdversary(
    "knows the quasi-identifiers of one row of a person who is in the release"
)
REGISTER = StatedAdversary(
    "looks up the quasi-identifiers of a row in a register of the population",
    "release and population",
)
GROUP = StatedAdversary("knows that a person is in a group, and reads the group's sensitive values")
EVERY_COLUMN = StatedAdversary("knows every released column of one row, except pseudonyms")
LEVELS = ("distinct_l", "entropy_l")


def measure_table(
    groups: ReleasedGroups,
    *,
    people_of: PeopleOf | None = None,
    suppressed: float = 0.0,
    k: int = 1,
) -> tuple[GateFinding, ...]:
    """Return the findings of a released table.

    Every count is exact. A release without rows has risks of 0 and infinite group sizes.

    Parameters
    ----------
    groups : the groups by the table's labels, opened with its other columns.
    people_of : a function that counts the population's people in each group. None means that no
        population is known.
    suppressed : the number of people of the source without a released row.
    k : the promised number of people. The findings count the people with a record of all rows that
        fewer than k people share.
    """
    people = groups.people
    register = people if people_of is None else people_of(groups.labels)
    at_risk = groups.people_at_risk(register)
    records = groups.classes_of_records()
    return (
        *measure_people(at_risk),
        *_without_each_label(groups),
        *_of_groups(groups, register, suppressed),
        *(one for column in groups.columns.sensitive for one in _of_sensitive(groups, column)),
        *_of_every_column(groups.count_unique(), at_risk.subjects),
        *(
            _of_small_groups(people, at_risk)
            if records is None
            else measure_records(records, k, "the quasi-identifiers")
        ),
    )


def measure_people(at_risk: PeopleAtRisk) -> Iterator[GateFinding]:
    """Yield the risks of people by the smallest group of their rows."""
    yield from _of_prosecutor(at_risk)
    yield from _of_journalist(at_risk)


def _of_prosecutor(at_risk: PeopleAtRisk) -> Iterator[GateFinding]:
    held, n, subjects = at_risk.people, at_risk.group, at_risk.subjects
    yield ONE_ROW.finds("k", _least(n), "people")
    yield ONE_ROW.finds("sample_uniques", held[n <= 1].sum(), "people", n=subjects)
    yield ONE_ROW.finds("prosecutor_max", 1.0 / _least(n), "probability")
    mean = float((held / n).sum()) / max(subjects, 1)
    yield ONE_ROW.finds("prosecutor_mean", mean, "probability")
    yield NOBODY.finds("subjects", subjects, "people")


def _of_journalist(at_risk: PeopleAtRisk) -> Iterator[GateFinding]:
    held, g, subjects = at_risk.people, at_risk.register, at_risk.subjects
    matches = float((held / g).sum())
    mean, most = matches / max(subjects, 1), 1.0 / _least(g)
    few = float(held[g < SMALL_GROUP].sum()) / max(subjects, 1)
    yield REGISTER.finds("k_map", math.floor(_least(g)) if len(g) else math.inf, "people")
    yield REGISTER.finds("population_uniques", held[g <= 1].sum(), "people", n=subjects)
    yield REGISTER.finds("share_under_11", few, "share")
    yield REGISTER.finds("expected_matches", matches, "people", n=subjects)
    for name in ("max_risk", "journalist_max"):
        yield REGISTER.finds(name, most, "probability")
    for name in ("mean_risk", "journalist_mean", "marketer"):
        yield REGISTER.finds(name, mean, "probability")


def _without_each_label(groups: ReleasedGroups) -> Iterator[GateFinding]:
    """Yield the mean risk of people to an adversary who knows all labels but one."""
    for column, at_risk in groups.without_each_label():
        mean = float((at_risk.people / at_risk.group).sum()) / max(at_risk.subjects, 1)
        adversary = StatedAdversary(f"{ONE_ROW.knows}, except {column}")
        yield adversary.finds(RISK_WITHOUT, mean, "probability", of=column)


def _of_groups(
    groups: ReleasedGroups, register: Floats, suppressed: float
) -> Iterator[GateFinding]:
    masses = groups.masses
    source = float(masses.sum()) + suppressed
    pairs = float(masses @ masses) + source * suppressed
    yield SOURCE.finds("discernibility", pairs, "pairs")
    yield SOURCE.finds("suppressed", suppressed, "people")
    short = float((register < groups.people).sum())
    yield REGISTER.finds("groups_short_of_people", short, "groups")


def _of_sensitive(groups: ReleasedGroups, column: str) -> Iterator[GateFinding]:
    """Yield the diversity of a sensitive column; yield nothing if the release has no rows."""
    counts = groups.by_value(column)
    if not len(counts.group):
        return
    for name, value in measure_sensitive(counts).items():
        unit: Unit = "values" if name in LEVELS else "odds" if name == "recursive_c" else "share"
        yield GROUP.finds(name, value, unit, of=column)


def _of_every_column(unique: int, subjects: float) -> Iterator[GateFinding]:
    """Yield the people unique on all columns, and their share, which hides counts of 1 to 10."""
    few = SMALL_GROUP - 1
    least = few + 1 if 0 < unique <= few else subjects if 0 < subjects - unique <= few else unique
    people = max(subjects, 1)
    yield EVERY_COLUMN.finds("unique_with_kept", unique, "people", n=subjects)
    yield EVERY_COLUMN.finds("share_unique_with_kept", unique / people, "share")
    yield EVERY_COLUMN.finds("most_unique_with_kept", min(least / people, 1.0), "share")


def _of_small_groups(people: Floats, at_risk: PeopleAtRisk) -> Iterator[GateFinding]:
    below = float(at_risk.people[at_risk.group < SMALL_GROUP].sum())
    yield ONE_ROW.finds("groups_under_11", (people < SMALL_GROUP).sum(), "groups")
    yield ONE_ROW.finds("people_under_11", below, "people", n=at_risk.subjects)


def _least(values: Floats) -> float:
    return float(values.min()) if len(values) else math.inf
