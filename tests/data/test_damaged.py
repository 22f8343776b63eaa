"""Damaged files that once were no sentence, or ended the process."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest

from voile.core.errors import RequestError, SourceError
from voile.data import open_source

ROWS = 20
PEOPLE = pa.table({"zip": [f"{i:05}" for i in range(ROWS)], "n": range(ROWS)})
READING = """
import sys
from pathlib import Path
from voile.core.errors import VoileError
from voile.data import open_source
for path in sorted(Path(sys.argv[1]).glob("*.arrow")):
    try:
        for batch in open_source(path).batches():
            batch.to_pylist()
    except VoileError:
        pass
"""


def test_no_damaged_arrow_file_ends_the_process(tmp_path: Path) -> None:
    """Of 500 such files 42 did, by a bus error or a segmentation fault."""
    whole = tmp_path / "whole.arrow"
    with pa.OSFile(str(whole), "wb") as file, pa.ipc.new_file(file, PEOPLE.schema) as writer:
        writer.write_table(PEOPLE, max_chunksize=8)
    raw, rng = whole.read_bytes(), random.Random(1)
    for number in range(500):
        damaged = bytearray(raw)
        if number % 5:
            damaged[rng.randrange(len(raw))] = rng.randrange(256)
        else:
            del damaged[rng.randrange(1, len(raw)) :]
        (tmp_path / f"{number}.arrow").write_bytes(damaged)
    ran = subprocess.run([sys.executable, "-c", READING, str(tmp_path)], capture_output=True)
    assert (ran.returncode, ran.stderr) == (0, b"")


@pytest.mark.parametrize("end", [".parquet", ".arrow"])
def test_text_that_is_not_utf8_is_one_sentence(tmp_path: Path, end: str) -> None:
    path = tmp_path / f"people{end}"
    bad = pa.array([b"\xff\xfe"] * ROWS, pa.binary())
    text = pa.StringArray.from_buffers(ROWS, *bad.buffers()[1:], None)
    table = PEOPLE.set_column(0, "zip", text)
    if end == ".parquet":
        pq.write_table(table, path, use_dictionary=False)
    else:
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
    with pytest.raises(SourceError, match="is damaged or truncated"):
        list(open_source(path).batches())


def test_a_workbook_without_a_sheet_is_refused(tmp_path: Path) -> None:
    from zipfile import ZipFile

    whole, path = tmp_path / "whole.xlsx", tmp_path / "people.xlsx"
    openpyxl.Workbook().save(whole)
    with ZipFile(whole) as old, ZipFile(path, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b"<sheet ", b"<shoet "))
    with pytest.raises(
        RequestError, match=r"people\.xlsx: (the workbook has no sheet|the Excel file is damaged)"
    ):
        open_source(path)


def test_a_label_that_is_not_utf8_is_refused_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.svm"
    path.write_bytes(b"c1 1:1 2:1\nc\xff 3:1\n")
    with pytest.raises(SourceError, match=r"a\.svm, line 2: the line is not UTF-8 text"):
        list(open_source(path).batches())


@pytest.mark.parametrize("kind", [pa.date32(), pa.timestamp("us")])
def test_a_date_that_no_calendar_has_is_refused(tmp_path: Path, kind: pa.DataType) -> None:
    path = tmp_path / "people.parquet"
    ticks = pa.array([0, None, (1 << 31) - 1], pa.int32())
    days = ticks.cast(kind) if kind == pa.date32() else pa.array([0, None, 1 << 62]).cast(kind)
    pq.write_table(pa.table({"born": days}), path)
    with pytest.raises(
        SourceError, match="column born: the column contains a date outside the years 1 to 9999"
    ):
        list(open_source(path).batches())


def test_a_column_of_sas_whose_name_is_gone_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "people.xpt"
    pyreadstat.write_xport(pd.DataFrame({"zip": ["00501"], "note": ["x"]}), str(path))
    raw = path.read_bytes()
    at = raw.rindex(b"note", 0, raw.index(b"HEADER RECORD*******OBS"))
    path.write_bytes(raw[:at] + bytes(72) + raw[at + 72 :])
    with pytest.raises(SourceError, match=r"the \.xpt file is damaged or truncated near row 1"):
        open_source(path)
