"""The value search: seeded forms, false alarms and cost, next to plain DuckDB on fewer people."""

from __future__ import annotations

import multiprocessing
import resource
import time

import duckdb
from benchmarks.gate_worlds import FORMS, World, make_world
from benchmarks.tables import save, yardstick

from voile.gate.values.search import search_values

PEOPLE, WORDS, EACH = 100_000, 10, 200
SMALL, WORLDS = 4000, 30
RIVAL_PEOPLE = 2000
OWN_BY_DUCKDB = """
    SELECT v.person FROM v JOIN t USING (person)
    WHERE length(value) > 2 AND contains(lower(text), lower(value))
"""
CHANCE_BY_DUCKDB = """
    SELECT count(*) FROM (
        SELECT value, count(DISTINCT t.person) FROM (SELECT DISTINCT value FROM v) v
        JOIN t ON contains(lower(text), lower(value)) GROUP BY value
    )
"""


def main() -> None:
    forms, share = _count_forms()
    save(
        "gate_values",
        f"Made-up people, each with 8 unreleased values and {WORDS} words of text: 10% of them "
        "are numbers and dates. A fifth of the family names are words of the texts. Forms: one "
        f"value seeded in the text of each of {EACH} people of {SMALL:,}.",
        ("what", "value search", "DuckDB: `contains` of values as written"),
        [*forms, *_measure_rival(), *_measure_alarms(), *_measure_cost()],
        f"Without glued names {share:.1%} of the seeded values are found. Glued names are found by "
        "the second tier, which takes names of five letters and more; the first tier finds none. "
        f"{yardstick()}",
    )


def _measure_cost() -> list[tuple[str, str, str]]:
    with multiprocessing.get_context("spawn").Pool(1) as pool:  # its peak is its own
        seconds, memory, base, own, expected, deviation = pool.apply(_search_large)
    size = f"{PEOPLE:,} people, {PEOPLE * WORDS:,} words"
    return [
        (f"{size}: people found, expected (standard deviation)",
         f"{own:,}, {expected:.0f} ({deviation:.0f})", "-"),
        (f"{size}: CPU seconds (at most 10)", f"{seconds:.1f}", "-"),
        (f"{size}: peak MiB (at most 1,024), of these before the search",
         f"{memory:,.0f}, {base:,.0f}", "-"),
    ]  # fmt: skip


def _measure_alarms() -> list[tuple[str, str, str]]:
    found = [search_values(make_world(100 + n, people=1000, words=60).inputs())[0]
             for n in range(WORLDS)]  # fmt: skip
    total, expected = sum(x.value for x in found), sum(x.expected for x in found)
    spread = sum(x.deviation**2 for x in found) ** 0.5
    within = sum(abs(x.value - x.expected) <= 2 * x.deviation for x in found)
    worlds = f"{WORLDS} worlds of 1,000 people without seeds"
    return [
        (f"{worlds}: people found, expected (standard deviation)",
         f"{total:,}, {expected:.0f} ({spread:.0f})", "-"),
        (f"{worlds}: within 2 standard deviations", f"{within} of {WORLDS}", "-"),
    ]  # fmt: skip


def _search_large() -> tuple[float, float, float, int, float, float]:
    search_values(make_world(2, people=200, each=2).inputs())  # loads the compiled kernels
    world = make_world(1, PEOPLE, WORDS)
    base = _peak()
    began = time.process_time()
    own, _ = search_values(world.inputs())
    spent = time.process_time() - began
    return spent, _peak(), base, own.value, own.expected, own.deviation


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _count_forms() -> tuple[list[tuple[str, str, str]], float]:
    before = search_values(make_world(5, SMALL).inputs())[0].value
    rows, found = [], {}
    for form in FORMS:
        world = make_world(5, SMALL, each=EACH, forms=[form])
        found[form] = search_values(world.inputs())[0].value - before
        rows.append((form, f"{found[form]} of {EACH}", f"{_find_by_duckdb(world)} of {EACH}"))
    plain = [n for form, n in found.items() if form != "glued"]
    return rows, sum(plain) / (EACH * len(plain))


def _find_by_duckdb(world: World) -> int:
    seeded = [person for people in world.seeded.values() for person in people]
    with duckdb.connect() as engine:
        _load(engine, world)
        found = {person for (person,) in engine.execute(OWN_BY_DUCKDB).fetchall()}
    return len(found.intersection(seeded))


def _load(engine: duckdb.DuckDBPyConnection, world: World) -> None:
    for name, table in (("v", world.values), ("t", world.texts)):
        engine.register("given", table)
        engine.execute(f"CREATE TABLE {name} AS FROM given")


def _measure_rival() -> list[tuple[str, str, str]]:
    world = make_world(6, RIVAL_PEOPLE)
    search_values(world.inputs())
    began = time.process_time()
    search_values(world.inputs())
    ours = time.process_time() - began
    with duckdb.connect() as engine:
        _load(engine, world)
        began = time.process_time()
        engine.execute(OWN_BY_DUCKDB).fetchall()
        engine.execute(CHANCE_BY_DUCKDB).fetchall()
        theirs = time.process_time() - began
    return [(f"{RIVAL_PEOPLE:,} people: CPU, ours = 1", "1.0", f"{theirs / ours:.1f}")]


if __name__ == "__main__":
    main()
