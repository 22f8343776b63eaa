"""The certificate equals a naive count over the released rows and the people they are about."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.core.errors import TamperedError
from voile.data import open_source
from voile.gate.finding import figures_of
from voile.gate.people_of_rows import PERSON, RowsWithPeople
from voile.tables.fitting.space import PolicySpace
from voile.tables.recoding.published import PublishedPolicy
from voile.tables.recoding.recoder import BatchRecoder
from voile.tables.verbs.measure_release import measure_release, people_sharing

PEOPLE = pa.table(
    {
        "age": [age for age in range(4) for _ in range(3)],
        "sex": ["f", "m", None] * 4,
        "people": [5] * 12,
    }
)
ROWS = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.sampled_from(["f", "m", None]),
        st.sampled_from(["a", "b", None]),
        st.integers(0, 9),
    ),
    min_size=1,
    max_size=30,
)


def measure(*args, **more):
    return figures_of(measure_release(*args, **more))


def release_of(space, policy, rows, *, bounds):
    """Recode rows of age, sex, kept, person by a policy."""
    batch = pa.RecordBatch.from_pydict(
        {
            "age": pa.array([row[0] for row in rows], pa.int64()),
            "sex": pa.array([row[1] for row in rows], pa.string()),
        }
    )
    recoded = BatchRecoder(policy)(batch)
    released = [
        np.isin(np.arange(len(domain)), values)
        for domain, values in zip(space.domains, recoded.values.T, strict=True)
    ]
    published = PublishedPolicy.of(policy, released, bounds=bounds)
    written = {}
    for place, column in enumerate(published.codebook.columns):
        arrays = published.write_cells(column.column, recoded.intervals[:, place])
        written |= dict(zip(column.released, arrays, strict=True))
    written["kept"] = pa.array([row[2] for row in rows], pa.string())
    return pa.table(written), [tuple(group) for group in recoded.intervals.tolist()], published


def naive(groups, rows, who, population):
    """Count by going through the rows with dictionaries."""
    of, shown, every = defaultdict(set), defaultdict(set), defaultdict(Counter)
    for group, row, person in zip(groups, rows, who, strict=True):
        of[person].add(group)
        every[person][group] += 1
        shown[group, row[2]].add(person)
    size, members = defaultdict(Fraction), defaultdict(set)
    for person, own in of.items():
        for group in own:
            size[group] += Fraction(1, len(own))
            members[group].add(person)
    n = {group: len(own) for group, own in members.items()}
    g = {group: max(n[group], population[group]) for group in size}
    n_of = {person: min(n[group] for group in own) for person, own in of.items()}
    g_of = {person: min(g[group] for group in own) for person, own in of.items()}
    people = len(of)
    unique = len({next(iter(known)) for known in shown.values() if len(known) == 1})
    alike = Counter(frozenset(own.items()) for own in every.values())
    several = len(rows) > people
    by_all_rows = {
        "k_all_rows": min(alike.values()),
        "unique_all_rows": sum(n == 1 for n in alike.values()),
    }
    return {
        **(by_all_rows if several else {}),
        "k": min(len(m) for m in members.values()),
        "k_map": int(min(g.values())),
        "sample_uniques": sum(alone == 1 for alone in n_of.values()),
        "population_uniques": sum(alone == 1 for alone in g_of.values()),
        "share_under_11": sum(few < 11 for few in g_of.values()) / people,
        "expected_matches": sum(1 / many for many in g_of.values()),
        "mean_risk": sum(1 / many for many in g_of.values()) / people,
        "max_risk": max(1 / many for many in g_of.values()),
        "prosecutor_max": max(1 / many for many in n_of.values()),
        "prosecutor_mean": sum(1 / many for many in n_of.values()) / people,
        "discernibility": sum(s * s for s in size.values()) + people + 1,
        "subjects": people,
        "suppressed": 1,
        "unique_with_kept": unique,
        "share_unique_with_kept": unique / people,
    }


@settings(deadline=None, max_examples=25)
@given(ROWS, st.integers(0, 2**5 - 1), st.booleans(), st.booleans())
def test_the_certificate_equals_a_naive_count(rows, bits, bounds, by_subject):
    space = PolicySpace.of(PEOPLE.drop_columns("people"), PEOPLE, ["age", "sex"])
    policy = space.policy(np.array([bits >> i & 1 for i in range(5)], dtype=np.bool_))
    table, groups, published = release_of(space, policy, rows, bounds=bounds)
    who = [row[3] for row in rows] if by_subject else list(range(len(rows)))
    table = table.append_column("pseudonym", pa.array([f"p{x}" for x in who]))
    people = open_source(pa.table({"row": [*range(len(rows))], "person": who}))
    found = measure(
        open_source(table),
        people if by_subject else None,
        published.codebook,
        ["age", "sex"] if not bounds else published.codebook.released_columns,
        people_of=partial(people_sharing, published.codebook, space.domains, space.counts),
        sensitive=["kept"],
        unknown=["pseudonym"],
        suppressed=1,
    )
    population = defaultdict(int)
    for age, sex, count in zip(*(PEOPLE.column(i).to_pylist() for i in range(3)), strict=True):
        cell = zip(space.domains, (age, sex), strict=True)
        population[tuple(int(policy.interval_of(d)[d.code(x)]) for d, x in cell)] += count
    expected = naive(groups, rows, who, population)
    assert ("k_all_rows" in found) == ("k_all_rows" in expected)
    assert {name: found[name] for name in expected} == pytest.approx(
        {name: float(value) for name, value in expected.items()}
    )
    values = defaultdict(set)
    for group, row in zip(groups, rows, strict=True):
        values[group].add(row[2])
    assert found["distinct_l(kept)"] == min(len(v) for v in values.values())


def certified(table, people=None, **more):
    codebook = whole().codebook
    source = None if people is None else open_source(people)
    return measure(open_source(table), source, codebook, codebook.released_columns, **more)


def whole():
    """Publish the most general policy, of which every value is shown."""
    space = PolicySpace.of(PEOPLE.drop_columns("people"), quasi=["age", "sex"])
    shown = [np.ones(len(domain), dtype=np.bool_) for domain in space.domains]
    return PublishedPolicy.of(space.policy(space.top), shown)


def labels(rows=3):
    """Some rows under the most general policy."""
    return {c.column: [c.entries[0].label] * rows for c in whole().codebook.columns}


def test_a_pseudonym_tells_nobody_apart():
    table = pa.table({**labels(), "id": ["A", "B", "C"]})
    assert certified(table)["unique_with_kept"] == 3
    assert certified(table, unknown=["id"])["unique_with_kept"] == 0


def test_a_person_of_two_equal_rows_is_unique_where_nobody_elses_are():
    table = pa.table({**labels(), "ward": ["north", "north", "south"]})
    assert certified(table)["unique_with_kept"] == 1
    people = pa.table({"row": range(3), "person": [7, 7, 8]})
    assert certified(table, people)["unique_with_kept"] == 2


def test_a_column_may_be_called_row_or_person():
    table = pa.table({**labels(), "person": [1, 2, 2], "row": [0, 0, 0]})
    people = pa.table({"row": [0, 1, 2], "person": [7, 8, 9]})
    found = certified(table, people)
    assert (found["k"], found["unique_with_kept"]) == (3, 1)


def test_an_empty_release_discloses_nothing():
    empty = pa.table({name: pa.array([], pa.string()) for name in ("age", "sex", "ill")})
    found = certified(empty, sensitive=["ill"])
    assert not any("(ill)" in name for name in found)
    assert (found["mean_risk"], found["unique_with_kept"], found["k"]) == (0, 0, float("inf"))
    assert found["share_unique_with_kept"] == 0
    people = pa.table({name: pa.array([], pa.int64()) for name in ("row", "person")})
    assert certified(empty, people)["k"] == float("inf")


def with_people(rows, people):
    """Put people beside rows, both read in batches of other lengths than they are asked for."""
    tables = pa.table({"a": range(rows)}), pa.table({"person": range(100, 100 + people)})
    release, who = (
        open_source(pa.concat_tables(table.slice(at, n) for at in range(0, len(table), n)))
        for table, n in zip(tables, (3, 7), strict=True)
    )
    return RowsWithPeople(release, who)


@pytest.mark.parametrize("columns", [[PERSON, "a"], ["a"]])
def test_people_stay_beside_their_rows_however_both_are_cut(columns):
    read = pa.Table.from_batches(with_people(20, 20).batches(columns, batch_rows=4))
    whole = {"a": list(range(20)), PERSON: list(range(100, 120))}
    assert read.to_pydict() == {name: whole[name] for name in columns}


@pytest.mark.parametrize("people", [16, 19, 21, 24])
def test_a_row_too_many_or_too_few_is_noticed_in_any_batch(people):
    with pytest.raises(TamperedError, match="private row map have different numbers of rows"):
        list(with_people(20, people).batches(batch_rows=4))


def test_other_labels_and_other_numbers_of_rows_are_refused():
    with pytest.raises(TamperedError, match="column age: row 1"):
        certified(pa.table({**labels(), "age": ["0-4"] * 3}))
    with pytest.raises(TamperedError, match="private row map have different numbers of rows"):
        certified(pa.table(labels()), pa.table({"row": [0, 1], "person": [7, 8]}))


def test_a_person_of_several_values_is_spread_over_them():
    """Person 7 is half flu and half gout, so three people are 1.5 flu and 1.5 gout."""
    table = pa.table({**labels(4), "ill": ["flu", "gout", "flu", "gout"]})
    people = pa.table({"row": range(4), "person": [7, 7, 8, 9]})
    found = certified(table, people, sensitive=["ill"])
    assert (found["distinct_l(ill)"], found["t_closeness(ill)"]) == (2, 0)
    assert found["entropy_l(ill)"] == pytest.approx(2)
    assert (found["subjects"], found["k"], found["unique_with_kept"]) == (3, 3, 0)


@pytest.mark.parametrize(
    ("values", "ordered"), [(["flu", "gout", "flu", "gout"], False), ([10, 20, 10, 20], True)]
)
def test_the_order_of_values_is_measured_where_there_is_one(values, ordered):
    found = certified(pa.table({**labels(4), "told": values}), sensitive=["told"])
    assert ("t_closeness_ordered(told)" in found) is ordered


def test_floats_are_not_measured_as_sensitive():
    found = certified(pa.table({**labels(), "pay": [1.0, 2.0, 3.0]}), sensitive=["pay"])
    assert not any("(pay)" in name for name in found)
