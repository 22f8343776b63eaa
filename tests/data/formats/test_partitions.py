"""Folders of Parquet files: what folders name is a column, and a changed folder is noticed."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import voile.tables
from voile.core.errors import RequestError, SourceError
from voile.data import open_source
from voile.documents.text.source import open_source as open_documents
from voile.engines.counting import count_combinations

ROWS = [
    {"who": "a", "age": 31, "year": 2023, "zip": "00501"},
    {"who": "b", "age": 47, "year": 2023, "zip": "10/02"},
    {"who": "c", "age": None, "year": 2024, "zip": None},
    {"who": "d", "age": 47, "year": 2024, "zip": None},
]
CHANGED = r"the folder's files changed while voile read them|cannot be read"
YEAR, ZIP = pa.int64(), pa.string()


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    """Lay out rows by year and ZIP code as DuckDB does, with what other programs leave beside."""
    folder = tmp_path / "visits"
    table = pa.Table.from_pylist(ROWS)
    with duckdb.connect() as connection:
        connection.register("rows", table)
        connection.execute(f"COPY rows TO '{folder}' (FORMAT parquet, PARTITION_BY (year, zip))")
    (folder / "_SUCCESS").touch()
    (folder / "_temporary").mkdir()
    pq.write_table(table, folder / "_temporary" / "part-9.parquet")
    return folder


def by_who(source: object) -> list[dict[str, object]]:
    return sorted(open_source(source).read().to_pylist(), key=lambda row: row["who"])


def test_folders_name_columns(visits: Path) -> None:
    source = open_source(visits)
    assert list(source.columns) == ["who", "age", "year", "zip"]
    assert (source.columns["year"], source.columns["zip"]) == (YEAR, ZIP)
    assert by_who(visits) == ROWS
    assert source.about_rows() == 4


def test_columns_of_folders_alone_have_a_row_each(visits: Path) -> None:
    years = [row["year"] for row in open_source(visits).read(["year"]).to_pylist()]
    assert sorted(years) == [2023, 2023, 2024, 2024]


def test_counts_are_those_of_the_rows(visits: Path) -> None:
    columns = ["zip", "year"]
    counted = count_combinations(open_source(visits), columns)
    assert counted.equals(count_combinations(open_source(pa.Table.from_pylist(ROWS)), columns))


def test_leading_zeros_are_text_in_every_folder(tmp_path: Path) -> None:
    for code in ("007", "12"):
        (tmp_path / "t" / f"code={code}").mkdir(parents=True)
        pq.write_table(pa.table({"n": [1]}), tmp_path / "t" / f"code={code}" / "p.parquet")
    assert open_source(tmp_path / "t").read(["code"])["code"].to_pylist() == ["007", "12"]


def test_a_file_alone_has_no_columns_of_its_folders(visits: Path) -> None:
    file = next(visits.rglob("year=2023/**/*.parquet"))
    source = open_source(file)
    with duckdb.connect() as connection:
        assert source.relation(connection).columns == list(source.columns) == ["who", "age"]


def test_a_column_of_folders_needs_a_role(visits: Path) -> None:
    with pytest.raises(RequestError, match="zip"):
        voile.tables.fit(visits, roles={"who": "drop", "age": "quasi", "year": "quasi"}, seed=1)


@pytest.mark.parametrize("change", ["more", "less", "other"])
def test_a_folder_that_changes_while_it_is_read_is_noticed(visits: Path, change: str) -> None:
    source = open_source(visits)
    before = source.fingerprint()
    assert open_source(visits).fingerprint() == before
    rows = source.batches()
    next(rows)
    file = next(visits.rglob("year=2024/**/*.parquet"))
    if change == "less":
        file.unlink()
    else:
        name = "more.parquet" if change == "more" else file.name
        pq.write_table(pa.table({"who": ["z"], "age": [99]}), file.with_name(name))
    with pytest.raises(SourceError, match=CHANGED):
        list(rows)
    with pytest.raises(SourceError, match=CHANGED):
        source.fingerprint()
    if change != "less":
        assert open_source(visits).fingerprint() != before


def test_a_value_that_moves_to_another_folder_is_another_table(visits: Path) -> None:
    before = open_source(visits).fingerprint()
    (visits / "year=2023").rename(visits / "year=2022")
    assert open_source(visits).fingerprint() != before


def test_folders_of_other_columns_are_refused(visits: Path) -> None:
    pq.write_table(pa.table({"who": ["z"], "age": [1]}), visits / "part.parquet")
    with pytest.raises(
        RequestError,
        match="folders that name different partition columns, or name them in different orders",
    ):
        open_source(visits)


def test_a_column_in_the_files_and_their_folders_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t" / "n=1").mkdir(parents=True)
    pq.write_table(pa.table({"n": [1]}), tmp_path / "t" / "n=1" / "p.parquet")
    with pytest.raises(RequestError, match="two columns have the same name: n and n"):
        open_source(tmp_path / "t")


def test_documents_read_one_as_a_table(visits: Path) -> None:
    assert list(open_documents(visits).columns) == ["who", "age", "year", "zip"]
