"""The published codebook alone recodes as the policy does, and reads a release back."""

from __future__ import annotations

import datetime as dt
import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from voile.errors import TamperedError
from voile.tables.codebook import Codebook, CodedColumn
from voile.tables.domain import Domain, Reading, build_domain
from voile.tables.policy import Policy
from voile.tables.recode import Recoder, bound_columns, label_column

DAYS = st.dates(dt.date(1999, 11, 1), dt.date(2000, 3, 1))
FORM = "%d.%m.%Y"
KINDS = {
    "integer": (pa.int64(), st.integers(-50, 50)),
    "decimal": (pa.decimal128(6, 2), st.decimals(-99, 99, places=2)),
    "text": (pa.string(), st.sampled_from(["", "a", "b|c", "missing", "z", "1-2", '"'])),
    "digits": (pa.string(), st.sampled_from(["00501", "37010", "37011", "99999"])),
    "listed": (pa.string(), st.sampled_from(["small", "medium", "large", ""])),
    "day": (pa.date32(), DAYS),
    "month": (pa.date32(), DAYS),
    "year": (pa.timestamp("ms"), DAYS.map(lambda d: dt.datetime(d.year, d.month, d.day))),
    "form": (pa.string(), DAYS.map(lambda d: d.strftime(FORM))),
}
READINGS = {
    "digits": Reading("text"),
    "day": Reading("date"),
    "month": Reading("date", "month"),
    "year": Reading("date", "year"),
    "form": Reading("date", form=FORM),
}


@st.composite
def columns(draw, name):
    """Draw cells and the domain that they make."""
    kind = draw(st.sampled_from(sorted(KINDS)))
    type_, cells = KINDS[kind]
    raw = draw(st.lists(st.none() | cells, min_size=2, max_size=12))
    reading = READINGS.get(kind, Reading(kind))
    assume(len({reading(cell) for cell in raw}) > 1)
    if kind == "listed":
        values = sorted({cell for cell in raw if cell is not None}, reverse=True)
        domain = Domain(name, (*values, *((None,) if None in raw else ())), reading)
    else:
        domain = build_domain(name, raw, reading, fill=draw(st.booleans()))
    return domain, raw, pa.array(raw, type_)


@st.composite
def registers(draw):
    """Draw a register of two columns and a policy over their domains."""
    (a, raw_a, _), (b, raw_b, _) = made = draw(columns("a")), draw(columns("b"))
    n = min(len(raw_a), len(raw_b))
    table = pa.table({d.column: array[:n] for d, _, array in made})
    n_bits = len(a) + len(b) - 2
    bits = np.random.default_rng(draw(st.integers(0, 2**32))).random(n_bits) < 0.3
    return table, Policy((a, b), bits)


def through_json(codebook):
    return Codebook.from_data(json.loads(json.dumps(codebook.to_data())))


@settings(deadline=None)
@given(registers(), st.booleans())
def test_the_codebook_comes_back_equal_from_json(made, bounds):
    codebook = Codebook.of(made[1], bounds=bounds)
    assert through_json(codebook) == codebook


@settings(deadline=None)
@given(registers(), st.booleans())
def test_the_codebook_alone_recodes_as_the_policy_does(made, bounds):
    table, policy = made
    codebook = through_json(Codebook.of(policy, bounds=bounds))
    expected = Recoder(policy)(table.combine_chunks().to_batches()[0]).intervals
    assert codebook.recode(table).tolist() == expected.tolist()
    missing = np.column_stack([table.column(name).is_null() for name in table.column_names])
    register = np.where(missing, -1, expected)
    assert codebook.register_codes(table).tolist() == register.tolist()


@settings(deadline=None)
@given(registers(), st.booleans())
def test_the_codebook_reads_the_release_back(made, bounds):
    table, policy = made
    recoded = Recoder(policy)(table.combine_chunks().to_batches()[0]).intervals
    codebook = through_json(Codebook.of(policy, bounds=bounds))
    released = {}
    for place, domain in enumerate(policy.domains):
        intervals = policy.intervals[domain.column]
        if bounds:
            low, high = bound_columns(domain, intervals, recoded[:, place])
            released |= {f"{domain.column}_low": low, f"{domain.column}_high": high}
        else:
            released[domain.column] = label_column(intervals, recoded[:, place])
    assert codebook.released == list(released)
    assert codebook.released_codes(pa.table(released)).tolist() == recoded.tolist()


AGE = Domain("age", tuple(range(100)), Reading("integer"))
CODED = CodedColumn.of(AGE, Policy((AGE,), np.arange(99) == 17).intervals["age"], bounds=False)


def test_a_register_that_lacks_a_column_knows_nothing_of_it():
    codebook = Codebook((CODED,))
    assert codebook.register_codes(pa.table({"sex": ["f", "m"]})).tolist() == [[-1], [-1]]


def test_what_no_interval_holds_is_unknown():
    cells = pa.array(["17", "18", "100", "-1", "old", None, " 007 "])
    assert CODED.register_codes(cells).tolist() == [0, 1, -1, -1, -1, -1, 0]


def test_a_cell_that_is_no_interval_is_tampered_with():
    assert CODED.released_codes([pa.array(["0-17", "18-99"])]).tolist() == [0, 1]
    with pytest.raises(TamperedError, match="column age: row 2 holds none"):
        CODED.released_codes([pa.array(["0-17", "18-98"])])
    with pytest.raises(TamperedError, match="row 1"):
        CODED.released_codes([pa.array([None, "0-17"], pa.string())])


def test_an_empty_release_has_no_codes():
    assert Codebook((CODED,)).released_codes(
        pa.table({"age": pa.array([], pa.string())})
    ).shape == (0, 1)
