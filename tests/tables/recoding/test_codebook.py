"""The published codebook alone recodes as the policy does, and reads a release back."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from voile.core.errors import RequestError, TamperedError
from voile.tables.domains.domain import ValueDomain, build_domain
from voile.tables.domains.parser import CellParser
from voile.tables.policies.policy import Policy
from voile.tables.recoding.codebook import CodebookEntry, CodedColumn, ReleaseCodebook
from voile.tables.recoding.published import PublishedPolicy
from voile.tables.recoding.recoder import BatchRecoder

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
    "kilos": (pa.string(), st.integers(0, 999).map(lambda n: f"{n // 10},{n % 10} kg")),
    "float": (
        pa.float64(),
        st.floats(-9, 9).map(lambda x: round(x, 20)) | st.sampled_from([0.5, 2.25, -0.0]),
    ),
    "whole": (pa.int64(), st.integers(-50, 50)),
    "coded": (pa.int64(), st.integers(0, 99)),
    "hour": (pa.time32("s"), st.times().map(lambda t: t.replace(microsecond=0))),
    "minute": (pa.string(), st.times().map(lambda t: f"{t:%H:%M}")),
    "asked": (pa.string(), st.sampled_from(["1", "2", " 30", "40", "k.A.", " - "])),
}
READINGS = {
    "digits": CellParser("text"),
    "day": CellParser("date"),
    "month": CellParser("date", "month"),
    "year": CellParser("date", "year"),
    "form": CellParser("date", forms=(FORM,)),
    "kilos": CellParser("decimal", forms=("1234,5 kg",), edges=(Decimal("18.5"), Decimal(60))),
    "float": CellParser("decimal", edges=(Decimal("0.5"), Decimal("2.25"))),
    "whole": CellParser("integer", edges=(Decimal(-20), Decimal(0), Decimal(17))),
    "coded": CellParser("integer", bottom=Decimal(18), top=Decimal(90)),
    "hour": CellParser("time", "hour"),
    "minute": CellParser("time", "minute"),
    "asked": CellParser("integer", missing=("k.A.", "-")),
}


@st.composite
def columns(draw, name):
    """Draw cells and the domain that they make."""
    kind = draw(st.sampled_from(sorted(KINDS)))
    type_, cells = KINDS[kind]
    raw = draw(st.lists(st.none() | cells, min_size=2, max_size=12))
    parser = READINGS.get(kind, CellParser(kind))
    assume(len({parser(cell) for cell in raw}) > 1)
    if kind == "listed":
        values = sorted({cell for cell in raw if cell is not None}, reverse=True)
        domain = ValueDomain(name, (*values, *((None,) if None in raw else ())), parser)
    else:
        domain = build_domain(name, raw, parser, fill=draw(st.booleans()))
    return domain, raw, pa.array(raw, type_)


@st.composite
def registers(draw):
    """Draw a register of two columns, a policy over their domains, and which rows are released."""
    (a, raw_a, _), (b, raw_b, _) = made = draw(columns("a")), draw(columns("b"))
    n = min(len(raw_a), len(raw_b))
    table = pa.table({d.column: array[:n] for d, _, array in made})
    n_bits = len(a) + len(b) - 2
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    policy = Policy((a, b), rng.random(n_bits) < 0.3)
    return table, policy, rng.random(n) < draw(st.sampled_from([0.5, 1.0]))


def published(policy, values, bounds):
    """Publish what rows of values, by their places in the domains, show."""
    seen = zip(policy.domains, values.T, strict=True)
    return PublishedPolicy.of(
        policy, [np.isin(np.arange(len(d)), x) for d, x in seen], bounds=bounds
    )


def released(made, bounds):
    """Return the released rows, recoded, and what is published of the policy."""
    table, policy, kept = made
    recoded = BatchRecoder(policy)(table.combine_chunks().to_batches()[0])
    try:
        shown = published(policy, recoded.values[kept], bounds)
    except RequestError:
        assume(False)
    expected = np.column_stack(
        [of[x] for of, x in zip(shown.entry_of, recoded.intervals.T, strict=True)]
    )
    return table.filter(kept), expected[kept], recoded.intervals[kept], shown


def through_json(codebook):
    return ReleaseCodebook.from_data(json.loads(json.dumps(codebook.to_data())))


@settings(deadline=None)
@given(registers(), st.booleans())
def test_the_codebook_comes_back_equal_from_json(made, bounds):
    *_, shown = released(made, bounds)
    assert through_json(shown.codebook) == shown.codebook


@settings(deadline=None)
@given(registers(), st.booleans())
def test_the_codebook_alone_recodes_released_rows_as_the_policy_does(made, bounds):
    table, expected, _, shown = released(made, bounds)
    policy = made[1]
    codebook = through_json(shown.codebook)
    assert codebook.recode(table).tolist() == expected.tolist()
    missing = np.column_stack(
        [[d.parser(cell) is None for cell in table[d.column].to_pylist()] for d in policy.domains]
    )
    register = np.where(missing, -1, expected)
    assert codebook.register_codes(table).tolist() == register.tolist()


@settings(deadline=None)
@given(registers(), st.booleans())
def test_the_codebook_reads_the_release_back(made, bounds):
    _, expected, numbers, shown = released(made, bounds)
    codebook = through_json(shown.codebook)
    written = {}
    for place, column in enumerate(codebook.columns):
        arrays = shown.write_cells(column.column, numbers[:, place])
        written |= dict(zip(column.released, arrays, strict=True))
    assert codebook.released_columns == list(written)
    assert codebook.released_codes(pa.table(written)).tolist() == expected.tolist()


AGE = ValueDomain("age", tuple(range(100)), CellParser("integer"))
HALVES = Policy((AGE,), np.arange(99) == 17)
CODED = published(HALVES, np.array([[0], [99]]), False).codebook.columns[0]


def test_a_register_that_lacks_a_column_knows_nothing_of_it():
    codebook = ReleaseCodebook((CODED,))
    assert codebook.register_codes(pa.table({"sex": ["f", "m"]})).tolist() == [[-1], [-1]]


def test_open_ends_hold_every_number_and_what_is_no_number_is_unknown():
    cells = pa.array(["17", "18", "100", "-1", "old", None, " 007 "])
    assert CODED.register_codes(cells).tolist() == [0, 1, 1, 0, -1, -1, 0]


def test_a_value_that_no_released_row_can_have_agrees_with_none():
    three = Policy((AGE,), np.isin(np.arange(99), [17, 64]))
    middle = published(three, np.array([[20], [70]]), False).codebook.columns[0]
    assert [entry.label for entry in middle.entries] == ["under 65", "65 and over"]
    town = ValueDomain("town", ("Ada", "Bo", "Cy"), CellParser("listed"))
    whole = Policy((town,), np.zeros(2, dtype=bool))
    towns = published(whole, np.array([[0], [1]]), False).codebook.columns[0]
    assert towns.register_codes(pa.array(["Bo", "Cy", None, "", " "])).tolist() == [
        0,
        1,
        -1,
        -1,
        -1,
    ]


def test_bounds_that_read_as_a_missing_value_are_refused():
    ages = ValueDomain("age", (*range(100), None), CellParser("integer"))
    known = Policy((ages,), np.arange(100) == 99)
    with pytest.raises(RequestError, match="leave --bounds out"):
        published(known, np.array([[5], [100]]), True)
    assert published(known, np.array([[5], [6]]), True)


def test_a_cell_that_is_no_interval_is_tampered_with():
    assert CODED.released_codes([pa.array(["under 18", "18 and over"])]).tolist() == [0, 1]
    with pytest.raises(TamperedError, match="column age: row 2 has none"):
        CODED.released_codes([pa.array(["under 18", "18-98"])])
    with pytest.raises(TamperedError, match="row 1"):
        CODED.released_codes([pa.array([None, "under 18"], pa.string())])


def test_an_empty_release_has_no_codes():
    assert ReleaseCodebook((CODED,)).released_codes(
        pa.table({"age": pa.array([], pa.string())})
    ).shape == (0, 1)


def test_a_codebook_of_bins_holds_how_cells_are_read_and_no_cell():
    cells = ["61,37 kg", "72,91 kg", "88,13 kg", "99,47 kg"]
    parser = CellParser("decimal", forms=("1234,5 kg",), edges=(Decimal(70), Decimal(90)))
    domain = build_domain("weight", cells, parser)
    policy = Policy((domain,), np.array([True, True]))
    released = np.array([[0], [1]], dtype=np.int32)
    (column,) = published(policy, released, bounds=False).codebook.columns
    assert [entry.label for entry in column.entries] == ["under 70 kg", "70 kg and over"]
    assert column.register_codes(pa.array(["65 KG", "70,0 kg", "90 kg", "heavy"])).tolist() == [
        0, 1, 1, -1,
    ]  # fmt: skip
    text = json.dumps(column.__dict__, default=str)
    assert "1234,5 kg" in text
    assert not any(digits in text for digits in ("37", "91", "13", "47", "72"))


def test_intervals_overlap_where_some_number_is_in_both():
    entries = (
        CodebookEntry("under 40.3", None, None, "40.3"),
        CodebookEntry("40.3 to below 43", "40.3", None, "43"),
        CodebookEntry("41.5", "41.5", "41.5"),
        CodebookEntry("42 and over|missing", "42", None, missing=True),
        CodebookEntry("any", None, None),
        CodebookEntry("missing", None, None, missing=True),
    )
    column = CodedColumn("kg", ("kg",), "decimal", "day", (), (), entries)
    cells = pa.array([*(f"{n / 10:g}" for n in range(380, 480)), None], pa.string())
    held, place = column.membership(cells, blank_is_unknown=False)
    of_cells = held[:, place].astype(int)
    assert (column.overlaps == (of_cells @ of_cells.T > 0)).all()
