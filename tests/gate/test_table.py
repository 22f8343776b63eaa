"""The findings of a table equal a naive recount with dictionaries, on many small worlds."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.gate.recount import recount

from voile.data import open_source
from voile.gate.finding import figures_of, findings_from_data, findings_to_data
from voile.gate.groups import TableColumns, open_groups
from voile.gate.table import measure_table

WORLDS, PARTS = 500, 5
LABELS = ("age", "sex", "town")


def make_world(seed):
    """Return released rows with labels in several notations, and the person of each row."""
    rng = np.random.default_rng(seed)
    people = int(rng.integers(1, 12))
    who = np.sort(rng.integers(0, people, int(rng.integers(1, 26))))
    cells = {
        "age": ["0-4", "[5, 9]", "*", None],
        "sex": ["f", "m", "{f|m}", ""],
        "town": ["Pau", "Köln", "*", None],
    }
    share = rng.random()
    rows = {}
    for name, values in cells.items():
        own = rng.integers(0, len(values), people)
        anew = rng.integers(0, len(values), len(who))
        place = np.where(rng.random(len(who)) < share, own[who], anew)
        rows[name] = [values[x] for x in place]
    rows["ill"] = [["flu", "gout", None][x] for x in rng.integers(0, 3, len(who))]
    rows["id"] = [f"P{x}" for x in who]
    order = rng.permutation(len(who))
    return {name: [column[x] for x in order] for name, column in rows.items()}, who[order].tolist()


def expected_of(rows, who, k):
    """Count the same with dictionaries."""
    listed = [dict(zip(rows, row, strict=True)) for row in zip(*rows.values(), strict=True)]
    return recount(
        listed,
        who,
        k,
        labels=LABELS,
        sensitive=["ill"],
        known=[*LABELS, "ill"],
        joining=["ill", "id"],
    )


def measure(rows, who, *, k=1, people=True, population=None, source_rows=None):
    released = open_source(pa.table({name: pa.array(x, pa.string()) for name, x in rows.items()}))
    truth = {"person": pa.array(who, pa.int64())}
    truth |= {} if source_rows is None else {"row": pa.array(source_rows, pa.int64())}
    tokens = open_source(pa.table(truth)) if people else None
    columns = TableColumns(
        sensitive=["ill"], known=[*LABELS, "ill"], others=[x for x in rows if x not in LABELS]
    )
    with open_groups(released, LABELS, columns=columns, people=tokens) as groups:
        return measure_table(groups, k=k, people_of=population)


@pytest.mark.parametrize("part", range(PARTS))
def test_findings_equal_a_naive_recount_on_many_worlds(part):
    for seed in range(part, WORLDS, PARTS):
        rows, who = make_world(seed)
        found, expected = figures_of(measure(rows, who, k=3)), expected_of(rows, who, 3)
        assert ("k_all_rows" in found) == ("k_all_rows" in expected), seed
        for name, value in expected.items():
            assert found[name] == pytest.approx(value, rel=1e-9, abs=1e-12), (seed, name)


def make_linked_world(seed):
    """Return rows of people in few groups, and values that some people alone have."""
    rng = np.random.default_rng(seed)
    people = int(rng.integers(2, 9))
    who = rng.integers(0, people, int(rng.integers(3, 20)))
    who = np.sort(who) if seed % 2 else who
    rows = {name: [["a", "b"][x] for x in rng.integers(0, 2, len(who))] for name in LABELS[:1]}
    rows |= {name: ["a"] * len(who) for name in LABELS[1:]}
    for name in ("ill", "device", "ward"):
        of = rng.integers(0, int(rng.integers(2, 12)), (people, 2))
        own = of[who, rng.integers(0, 2, len(who))]
        rows[name] = [None if rng.random() < 0.2 else f"v{x}" for x in own]
    return rows, who.tolist()


@pytest.mark.parametrize("in_order", [False, True])
def test_records_equal_a_naive_recount_where_only_some_values_join_rows(in_order):
    joined = 0
    for seed in range(60):
        rows, who = make_linked_world(seed)
        listed = [dict(zip(rows, row, strict=True)) for row in zip(*rows.values(), strict=True)]
        given = {"labels": LABELS, "known": [*LABELS, "ill"], "joining": ["ill", "device", "ward"]}
        expected = recount(listed, who, 3, **given, in_order=in_order)
        numbers = range(0, 2 * len(who), 2)
        source_rows = numbers if in_order else [*reversed(numbers)]
        found = figures_of(measure(rows, who, k=3, source_rows=source_rows))
        assert {x: found.get(x) for x in expected} == pytest.approx(expected), seed
        joined += "k_all_rows" in expected
        assert ("k_all_rows" in found) == ("k_all_rows" in expected), seed
    assert joined > 20


def test_without_people_each_row_is_a_person():
    for seed in range(40):
        rows, who = make_world(seed)
        alone = list(range(len(who)))
        found = figures_of(measure(rows, who, people=False))
        expected = figures_of(measure(rows, alone))
        assert found == pytest.approx(expected)


def test_a_population_hides_people_and_never_exposes_them():
    rows, who = make_world(3)

    def twice(labels):
        return np.full(len(labels), 20.0)

    found = figures_of(measure(rows, who, population=twice))
    assert (found["k_map"], found["max_risk"]) == (20, 0.05)
    assert found["k"] == figures_of(measure(rows, who))["k"]
    nobody = figures_of(measure(rows, who, population=lambda labels: np.zeros(len(labels))))
    assert nobody["max_risk"] == nobody["prosecutor_max"]


def alike(n, **more):
    return {name: ["a"] * n for name in LABELS} | {"ill": ["flu"] * n} | more


def test_the_number_of_rows_is_a_fact_that_pseudonyms_reveal():
    """Three people in one group, with one, one and two rows: the third is unique."""
    who = [1, 2, 3, 3]
    rows = alike(4)
    assert "k_all_rows" not in figures_of(measure(rows, who))
    found = figures_of(measure(rows | {"id": ["x", "y", "z", "z"]}, who, k=2))
    assert (found["k"], found["k_all_rows"], found["unique_all_rows"]) == (3, 1, 1)
    assert found["people_below_k"] == 1


@pytest.mark.parametrize(
    ("cells", "joins"),
    [
        (["9", "8", "7", "7"], True),  # a kept value of each person's own
        (["9", "9", "7", "7"], True),  # two people share another value
        (["9", "7", "7", "7"], False),  # each value of several rows is of two people
        (["9", "8", "7", "6"], False),  # each row has its own
        ([None, None, "7", "7"], True),  # only some rows have a value
    ],
)
def test_a_kept_column_joins_the_rows_of_a_value_that_one_person_alone_has(cells, joins):
    found = figures_of(measure(alike(4, weight=cells), [1, 2, 3, 3]))
    assert ("k_all_rows" in found) is joins


def test_two_kept_columns_join_rows_where_one_person_alone_has_both_values():
    rows = alike(4, ward=["n", "s", "n", "n"], doctor=["x", "y", "y", "y"])
    assert "k_all_rows" not in figures_of(measure({**rows, "doctor": ["y"] * 4}, [1, 2, 3, 3]))
    findings = measure(rows, [1, 2, 3, 3], k=2)
    assert figures_of(findings)["people_below_k"] == 1
    knows = {one.knows for one in findings if one.name == "people_below_k"}
    assert knows == {
        "knows the quasi-identifiers of all rows of a person, which ward and doctor join"
    }


def test_labels_and_two_kept_columns_join_rows_where_they_mostly_tell_people_apart():
    """Two columns that many people share, next to labels that do not change for a person."""
    who = [person for person in range(60) for _ in range(1 + person % 3)]
    rows = alike(len(who), height=[f"{x % 4}" for x in who], doctor=[f"{x // 4 % 5}" for x in who])
    rows["age"] = [f"{x // 20}" for x in who]
    assert "k_all_rows" not in figures_of(measure(rows | {"doctor": ["x"] * len(who)}, who))
    findings = measure(rows, who, k=5)
    assert figures_of(findings)["k_all_rows"] == 6
    knows = {one.knows for one in findings if one.name == "k_all_rows"}
    assert knows == {
        "knows the quasi-identifiers of all rows of a person, which height and doctor and the "
        "labels join"
    }
    alone = measure(rows | {"age": ["0"] * len(who)}, who)
    assert "k_all_rows" not in figures_of(alone)  # three people share each combination


def test_one_shared_value_does_not_hide_the_others():
    """Each of 40 people has a device of her own, but for one that two people share."""
    who = [person for person in range(40) for _ in range(1 + person % 3)]
    rows = alike(len(who), device=[f"d{max(person, 1)}" for person in who])
    rows["age"] = [["a", "b"][n % 2] for n in range(len(who))]
    whole = figures_of(measure({**rows, "device": [f"d{x}" for x in who]}, who, k=20))
    found = figures_of(measure(rows, who, k=20))
    assert 0 < whole["people_below_k"] - 2 <= found["people_below_k"]


def test_people_with_equal_rows_stay_alike_where_values_join_only_some():
    """Each of three people has the same two rows, and a device joins those of one."""
    rows = alike(6, device=["d", "d", *"eeee"])
    rows["age"] = ["a", "b"] * 3
    found = figures_of(measure(rows, [1, 1, 2, 2, 3, 3], k=3))
    assert (found["k_all_rows"], found["people_below_k"], found["people_under_11"]) == (3, 0, 3)


@pytest.mark.parametrize(
    ("who", "rows", "joins"),
    [
        ([1, 2, 3, 3], [0, 4, 5, 9], True),
        ([1, 2, 3, 3], [9, 5, 4, 0], False),  # shuffled
        ([1, 2, 3, 3], None, False),  # no row numbers are known
        ([3, 2, 1, 3], [0, 1, 2, 3], False),  # the source is not grouped by person
    ],
)
def test_a_kept_order_joins_consecutive_rows_of_a_person(who, rows, joins):
    found = figures_of(measure(alike(4), who, k=2, source_rows=rows))
    assert found.get("people_below_k", 0) == joins


def test_an_empty_release_has_no_risk():
    found = figures_of(measure({name: [] for name in (*LABELS, "ill", "id")}, []))
    assert (found["mean_risk"], found["max_risk"], found["subjects"]) == (0, 0, 0)
    assert found["k"] == math.inf


def test_findings_are_read_back_from_a_manifest():
    findings = tuple(x for x in measure(*make_world(5)) if math.isfinite(x.value))
    assert findings_from_data(findings_to_data(findings)) == findings
    keys = [one.key for one in findings]
    assert len(set(keys)) == len(keys)
    assert all(one.knows and one.unit for one in findings)


def test_the_gate_and_its_tests_load_without_the_code_that_scores():
    """A fault in scoring, fitting or attacking code cannot reach a finding."""
    script = """
import importlib, pathlib, sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.startswith(("voile.tables", "voile.itemsets", "voile.documents", "voile.signals")):
            raise ImportError(name)
sys.meta_path.insert(0, Refuse())
for name in ("src/voile/gate", "tests/gate"):
    for path in pathlib.Path(name).rglob("*.py"):
        if path.stem != "__init__":
            importlib.import_module(".".join(path.with_suffix("").parts).removeprefix("src."))
"""
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", script], check=True, cwd=root)


@pytest.mark.parametrize("empty", ["*", None])
def test_a_row_without_a_label_is_in_no_group(empty):
    """A fully suppressed row is no class; a partly suppressed one is a class of its own."""
    rows = alike(4)
    for name in LABELS:
        rows[name] = ["a", "a", empty, "a"]
    rows["town"][3] = empty
    released = open_source(pa.table({name: pa.array(x, pa.string()) for name, x in rows.items()}))
    columns = TableColumns(known=list(rows))
    suppressed = {name: ["*"] for name in LABELS}
    with open_groups(released, LABELS, columns=columns, suppressed=suppressed) as groups:
        found = figures_of(measure_table(groups, suppressed=1))
    whole = empty is None  # a missing value is a value that an adversary may know
    assert (found["k"], found["subjects"]) == (1, 4 if whole else 3)
    assert found["sample_uniques"] == (2 if whole else 1)
    assert found["unique_with_kept"] == (2 if whole else 1)
