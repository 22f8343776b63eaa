"""What can be opened, and the one sentence that says why something cannot."""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path

import duckdb
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.core.errors import RequestError, SourceError
from voile.data import open_source, open_writer

TABLE = pa.table({"zip": ["00501", None], "n": [1, 2]})


def refused(thing: object, message: str, **asked: str) -> str:
    with pytest.raises(RequestError, match=message) as caught:
        for _ in open_source(thing, **asked).batches():
            pass
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_missing_file_gets_the_nearest_names(tmp_path: Path) -> None:
    (tmp_path / "patients.csv").write_text("a\n1\n")
    refused(tmp_path / "patient.csv", "did you mean patients.csv?")
    refused(tmp_path / "no" / "a.csv", "does not exist")
    refused(tmp_path, "is a folder")


def test_an_unknown_suffix_gets_the_list(tmp_path: Path) -> None:
    for name in ("a.docx", "plain"):
        (tmp_path / name).write_text("a\n1\n")
        refused(tmp_path / name, r"known are \.csv, \.tsv")
    refused(tmp_path / "a.docx", ".docx files are not known")
    (tmp_path / "a.2024.CSV").write_text("a\n1\n")
    assert list(open_source(tmp_path / "a.2024.CSV").columns) == ["a"]


@pytest.mark.parametrize("end", [".csv", ".parquet", ".xlsx", ".sqlite", ".sav", ".jsonl"])
def test_an_empty_file_is_empty(tmp_path: Path, end: str) -> None:
    (tmp_path / f"a{end}").touch()
    refused(tmp_path / f"a{end}", "the file is empty")


@pytest.mark.parametrize(
    "end", [".parquet", ".arrow", ".duckdb", ".sqlite", ".xlsx", ".sav", ".dta"]
)
def test_a_file_cut_in_half_or_of_another_format_is_damaged(tmp_path: Path, end: str) -> None:
    path = tmp_path / f"a{end}"
    rows = pa.table({"zip": [f"{i:05}" for i in range(20_000)], "n": list(range(20_000))})
    if end in (".parquet", ".arrow", ".duckdb"):
        with open_writer(path, rows.schema) as writer:
            for batch in rows.to_batches():
                writer.write(batch)
    elif end == ".sqlite":
        with sqlite3.connect(path) as connection:
            rows.to_pandas().to_sql("t", connection)
        connection.close()
    elif end == ".xlsx":
        book = openpyxl.Workbook()
        book.active.append(["zip"])
        book.save(path)
    else:
        import pyreadstat

        write = {".sav": pyreadstat.write_sav, ".dta": pyreadstat.write_dta}[end]
        write(rows.to_pandas(), str(path))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    message = refused(path, r"^a\.\w+: the .* file is damaged or truncated")
    assert "00501" not in message
    path.write_bytes(b"this is no such file at all\n" * 40)
    refused(path, "is damaged or truncated")


def test_parquet_damaged_inside_is_refused_by_both_readers(tmp_path: Path) -> None:
    from voile.engines.counting import count_combinations

    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"n": list(range(100_000))}), path)
    data = bytearray(path.read_bytes())
    data[4:5000] = bytes(4996)
    path.write_bytes(data)
    refused(path, "is damaged or truncated")
    with pytest.raises(SourceError, match="is damaged or truncated"):
        count_combinations(open_source(path), ["n"])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"zip": "00501"', "is not valid JSON from character"),
        ("[1]", "row 2 is not a JSON object"),
        ('{"zip": 1, "zip": 2}', "row 2: two columns have the same name: zip and zip"),
        ('{"ZIP": 1}', "two columns have the same name: zip and ZIP"),
    ],
)
def test_a_bad_json_line_is_named_by_its_row(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"zip": "x"}\n' + line + "\n")
    assert "00501" not in refused(path, message)


def test_a_pattern_reads_files_in_order_of_name(tmp_path: Path) -> None:
    for name in ("v-2.csv", "v-1.csv", "v-10.csv"):
        (tmp_path / name).write_text(f"a\n{name}\n")
    source = open_source(str(tmp_path / "v-*.csv"))
    assert [b["a"][0].as_py() for b in source.batches()] == ["v-1.csv", "v-10.csv", "v-2.csv"]
    assert source.notes[0] == "3 files"
    assert source.fingerprint() != open_source(tmp_path / "v-1.csv").fingerprint()
    refused(str(tmp_path / "w-*.csv"), "no file matches this pattern")


def test_a_name_with_a_patterns_letters_is_a_name(tmp_path: Path) -> None:
    for name in ("v [1].parquet", "v 1.parquet"):
        pq.write_table(pa.table({"a": [name]}), tmp_path / name)
    source = open_source(str(tmp_path / "v [1].parquet"))
    connection = duckdb.connect()
    assert source.relation(connection).fetchall() == [("v [1].parquet",)]


def test_files_of_a_pattern_must_agree(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "p1.parquet")
    pq.write_table(TABLE.rename_columns(["zip", "m"]), tmp_path / "p2.parquet")
    refused(
        str(tmp_path / "p*"),
        r"p2.parquet: column n is absent in this file, and int64 in p1.parquet",
    )
    pq.write_table(
        TABLE.cast(pa.schema([("zip", "string"), ("n", "int8")])), tmp_path / "p2.parquet"
    )
    refused(str(tmp_path / "p*"), r"column n is int8 in this file, and int64 in p1\.parquet")
    (tmp_path / "p2.parquet").unlink()
    (tmp_path / "p3.csv").write_text("zip,n\n1,2\n")
    refused(str(tmp_path / "p*"), r"p3.csv: the file is csv, but p1.parquet is parquet")


@pytest.mark.parametrize("end", ["duckdb", "sqlite"])
def test_tables_are_found_by_name(tmp_path: Path, end: str) -> None:
    path = tmp_path / f"the county's é.{end}"
    connection = duckdb.connect(str(path)) if end == "duckdb" else sqlite3.connect(path)
    connection.execute("CREATE TABLE patients (zip VARCHAR)")
    connection.execute("INSERT INTO patients VALUES ('00501')")
    connection.commit()
    if end == "duckdb":
        refused(path, "is being written elsewhere; close it there first")
    connection.close()
    assert next(open_source(path).batches()).to_pydict() == {"zip": ["00501"]}
    connection = duckdb.connect(str(path)) if end == "duckdb" else sqlite3.connect(path)
    connection.execute("CREATE VIEW register AS SELECT zip AS z FROM patients")
    connection.commit()
    connection.close()
    assert list(open_source(f"{path}::register").columns) == ["z"]
    assert list(open_source(path, table="register").columns) == ["z"]
    refused(path, "the database has several tables; there is patients, register")
    refused(f"{path}::patient", "has no table patient; did you mean patients?")


def test_a_table_is_named_once(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    with duckdb.connect(str(path)) as connection:
        for name in ("one", "two"):
            connection.execute(f"CREATE TABLE {name} AS SELECT '00501' AS zip, 1 AS n")
    assert list(open_source(f"{path}::one", table="one").columns) == ["zip", "n"]
    refused(f"{path}::one", "after :: and in the option", table="two")
    refused("service=county::one", "county::one: the table is given twice", table="two")


def test_tables_and_encodings_only_where_there_are_some(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    refused(
        f"{tmp_path / 'a.csv'}::t",
        "the name after :: does not apply, because this format has no tables",
    )
    pq.write_table(TABLE, tmp_path / "a.parquet")
    refused(
        tmp_path / "a.parquet",
        "the file's format takes no encoding",
        encoding="utf-8",
    )


def test_duckdb_opens_a_file_twice_and_never_to_write(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    with open_writer(path, TABLE.schema) as writer:
        writer.write(TABLE.to_batches()[0])
    before = path.read_bytes()
    source = open_source(path)
    streaming = source.batches()
    next(streaming)
    connection = duckdb.connect()
    assert source.relation(connection).fetchall() == [("00501", 1), (None, 2)]
    assert source.relation(connection).fetchall() == [("00501", 1), (None, 2)]
    assert path.read_bytes() == before
    assert not list(tmp_path.glob("*.wal"))


def test_a_column_that_is_not_there_gets_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(
        RequestError, match="pandas frame: there is no column zap; did you mean zip"
    ):
        list(open_source(TABLE.to_pandas()).batches(["zap"]))


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pd.DataFrame([[1, 2]], columns=["1", 1]),
        pl.DataFrame({"a": [1], "A": [2]}),
        pa.table([[1], [2]], names=["a", "a"]),
    ],
)
def test_two_columns_of_one_name_are_refused(frame: object) -> None:
    refused(frame, "two columns have the same name:")


def test_a_mixed_pandas_column_is_named() -> None:
    frame = pd.DataFrame({"a": [1, 2], "o": pd.Series([1, "x"], dtype=object)})
    refused(frame, "pandas frame: column o holds values of several types")


def test_what_is_no_source_is_said() -> None:
    refused(17, "an int is not a source")


def test_without_pyreadstat_it_says_how_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.sav"
    path.write_bytes(b"x")
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    refused(path, r"install it with: pip install 'voile\[statistics\]'")


@settings(deadline=None)
@given(st.lists(st.none() | st.text(max_size=3) | st.just("00501"), max_size=20), st.integers(1, 5))
def test_a_frames_fingerprint_is_of_its_values_alone(values: list[str | None], step: int) -> None:
    table = pa.table({"zip": pa.array(values, pa.string()), "n": range(len(values))})
    padded = pa.concat_tables([table.slice(0, 1), table]).slice(min(1, len(values)))
    chunked = pa.Table.from_batches(table.to_batches(max_chunksize=step), table.schema)
    coded = table.set_column(0, "zip", table["zip"].dictionary_encode())
    prints = {open_source(t).fingerprint() for t in (table, padded, chunked, coded)}
    assert len(prints) == 1
    changed = table.set_column(
        0, "zip", pa.array([*values[:-1], "new text"][: len(values)], pa.string())
    )
    assert not values or open_source(changed).fingerprint() not in prints


def test_values_hidden_under_nulls_do_not_change_a_fingerprint() -> None:
    mask = pa.array([True, False]).buffers()[1]
    one, other = (
        pa.Array.from_buffers(pa.int64(), 2, [mask, pa.array([7, hidden]).buffers()[1]])
        for hidden in (1, 2)
    )
    assert one.equals(other)
    assert (
        open_source(pa.table({"n": one})).fingerprint()
        == open_source(pa.table({"n": other})).fingerprint()
    )


def test_a_files_fingerprint_is_its_sha256(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"abc")
    assert open_source(path).fingerprint() == (
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )
