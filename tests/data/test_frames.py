"""What Python holds is a source, and comes back as what it was."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from voile.core.errors import RequestError
from voile.data import open_source, open_writer, to_frame
from voile.data.files.memory import MemoryPath
from voile.data.frames import frame_of

TABLE = pa.table({"zip": ["37201", None], "age": [36, 2**53 + 1]})
MAKES: dict[str, Any] = {
    "arrow": lambda: TABLE,
    "pandas": lambda: TABLE.to_pandas(),
    "polars": lambda: pl.DataFrame(TABLE),
    "lazy polars": lambda: pl.DataFrame(TABLE).lazy(),
    "duckdb": lambda: duckdb.from_arrow(TABLE),
    "dictionary": TABLE.to_pydict,
    "numpy": lambda: np.array(
        [("37201", 36), (None, 2**53 + 1)], dtype=[("zip", object), ("age", np.int64)]
    ),
}


@pytest.mark.parametrize("kind", MAKES)
def test_every_frame_has_the_same_rows_and_goes_back(kind):
    source = open_source(MAKES[kind]())
    assert frame_of(source) == kind
    table = pa.Table.from_batches(source.batches(), source.schema())
    assert table.to_pylist() == TABLE.to_pylist()
    back = to_frame(table, like=kind)
    assert open_source(back).fingerprint() == source.fingerprint()
    if kind != "numpy":
        assert type(back) is type(MAKES[kind]())


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"a": [1, 2], "b": [1]}, "the columns have different lengths: a 2, b 1"),
        ({"a": [1, "CANARY"]}, "column a holds values of several types"),
        (pd.DataFrame({0: [1 + 2j], 1: [2j]}), "column 0 holds values of several types, or of one"),
        ({"a": 3}, "column a is not a list of values"),
        ({"zip": [1], "ZIP": [2]}, "two columns have the same name:"),
    ],
)
def test_a_dictionary_of_no_columns_is_refused_by_its_columns(columns, said):
    with pytest.raises(RequestError, match=said) as refused:
        open_source(columns)
    assert "CANARY" not in str(refused.value)


@pytest.mark.parametrize("thing", [3, [1, 2], np.zeros((2, 2)), pd.Series([1])])
def test_what_is_no_frame_is_refused(thing):
    with pytest.raises(RequestError, match="is not a source of data; give a path"):
        open_source(thing)


def test_rows_in_memory_are_read_as_they_were_written():
    place = MemoryPath("rows")
    with pytest.raises(RequestError, match="the file does not exist"):
        open_source(place)
    labels = pa.array(["a", "b"]).dictionary_encode()
    with open_writer(place, pa.schema([("label", labels.type)])) as writer:
        writer.write(pa.RecordBatch.from_arrays([labels], ["label"]))
    assert open_source(place).columns == {"label": pa.string()}
    with pytest.raises(
        RequestError, match=r"--formulas escape applies only to \.csv and \.tsv files"
    ):
        open_writer(place, TABLE.schema, escape=True)


def test_lines_in_memory_are_rows_of_text():
    place = MemoryPath("folder") / "classes.csv"
    with place.open("w", newline="", encoding="utf-8") as file:
        file.write('who,class\np1,"a, b"\n')
    assert [batch.to_pylist() for batch in open_source(place).batches()] == [
        [{"who": "p1", "class": "a, b"}]
    ]
    assert not MemoryPath("other").exists()


WIDE = [10**24, None, -(2**70), 3]
WIDE_FRAMES: dict[str, Any] = {
    "pandas": lambda: pd.DataFrame({"id": pd.Series(WIDE, dtype=object), "n": range(4)}),
    "polars": lambda: pl.DataFrame({"id": pl.Series(WIDE, dtype=pl.Int128), "n": range(4)}),
    "objects": lambda: pl.DataFrame({"id": pl.Series(WIDE, dtype=pl.Object), "n": range(4)}),
    "dictionary": lambda: {"id": WIDE, "n": range(4)},
    "numpy": lambda: np.array([(one,) for one in WIDE], dtype=[("id", object)]),
    "duckdb": lambda: duckdb.sql(
        "SELECT unnest([1000000000000000000000000, NULL, -1180591620717411303424, 3])::HUGEINT id"
    ),
}


@pytest.mark.parametrize("kind", WIDE_FRAMES)
def test_whole_numbers_beyond_64_bits_are_exact(kind):
    source = open_source(WIDE_FRAMES[kind]())
    assert source.columns["id"] == pa.decimal128(38, 0)
    table = source.read()
    assert table["id"].to_pylist() == WIDE
    back = open_source(to_frame(table, like=frame_of(source)))
    assert back.read()["id"].to_pylist() == WIDE


def test_python_s_own_whole_numbers_come_back():
    for kind in ("pandas", "dictionary"):
        back = to_frame(open_source(WIDE_FRAMES[kind]()).read(), like=kind)["id"]
        assert [type(one) for one in back] == [int, type(None), int, int]


def test_more_digits_than_an_engine_s_decimal_are_text():
    numbers = [10**38, 10**90 + 1, 7]
    assert open_source({"id": numbers}).read()["id"].to_pylist() == list(map(str, numbers))


@pytest.mark.parametrize("other", [1.5, True, "CANARY", b"x"])
def test_a_whole_number_beside_another_type_is_named(other):
    frame = pd.DataFrame({"a": [1, 2], "id": pd.Series([10**24, other], dtype=object)})
    with pytest.raises(RequestError, match="column id holds values of several types") as refused:
        open_source(frame)
    assert "CANARY" not in str(refused.value)
