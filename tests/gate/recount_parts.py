"""Releases of itemsets and of studies counted again, with pandas and dictionaries alone.

The recount reads the released rows, with a pseudonym in each, and the source. It takes each figure
from its definition. It imports nothing of voile.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, pairwise, product

import pandas as pd

FEW_FACTS = (1, 2, 3)


def recount_itemsets(
    rows: pd.DataFrame, person: str, k: int, *, most: int | None = None, absences: bool = False
) -> dict[str, float]:
    """Count every finding of a release of 0/1 columns, if pseudonyms join the rows of a person.

    person : the column of pseudonyms. k : the promised people.
    most : the items that an adversary knows; None: all.
    absences : whether the adversary also knows items that the row lacks.
    """
    items = [name for name in rows.columns if name != person]
    cells = rows[items].astype(int)
    whose = rows[person]
    exact = whose.groupby([cells[name] for name in items]).transform("nunique")
    sizes = range(1, (len(items) if most is None else most) + 1)
    counts = [
        whose[(cells[list(some)] == list(signs)).all(axis=1)].nunique()
        for size in sizes
        for some in combinations(items, size)
        for signs in (product([0, 1], repeat=size) if absences else [[1] * size])
    ]
    return {
        "rows": len(rows),
        "subjects": whose.nunique(),
        "empty_rows": int((cells.sum(axis=1) == 0).sum()),
        "exact_anonymity": int(exact.min()),
        "unique_rows": int((exact == 1).sum()),
        "unique_share": float((exact == 1).mean()),
        "anonymity": min((n for n in counts if n), default=whose.nunique()),
        **recount_records(cells, whose, k),
    }


def recount_records(cells: pd.DataFrame, whose: pd.Series, k: int) -> dict[str, float]:
    """Count people by the multiset of all their rows."""
    row = cells.apply(tuple, axis=1)
    records = row.groupby(whose).agg(lambda own: tuple(sorted(own)))
    classes = records.value_counts()
    sizes = records.map(classes)
    unique = int((sizes == 1).sum())
    hidden = 11 if 0 < unique <= 10 else unique
    return {
        "k_all_rows": int(sizes.min()),
        "unique_all_rows": unique,
        "people_below_k": int((sizes < k).sum()),
        "people_under_11": int((sizes < 11).sum()),
        "groups_under_11": int((classes < 11).sum()),
        "most_unique_all_rows": min(hidden / len(sizes), 1.0),
    }


@dataclass(frozen=True, eq=False)
class KnownPart:
    """The released rows of a part. labels : columns known together. dates : columns of days."""

    rows: pd.DataFrame
    labels: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()

    def without_dates(self) -> KnownPart:
        return KnownPart(self.rows, self.labels)

    def numbers_alone(self) -> KnownPart:
        return KnownPart(self.rows)


Parts = Mapping[str, KnownPart]


@cache
def list_rows(part: KnownPart, person: str) -> dict[str, list[tuple[Hashable, ...]]]:
    """Return the rows of each person: the labels, then the days as numbers."""
    found: dict[str, list[tuple[Hashable, ...]]] = {}
    width = len(part.labels)
    for who, *row in part.rows[[person, *part.labels, *part.dates]].itertuples(index=False):
        cells = [None if pd.isna(x) else x for x in row]
        days = [x and pd.Timestamp(x).toordinal() for x in cells[width:]]
        found.setdefault(who, []).append((*cells[:width], *days))
    return found


def recount_study(table: KnownPart, parts: Parts, person: str) -> dict[str, float]:
    """Count the findings of a study of tables without texts.

    table : the rows of the study's table with its quasi-identifiers alone. parts : all parts.
    person : the column of pseudonyms in each.
    """
    undated = {name: part.without_dates() for name, part in parts.items()}
    numbers = {name: part.numbers_alone() for name, part in parts.items()}
    found: dict[str, float] = {}
    for of, own in {**{name: {name: part} for name, part in undated.items()},
                    "the number of rows in each part": numbers, "all parts": undated,
                    "all parts, and gaps between days": parts}.items():  # fmt: skip
        found |= summarise(of, count_alike(own, person))
    group = "the table's columns"
    found |= summarise(group, count_alike({group: table}, person))
    alone = {name: {name: part} for name, part in parts.items()}
    for name, own in {
        **alone,
        "days": {"days": list_days(parts, person)},
        "all parts": parts,
    }.items():
        of, both = f"{group}, and {name}", {group: table, **own}
        found |= summarise(of, count_alike(both, person))
        for size in FEW_FACTS:
            facts = "fact" if size == 1 else f"{size} facts"
            left = count_by_few(both, person, size, given={group})
            found |= summarise(f"the most revealing {facts} of {of}", left)
    return found | headlines(found, table, person)


def headlines(found: Mapping[str, float], table: KnownPart, person: str) -> dict[str, float]:
    """Return the shares and mean risks that a study states first."""
    group, every = "the table's columns", "the table's columns, and all parts"
    people = table.rows[person].nunique()
    gaps = found["people_alone(all parts, and gaps between days)"]
    least = found["fewest_candidates(all parts)"]
    shares = {
        "all_parts_alone": found["people_alone(all parts)"],
        "all_parts_known_mean_risk": found["expected_matches(all parts)"],
        "no_fact_known_mean_risk": found[f"expected_matches({group})"],
        "all_facts_known_mean_risk": found[f"expected_matches({every})"],
        "all_facts_alone": max(found[f"people_alone({every})"], gaps),
    }
    for size, name in zip(FEW_FACTS, ("one_fact", "two_facts", "three_facts"), strict=True):
        of = f"the most revealing {'fact' if size == 1 else f'{size} facts'} of {every}"
        shares[f"{name}_known_mean_risk"] = found[f"expected_matches({of})"]
        shares[f"{name}_alone"] = found[f"people_alone({of})"]
    groups = table.rows.groupby(list(table.labels))[person].transform("nunique")
    matches = (1 / groups).groupby(table.rows[person]).mean()
    joint = dict.fromkeys(("table", "joint", "joint_at_recall"), matches.sum())
    return {
        **{name: value / people for name, value in shares.items()},
        "all_parts_group_risk": 1 / least if least >= 11 else 1.0,
        "subjects": people,
        **joint,
        **{f"{name}_mean_risk": value / people for name, value in joint.items()},
        "joint_at_recall_max_risk": matches.max(),
    }


def summarise(of: str, left: Sequence[int]) -> dict[str, float]:
    return {
        f"people_alone({of})": left.count(1),
        f"fewest_candidates({of})": min(left),
        f"expected_matches({of})": sum(1 / n for n in left),
    }


def count_alike(parts: Parts, person: str) -> list[int]:
    """Return how many people have the same multiset of rows in each part, of each person."""
    records = {}
    for who in list_people(parts, person):
        zero = min(find_days(parts, person, who), default=0)
        records[who] = tuple(
            frozenset(Counter(read_rows(part, person, who, zero)).items())
            for part in parts.values()
        )
    sizes = Counter(records.values())
    return [sizes[own] for own in records.values()]


def count_by_few(parts: Parts, person: str, size: int, *, given: Collection[str]) -> list[int]:
    """Return the fewest people with all given facts and `size` others, of each person."""
    facts = {who: count_facts(parts, person, who) for who in list_people(parts, person)}
    holders: dict[tuple[Hashable, int], set[str]] = {}

    def find_holders(fact: tuple[str, Hashable], n: int) -> set[str]:
        if (fact, n) not in holders:
            holders[fact, n] = {who for who, own in facts.items() if own[fact] >= n}
        return holders[fact, n]

    left = []
    for own in facts.values():
        sets = {fact: find_holders(fact, n) for fact, n in own.items()}
        sure = set.intersection(*(x for fact, x in sets.items() if fact[0] in given))
        free = [x & sure for fact, x in sets.items() if fact[0] not in given]
        some = combinations(free, min(size, len(free)))
        left.append(min(len(sure.intersection(*chosen)) for chosen in some))
    return left


def count_facts(parts: Parts, person: str, who: str) -> Counter[tuple[str, Hashable]]:
    """Count the facts of a person; each begins with its part, or with "days"."""
    found = Counter[tuple[str, Hashable]]()
    for name, part in parts.items():
        rows = list(read_rows(part, person, who, 0))
        found[name, ("rows", len(rows))] = 1
        width = len(part.labels)
        found.update((name, ("labels", row[:width])) for row in rows if width)
        for a, b in combinations(range(len(part.dates)), 2):
            ends = ((row[width + a], row[width + b]) for row in rows)
            found.update(("days", (name, a, b, y - x)) for x, y in ends if None not in (x, y))
    days = sorted(find_days(parts, person, who))
    found.update(("days", ("gap", b - a)) for a, b in pairwise(days))
    if days:
        found["days", ("span", days[-1] - days[0])] = 1
    return found


def list_people(parts: Parts, person: str) -> list[str]:
    return sorted({who for part in parts.values() for who in part.rows[person]})


def read_rows(part: KnownPart, person: str, who: str, zero: int) -> Iterator[tuple[Hashable, ...]]:
    """Yield a person's rows: the labels, then the days since a day."""
    width = len(part.labels)
    for row in list_rows(part, person).get(who, ()):
        yield (*row[:width], *(day and day - zero for day in row[width:]))


def find_days(parts: Parts, person: str, who: str) -> set[int]:
    found = set()
    for part in parts.values():
        width = len(part.labels)
        found |= {x for row in read_rows(part, person, who, 0) for x in row[width:] if x}
    return found


def list_days(parts: Parts, person: str) -> KnownPart:
    """Return the distinct days of each person in all parts, a row each."""
    rows = [
        (who, pd.Timestamp.fromordinal(day))
        for who in list_people(parts, person)
        for day in sorted(find_days(parts, person, who))
    ]
    return KnownPart(pd.DataFrame(rows, columns=[person, "day"]), dates=("day",))
