"""Recoding equals a naive recoder."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.tables.domains.domain import ValueDomain
from voile.tables.domains.parser import CellParser
from voile.tables.policies.policy import Policy
from voile.tables.recoding.recoder import BatchRecoder

ROWS, EXAMPLES = 2_000, 50  # 100,000 rows in all

ZIP = ValueDomain("zip", ("00501", "00544", "37010", "37011", None), CellParser("text"))
AGE = ValueDomain("age", (*range(91), None), CellParser("integer"))
CHANGE = ValueDomain("change", (-40, -3, -2, 0, 7), CellParser("integer"))
TOWN = ValueDomain(
    "town", ("Zürich", "Aix-en-Provence", "東京", "a|b", "", None), CellParser("listed")
)
DOMAINS = (ZIP, AGE, CHANGE, TOWN)
CELLS = {
    "zip": [*ZIP.values, "501", "37012"],
    "age": [0, 17, 18, 89, 90, None, 91, -1],
    "change": [*CHANGE.values, -1, 8, None],
    "town": [*TOWN.values, "Zurich", "TOKYO"],
}
TYPES = {"zip": pa.string(), "age": pa.int64(), "change": pa.int64(), "town": pa.string()}


@st.composite
def tables(draw):
    """Draw some rows one by one, and the others from a seed."""
    rng = np.random.default_rng(draw(st.integers(0, 2**64)))
    first = draw(st.lists(st.tuples(*(st.sampled_from(c) for c in CELLS.values())), max_size=20))
    table = {}
    for place, (column, cells) in enumerate(CELLS.items()):
        others = rng.integers(len(cells), size=ROWS - len(first))
        table[column] = [row[place] for row in first] + [cells[i] for i in others]
    return table


@st.composite
def policies(draw):
    n = sum(len(domain) - 1 for domain in DOMAINS)
    return Policy(DOMAINS, np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)), bool))


def naive(policy, domain, raw):
    """Look a cell up by going through the intervals; -1 where no interval holds it."""
    for number, interval in enumerate(policy.intervals[domain.column]):
        if raw in domain.values[interval.first : interval.last + 1]:
            return number
    return -1


@settings(max_examples=EXAMPLES, deadline=None)
@given(tables(), policies())
def test_recoding_equals_a_naive_recoder(table, policy):
    arrays = [pa.array(table[name], kind) for name, kind in TYPES.items()]
    recoded = BatchRecoder(policy)(pa.RecordBatch.from_arrays(arrays, list(TYPES)))
    assert not recoded.suppressed.any()
    for place, domain in enumerate(DOMAINS):
        memo = {cell: naive(policy, domain, cell) for cell in CELLS[domain.column]}
        expected = [memo[cell] for cell in table[domain.column]]
        assert recoded.intervals[:, place].tolist() == expected
        at = [domain.position.get(cell, -1) for cell in table[domain.column]]
        assert recoded.values[:, place].tolist() == at


def test_rows_with_any_cell_outside_are_outside():
    policy = Policy(DOMAINS, np.ones(sum(len(d) - 1 for d in DOMAINS), dtype=bool))
    batch = pa.RecordBatch.from_pydict(
        {"zip": ["00501", "501"], "age": [90, 90], "change": [0, 0], "town": ["", ""]}
    )
    assert BatchRecoder(policy)(batch).outside.tolist() == [False, True]


GROUPS = st.sets(st.tuples(st.integers(0, 2), st.integers(0, 1)))


@given(GROUPS, st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 1)), max_size=30))
def test_only_groups_that_are_not_allowed_are_suppressed(allowed, rows):
    a = ValueDomain("a", (0, 1, 2), CellParser("integer"))
    b = ValueDomain("b", (0, 1), CellParser("integer"))
    policy = Policy((a, b), np.ones(3, dtype=bool))
    groups = np.array(sorted(allowed), dtype=np.int32).reshape(-1, 2)
    batch = pa.RecordBatch.from_pydict(
        {
            "a": pa.array([r[0] for r in rows], pa.int64()),
            "b": pa.array([r[1] for r in rows], pa.int64()),
        }
    )
    recoded = BatchRecoder(policy, groups)(batch)
    inside = [0 <= row[0] <= 2 for row in rows]
    assert recoded.suppressed.tolist() == [
        here and row not in allowed for here, row in zip(inside, rows, strict=True)
    ]
