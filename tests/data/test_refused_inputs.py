"""Inputs that are no tables are refused wherever a source is opened, in one sentence."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import voile.tables
from voile.core.errors import VoileError
from voile.data import open_source
from voile.data.opening import check_rows
from voile.data.signatures import SIGNATURES

ROLES = '[columns]\nage = "quasi"\nzip = "quasi"\n'


def refusals(thing: Any, tmp_path: Path) -> set[str]:
    """Return what `inspect` and `fit` answer."""
    roles = tmp_path / "roles.toml"
    roles.write_text(ROLES)
    said = set()
    for run in (lambda: voile.inspect(thing), lambda: voile.tables.fit(thing, roles=roles, k=2)):
        with pytest.raises(VoileError) as caught:
            run()
        said.add(str(caught.value))
    return said


@pytest.mark.parametrize("one", SIGNATURES, ids=lambda one: one.format)
@pytest.mark.parametrize("end", [".csv", ".tsv", ".csv.gz", ".jsonl", ".dat"])
def test_a_file_of_another_format_is_named_as_one(tmp_path: Path, one: Any, end: str) -> None:
    content = one.start + b"\n" + b"a,b\n1,2\n" * 9
    path = tmp_path / f"a{end}"
    path.write_bytes(gzip.compress(content) if end.endswith(".gz") else content)
    with pytest.raises(
        VoileError, match=f"^{path.name}: the file contains {one.format}.*; {one.remedy}$"
    ):
        open_source(path)


def test_both_verbs_refuse_it_alike(tmp_path: Path) -> None:
    (tmp_path / "scan.csv").write_bytes(b"\x89PNG\r\n\x1a\n0000")
    assert len(refusals(tmp_path / "scan.csv", tmp_path)) == 1


def test_bytes_of_an_unknown_format_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(bytes(range(1, 40)) * 9)
    with pytest.raises(VoileError, match="is not text: it contains control characters"):
        open_source(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_bytes(b"note,n\n" + b"ward 3,7\n" * 40 + b"form\x0cfeed\x02,1\n")
    assert open_source(tmp_path / "b.csv").read().num_rows == 41


@pytest.mark.parametrize(
    "content", ["age,zip\n", "age,zip", "age\n", '"a\nge",zip\r\n', "x" * 99_999]
)
def test_names_without_rows_are_no_source(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(content)
    (said,) = refusals(path, tmp_path)
    assert said == "a.csv: has names of columns and no rows; give a source with rows"
    path.write_text(f"{content}\n{content}\n")
    assert check_rows(open_source(path)).read().num_rows


@pytest.mark.parametrize("form", ["frame", "parquet"])
def test_other_formats_without_rows_are_no_source(tmp_path: Path, form: str) -> None:
    thing: Any = pd.DataFrame({"age": [], "zip": []})
    if form == "parquet":
        thing.to_parquet(tmp_path / "a.parquet")
        thing = tmp_path / "a.parquet"
    (said,) = refusals(thing, tmp_path)
    assert "has names of columns and no rows" in said


def test_one_line_of_json_is_a_row(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"age": 1}')
    assert voile.inspect(tmp_path / "a.jsonl").of("drop") == ["age"]


def test_a_folder_of_several_types_is_refused_with_a_pattern(tmp_path: Path) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    (folder / "people.csv").write_text("age,zip\n30,00501\n")
    (said,) = refusals(folder, tmp_path)
    pattern = f"name a file, or files of one type by a pattern, as {folder}/*.csv"
    only = "and only a folder of Parquet files is one table"
    assert said.endswith(f"is a folder of .csv files, {only}; {pattern}")
    (folder / "scan.pdf").touch()
    (said,) = refusals(folder, tmp_path)
    assert said.endswith(f"is a folder with files of several types: .csv and .pdf; {pattern}")
    (folder / "scan.pdf").unlink()
    (folder / "notes.txt").write_text("hello")
    pq.write_table(pa.table({"age": [30]}), folder / "part.parquet")
    (said,) = refusals(folder, tmp_path)
    assert "several types: .csv, .parquet and .txt; name a file, or" in said
    assert f"{folder}/*.csv" in said
    (folder / "people.csv").unlink()
    (folder / "notes.txt").unlink()
    (folder / "_SUCCESS").touch()
    assert open_source(folder).read().num_rows == 1
