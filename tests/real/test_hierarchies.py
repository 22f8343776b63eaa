"""ARX's trees over Adult become orders in which every level of every tree is a set of cuts."""

from __future__ import annotations

import csv
import gzip
from itertools import pairwise

import pyarrow as pa
import pytest

from voile.tables.domains.hierarchy import build_tree_domain, read_hierarchy
from voile.tables.fitting.space import PolicySpace

pytestmark = pytest.mark.real
LEVELS = {
    "sex": (2, 2),
    "age": (100, 5),
    "race": (5, 2),
    "marital-status": (7, 3),
    "education": (16, 4),
    "native-country": (41, 3),
    "workclass": (8, 3),
    "occupation": (14, 3),
    "salary-class": (2, 2),
}


@pytest.mark.parametrize("name", LEVELS)
def test_every_level_is_contiguous(data_set, name):
    rows = read_hierarchy(data_set("arx-adult") / f"adult_hierarchy_{name}.csv")
    domain = build_tree_domain(name, rows)
    assert (len(domain), len(domain.levels)) == LEVELS[name]
    path = {row[0]: row for row in rows}
    for level, cuts in enumerate(domain.levels):
        groups = [path[value][level] for value in domain.values]
        assert [a != b for a, b in pairwise(groups)] == list(cuts)
        assert sum(cuts) + 1 == len(set(groups))
    assert not any(domain.levels[-1])
    assert all(domain.levels[0])


def test_every_value_of_the_table_is_in_its_tree(data_set):
    folder = data_set("arx-adult")
    with gzip.open(folder / "adult.csv.gz", "rt", newline="") as file:
        names, *rows = csv.reader(file, delimiter=";")
    table = pa.table(
        {name: [row[i] for row in rows] for i, name in enumerate(names) if name in LEVELS}
    )
    settings = {
        name: {"hierarchy": folder / f"adult_hierarchy_{name}.csv"} for name in table.column_names
    }
    space = PolicySpace.of(table, quasi=table.column_names, settings=settings)
    assert space.counts.subjects == 30_162
    assert space.n_bits == sum(size - 1 for size, _ in LEVELS.values())
