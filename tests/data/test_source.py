"""What every source keeps to: plain types, dates that can be shown, and no word of a row."""

from __future__ import annotations

import datetime as dt
import errno
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.core.errors import RequestError, SourceError
from voile.data import open_source
from voile.data.source import OFFLINE, evenly, unreadable

WORD = pa.dictionary(pa.int8(), pa.string())
ENDS = (dt.datetime.min, dt.datetime.max)
EPOCH = dt.datetime(1970, 1, 1)
TICKS = {"s": 1, "ms": 1_000, "us": 1_000_000}


@pytest.mark.parametrize(
    ("stored", "read", "value"),
    [
        (pa.null(), pa.string(), None),
        (pa.large_string(), pa.string(), "a"),
        (pa.string_view(), pa.string(), "a"),
        (pa.large_binary(), pa.binary(), b"a"),
        (pa.binary_view(), pa.binary(), b"a"),
        (WORD, pa.string(), "a"),
        (pa.list_(WORD), pa.list_(pa.string()), ["a", None]),
        (pa.large_list(WORD), pa.large_list(pa.string()), ["a"]),
        (pa.struct([("word", WORD)]), pa.struct([("word", pa.string())]), {"word": "a"}),
        (pa.int8(), pa.int8(), 3),
    ],
)
def test_a_column_is_read_as_values_whatever_its_layout(
    stored: pa.DataType, read: pa.DataType, value: object
) -> None:
    """A dictionary may hold values of rows that are left out."""
    source = open_source(pa.table({"n": [1, 2], "x": pa.array([value, None], stored)}))
    assert source.columns["x"] == read
    (batch,) = source.batches(["x"])
    assert batch.schema.field("x").type == batch.column("x").type == read
    assert batch.column("x").to_pylist() == [value, None]


@pytest.mark.parametrize("kind", [pa.timestamp(unit) for unit in TICKS] + [pa.date64()])
def test_moments_of_the_years_1_to_9999_are_read_and_no_others(kind: pa.DataType) -> None:
    per_second = TICKS[getattr(kind, "unit", "ms")]
    first, last = (round((end - EPOCH).total_seconds()) * per_second for end in ENDS)
    _check_ends(kind, pa.int64(), first, last - 1)


def test_all_moments_in_nanoseconds_are_read() -> None:
    ticks = pa.array([-(2**63) + 1, None, 2**63 - 1], pa.int64())
    moments = ticks.cast(pa.timestamp("ns"))
    assert open_source(pa.table({"day": moments})).read().column("day").combine_chunks() == moments


def test_days_of_the_years_1_to_9999_are_read_and_no_others() -> None:
    first, last = ((end - EPOCH).days for end in ENDS)
    _check_ends(pa.date32(), pa.int32(), first, last)


def _check_ends(kind: pa.DataType, number: pa.DataType, first: int, last: int) -> None:
    def read(*ticks: int | None) -> pa.Table:
        return open_source(pa.table({"day": pa.array(ticks, number).cast(kind)})).read()

    assert read(first, None, last).column("day").null_count == 1
    assert read(None).num_rows == 1
    for tick in (first - 1, last + 1):
        with pytest.raises(
            SourceError, match="column day: the column contains a date outside the years"
        ):
            read(0, tick)


def test_names_that_may_be_a_person_s_row_are_said_by_their_places(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("Roe,7,Roe\nDoe,8,Doe\n")
    with pytest.raises(
        RequestError, match="two columns have the same name: columns 1 and 3 of row 1"
    ):
        open_source(path)


@settings(derandomize=True, deadline=None)
@given(st.lists(st.integers(0, 9), max_size=8), st.integers(1, 7))
def test_batches_are_cut_evenly(sizes: list[int], rows: int) -> None:
    column = pa.array(range(sum(sizes)), pa.int64())
    starts = [sum(sizes[:n]) for n in range(len(sizes))]
    cut = [column.slice(a, n) for a, n in zip(starts, sizes, strict=True)]
    even = list(evenly((pa.RecordBatch.from_arrays([one], ["n"]) for one in cut), rows))
    assert [one.num_rows for one in even[:-1]] == [rows] * (len(even) - 1)
    assert all(0 < one.num_rows <= rows for one in even)
    assert [n for one in even for n in one.column("n").to_pylist()] == column.to_pylist()


def test_no_engine_fetches_or_loads_an_extension_for_what_a_file_asks(tmp_path: Path) -> None:
    connection = duckdb.connect(config={**OFFLINE, "extension_directory": str(tmp_path)})
    with pytest.raises(duckdb.Error) as refused:
        connection.sql("SELECT * FROM 'http://127.0.0.1:9/people.parquet'")
    assert "INSTALL httpfs" in str(refused.value)
    assert "LOAD httpfs" in str(refused.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        duckdb.OutOfMemoryException("could not allocate"),
        duckdb.IOException("No space left on device"),
    ],
)
def test_a_full_disk_or_memory_is_no_damage_of_the_file(error: Exception) -> None:
    with pytest.raises(type(error)) as found, unreadable("people.db", "duckdb"):
        raise error
    assert found.value is error


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            OSError(errno.EACCES, "Permission denied"),
            "people.db: the file cannot be read: Permission deni",
        ),
        (OSError("row 3: Roe"), "people.db: the duckdb file is damaged or truncated"),
        (pa.ArrowInvalid("Roe"), "people.db: the duckdb file is damaged or truncated"),
        (duckdb.IOException("Roe"), "people.db: the duckdb file is damaged or truncated"),
    ],
)
def test_what_an_engine_says_of_a_row_is_not_said_again(error: Exception, said: str) -> None:
    with pytest.raises(SourceError, match=said) as found, unreadable("people.db", "duckdb"):
        raise error
    assert "Roe" not in str(found.value)
