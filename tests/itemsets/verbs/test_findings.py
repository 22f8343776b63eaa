"""The gate's findings equal the definition, on random releases of several shapes."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.core.errors import TamperedError
from voile.data import open_source
from voile.gate.finding import figures_of
from voile.gate.itemsets import measure_itemsets
from voile.itemsets.measures.containment import part_anonymity
from voile.itemsets.rows.incidence import Incidence


def measure(*args, **adversary):
    return figures_of(measure_itemsets(*args, **adversary))


def released(table):
    """Write a table once wide and once as lists, with the policy of each."""
    names = [f"x{i}" for i in range(table.X.shape[1])]
    wide = pa.table({name: table.X[:, i] for i, name in enumerate(names)})
    lists = [[i for i, x in enumerate(row) if x] for row in table.X]
    items = pa.table({"items": pa.array(lists, pa.list_(pa.int64()))})
    number = [str(i) for i in range(len(names))]
    yield wide, [{"column": name, "kind": "binary", "values": [""]} for name in names]
    yield items, [{"column": "items", "kind": "items", "values": number}]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([None, 1, 2]), st.booleans())
def test_the_findings_equal_the_definition(table, seed, m, absences):
    table = table(seed)
    features = range(table.X.shape[1])
    people = None
    if table.subjects is not None:
        people = open_source(pa.table({"person": table.subjects.astype(np.int64)}))
    most = len(features) if m is None else m
    least = min(n for _, _, n in table.parts(features, most, absences))
    for release, policy in released(table):
        found = measure(open_source(release), people, policy, m=m, absences=absences)
        exact = table.row_exact(features)
        assert found["anonymity"] == least
        assert found["exact_anonymity"] == min(exact)
        assert found["unique_rows"] == sum(n == 1 for n in exact)
        assert found["empty_rows"] == sum(not row.any() for row in table.X)
        assert found["subjects"] == table.n_subjects


@pytest.mark.parametrize("cell", [2, None])
def test_a_cell_that_is_not_the_policys_is_refused(cell):
    policy = [{"column": "a", "kind": "binary", "values": [""]}]
    release = open_source(pa.table({"a": [1, cell]}))
    with pytest.raises(TamperedError):
        measure(release, None, policy)


@pytest.mark.parametrize(
    ("kind", "values", "cells"),
    [
        ("words", ["milk", "tea"], ["tea milk", "milk tea", "tea", None, ""]),
        ("items", ["2", "1"], [[1, 2], [2, 1], [1], None, []]),
        ("long", ["b", "a"], [["a", "b"], ["b", "a"], ["a"], None, []]),
        ("categories", ["a", "b"], ["b", "b", "a", None, None]),
        ("intervals", ["0-4", "5-9"], ["5-9", "5-9", "0-4", None, None]),
        ("binary", [""], [1, "1", "0", 0, 0]),
    ],
)
def test_equal_rows_are_found_in_every_shape(kind, values, cells):
    """The first two are equal, the last two empty; the third is alone but where none is lacking."""
    column = pa.array(map(str, cells) if kind == "binary" else cells)
    policy = [{"column": "a", "kind": kind, "values": values}]
    found = measure(open_source(pa.table({"a": column})), None, policy)
    alone = kind != "binary"
    assert (found["unique_rows"], found["unique_share"]) == (alone, alone / 5)
    assert (found["rows"], found["subjects"], found["empty_rows"]) == (5, 5, 2 + (not alone))


def test_rows_are_counted_where_no_items_are_published(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text('{"town": "Pau"}\n' * 3)
    found = measure(open_source(path), None, [])
    assert (found["rows"], found["anonymity"], found["empty_rows"]) == (3, 3, 3)


def test_rows_of_nothing_are_everybodys():
    policy = [{"column": "a", "kind": "words", "values": ["tea"]}]
    release = open_source(pa.table({"a": ["", "", ""]}))
    for m, absences in ((None, False), (1, False), (2, True), (None, True)):
        found = measure(release, None, policy, m=m, absences=absences)
        assert (found["anonymity"], found["exact_anonymity"]) == (3, 3)
    nobody = measure(open_source(pa.table({"a": pa.array([], pa.string())})), None, policy)
    assert nobody.keys() == {"rows", "exact_anonymity", "unique_rows", "empty_rows", "subjects"}
    assert set(nobody.values()) == {0}


def test_an_item_left_out_is_found_in_a_release():
    policy = [{"column": "a", "kind": "words", "values": ["tea"]}]
    release = open_source(pa.table({"a": ["tea", "tea milk"]}))
    with pytest.raises(TamperedError):
        measure(release, None, policy)


def test_rows_that_several_share_are_looked_at_too():
    X = np.array([[1, 1]] * 2 + [[1, 0], [0, 1]])  # a and b: two people; either alone: three
    policy = [{"column": name, "kind": "binary", "values": [""]} for name in "ab"]
    release = open_source(pa.table({"a": X[:, 0], "b": X[:, 1]}))
    assert measure(release, None, policy)["anonymity"] == 2


def test_a_person_of_several_rows_counts_once_for_what_they_share():
    X = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]])
    policy = [{"column": name, "kind": "binary", "values": [""]} for name in "abc"]
    release = open_source(pa.table({name: X[:, x] for x, name in enumerate("abc")}))
    people = open_source(pa.table({"person": np.array([0, 0, 1])}))  # only person 0 has a
    assert measure(release, people, policy, m=1)["anonymity"] == 1


@pytest.mark.parametrize("whose", [None, np.arange(300) // 2])
def test_parts_of_many_rows_are_counted_as_the_search_counts_them(whose):
    X = np.random.default_rng(5).random((300, 12)) < 0.4
    people = None if whose is None else open_source(pa.table({"person": whose}))
    policy = [{"column": f"x{i}", "kind": "binary", "values": [""]} for i in range(12)]
    release = open_source(pa.table({f"x{i}": X[:, i].astype(int) for i in range(12)}))
    rows = Incidence.of(X, subjects=whose)
    for m, absences in ((2, False), (2, True), (3, True)):
        found = measure(release, people, policy, m=m, absences=absences)["anonymity"]
        assert found == part_anonymity(rows, m, absences=absences)


def test_a_release_and_people_of_other_numbers_are_refused():
    policy = [{"column": "a", "kind": "binary", "values": [""]}]
    release = open_source(pa.table({"a": [1, 0, 1]}))
    for number in (2, 4):
        people = open_source(pa.table({"person": np.arange(number)}))
        with pytest.raises(TamperedError):
            measure(release, people, policy)


@pytest.mark.parametrize("seed", range(40))
def test_all_rows_of_a_person_equal_a_plain_recount_where_pseudonyms_join_them(seed):
    """The number of rows is a fact, and equal rows count as often as they occur."""
    rng = np.random.default_rng(seed)
    whose = rng.integers(0, 12, int(rng.integers(2, 40)))
    X = (rng.random((len(whose), 3)) < rng.choice([0.1, 0.5])).astype(int)
    policy = [{"column": f"x{i}", "kind": "binary", "values": [""]} for i in range(3)]
    cells = {f"x{i}": X[:, i] for i in range(3)}
    release = open_source(pa.table({"id": [f"P{x}" for x in whose], **cells}))
    found = measure(release, open_source(pa.table({"person": whose})), policy, k=3)
    rows = defaultdict(list)
    for person, row in zip(whose.tolist(), X.tolist(), strict=True):
        rows[person].append(tuple(row))
    records = {person: tuple(sorted(own)) for person, own in rows.items()}
    times = Counter(records.values())
    sizes = [times[own] for own in records.values()]
    if len(rows) == len(whose):
        assert "k_all_rows" not in found
        return
    unique = sizes.count(1)
    assert found["k_all_rows"] == min(sizes)
    assert found["unique_all_rows"] == unique
    assert found["people_below_k"] == sum(n < 3 for n in sizes)
    shown = 11 if 0 < unique <= 10 else unique
    assert found["most_unique_all_rows"] == min(shown / len(sizes), 1)
    assert "k_all_rows" not in measure(release, None, policy, k=3)


def test_a_kept_order_or_column_joins_the_rows_of_a_person():
    policy = [{"column": "a", "kind": "binary", "values": [""]}]
    items, whose = [1, 1, 1, 1], np.array([0, 1, 2, 2])
    alike = open_source(pa.table({"a": items}))
    kept = open_source(pa.table({"a": items, "device": ["x", "y", "z", "z"]}))
    some = open_source(pa.table({"a": items, "device": [None, None, "z", "z"]}))
    people = open_source(pa.table({"person": whose}))
    in_order = open_source(pa.table({"person": whose, "row": np.arange(4)}))
    assert "k_all_rows" not in measure(alike, people, policy)
    for release, persons in ((kept, people), (some, people), (alike, in_order)):
        assert measure(release, persons, policy)["unique_all_rows"] == 1
