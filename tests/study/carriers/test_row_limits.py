"""Fewer rows of each person: neither the order of a file nor of its lines chooses them."""

from __future__ import annotations

import random
from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.study.made import SECRET

from voile.data import open_source
from voile.keys.secret import Secret
from voile.study.carriers.row_limits import RowLimits
from voile.study.risk.remedies import limit_rows
from voile.study.verbs.capping import write_capped

ROWS = [
    {"person": f"p{n % 7}", "code": f"c{n % 5}", "value": None if n % 11 == 0 else n % 13}
    for n in range(90)
] + [{"person": "p0", "code": "c1", "value": 1}] * 6


def shuffled(seed):
    return random.Random(seed).sample(ROWS, len(ROWS))


def as_counts(rows):
    return Counter(tuple(row.values()) for row in rows)


def choose(rows, most, secret=SECRET):
    limits = RowLimits(lambda _, person: most.get(person), secret)
    for row in rows:
        limits.consider("labs", row["person"], row)
    return [row for row in rows if limits.keeps("labs", row["person"], row)]


def test_the_same_rows_stay_in_every_order_equal_rows_included():
    most = {"p0": 4, "p1": 1, "p2": 200}
    found = choose(ROWS, most)
    people = Counter(row["person"] for row in ROWS)
    kept = Counter(row["person"] for row in found)
    assert (kept["p0"], kept["p1"], kept["p2"]) == (4, 1, people["p2"])
    for seed in range(20):
        assert as_counts(choose(shuffled(seed), most)) == as_counts(found)


def test_another_secret_chooses_other_rows():
    most = {f"p{n}": 3 for n in range(7)}
    other = choose(ROWS, most, Secret(b"another key of 32 bytes or more!"))
    assert as_counts(other) != as_counts(choose(ROWS, most))


@pytest.mark.parametrize("limit", [limit_rows(5, None), limit_rows(None, [2, 8])])
def test_a_capped_part_has_the_same_rows_whatever_the_order_of_its_file(tmp_path, limit):
    def cap(rows):
        source = open_source(pa.Table.from_pylist(rows))
        write_capped(source, "person", limit, SECRET, tmp_path, "labs")
        return pq.read_table(tmp_path / "labs.capped.parquet").to_pylist()

    found, people = cap(ROWS), Counter(row["person"] for row in ROWS)
    kept = Counter(row["person"] for row in found)
    assert kept == {who: limit(n) for who, n in people.items()}
    for seed in range(5):
        mixed = shuffled(seed)
        again = cap(mixed)
        assert as_counts(again) == as_counts(found)
        places = iter(mixed)
        assert all(any(row == one for one in places) for row in again)  # in the file's order
