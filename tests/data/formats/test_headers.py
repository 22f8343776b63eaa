"""A first record that is read as names of columns is noticed, and can be read as a record."""

from __future__ import annotations

import warnings
from pathlib import Path

import openpyxl
import pytest

import voile.tables
from voile.core.errors import RequestError
from voile.data import open_source
from voile.data.formats.headers import HeaderWarning

RECORDS = {
    "categories and counts": "A,[0-10),1\nB,[10-20),3\nA,[0-10),2\nB,[10-20),1\n",
    "names, dates and numbers": "CANARY,1960-02-03,201\nBo,1971-03-04,203\nCy,1959-01-01,199\n",
    "German dates": "f;03.02.1960\nm;04.03.1971\nf;01.01.1959\n",
    "decimals": "1,5;0\n2,5;1\n0,5;0\n",
}
HEADERS = {
    "words": "race,age,visits\nOther,[10-20),3\nCaucasian,[0-10),2\n",
    "years over counts": "county,2019,2020,2021\nA,2000,2020,2030\nB,2040,1990,2019\n",
    "a frame's own": "0,1,2\n0,1,2\n5,0,9\n",
    "codes over flags": "I10,E11,J45\n0,1,0\n1,0,1\n",
    "repeated below": "sex,age\nf,30\nsex,age\nm,40\n" + "f,31\n" * 40,
    "text alone": "name,note\nAda,seen\nBo,well\n",
    "no rows": "1,2\n",
    "two columns have the same name:": "age\n30\n31\n",
    "missing below": "age,zip\n,\n,\n",
}


def warned(path: Path) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        open_source(path)
    return [str(one.message) for one in caught if one.category is HeaderWarning]


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_is_noticed(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(RECORDS[name])
    (said,) = warned(path)
    assert said.startswith("a.csv: its first row names the columns, but ")
    assert said.endswith("if it is a record, write a.csv::no-header")
    assert "CANARY" not in said


@pytest.mark.parametrize("name", HEADERS)
def test_names_are_not(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.csv").write_text(HEADERS[name])
    assert warned(tmp_path / "a.csv") == []


def test_a_sheet_is_read_alike(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["f", 30], ["m", 31], ["f", 29], ["m", 33]):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    (said,) = warned(tmp_path / "a.xlsx")
    assert said.endswith("if it is a record, add a row of names above it")


def test_a_file_without_names_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("f,30\nm,31\n" * 20)
    source = open_source(f"{path}::no-header")
    assert list(source.columns) == ["column_1", "column_2"]
    assert source.read().to_pylist()[:2] == [
        {"column_1": "f", "column_2": "30"},
        {"column_1": "m", "column_2": "31"},
    ]
    assert source.read().num_rows == 40
    roles = voile.inspect(f"{path}::no-header")
    assert voile.tables.fit(f"{path}::no-header", roles=roles, k=2).facts["policies"]
    path.write_text("f,30\nm\n")
    with pytest.raises(RequestError, match="row 2 has 1 fields, but the first row has 2"):
        open_source(f"{path}::no-header").read()


def test_another_table_of_a_text_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("f,30\n")
    with pytest.raises(
        RequestError, match="the name after :: does not apply, because this format has no tables"
    ):
        open_source(tmp_path / "a.csv", table="visits")


def test_two_cells_alike_in_a_first_record_have_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1,0,1\n2,0,1\n")
    with pytest.raises(RequestError, match="columns 1 and 3 of row 1; rename one, or add a row"):
        open_source(tmp_path / "a.csv")
    assert open_source(f"{tmp_path / 'a.csv'}::no-header").read().num_rows == 2
