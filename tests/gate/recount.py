"""A release counted again from its definitions, with dictionaries alone."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

Rows = Sequence[Mapping[str, Any]]
Who = Sequence[Hashable]


def recount(
    rows: Rows,
    who: Who,
    k: int,
    *,
    labels: Sequence[str],
    sensitive: Sequence[str] = (),
    known: Sequence[str] = (),
    joining: Sequence[str] = (),
    empty: Collection[str] = (),
    in_order: bool = False,
) -> dict[str, float]:
    """Count every finding of a release's own bytes.

    Parameters
    ----------
    rows : the release. who : the person of each row. k : the promised people.
    labels : the generalised columns. known : the columns that an adversary may know.
    joining : the columns that may join the rows of a person.
    empty : the cells that stand for no value; a row of these alone is in no group.
    in_order : whether the rows are in the source's order.
    """
    shown = [n for n, row in enumerate(rows) if any(row[name] not in empty for name in labels)]
    groups = {n: tuple(rows[n][name] for name in labels) for n in shown}
    members, of = defaultdict(set), defaultdict(Counter)
    for n, group in groups.items():
        members[group].add(who[n])
        of[who[n]][group] += 1
    sizes = {group: len(own) for group, own in members.items()}
    least = {person: min(sizes[group] for group in own) for person, own in of.items()}
    mass = defaultdict(Fraction)
    for own in of.values():
        for group in own:
            mass[group] += Fraction(1, len(own))
    unique, people = count_unique([rows[n] for n in shown], [who[n] for n in shown], known), len(of)
    hidden = 11 if 0 < unique <= 10 else people if 0 < people - unique <= 10 else unique
    found = {
        "k": min(least.values()),
        "subjects": people,
        "sample_uniques": sum(x == 1 for x in least.values()),
        "prosecutor_max": max(1 / x for x in least.values()),
        "prosecutor_mean": sum(1 / x for x in least.values()) / people,
        "unique_with_kept": unique,
        "share_unique_with_kept": unique / people,
        "most_unique_with_kept": min(hidden / people, 1),
        "discernibility": float(sum(x * x for x in mass.values())),
    }
    records = recount_records(rows, who, groups, joining, in_order=in_order)
    if records is None:
        found["groups_under_11"] = sum(x < 11 for x in sizes.values())
        found["people_under_11"] = sum(x < 11 for x in least.values())
    else:
        people, classes = records
        found["k_all_rows"] = min(people)
        found["unique_all_rows"] = sum(x == 1 for x in people)
        found["people_below_k"] = sum(x < k for x in people)
        found["groups_under_11"] = sum(x < 11 for x in classes)
        found["people_under_11"] = sum(x < 11 for x in people)
    for column in sensitive:
        found |= recount_values(rows, who, groups, column)
    for place, column in enumerate(labels):
        wider = {n: (*own[:place], *own[place + 1 :]) for n, own in groups.items()}
        found[f"prosecutor_mean_without({column})"] = recount_mean_risk(wider, who)
    return found


def recount_mean_risk(groups: Mapping[int, Hashable], who: Who) -> float:
    """Return the mean over people of 1 / the people in the smallest group of their rows."""
    members = defaultdict(set)
    for n, group in groups.items():
        members[group].add(who[n])
    least = {}
    for n, group in groups.items():
        least[who[n]] = min(least.get(who[n], len(who)), len(members[group]))
    return sum(1 / x for x in least.values()) / len(least)


def count_unique(rows: Rows, who: Who, known: Sequence[str]) -> int:
    """Count the people with a row of known values that no other person has."""
    shown = defaultdict(set)
    for row, person in zip(rows, who, strict=True):
        shown[tuple(row[name] for name in known)].add(person)
    return len({next(iter(own)) for own in shown.values() if len(own) == 1})


def recount_records(
    rows: Rows,
    who: Who,
    groups: Mapping[int, Hashable],
    joining: Sequence[str],
    *,
    in_order: bool = False,
) -> tuple[list[int], list[int]] | None:
    """Return the least people who share a record of each person, and of each class of records."""
    if len(set(groups)) == len({who[n] for n in groups}):
        return None
    record = join_naively(rows, who, groups, joining, in_order=in_order)
    if len(set(record)) == len(rows):
        return None
    of, owner, whole = defaultdict(Counter), {}, defaultdict(Counter)
    for n, group in groups.items():
        of[record[n]][group] += 1
        owner[record[n]] = who[n]
        whole[who[n]][group] += 1
    alike, same = defaultdict(set), Counter(frozenset(own.items()) for own in whole.values())
    for one, own in of.items():
        alike[frozenset(own.items())].add(owner[one])
    least, classes = defaultdict(list), []
    for own in alike.values():
        sizes = {one: max(len(own), same[frozenset(whole[one].items())]) for one in own}
        classes.append(min(sizes.values()))
        for one, size in sizes.items():
            least[one].append(size)
    return [min(sizes) for sizes in least.values()], classes


def join_naively(
    rows: Rows,
    who: Who,
    groups: Mapping[int, Hashable],
    joining: Sequence[str],
    *,
    in_order: bool,
) -> list[int]:
    """Return the record of each row: rows with values of one person alone have one."""
    found = [values_of(row, joining) for row in rows]
    for some in [*combinations(joining, 1), *combinations(joining, 2)]:
        shown = {
            n: (groups[n], *((name, rows[n][name]) for name in some))
            for n in groups
            if all(rows[n][name] is not None for name in some)
        }
        times, people = Counter(shown.values()), defaultdict(set)
        for n, value in shown.items():
            people[value].add(who[n])
        several = [value for value, n in times.items() if n > 1]
        if several and 2 * sum(len(people[value]) == 1 for value in several) >= len(several):
            for n, value in shown.items():
                found[n].add(("labels", some, value))
    owners = defaultdict(set)
    for own, person in zip(found, who, strict=True):
        for value in own:
            owners[value].add(person)
    own = [{x for x in values if len(owners[x]) == 1} for values in found]
    near = [a == b for a, b in pairwise(who)]
    if in_order and 2 * sum(near) >= len(rows) - len(set(who)):
        for n in (n for n, is_same in enumerate(near) if is_same):
            own[n].add(("order", n))
            own[n + 1].add(("order", n))
    record = list(range(len(rows)))
    for _ in rows:
        for a in range(len(rows)):
            for b in range(a):
                if own[a] & own[b]:
                    record[a] = record[b] = min(record[a], record[b])
    return record


def values_of(row: Mapping[str, Any], columns: Sequence[str]) -> set[Hashable]:
    """Return the values of a row, and its pairs of values of two columns."""
    single = {(name, row[name]) for name in columns if row[name] is not None}
    return single | {(a, b) for a in single for b in single if a < b}


def recount_values(
    rows: Rows, who: Who, groups: Mapping[int, Hashable], column: str
) -> dict[str, float]:
    """Count a sensitive column; each person is spread over her pairs of a group and a value."""
    pairs = defaultdict(set)
    for n, group in groups.items():
        pairs[who[n]].add((group, rows[n][column]))
    counts, whole = defaultdict(Counter), Counter()
    for own in pairs.values():
        for group, value in own:
            counts[group][value] += 1 / len(own)
            whole[value] += 1 / len(own)
    people = sum(whole.values())
    in_order = sorted(whole, key=lambda value: (value is None, value or 0))
    values = [value for value in whole if value is not None]
    ordered = bool(values) and all(isinstance(value, int) for value in values)
    least, entropy, odds, far, moved = math.inf, math.inf, 0.0, 0.0, 0.0
    for held in counts.values():
        total = sum(held.values())
        least = min(least, len(held))
        entropy = min(entropy, -sum(x / total * math.log(x / total) for x in held.values()))
        first, *rest = sorted(held.values(), reverse=True)
        odds = max(odds, first / sum(rest) if rest else math.inf)
        apart = [held[value] / total - whole[value] / people for value in in_order]
        far = max(far, sum(map(abs, apart)) / 2)
        sums = [sum(apart[: n + 1]) for n in range(len(apart))]
        moved = max(moved, sum(map(abs, sums)) / max(len(apart) - 1, 1))
    found = {
        "distinct_l": least,
        "entropy_l": math.exp(entropy),
        "recursive_c": odds,
        "t_closeness": far,
    }
    found |= {"t_closeness_ordered": moved} if ordered else {}
    return {f"{name}({column})": value for name, value in found.items()}
