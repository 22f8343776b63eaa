"""The count of people by all linked rows against a naive twin, and at its limits."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from voile.core.errors import RequestError
from voile.data import open_source
from voile.gate.finding import figures_of
from voile.gate.people import ReleasedPart, count_by_rows, count_people, name_few

KNOWN = (1, 2, 3)
World = dict[str, list[dict[str, Any]]]
START = date(2020, 1, 1)


def make_world(seed: int) -> World:
    """Make linked rows in two parts: multisets, `*`, missing values, lists and days."""
    rng = np.random.default_rng(seed)
    people = [f"P{n}" for n in range(rng.integers(1, 8))]

    def label() -> str | None:
        return [None, "*", "a", "b", "c"][rng.integers(0, 5)]

    def day() -> date | None:
        return None if rng.random() < 0.2 else START + timedelta(days=int(rng.integers(0, 5)))

    def items() -> list[str]:
        return [str(one) for one in rng.integers(0, 3, rng.integers(0, 3))]

    return {
        "visits": [
            {"who": one, "age": label(), "sex": label(), "day": day(), "end": day()}
            for one in people
            for _ in range(rng.integers(0, 4))
        ],
        "drugs": [
            {"who": one, "drugs": items()} for one in people for _ in range(rng.integers(0, 3))
        ],
    }


def as_parts(world: World) -> dict[str, ReleasedPart]:
    text = pa.string()
    visits = pa.schema([("who", text), ("age", text), ("sex", text), ("day", pa.date32()),
                        ("end", pa.date32())])  # fmt: skip
    drugs = pa.schema([("who", text), ("drugs", pa.list_(text))])
    tables = [pa.Table.from_pylist(world["visits"], visits),
              pa.Table.from_pylist(world["drugs"], drugs)]  # fmt: skip
    opened = [open_source(one) for one in tables]
    return {
        "visits": ReleasedPart(
            rows=opened[0], person="who", facts=("age", "sex"), dates=("day", "end")
        ),
        "drugs": ReleasedPart(rows=opened[1], person="who", facts=("drugs",)),
    }


def count_naively(
    world: World, *, are_moved: bool, given: tuple[str, ...] = ()
) -> dict[str, float]:
    """Count from the definitions: every set of facts of every person, by loops."""
    part_of = {"labels": "visits", "item": "drugs", "rows visits": "visits", "rows drugs": "drugs"}
    people = sorted({row["who"] for rows in world.values() for row in rows})
    records, facts = {}, {}
    for one in people:
        visits = [row for row in world["visits"] if row["who"] == one]
        drugs = [row for row in world["drugs"] if row["who"] == one]
        days = sorted({row[n].toordinal() for row in visits for n in ("day", "end") if row[n]})
        zero = days[0] if days and are_moved else 0
        records[one] = (
            Counter(
                (
                    row["age"],
                    row["sex"],
                    *(row[n] and row[n].toordinal() - zero for n in ("day", "end")),
                )
                for row in visits
            ),
            Counter(tuple(sorted(row["drugs"])) for row in drugs),
        )
        many = Counter(("labels", row["age"], row["sex"]) for row in visits)
        many.update(("item", item) for row in drugs for item in row["drugs"])
        many.update(("gap", b - a) for a, b in pairwise(days))
        many.update(("stay", (row["end"] - row["day"]).days)
                    for row in visits if row["day"] and row["end"])  # fmt: skip
        exact = {("rows visits", len(visits)): 1, ("rows drugs", len(drugs)): 1}
        if days:
            exact[("span", days[-1] - days[0])] = 1
            exact |= {} if are_moved else {("first", days[0]): 1, ("last", days[-1]): 1}
        facts[one] = {**many, **exact}
    found: dict[str, float] = {}
    for size in KNOWN:
        left = []
        for one in people:
            sure = [fact for fact in facts[one] if part_of.get(fact[0]) in given]
            free = [fact for fact in facts[one] if fact not in sure]
            left.append(
                min(
                    sum(all(facts[other].get(fact, 0) >= facts[one][fact]
                            for fact in (*sure, *chosen)) for other in people)
                    for chosen in combinations(free, min(size, len(free)))
                )
            )  # fmt: skip
        found |= summarise(name_few(size, "all"), left)
    left = [sum(records[other] == records[one] for other in people) for one in people]
    return found | summarise("all", left)


def summarise(of: str, left: list[int]) -> dict[str, float]:
    return {
        f"people_alone({of})": left.count(1),
        f"fewest_candidates({of})": min(left),
        f"expected_matches({of})": sum(1 / n for n in left),
    }


def count(parts: dict[str, ReleasedPart], **how: Any) -> dict[str, float]:
    return figures_of(count_people(parts, of="all", **how))


@pytest.mark.parametrize("first", range(0, 500, 50))
def test_counts_are_those_of_a_naive_twin(first: int) -> None:
    for seed in range(first, first + 50):
        world, are_moved = make_world(seed), bool(seed % 2)
        if not any(world.values()):
            assert count(as_parts(world), known=KNOWN) == {}
            continue
        given = [(), ("visits",), ("drugs",), ("visits", "drugs")][seed % 4]
        expected = count_naively(world, are_moved=are_moved, given=given)
        how: dict[str, Any] = {"known": KNOWN, "given": given, "are_moved": are_moved}
        found = count_people(as_parts(world), of="all", **how)
        assert figures_of(found) == pytest.approx(expected, rel=1e-9), seed
        people = {row["who"] for rows in world.values() for row in rows}
        assert {one.n for one in found} == {len(people), None}


def rows_of(counts: dict[str, int], **more: Any) -> ReleasedPart:
    who = [one for one, n in counts.items() for _ in range(n)]
    table = pa.table({"who": who, **{name: [x] * len(who) for name, x in more.items()}})
    return ReleasedPart(rows=open_source(table), person="who", facts=tuple(more))


def test_the_number_of_equal_rows_singles_out() -> None:
    part = rows_of({"a": 3, "b": 4, "c": 4, "d": 4}, unit="day")
    found = count({"dialysis": part}, known=(1,))
    assert found[f"people_alone({name_few(1, 'all')})"] == found["people_alone(all)"] == 1
    assert found["fewest_candidates(all)"] == 1
    assert found["expected_matches(all)"] == pytest.approx(2)


def test_no_rows_in_a_part_is_a_number_of_rows() -> None:
    both = {"people": rows_of(dict.fromkeys("abc", 1), sex="F"), "visits": rows_of({"a": 1})}
    alone = next(one for one in count_people(both, of="all") if one.name == "people_alone")
    assert (alone.n, alone.value) == (3, 1)


def test_gaps_single_out_after_a_shift_and_months_hide_them() -> None:
    days = {"a": ["2020-01-01", "2020-01-05"], "b": ["2020-03-01", "2020-03-05"],
            "c": ["2020-06-01", "2020-06-09"], "d": ["2020-08-02", "2020-08-29"]}  # fmt: skip
    table = pa.table(
        {
            "who": [one for one, own in days.items() for _ in own],
            "day": [x for own in days.values() for x in own],
        }
    )
    part = {"v": ReleasedPart(rows=open_source(table), person="who", dates=("day",))}
    found = count(part, known=(1,))
    assert found[f"people_alone({name_few(1, 'all')})"] == found["people_alone(all)"] == 2
    assert count(part, are_moved=False)["people_alone(all)"] == 4
    assert count(part, are_months=True)["people_alone(all)"] == 0


def test_a_release_of_nobody_has_no_count() -> None:
    nobody = ReleasedPart(
        rows=open_source(pa.table({"who": pa.array([], pa.string())})), person="who"
    )
    assert count_people({}, of="all") == count_people({"x": nobody}, of="all", known=KNOWN) == ()


def test_a_column_that_is_absent_is_refused() -> None:
    part = rows_of({"a": 1})
    with pytest.raises(RequestError, match="there is no column age"):
        count({"x": ReleasedPart(rows=part.rows, person="who", facts=("age",))})


def test_labels_that_look_alike_when_joined_are_different() -> None:
    pairs = [("a", "b"), ("ab", ""), ("", "ab"), ("a1:b", None), (None, "a1:b"), ("-", None),
             (None, "-"), (None, None), ("-", "-")]  # fmt: skip
    lists = [["a", "b"], ["ab"], ["a1:b"], [], None, [None], ["-"], ["none"], ["a", "b", "b"]]
    whose = [f"P{n}" for n in range(len(pairs))]
    columns = {
        "who": whose,
        "x": [x for x, _ in pairs],
        "y": [y for _, y in pairs],
    }
    plain, listed = pa.table(columns), pa.table({"who": whose, "items": lists})
    for table, facts in ((plain, ("x", "y")), (listed, ("items",))):
        part = ReleasedPart(rows=open_source(table), person="who", facts=facts)
        assert count({"one": part}, known=(3,))["people_alone(all)"] == len(whose)


def test_a_count_fits_where_a_list_of_rows_for_each_person_does_not() -> None:
    """Count 20,000 people with 40 days each."""
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(20_000), 40)
    days = pa.array(rng.integers(0, 2_000, len(who)).astype(np.int32)).cast(pa.date32())
    part = ReleasedPart(
        rows=open_source(pa.table({"who": who, "day": days})), person="who", dates=("day",)
    )
    assert count({"v": part})["people_alone(all)"] == 20_000


@pytest.mark.parametrize("seed", range(20))
def test_rows_that_nothing_joins_are_those_of_a_naive_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    start = date(2020, 1, 1)
    rows = [
        (int(rng.integers(8)), int(rng.integers(3)), start + timedelta(int(rng.integers(3))),
         start + timedelta(int(rng.integers(3, 5))) if rng.random() < 0.8 else None)
        for _ in range(int(rng.integers(1, 30)))
    ]  # fmt: skip
    holders: dict[Any, set[int]] = {}
    for who, label, a, b in rows:
        holders.setdefault((label, b and (b - a).days), set()).add(who)
    least = {who: min(len(own) for own in holders.values() if who in own) for who, *_ in rows}
    columns = zip(*rows, strict=True)
    table = pa.table(dict(zip(("who", "label", "a", "b"), columns, strict=True)))
    part = ReleasedPart(rows=open_source(table), person="who", facts=("label",), dates=("a", "b"))
    found = figures_of(count_by_rows(part, of="one row"))
    assert found == pytest.approx(summarise("one row", [*least.values()]))


def test_a_value_of_one_person_singles_the_person_out_in_every_row() -> None:
    """Three rows of one person are alike; nothing joins them, and no other person has them."""
    table = pa.table({"who": [1, 1, 1, 2, 3], "label": ["x", "x", "x", "y", "y"]})
    part = ReleasedPart(rows=open_source(table), person="who", facts=("label",))
    assert next(one.value for one in count_by_rows(part, of="")) == 1
