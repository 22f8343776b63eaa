"""Every format gives back what was put in, as exactly as it can hold it."""

from __future__ import annotations

import datetime as dt
import gzip
import json
import sqlite3
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import duckdb
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest

from voile.core.errors import RequestError
from voile.data import Source, open_source, open_writer, to_frame

BIG = 2**53 + 1
TEXTS = ["00501", None, "", 'says "hi"; x,y\nnext\tline', "Zoë 東京 \u2028", "NA", " padded "]
PRICES = [Decimal("0.10"), None, Decimal("-12345678901234567.89"), *[Decimal(1)] * 4]
MOMENTS = [dt.datetime(2024, 3, 1, 4, 5, 6, 789), None, *[dt.datetime(1900, 1, 1)] * 5]
TYPED = pa.table(
    {
        "zip": pa.array(TEXTS),
        "n": pa.array([BIG, None, -BIG, 0, 1, 2, 3], pa.int64()),
        "price": pa.array(PRICES, pa.decimal128(19, 2)),
        "born": pa.array([dt.date(1931, 1, 1), None, *[dt.date(2024, 2, 29)] * 5]),
        "seen": pa.array(MOMENTS),
        "ok": pa.array([True, None, False, True, True, False, True]),
        "x": pa.array([0.1, None, -0.0, 1e300, 5e-324, 1.0, 2.5]),
    }
)


def rows_of(source: Source) -> pa.Table:
    return pa.Table.from_batches(source.batches(), source.schema())


def written(path: str | Path, table: pa.Table, rows: int = 2) -> None:
    with open_writer(path, table.schema) as writer:
        for batch in table.to_batches(max_chunksize=rows):
            writer.write(batch)


def save_sqlite(path: Path) -> str:
    with sqlite3.connect(path) as connection:
        connection.execute('CREATE TABLE "the ""t"" é" (zip TEXT, n, price, born, seen, ok, x)')
        cells = [[_cell(v) for v in row.values()] for row in TYPED.to_pylist()]
        connection.executemany('INSERT INTO "the ""t"" é" VALUES (?,?,?,?,?,?,?)', cells)
    return f'{path}::the "t" é'


def _cell(value: object) -> object:
    return str(value) if isinstance(value, Decimal | dt.date) else value


@pytest.mark.parametrize("end", [".parquet", ".arrow", ".feather", ".duckdb"])
def test_typed_formats_keep_everything(tmp_path: Path, end: str) -> None:
    path = f"{tmp_path / 'a file é'}{end}"
    written(path, TYPED)
    assert rows_of(open_source(path)).equals(TYPED)


@pytest.mark.parametrize("end", [".csv", ".tsv"])
def test_delimited_text_keeps_every_value_as_text(tmp_path: Path, end: str) -> None:
    path = tmp_path / f"a file é{end}"
    written(path, TYPED)
    table = rows_of(open_source(path))
    assert set(table.schema.types) == {pa.string()}
    assert table["zip"].to_pylist() == TEXTS
    for name in ("n", "price", "born", "seen", "ok", "x"):
        assert table[name].cast(TYPED.schema.field(name).type).equals(TYPED[name])


def test_json_lines_keep_texts_numbers_and_nulls(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    written(path, TYPED)
    table = rows_of(open_source(path))
    for name in ("zip", "n", "ok", "x"):
        assert table[name].equals(TYPED[name])
    for name in ("price", "born", "seen"):
        assert table.schema.field(name).type == pa.string()
        assert table[name].cast(TYPED.schema.field(name).type).equals(TYPED[name])


def test_sqlite_keeps_what_it_stores(tmp_path: Path) -> None:
    table = rows_of(open_source(save_sqlite(tmp_path / "a #1?.sqlite")))
    for name in ("zip", "x"):
        assert table[name].equals(TYPED[name])
    assert table["n"].equals(TYPED["n"])
    assert table["price"].cast(pa.decimal128(19, 2)).equals(TYPED["price"])
    assert table["ok"].cast(pa.bool_()).equals(TYPED["ok"])


def test_excel_keeps_text_as_text_and_whole_numbers_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    book = openpyxl.Workbook()
    book.active.title = "People"
    book.active.append(["zip", "age", "pay", "born", "mixed"])
    book.active.append(["00501", 89, 1.5, dt.date(1931, 1, 1), "x"])
    book.active.append([])
    book.active.append([None, 90.0, 2, dt.date(2024, 2, 29), 7])
    book.create_sheet("Other").append(["a"])
    book.save(path)
    assert rows_of(open_source(path)).to_pydict() == {
        "zip": ["00501", None],
        "age": [89, 90],
        "pay": [1.5, 2.0],
        "born": [dt.date(1931, 1, 1), dt.date(2024, 2, 29)],
        "mixed": ["x", "7"],
    }
    assert open_source(f"{path}::Other").columns == {"a": pa.string()}


def test_of_several_sheets_none_is_taken_without_a_word(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.title = "Cover"
    book.active.append(["Visits of 2024"])
    book.create_sheet("Visits").append(["age"])
    book["Visits"].append([44])
    book.create_sheet("Empty")
    book.save(tmp_path / "one.xlsx")
    source = open_source(tmp_path / "one.xlsx")
    assert (list(source.columns), source.notes) == (["age"], ("sheet Visits",))
    book["Cover"].append(["for the board"])
    book.save(tmp_path / "two.xlsx")
    with pytest.raises(RequestError) as refused:
        open_source(tmp_path / "two.xlsx")
    assert str(refused.value) == "two.xlsx: the workbook has several sheets; there is Cover, Visits"
    assert list(open_source(tmp_path / "two.xlsx", table="Visits").columns) == ["age"]


STATISTICS: dict[str, Callable[..., None]] = {
    "sav": pyreadstat.write_sav,
    "xpt": pyreadstat.write_xport,
    "dta": pyreadstat.write_dta,
}


@pytest.mark.parametrize("end", STATISTICS)
def test_statistics_files_give_whole_numbers_dates_and_text(tmp_path: Path, end: str) -> None:
    frame = pd.DataFrame(
        {
            "zip": ["00501", "", "Zoë"],
            "age": [89.0, None, 0.0],
            "pay": [1.5, 2.0, None],
            "born": [dt.date(1931, 1, 1), None, dt.date(2024, 2, 29)],
            "big": [2.0**53, 1.0, 2.0],
        }
    )
    path = tmp_path / f"a file.{end}"
    STATISTICS[end](frame, str(path))
    source = open_source(path)
    batches = list(source.batches(batch_rows=2))
    assert [batch.num_rows for batch in batches] == [2, 1]
    assert pa.Table.from_batches(batches).to_pydict() == {
        "zip": ["00501", None, "Zoë"],
        "age": [89, None, 0],
        "pay": [1.5, 2.0, None],
        "born": [dt.date(1931, 1, 1), None, dt.date(2024, 2, 29)],
        "big": [2**53, 1, 2],
    }


@pytest.mark.parametrize("like", ["pandas", "polars", "arrow"])
def test_frames_come_back_as_they_came_in(like: str) -> None:
    frame = to_frame(TYPED, like=like)
    source = open_source(frame)
    assert (source.kind, source.name) == (like, f"{like} frame")
    back = rows_of(source)
    assert back["n"].equals(TYPED["n"])
    assert back.cast(TYPED.schema).equals(TYPED)
    assert type(to_frame(back, like=source.kind)) is type(frame)


def test_frames_with_categories_and_an_index_are_read() -> None:
    frame = pd.DataFrame({"sex": pd.Categorical(["F", "M"]), 7: [1, 2]}, index=["x", "y"])
    assert rows_of(open_source(frame)).to_pydict() == {"sex": ["F", "M"], "7": [1, 2]}
    lazy = pl.LazyFrame({"sex": pl.Series(["F"], dtype=pl.Categorical)})
    assert rows_of(open_source(lazy)).to_pydict() == {"sex": ["F"]}


@pytest.mark.parametrize("end", [".parquet", ".arrow", ".duckdb", ".csv", ".jsonl"])
def test_a_name_with_a_colon_is_no_address(
    tmp_path: Path, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(f"ward:1{end}", TYPED.select(["zip"]))
    assert rows_of(open_source(f"ward:1{end}")).num_rows == len(TEXTS)


def test_dictionaries_are_written_by_every_writer(tmp_path: Path) -> None:
    batches = [
        pa.record_batch({"age": pa.array(labels).dictionary_encode()})
        for labels in (["18-44", None, "a,b"], ["", "18-44"])
    ]
    wanted = ["18-44", None, "a,b", "", "18-44"]
    for end in (".csv", ".parquet", ".arrow", ".jsonl", ".duckdb"):
        path = tmp_path / f"r{end}"
        with open_writer(path, batches[0].schema) as writer:
            for batch in batches:
                writer.write(batch)
        assert rows_of(open_source(path))["age"].to_pylist() == wanted


def test_csv_is_plain_where_it_can_be(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    written(path, pa.table({"zip": ["00501", None, "", 'a"b', "x,y"], "n": [1, 2, None, 4, 5]}))
    assert path.read_bytes() == b'zip,n\n00501,1\n,2\n"",\n"a""b",4\n"x,y",5\n'


@pytest.mark.parametrize("end", [".csv", ".tsv", ".parquet", ".arrow", ".jsonl", ".duckdb"])
def test_a_writer_without_rows_still_writes_a_whole_file(tmp_path: Path, end: str) -> None:
    path = tmp_path / f"r{end}"
    with open_writer(path, pa.schema([("zip", pa.string()), ("n", pa.int64())])):
        pass
    if end != ".jsonl":  # without a line, JSON lines name no columns
        assert list(open_source(path).columns) == ["zip", "n"]
        assert rows_of(open_source(path)).num_rows == 0


def test_json_writes_what_other_readers_accept(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    written(path, pa.table({"x": [float("nan"), 1.5], "d": [dt.date(2024, 1, 2), None]}))
    assert path.read_text() == '{"x": "nan", "d": "2024-01-02"}\n{"x": 1.5, "d": null}\n'


def test_duckdb_types_without_an_equal_in_arrow_are_exact(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT 'F'::ENUM('F', 'M') AS sex, 9007199254740993::HUGEINT AS n,"
            " uuid() AS id, 1.10::DECIMAL(5, 2) AS d"
        )
    row = rows_of(open_source(path)).to_pylist()[0]
    assert (row["sex"], int(row["n"]), row["d"]) == ("F", BIG, Decimal("1.10"))
    assert len(row["id"]) == 36


def test_batches_are_bounded_reordered_and_repeatable(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(TYPED, path)
    source = open_source(path)
    for _ in range(2):
        batches = list(source.batches(["x", "zip"], batch_rows=3))
        assert [b.num_rows for b in batches] == [3, 3, 1]
        assert batches[0].schema.names == ["x", "zip"]


def test_compressed_text_and_json(tmp_path: Path) -> None:
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"zip\n00501\n"))
    (tmp_path / "a.b.jsonl.gz").write_bytes(gzip.compress(b'{"zip": "00501"}\n\n{"zip": "1"}'))
    assert rows_of(open_source(tmp_path / "a.csv.gz")).to_pydict() == {"zip": ["00501"]}
    assert rows_of(open_source(tmp_path / "a.b.jsonl.gz")).to_pydict() == {"zip": ["00501", "1"]}


def test_json_types_are_the_narrowest_that_keep_every_value(tmp_path: Path) -> None:
    path = tmp_path / "a.ndjson"
    path.write_text(
        '{"a": 1, "b": 1, "c": 1, "d": "2024-01-01", "e": [1, "é"], "f": 9007199254740993}\n'
        '{"a": 2.5, "b": "x", "c": null, "g": true, "f": 0.5}\n'
    )
    source = open_source(path)
    assert [str(kind) for kind in source.columns.values()] == [
        "double", "string", "int64", "string", "list<item: string>", "string", "bool",
    ]  # fmt: skip
    assert rows_of(source)["f"].to_pylist() == [str(BIG), "0.5"]
    assert rows_of(source)["e"].to_pylist() == [["1", "é"], None]


@pytest.mark.parametrize(
    ("cells", "type_", "read"),
    [
        (
            '["a", "b"] null [] ["a", null]',
            "list<item: string>",
            [["a", "b"], None, [], ["a", None]],
        ),
        ("[1, 2] [9007199254740993]", "list<item: int64>", [[1, 2], [BIG]]),
        ("[1, 0.5] [2]", "list<item: double>", [[1.0, 0.5], [2.0]]),
        ('[1, "a", true, 0.5]', "list<item: string>", [["1", "a", "true", "0.5"]]),
        ("[true] [false]", "list<item: bool>", [[True], [False]]),
        ("[18446744073709551616, 1]", "list<item: string>", [["18446744073709551616", "1"]]),
        ("[] null", "list<item: string>", [[], None]),
        ("[null]", "list<item: string>", [[None]]),
        ('["a"] [["b"]]', "string", ['["a"]', '[["b"]]']),
        ('["a"] [{"b": 1}]', "string", ['["a"]', '[{"b":1}]']),
        ('["a"] "b" 1', "string", ['["a"]', "b", "1"]),
        ('{"a": [1]} null', "string", ['{"a":[1]}', None]),
    ],
)
def test_a_list_in_json_is_a_list_of_one_type_where_nothing_nested_is_in_it(
    cells, type_, read, tmp_path
):
    decoder, rest, lines = json.JSONDecoder(), cells, []
    while rest:
        cell, end = decoder.raw_decode(rest)
        lines.append(json.dumps({"a": cell}))
        rest = rest[end:].lstrip()
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(lines))
    source = open_source(path)
    assert str(source.columns["a"]) == type_
    assert rows_of(source)["a"].to_pylist() == read
